package conf

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// decoder puts the values of a TOML text into the schema and gathers what is
// wrong with them.
type decoder struct {
	lines    lineIndex
	problems []Problem
	warnings []Problem
}

// fail notes a problem at a path such as node#0.names.
func (d *decoder) fail(path, format string, args ...any) {
	d.problems = append(d.problems, Problem{d.lines.of(path), fmt.Sprintf(format, args...)})
}

// setter is a value with rules of its own.
type setter interface {
	// set takes a string or an integer of the file; its error says what would
	// have been right.
	set(v any) error
}

// table fills the struct that into points to: the defaults first, then what the
// file says.
func (d *decoder) table(path string, raw map[string]any, into any) {
	v := reflect.ValueOf(into).Elem()
	known, later := map[string]reflect.Value{}, map[string]string{}
	var names []string
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name := f.Tag.Get("toml")
		known[name], later[name] = v.Field(i), f.Tag.Get("later")
		names = append(names, name)
		if text, ok := f.Tag.Lookup("default"); ok {
			if err := assign(v.Field(i), defaultValue(v.Field(i), text)); err != nil {
				d.fail(path, "default of %s: %v", name, err)
			}
		}
		if f.Type.Kind() == reflect.Struct && raw[name] == nil {
			d.table(name, nil, v.Field(i).Addr().Interface())
		}
	}
	for _, key := range d.inOrder(path, raw) {
		at := join(path, key)
		field, ok := known[key]
		if !ok {
			d.fail(at, "unknown key %s%s%s", key, inTable(path), suggest(key, names))
			continue
		}
		if later[key] != "" {
			d.warnings = append(d.warnings, Problem{d.lines.of(at), key + inTable(path) + " is kept and shown, but nothing acts on it yet: that comes with " + later[key]})
		}
		d.value(at, key, raw[key], field)
	}
}

// inOrder lists the keys of a table as the file has them.
func (d *decoder) inOrder(path string, raw map[string]any) []string {
	keys := make([]string, 0, len(raw))
	for k := range raw {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(d.lines.of(join(path, a))-d.lines.of(join(path, b)), cmp.Compare(a, b))
	})
	return keys
}

func (d *decoder) value(path, key string, raw any, field reflect.Value) {
	switch field.Kind() {
	case reflect.Struct:
		if table, ok := raw.(map[string]any); ok {
			d.table(path, table, field.Addr().Interface())
			return
		}
		d.fail(path, "%s is a table: write [%s] and its keys below it", key, key)
	case reflect.Slice:
		if _, ok := field.Addr().Interface().(setter); ok {
			d.plain(path, key, raw, field)
			return
		}
		if field.Type().Elem().Kind() == reflect.Struct {
			d.tables(path, key, raw, field)
			return
		}
		d.list(path, key, raw, field)
	case reflect.Map:
		d.texts(path, key, raw, field)
	case reflect.Pointer: // a value that may be left out
		field.Set(reflect.New(field.Type().Elem()))
		d.value(path, key, raw, field.Elem())
	default:
		d.plain(path, key, raw, field)
	}
}

func (d *decoder) plain(path, key string, raw any, field reflect.Value) {
	if err := assign(field, raw); err != nil {
		d.fail(path, "%s: %v", key, err)
	}
}

// texts fills a map of strings.
func (d *decoder) texts(path, key string, raw any, field reflect.Value) {
	table, ok := raw.(map[string]any)
	if !ok {
		d.fail(path, "%s: want a table of strings, got %s", key, kindOf(raw))
		return
	}
	out := map[string]string{}
	for _, k := range d.inOrder(path, table) {
		text, ok := table[k].(string)
		if !ok {
			d.fail(join(path, k), "%s: want a string, got %s", k, kindOf(table[k]))
			continue
		}
		out[k] = text
	}
	field.Set(reflect.ValueOf(out))
}

// tables fills a slice from an array of tables.
func (d *decoder) tables(path, key string, raw any, field reflect.Value) {
	list, ok := raw.([]map[string]any)
	if !ok {
		d.fail(path, "%s is a list of tables: write [[%s]] and its keys below it", key, key)
		return
	}
	for i, table := range list {
		elem := reflect.New(field.Type().Elem())
		d.table(fmt.Sprintf("%s#%d", path, i), table, elem.Interface())
		field.Set(reflect.Append(field, elem.Elem()))
	}
}

// list fills a slice of strings; one string stands for a list of one.
func (d *decoder) list(path, key string, raw any, field reflect.Value) {
	items, ok := raw.([]any)
	if !ok {
		items = []any{raw}
	}
	texts := []string{}
	for _, item := range items {
		text, ok := item.(string)
		if !ok {
			d.fail(path, "%s: want a list of strings, got %s", key, kindOf(item))
			return
		}
		texts = append(texts, text)
	}
	field.Set(reflect.ValueOf(texts))
}

// assign puts one value into a field that is no table and no list.
func assign(field reflect.Value, raw any) error {
	if s, ok := field.Addr().Interface().(setter); ok {
		return s.set(raw)
	}
	switch field.Kind() {
	case reflect.String:
		if s, ok := raw.(string); ok {
			field.SetString(s)
			return nil
		}
		return fmt.Errorf("want a string, got %s", kindOf(raw))
	case reflect.Bool:
		if b, ok := raw.(bool); ok {
			field.SetBool(b)
			return nil
		}
		return fmt.Errorf("want true or false, got %s", kindOf(raw))
	case reflect.Uint16, reflect.Uint32:
		most := uint64(1)<<field.Type().Bits() - 1
		n, ok := raw.(int64)
		if !ok || n < 0 || uint64(n) > most {
			return fmt.Errorf("want a number from 0 to %d, got %s", most, kindOf(raw))
		}
		field.SetUint(uint64(n))
		return nil
	case reflect.Slice:
		field.Set(reflect.ValueOf([]string{raw.(string)}))
		return nil
	}
	return fmt.Errorf("the schema has a field of kind %s, which is not read", field.Kind())
}

// defaultValue reads the text of a default tag as the file would have it.
func defaultValue(field reflect.Value, text string) any {
	if field.Kind() == reflect.Bool {
		return text == "true"
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && field.Kind() != reflect.String {
		return n
	}
	return text
}

// kindOf describes a value for people.
func kindOf(raw any) string {
	switch v := raw.(type) {
	case string:
		return strconv.Quote(v)
	case map[string]any:
		return "a table"
	case []any, []map[string]any:
		return "a list"
	default:
		return fmt.Sprint(v)
	}
}

func inTable(path string) string {
	if path == "" {
		return ""
	}
	return " in " + tableName(path)
}

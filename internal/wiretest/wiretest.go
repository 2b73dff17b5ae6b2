// Package wiretest checks that a Code method forgets no field.
package wiretest

import (
	"fmt"
	"reflect"
	"testing"

	"muster/internal/bitset"
	"muster/internal/wire"
)

// RoundTrip fills every field of a value of m's type with something that is not
// zero and no two alike, codes it and decodes it, and fails unless the result is
// equal. A zero value must take no bytes.
func RoundTrip(t *testing.T, m wire.Message) {
	t.Helper()
	typ := reflect.TypeOf(m).Elem()
	t.Run(typ.String(), func(t *testing.T) {
		full := reflect.New(typ)
		n := 0
		fill(full.Elem(), &n)
		if at := firstZero(full.Elem(), typ.Name()); at != "" {
			t.Fatalf("the test left %s at zero", at)
		}
		got := reflect.New(typ).Interface().(wire.Message)
		if err := wire.Decode(wire.Encode(nil, full.Interface().(wire.Message)), got); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, full.Interface()) {
			t.Errorf("decoded %+v\nwant %+v", got, full.Interface())
		}
		if b := wire.Encode(nil, reflect.New(typ).Interface().(wire.Message)); len(b) != 0 {
			t.Errorf("a zero value takes %d bytes, want 0", len(b))
		}
	})
}

var setType = reflect.TypeFor[bitset.Set]()

func fill(v reflect.Value, n *int) {
	*n++
	if v.Type() == setType {
		v.Set(reflect.ValueOf(bitset.Of(*n, *n+70)).Elem())
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(-*n))
	case reflect.Uint8:
		v.SetUint(uint64(*n%255 + 1))
	case reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic("no value for a field of kind " + v.Kind().String())
	}
}

func firstZero(v reflect.Value, path string) string {
	if v.IsZero() {
		return path
	}
	if v.Kind() == reflect.Struct && v.Type() != setType {
		for i := range v.NumField() {
			if at := firstZero(v.Field(i), path+"."+v.Type().Field(i).Name); at != "" {
				return at
			}
		}
	}
	return ""
}

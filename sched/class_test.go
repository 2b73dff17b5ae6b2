package sched

import (
	"reflect"
	"testing"

	"muster/gres"
	"muster/job"
)

// TestKeyTellsRequestsApart changes each field that placement looks at by itself:
// the key must change. A field that is forgotten would give a job what another
// asked for.
func TestKeyTellsRequestsApart(t *testing.T) {
	base := Key(&job.Request{})
	parts := map[string]func(*job.Request) any{
		"Size":      func(r *job.Request) any { return &r.Size },
		"Memory":    func(r *job.Request) any { return &r.Memory },
		"Gres":      func(r *job.Request) any { return &r.Gres },
		"Placement": func(r *job.Request) any { return &r.Place },
	}
	// What placement does not look at: display and steps.
	skip := map[string]bool{"Bind": true, "Freq": true, "Dist": true, "MinCPUs": true, "LikelyNodes": true}
	for name, part := range parts {
		kind := reflect.TypeOf(part(&job.Request{})).Elem()
		for i := range kind.NumField() {
			field := kind.Field(i)
			if skip[field.Name] {
				continue
			}
			r := job.Request{}
			set(t, reflect.ValueOf(part(&r)).Elem().Field(i))
			if Key(&r) == base {
				t.Errorf("%s.%s does not change the key", name, field.Name)
			}
		}
	}
	for name, f := range map[string]func(*job.Request){
		"Partitions":  func(r *job.Request) { r.Partitions = []string{"p"} },
		"Reservation": func(r *job.Request) { r.Reservation = "r" },
		"Licenses":    func(r *job.Request) { r.Licenses = "l" },
		"Limit":       func(r *job.Request) { r.Timing.Limit = 1 },
		"MinLimit":    func(r *job.Request) { r.Timing.MinLimit = 1 },
	} {
		r := job.Request{}
		if f(&r); Key(&r) == base {
			t.Errorf("%s does not change the key", name)
		}
	}
}

func set(t *testing.T, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *gres.Spec:
		*x = gres.Spec{{Name: "gpu", Count: 1}}
		return
	case *[]string:
		*x = []string{"a"}
		return
	case *[]uint32:
		*x = []uint32{2}
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.String:
		v.SetString("a")
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(1)
	default:
		t.Fatalf("a field of kind %v: say here how it is changed", v.Kind())
	}
}

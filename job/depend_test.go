package job

import "testing"

// TestOpenDeps: of all, those that are not fulfilled; of any, none once one is.
func TestOpenDeps(t *testing.T) {
	deps := []Dependency{{On: 1, State: Fulfilled}, {On: 2}, {On: 3, State: FailedDep}}
	j := Job{Deps: deps}
	if open := j.OpenDeps(); len(open) != 2 || open[0].On != 2 || open[1].On != 3 {
		t.Errorf("of all: %v", open)
	}
	j.AnyDep = true
	if open := j.OpenDeps(); len(open) != 0 {
		t.Errorf("of any: %v", open)
	}
	j.Deps = deps[1:]
	if open := j.OpenDeps(); len(open) != 2 {
		t.Errorf("of any, none fulfilled: %v", open)
	}
}

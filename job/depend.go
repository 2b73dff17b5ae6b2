package job

// DependKind is the kind of one dependency (sbatch(1), --dependency).
type DependKind uint8

// The kinds of dependency.
const (
	DependAfter DependKind = iota + 1
	DependAfterAny
	DependAfterOK
	DependAfterNotOK
	DependAfterCorr
	DependSingleton
	DependAfterBurstBuffer
)

// DependState is how far one dependency is.
type DependState uint8

// The states of a dependency. A failed one stays failed, whatever happens to
// the other job later.
const (
	Unfulfilled DependState = iota
	Fulfilled
	FailedDep
)

// Dependency is one condition on another job.
type Dependency struct {
	Kind  DependKind
	On    ID     // 0 for singleton
	Task  uint32 // NoTask: the whole job or array
	Delay Minutes
	State DependState
	Due   Time // when a Delay that runs is over; 0: it does not run
}

// OpenDeps are the dependencies that are not fulfilled: what a listing shows.
// Where one is enough, none is open once one is fulfilled.
func (j *Job) OpenDeps() []Dependency {
	var open []Dependency
	for _, d := range j.Deps {
		switch {
		case d.State != Fulfilled:
			open = append(open, d)
		case j.AnyDep:
			return nil
		}
	}
	return open
}

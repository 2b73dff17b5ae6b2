package job

// State is the base state of a job: exactly one holds at any time. The words
// are those of squeue(1), JOB STATE CODES.
type State uint8

// The base states. The numbers are stored; never reorder them.
const (
	Pending State = iota + 1
	Running
	Suspended
	Completed
	Cancelled
	Failed
	Timeout
	NodeFail
	Preempted
	BootFail
	Deadline
	OutOfMemory
)

// Flag adds to a base state (squeue(1) shows the flag in place of the state).
type Flag uint32

// The state flags. The numbers are stored; never reorder them.
const (
	Completing Flag = 1 << iota // ended; some node still cleans up
	Configuring
	Requeued    // ended attempt goes back to the queue once it is cleaned up
	RequeueHold // as Requeued, and held then
	SpecialExit // as RequeueHold, in special exit state
	Resizing
	Stopped // SIGSTOP by scontrol/scancel; keeps its CPUs
	Signaling
	StageOut
	Revoked
	Reconfiguring
	LaunchFailed
)

// Ended tells whether no attempt of the job runs or will run, unless a flag
// says that it is requeued.
func (s State) Ended() bool { return s >= Completed }

// Active tells whether the job holds resources in this state.
func (s State) Active() bool { return s == Running || s == Suspended }

// Failure tells whether the job ended otherwise than by itself with success or by
// somebody's wish (Slurm's states from FAILED on).
func (s State) Failure() bool { return s.Ended() && s != Completed && s != Cancelled }

// ByController tells whether the controller ended the job. Slurm's record of it is
// written before the script has returned, so that its exit code stays 0.
func (s State) ByController() bool {
	return s == Cancelled || s == Timeout || s == Deadline || s == Preempted
}

// stateNames: long and compact form by State.
var stateNames = [...][2]string{
	Pending: {"PENDING", "PD"}, Running: {"RUNNING", "R"}, Suspended: {"SUSPENDED", "S"},
	Completed: {"COMPLETED", "CD"}, Cancelled: {"CANCELLED", "CA"}, Failed: {"FAILED", "F"},
	Timeout: {"TIMEOUT", "TO"}, NodeFail: {"NODE_FAIL", "NF"}, Preempted: {"PREEMPTED", "PR"},
	BootFail: {"BOOT_FAIL", "BF"}, Deadline: {"DEADLINE", "DL"}, OutOfMemory: {"OUT_OF_MEMORY", "OOM"},
}

// flagNames: in the order in which Slurm lets one flag hide another and the state.
var flagNames = []struct {
	flag          Flag
	long, compact string
}{
	{Completing, "COMPLETING", "CG"}, {StageOut, "STAGE_OUT", "SO"},
	{Configuring, "CONFIGURING", "CF"}, {Resizing, "RESIZING", "RS"},
	{Requeued, "REQUEUED", "RQ"}, {RequeueHold, "REQUEUE_HOLD", "RH"},
	{SpecialExit, "SPECIAL_EXIT", "SE"}, {Stopped, "STOPPED", "ST"},
	{Revoked, "REVOKED", "RV"}, {Signaling, "SIGNALING", "SI"},
}

// String is the long word of the base state, e.g. OUT_OF_MEMORY.
func (s State) String() string {
	if int(s) < len(stateNames) && s != 0 {
		return stateNames[s][0]
	}
	return "UNKNOWN"
}

// Word is what squeue prints for a state with flags: %T (long) or %t (compact).
func Word(s State, f Flag, compact bool) string {
	for _, n := range flagNames {
		if f&n.flag != 0 {
			if compact {
				return n.compact
			}
			return n.long
		}
	}
	if int(s) >= len(stateNames) || s == 0 {
		return "?"
	}
	if compact {
		return stateNames[s][1]
	}
	return stateNames[s][0]
}

// Words lists base state and all flags in long form, as JSON output does.
func Words(s State, f Flag) []string {
	out := []string{s.String()}
	for _, n := range flagNames {
		if f&n.flag != 0 {
			out = append(out, n.long)
		}
	}
	return out
}

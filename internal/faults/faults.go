// Package faults lets tests build programs that do wrong what the tests claim to
// notice. Only a build with the tag faults has any of it: there the environment
// variable FAULTS lists, separated by commas, what goes wrong.
package faults

// What can go wrong.
const (
	BoltNoSync = "bolt-no-sync" // the raft log's store does not sync its transactions
	NoDirSync  = "no-dir-sync"  // directories are not synced after a change of names
	StaleRead  = "stale-read"   // a leader answers reads without asking whether it still leads
	EarlyReply = "early-reply"  // a change of a job is acknowledged before it is committed
	NoRequests = "no-requests"  // request ids are ignored, so a repeated change is done again
	TailNoSync = "tail-no-sync" // appended raft log is not synced
)

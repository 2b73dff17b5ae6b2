// Package published rebuilds the simulators behind published tables of results,
// to the digit where that can be, so that what reads traces and measures
// schedules is known to be right. Their schedulers are not ours: each is small,
// and made like the one of its paper, oddities included.
package published

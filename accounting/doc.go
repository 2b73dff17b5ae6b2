// Package accounting will say who may use how much and who used what:
// associations, QOS, limits, fair share and reports. It comes with the
// accounting issue; until then only its ledger of finished jobs is there.
package accounting

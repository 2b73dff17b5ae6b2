// Package accounting says who may use how much: accounts, users, associations,
// QOS and their limits. It judges, without any clock or storage, whether a job may
// be submitted and whether it may start. Its ledger keeps who used what.
package accounting

// Package bench turns a configuration into a plan of cases and runs it. It knows no backend: it joins the rows that
// backends list, starts two worker processes for each pair of devices, asks them for batches of cycles until the
// statistics say enough, and appends each finished case to the journal.
//
// Read it in this order: [Config] (what was asked for), [NewPlan] (the join), [Runner] (the loop), pair.go (the two
// processes), case.go (one case: trial, batches, outcome), stop.go and warn.go (judgement of the samples).
package bench

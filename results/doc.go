// Package results is what a run leaves behind: the journal run.jsonl (the truth), summary.csv and samples.csv, the Go
// benchmark format, and the comparison of runs.
//
// The journal is one JSON object a line: a header, one line per finished case with all its samples, and an end line with
// the outcome. Every line carries a checksum, so that a journal that was cut or damaged is read as far as it is sound and
// never yields a wrong number.
//
// The runner writes through [Create] or [Open] and [Journal.Append]. Everything else starts from a [Run], which [Load]
// reads:
//
//	run, err := results.Load("gpushare-runs/20260314T150926Z-node-a")
//	rows := results.Summaries(run)                  // medians with intervals; WriteSummary makes summary.csv of them
//	fits := results.Fits(run)                       // time over size, and the break-even against staging
//	c, err := results.Compare([]*results.Run{base, run}, results.CompareOptions{})
//
// Times are nanoseconds, rates bytes per second, sizes bytes. A float that is NaN is "not estimable", as in package stats;
// it is an empty cell in CSV, null in JSON, and never 0. docs/results.md describes every file to its readers.
package results

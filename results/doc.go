// Package results is what a run leaves behind: the journal run.jsonl (the truth), summary.csv and samples.csv, the Go
// benchmark format, and the comparison of runs.
//
// The journal is one JSON object a line: a header, one line per finished case with all its samples, and an end line with
// the outcome. Every line carries a checksum, so that a journal that was cut or damaged is read as far as it is sound and
// never yields a wrong number.
package results

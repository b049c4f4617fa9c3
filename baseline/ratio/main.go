// Ratio compares the phases that gpushare-bench measured with those of the bare C
// program in the folder above:
//
//	go run ./baseline/ratio RUN/summary.csv [RUN/summary.csv …] BASELINE.csv [BASELINE.csv …]
//
// Files named summary.csv are the tool's rounds, the others those of bare C.
// It prints a line for every row of the baseline. The exit status is 0 when the
// tool is within the limits everywhere, 1 when it is not or has not measured
// something, 2 when a file can't be read.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gpushare-bench/results"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, stdout, stderr io.Writer) (status int) {
	var ours []map[key]float64
	var baselines []baseline
	for _, name := range args {
		var err error
		if filepath.Base(name) == "summary.csv" {
			var m map[key]float64
			m, err = readOurs(name)
			ours = append(ours, m)
		} else {
			var b baseline
			b, err = readFile(name, readBaseline)
			baselines = append(baselines, b)
		}
		if err != nil {
			fmt.Fprintln(stderr, "ratio:", err)
			return 2
		}
	}
	if len(ours) == 0 || len(baselines) == 0 {
		fmt.Fprintln(stderr, "usage: ratio RUN/summary.csv [RUN/summary.csv …] BASELINE.csv [BASELINE.csv …]")
		return 2
	}
	comparisons := compare(ours, baselines)
	w := bufio.NewWriter(stdout)
	writeTable(w, comparisons)
	if err := w.Flush(); err != nil {
		fmt.Fprintln(stderr, "ratio:", err)
		return 2
	}
	for _, c := range comparisons {
		if c.verdict() != within {
			return 1
		}
	}
	return 0
}

func readFile[T any](name string, read func(io.Reader, string) (T, error)) (T, error) {
	f, err := os.Open(name)
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	return read(f, name)
}

// readOurs reads the medians of a run.
func readOurs(name string) (map[key]float64, error) {
	rows, err := readFile(name, results.ReadSummary)
	if err != nil {
		return nil, err
	}
	ours, err := medians(rows)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return ours, nil
}

package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// How much slower than bare C the tool may measure: either is enough.
const (
	allowedExcess     = 0.15 // of the baseline
	allowedDifference = 3000 // nanoseconds
)

// key names what both measured.
type key struct {
	path, allocator, receiver string
	size                      int64 // bytes
	metric                    string
}

func (k key) String() string {
	return fmt.Sprintf("%s %s %s %s %s", k.path, k.allocator, k.receiver, share.FormatSize(k.size), k.metric)
}

// medians picks the rows that a baseline can have: times, between two processes
// on one device, shared from the base, nothing else kept alive.
func medians(rows []results.Row) (map[key]float64, error) {
	m := make(map[key]float64)
	for _, r := range rows {
		c := r.Case
		if r.Unit != results.Nanoseconds || r.Stats.N == 0 || c.Producer != c.Consumer || c.Offset != 0 || c.Live != 0 || c.Peers != 0 || c.Variant != "" || c.Transport == share.TransportPidfd {
			continue
		}
		k := key{c.Path, c.Allocator, c.Receiver, c.Size, r.Metric}
		if _, twice := m[k]; twice {
			return nil, fmt.Errorf("two rows for %s: give a run of one device and one cache state", k)
		}
		m[k] = r.Stats.Median
	}
	return m, nil
}

// baseline is one run of the bare C program.
type baseline struct {
	order   []key
	medians map[key]float64
}

// baselineColumns are the first columns of its CSV.
var baselineColumns = []string{"path", "allocator", "receiver", "size_bytes", "metric", "n", "median_ns"}

// errBaseline is matched when a file is not what the bare C program wrote.
var errBaseline = errors.New("not the CSV of baseline/sharing.c")

func readBaseline(r io.Reader, name string) (baseline, error) {
	b := baseline{medians: make(map[key]float64)}
	cr := csv.NewReader(r)
	head, err := cr.Read()
	if err != nil || len(head) < len(baselineColumns) || !slices.Equal(head[:len(baselineColumns)], baselineColumns) {
		return b, fmt.Errorf("%s: %w: its first line is %q", name, errBaseline, head)
	}
	for {
		cells, err := cr.Read()
		if err == io.EOF {
			return b, nil
		}
		if err != nil {
			return b, fmt.Errorf("read %s: %w", name, err)
		}
		line, _ := cr.FieldPos(0)
		size, err := strconv.ParseInt(cells[3], 10, 64)
		if err != nil {
			return b, fmt.Errorf("%s, line %d: %w: size %q", name, line, errBaseline, cells[3])
		}
		median, err := strconv.ParseFloat(cells[6], 64)
		if err != nil || math.IsNaN(median) || median < 0 || math.IsInf(median, 0) {
			return b, fmt.Errorf("%s, line %d: %w: median %q", name, line, errBaseline, cells[6])
		}
		k := key{cells[0], cells[1], cells[2], size, cells[4]}
		if _, twice := b.medians[k]; twice {
			return b, fmt.Errorf("%s, line %d: %w: a second row for %s", name, line, errBaseline, k)
		}
		b.order = append(b.order, k)
		b.medians[k] = median
	}
}

// comparison is one metric in both programs, nanoseconds. Both took turns for
// several rounds; a side's figure is the median of its rounds' medians, because
// on a machine whose processors change their clock one round says little.
type comparison struct {
	key
	base   float64 // bare C
	spread float64 // between its lowest and its highest round
	ours   float64 // the tool; NaN: not measured
}

// verdict is what a comparison comes to.
type verdict string

const (
	within  verdict = "within"
	over    verdict = "OVER"
	missing verdict = "NOT MEASURED"
)

func (c comparison) verdict() verdict {
	switch {
	case math.IsNaN(c.ours):
		return missing
	case c.ours-c.base <= allowedExcess*c.base || c.ours-c.base <= allowedDifference:
		return within
	}
	return over
}

// compare holds runs against baselines, row by row of the baselines.
func compare(ours []map[key]float64, baselines []baseline) []comparison {
	var all []comparison
	seen := make(map[key]bool)
	for _, b := range baselines {
		for _, k := range b.order {
			if seen[k] {
				continue
			}
			seen[k] = true
			var rounds []float64
			for _, other := range baselines {
				if v, ok := other.medians[k]; ok {
					rounds = append(rounds, v)
				}
			}
			all = append(all, comparison{key: k, base: stats.Quantile(rounds, 0.5), spread: slices.Max(rounds) - slices.Min(rounds), ours: median(ours, k)})
		}
	}
	return all
}

// median is that of the runs which have the metric, NaN if none has it.
func median(runs []map[key]float64, k key) float64 {
	var rounds []float64
	for _, run := range runs {
		if v, ok := run[k]; ok {
			rounds = append(rounds, v)
		}
	}
	if len(rounds) == 0 {
		return math.NaN()
	}
	return stats.Quantile(rounds, 0.5)
}

// writeTable prints the comparisons and a last line with the counts.
func writeTable(out io.Writer, all []comparison) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "path\tallocator\treceiver\tsize\tmetric\tbare C, us\tits spread, us\ttool, us\tdifference, us\tratio\t\t")
	counts := map[verdict]int{}
	for _, c := range all {
		v := c.verdict()
		counts[v]++
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t", c.path, c.allocator, c.receiver, share.FormatSize(c.size), c.metric,
			microseconds(c.base), microseconds(c.spread))
		if v == missing {
			fmt.Fprintf(w, "\t\t\t%s\t\n", v)
			continue
		}
		ratio := ""
		if c.base > 0 {
			ratio = strconv.FormatFloat(c.ours/c.base, 'f', 2, 64)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t\n", microseconds(c.ours), microseconds(c.ours-c.base), ratio, v)
	}
	w.Flush()
	fmt.Fprintf(out, "%d of %d within %.0f %% or %g us of bare C", counts[within], len(all), 100*allowedExcess, allowedDifference/1e3)
	if n := counts[missing]; n > 0 {
		fmt.Fprintf(out, "; %d not measured by the tool", n)
	}
	fmt.Fprintln(out)
}

func microseconds(ns float64) string { return strconv.FormatFloat(ns/1e3, 'f', 2, 64) }

package results

import (
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// Row is one line of summary.csv: a metric of a case, over all its repeats. A case without metrics has one row with an
// empty Metric.
type Row struct {
	Run, Host  string
	Emulated   string // name of the emulated machine; "" on real hardware
	Case       share.Case
	Link       string       // link class of the pair; "" not known
	Allocated  int64        // bytes; 0 not known
	Status     share.Status // the worst of the repeats
	Reason     string       // of the first repeat with that status
	Metric     string       // "export", "map/cuMemMap", "setup", "kernel/read"; "" for a case without metrics
	Unit       string       // Nanoseconds or BytesPerSecond
	Stats      stats.Summary
	Repeats    int              // repeats (pairs of processes) with samples of this metric
	Processes  []float64        // the median of each of them, in their order
	First      *float64         // the first cycle; the median of the first cycles with several repeats
	StopReason stats.StopReason // distinct ones of the repeats, joined with ";"
	Warnings   []Warning        // of this metric and of the case as a whole
}

// notMeasured is the summary of no samples: nothing is estimable.
func notMeasured() stats.Summary {
	nan := math.NaN()
	none := stats.Interval{Low: nan, High: nan, Level: nan}
	return stats.Summary{Median: nan, CI: none, Mean: nan, StdDev: nan, MAD: nan, Min: nan, P5: nan, P95: nan, P99: nan, Max: nan,
		Lag1: nan, EffectiveN: nan, Tick: nan}
}

// Summaries computes the rows of summary.csv, in the order in which the cases were measured and their metrics recorded.
//
// Samples of several repeats are pooled in the order of the repeats. With samples from at least [stats.MinProcesses]
// repeats the interval of the median is the pooled median plus and minus t·s/√k, where s is the standard deviation of
// the k medians of the repeats and t Student's quantile for k-1 degrees of freedom: it holds what differs from process
// to process. With fewer repeats it is the interval of the pooled samples, which does not.
func Summaries(run *Run) []Row {
	var rows []Row
	for _, g := range groupByCase(run.Cases) {
		rows = append(rows, g.rows(&run.Header)...)
	}
	return rows
}

// repeats are the results of one case, ordered by repeat.
type repeats []*CaseResult

// groupByCase collects the repeats of each case; cases are in the order of their first line.
func groupByCase(cases []CaseResult) []repeats {
	index := make(map[share.Case]int)
	var groups []repeats
	for i := range cases {
		c := &cases[i]
		k, ok := index[c.Case]
		if !ok {
			k = len(groups)
			index[c.Case] = k
			groups = append(groups, nil)
		}
		groups[k] = append(groups[k], c)
	}
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b *CaseResult) int { return a.Repeat - b.Repeat })
	}
	return groups
}

// severity orders statuses: of several repeats the worst is the case's.
var severity = map[share.Status]int{
	share.StatusOK: 0, share.StatusInterrupted: 1, share.StatusPartial: 2, share.StatusUnsupported: 3,
	share.StatusTimeout: 4, share.StatusFailed: 5, share.StatusCorrupt: 6,
}

// worst returns the first repeat with the most severe status.
func (g repeats) worst() *CaseResult {
	return slices.MaxFunc(g, func(a, b *CaseResult) int { return severity[a.Status] - severity[b.Status] })
}

// metricKey tells metrics apart: the same name with another unit is another metric.
type metricKey struct{ Name, Unit string }

// metrics lists the metrics of all repeats in the order of their first appearance.
func (g repeats) metrics() []metricKey {
	var keys []metricKey
	seen := make(map[metricKey]bool)
	for _, c := range g {
		for _, m := range c.Metrics {
			if k := (metricKey{m.Name, m.Unit}); !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
		}
	}
	return keys
}

// metric returns the metric of every repeat that has it.
func (g repeats) metric(k metricKey) []*Metric {
	var ms []*Metric
	for _, c := range g {
		for i := range c.Metrics {
			if m := &c.Metrics[i]; m.Name == k.Name && m.Unit == k.Unit {
				ms = append(ms, m)
			}
		}
	}
	return ms
}

func (g repeats) rows(h *Header) []Row {
	worst := g.worst()
	base := Row{Run: h.Run, Host: h.Host, Emulated: h.Emulated, Case: worst.Case, Status: worst.Status, Reason: worst.Reason, Stats: notMeasured()}
	for _, c := range g {
		if base.Link == "" {
			base.Link = c.Link
		}
		base.Allocated = max(base.Allocated, c.Allocated)
	}
	keys := g.metrics()
	if len(keys) == 0 {
		base.Warnings = g.warnings("")
		return []Row{base}
	}
	rows := make([]Row, 0, len(keys))
	for _, k := range keys {
		row := base
		row.Metric, row.Unit, row.Warnings = k.Name, k.Unit, g.warnings(k.Name)
		ms := g.metric(k)
		row.Stats, row.Processes = summarize(ms)
		row.Repeats = len(row.Processes)
		row.First, row.StopReason = firstCycle(ms), stopReasons(ms)
		rows = append(rows, row)
	}
	return rows
}

// summarize describes the samples of a metric over its repeats, and gives the median of each repeat.
func summarize(ms []*Metric) (stats.Summary, []float64) {
	sets := sampleSets(ms)
	medians := make([]float64, len(sets))
	for i, s := range sets {
		medians[i] = stats.Quantile(s, 0.5)
	}
	s, err := stats.Summarize(pool(sets))
	if err != nil {
		return notMeasured(), medians // there is none: the journal has refused all that is no number
	}
	if len(medians) >= stats.MinProcesses {
		s.CI = processInterval(s.Median, medians)
	}
	return s, medians
}

// sampleSets returns the samples of each repeat that has any.
func sampleSets(ms []*Metric) [][]float64 {
	var sets [][]float64
	for _, m := range ms {
		if len(m.Samples) > 0 {
			sets = append(sets, m.Samples)
		}
	}
	return sets
}

// pool concatenates the sets; one set is returned as it is.
func pool(sets [][]float64) []float64 {
	if len(sets) == 1 {
		return sets[0]
	}
	return slices.Concat(sets...)
}

// processInterval is the interval that [Summaries] documents.
func processInterval(median float64, medians []float64) stats.Interval {
	k := float64(len(medians))
	var mean, squares float64
	for _, m := range medians {
		mean += m / k
	}
	for _, m := range medians {
		squares += (m - mean) * (m - mean)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: k - 1}.Quantile(1 - (1-stats.ConfidenceLevel)/2)
	half := t * math.Sqrt(squares/(k-1)/k)
	return stats.Interval{Low: max(0, median-half), High: median + half, Level: stats.ConfidenceLevel}
}

// firstCycle returns the median of the first cycles, nil if there is none.
func firstCycle(ms []*Metric) *float64 {
	var firsts []float64
	for _, m := range ms {
		if m.First != nil {
			firsts = append(firsts, *m.First)
		}
	}
	if len(firsts) == 0 {
		return nil
	}
	v := stats.Quantile(firsts, 0.5)
	return &v
}

func stopReasons(ms []*Metric) stats.StopReason {
	var all []string
	for _, m := range ms {
		if r := string(m.StopReason); r != "" && !slices.Contains(all, r) {
			all = append(all, r)
		}
	}
	return stats.StopReason(strings.Join(all, ";"))
}

// warnings returns those of the metric and of the case as a whole; for an empty metric all of them.
func (g repeats) warnings(metric string) []Warning {
	var all []Warning
	for _, c := range g {
		for _, w := range c.Warnings {
			if (metric == "" || w.Metric == "" || w.Metric == metric) && !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}

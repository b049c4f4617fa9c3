package plots

import (
	"math"
	"slices"
	"strings"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// Row returns the summary of a metric at a size; nil if it was not measured. A metric without an estimable median counts as
// not measured, and so does one of a case whose bytes were wrong.
func (w *Way) Row(size int64, metric string) *results.Row {
	c := w.cells[size]
	if c == nil || c.status == share.StatusCorrupt {
		return nil
	}
	r := c.rows[metric]
	if r == nil || math.IsNaN(r.Stats.Median) {
		return nil
	}
	return r
}

// Status returns how the case ended and why; "" if there is none of that size.
func (w *Way) Status(size int64) (share.Status, string) {
	if c := w.cells[size]; c != nil {
		return c.status, c.reason
	}
	return "", ""
}

// Sizes lists the sizes of the way's cases, whether measured or not.
func (w *Way) Sizes() []int64 { return w.sizes }

// Metrics lists the metrics measured at any size, in the order of the journal.
func (w *Way) Metrics() []string {
	var names []string
	for _, size := range w.sizes {
		for _, res := range w.cells[size].results {
			for _, m := range res.Metrics {
				if !slices.Contains(names, m.Name) {
					names = append(names, m.Name)
				}
			}
		}
	}
	return names
}

// Samples returns a metric's samples over all repeats, and the first cycles, one a repeat.
func (w *Way) Samples(size int64, metric string) (samples, first []float64) {
	c := w.cells[size]
	if c == nil || c.status == share.StatusCorrupt {
		return nil, nil
	}
	for _, res := range c.results {
		for _, m := range res.Metrics {
			if m.Name == metric {
				samples = append(samples, m.Samples...)
				if m.First != nil {
					first = append(first, *m.First)
				}
			}
		}
	}
	return samples, first
}

// Joined returns what it took each process of a case with peers to join those before it, of several repeats the median.
func (w *Way) Joined(size int64) []results.Joined {
	c := w.cells[size]
	if c == nil || c.status == share.StatusCorrupt {
		return nil
	}
	var joined []results.Joined
	for i := 0; ; i++ {
		var wall, export, imp, mapped []int64
		for _, res := range c.results {
			if i < len(res.Joined) {
				j := res.Joined[i]
				wall, export, imp, mapped = append(wall, j.Wall), append(export, j.Export), append(imp, j.Import), append(mapped, j.Map)
			}
		}
		if len(wall) == 0 {
			return joined
		}
		joined = append(joined, results.Joined{Wall: middle(wall), Export: middle(export), Import: middle(imp), Map: middle(mapped)})
	}
}

// middle is the median of at least one value, of an even number the lower one.
func middle(values []int64) int64 {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

// Has reports whether the metric was measured in the view, by any way at any size.
func (v *View) Has(metric string) bool {
	return slices.ContainsFunc(v.Ways, func(w *Way) bool {
		return slices.ContainsFunc(w.sizes, func(size int64) bool { return w.Row(size, metric) != nil })
	})
}

// MeasuredSizes lists the sizes at which any way has any metric.
func (v *View) MeasuredSizes() []int64 {
	var sizes []int64
	for _, size := range v.Sizes {
		if slices.ContainsFunc(v.Ways, func(w *Way) bool { return w.measured(size) }) {
			sizes = append(sizes, size)
		}
	}
	return sizes
}

func (w *Way) measured(size int64) bool {
	c := w.cells[size]
	return c != nil && c.status != share.StatusCorrupt && len(c.rows) > 0
}

// DefaultSize is the size to show first: the one that most ways have been measured at; of several the one nearest to
// 2 MiB, the granularity of GPU memory. It is 0 when nothing was measured.
func (v *View) DefaultSize() int64 {
	best, most := int64(0), 0
	distance := func(size int64) float64 { return math.Abs(math.Log2(float64(size)) - 21) }
	for _, size := range v.MeasuredSizes() {
		n := 0
		for _, w := range v.Ways {
			if w.measured(size) {
				n++
			}
		}
		if n > most || n == most && distance(size) < distance(best) {
			best, most = size, n
		}
	}
	return best
}

// Interval returns the ends of a row's interval, or the median twice where there is none.
func Interval(r *results.Row) (low, high float64) {
	if ci := r.Stats.CI; ci.Estimable() {
		return ci.Low, ci.High
	}
	return r.Stats.Median, r.Stats.Median
}

// LatencyMetrics are the metrics of a cycle in the order of a cycle, setup first.
func LatencyMetrics() []string {
	names := []string{share.Setup}
	for _, p := range share.Phases() {
		names = append(names, p.String())
	}
	return names
}

// KernelMetric is the name of a kernel's metric.
func KernelMetric(k share.Kernel) string { return "kernel/" + string(k) }

// BandwidthMetrics are the metrics of the kernels that move bytes.
func BandwidthMetrics() []string {
	var names []string
	for _, k := range share.Kernels() {
		if k != share.KernelChase {
			names = append(names, KernelMetric(k))
		}
	}
	return names
}

// MetricTitle names a metric for people.
func MetricTitle(metric string) string {
	switch metric {
	case share.Setup:
		return "setup (export + transfer + import + map)"
	case share.FirstTouch.String():
		return "first touch"
	}
	if k, ok := strings.CutPrefix(metric, "kernel/"); ok {
		if k == string(share.KernelChase) {
			return "latency of a dependent load (chase)"
		}
		return k + " bandwidth"
	}
	return metric
}

// cached reports whether a bandwidth is more than the memory can give.
func cached(r *results.Row) bool {
	return slices.ContainsFunc(r.Warnings, func(w results.Warning) bool { return w.Code == "cached" && w.Metric == r.Metric })
}

// finite refuses what can't be drawn.
func finite(values ...float64) error {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return ErrNotFinite
		}
	}
	return nil
}

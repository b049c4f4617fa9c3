package plots

import (
	"fmt"
	"slices"
	"strings"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// Figures lists every picture that the run has data for, the ones to look at first first. Curves are drawn for one pair of
// each link class; all pairs are in the matrices.
func Figures(run *results.Run) []Figure {
	d := NewData(run)
	var all []Figure
	views := d.Representatives()
	for _, v := range views {
		suffix := ""
		if len(views) > 1 {
			suffix = "-" + fileName(v.Name)
		}
		add := func(f Figure, err error) {
			if err == nil { // a picture without data is no picture
				f.Name += suffix
				all = append(all, f)
			}
		}
		add(d.Latency(v, share.Setup))
		add(d.Phases(v))
		if size := v.DefaultSize(); size > 0 {
			add(d.Cycle(v, size))
		}
		for _, m := range BandwidthMetrics() {
			add(d.Bandwidth(v, m))
		}
		add(d.Latency(v, KernelMetric(share.KernelChase)))
		if size := v.DefaultSize(); size > 0 {
			add(d.Distribution(v, size, share.Setup))
		}
		add(d.BreakEven(v))
		add(d.Live(v))
		add(d.Peers(v))
	}
	return append(all, d.matrices()...)
}

// matrices are those of setup and of the kernels that have one.
func (d *Data) matrices() []Figure {
	var all []Figure
	for _, metric := range MatrixMetrics() {
		if m, ok := d.MainMatrix(metric); ok {
			if f, err := d.MatrixFigure(m); err == nil {
				all = append(all, f)
			}
		}
	}
	return all
}

// MainMatrix is the matrix of the way that was measured between most pairs; false if there is none of two or more.
func (d *Data) MainMatrix(metric string) (Matrix, bool) {
	ways := d.MatrixWays(metric)
	if len(ways) == 0 {
		return Matrix{}, false
	}
	m := d.Matrix(ways[0], d.MatrixSize(ways[0], metric), metric)
	return m, m.Measured() > 1
}

// MatrixSize is the size at which a way was measured between most pairs, of several the largest.
func (d *Data) MatrixSize(way MatrixWay, metric string) int64 {
	count := make(map[int64]int)
	for _, v := range d.Views {
		for _, w := range v.Ways {
			for _, size := range w.sizes {
				if keyOf(w.Case) == way.Key && w.Row(size, metric) != nil {
					count[size]++
				}
			}
		}
	}
	best := int64(0)
	for size, n := range count {
		if n > count[best] || n == count[best] && size > best {
			best = size
		}
	}
	return best
}

// ComparisonFigures lists the pictures of a comparison: for each run but the base the ratios of setup and the phases and those
// of the kernels, and both curves of setup and of the kernels over size.
func ComparisonFigures(c *results.Comparison) []Figure {
	var all []Figure
	for i := 1; i < len(c.Runs); i++ {
		suffix := ""
		if len(c.Runs) > 2 {
			suffix = fmt.Sprintf("-%d-%s", i, fileName(c.Runs[i].Label))
		}
		add := func(f Figure, err error) {
			if err == nil {
				f.Name += suffix
				all = append(all, f)
			}
		}
		kernel := func(m string) bool { return strings.HasPrefix(m, "kernel/") }
		add(Ratios(c, i, "times", func(m string) bool { return slices.Contains(LatencyMetrics(), m) }))
		add(Ratios(c, i, "kernels", kernel))
		add(BothCurves(c, i, share.Setup))
		for _, k := range share.Kernels() {
			add(BothCurves(c, i, KernelMetric(k)))
		}
	}
	return all
}

package plots

import (
	"fmt"
	"strings"

	"gpushare-bench/results"
)

// Bandwidth shows what a kernel of the consumer moves, against the physical peak of the memory and against the same kernel on
// local memory.
func (d *Data) Bandwidth(v *View, metric string) (Figure, error) {
	curves, sizes, _ := v.curvesOf(metric)
	f := Figure{
		Name: "bandwidth-" + fileName(metric), Title: capital(MetricTitle(metric)) + " of the consumer",
		Subtitle: d.subtitle(v), Emulated: d.Run.Header.Emulated, Width: figureWidth, Height: figureHeight,
		Notes: []string{intervalNote + " Payload is counted once; GB/s = 1e9 bytes/s."},
	}
	c := chart{yLabel: MetricTitle(metric), unit: results.BytesPerSecond, curves: curves, sizes: sizes}
	for _, cv := range curves {
		for _, p := range cv.points {
			if p.open && len(f.Notes) == 1 {
				f.Notes = append(f.Notes, "Hollow: above the physical peak, so this was a cache and not the memory.")
			}
		}
	}
	var drawn []string
	if len(curves) > 0 {
		for _, r := range d.references(v, metric) {
			c.levels, drawn = append(c.levels, r.level), append(drawn, r.note)
		}
	}
	if len(drawn) > 0 {
		f.Notes[0] += " Dashed: " + strings.Join(drawn, ", and ") + "."
	}
	return f.withChart(c)
}

// reference is a line that a bandwidth is held against, with what it is.
type reference struct {
	level
	note string
}

// references are the physical peak of the producer's memory, and what the consumer reached on memory of its own.
func (d *Data) references(v *View, metric string) []reference {
	var all []reference
	if dev, ok := d.Device(v.Producer); ok && dev.PeakBytes > 0 {
		all = append(all, reference{level{fmt.Sprintf("peak of %s: %s", d.DeviceName(v.Producer),
			results.FormatQuantity(dev.PeakBytes, results.BytesPerSecond)), dev.PeakBytes}, "the physical peak of the producer's memory"})
	}
	if best := d.Local(v, metric); best > 0 {
		all = append(all, reference{level{fmt.Sprintf("local on %s: %s", d.DeviceName(v.Consumer),
			results.FormatQuantity(best, results.BytesPerSecond)), best}, "the best that the consumer reached on memory of its own"})
	}
	return all
}

// Local is the best median that the consumer of a view reached with the kernel on memory of its own, without cached ones; 0 if
// not measured. Its own is a copy, and memory that another process on the same device shares with it, unless that is what is
// looked at.
func (d *Data) Local(view *View, metric string) float64 {
	best := 0.0
	for _, v := range d.Views {
		if v.Consumer != view.Consumer {
			continue
		}
		for _, w := range v.Ways {
			if w.Case.Path != Baseline && (v == view || v.Producer != v.Consumer) {
				continue
			}
			for _, size := range w.sizes {
				if r := w.Row(size, metric); r != nil && !cached(r) {
					best = max(best, r.Stats.Median)
				}
			}
		}
	}
	return best
}

package plots

import (
	"fmt"

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
	c.levels = d.references(v, metric, curves)
	if len(c.levels) > 0 {
		f.Notes[0] += " Dashed: the physical peak of the memory, and what the consumer reached on its own."
	}
	return f.withChart(c)
}

// references are the physical peak of the producer's memory, and the best of the consumer's local memory where the pair is
// remote and local pairs were measured.
func (d *Data) references(v *View, metric string, curves []curve) []level {
	var levels []level
	if dev, ok := d.Device(v.Producer); ok && dev.PeakBytes > 0 && len(curves) > 0 {
		levels = append(levels, level{fmt.Sprintf("peak of %s: %s", d.DeviceName(v.Producer),
			results.FormatQuantity(dev.PeakBytes, results.BytesPerSecond)), dev.PeakBytes})
	}
	if best := d.Local(v.Consumer, metric); v.Producer != v.Consumer && best > 0 && len(curves) > 0 {
		levels = append(levels, level{fmt.Sprintf("local on %s: %s", d.DeviceName(v.Consumer),
			results.FormatQuantity(best, results.BytesPerSecond)), best})
	}
	return levels
}

// Local is the best median that the device reached with the kernel on its own memory, without cached ones; 0 if not measured.
func (d *Data) Local(device, metric string) float64 {
	best := 0.0
	for _, v := range d.Views {
		if v.Producer != device || v.Consumer != device {
			continue
		}
		for _, w := range v.Ways {
			for _, size := range w.sizes {
				if r := w.Row(size, metric); r != nil && !cached(r) {
					best = max(best, r.Stats.Median)
				}
			}
		}
	}
	return best
}

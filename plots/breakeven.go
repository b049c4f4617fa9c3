package plots

import (
	"fmt"
	"math"

	"gpushare-bench/results"
)

// BreakEven shows after how many uses of one buffer sharing has cost less than not sharing, by size.
func (d *Data) BreakEven(v *View) (Figure, error) {
	f := Figure{
		Name: "break-even", Title: "Uses of a buffer after which sharing is cheaper,", Subtitle: d.subtitle(v), Emulated: d.Run.Header.Emulated,
		Width: figureWidth, Height: figureHeight,
	}
	c := chart{yLabel: "uses", unit: unitUses}
	points := make(map[*Way][]point)
	never, against, reads := 0, "", false
	for _, b := range d.BreakEvens() {
		w := v.way(b.Case)
		if w == nil || b.Why != "" {
			continue
		}
		against, reads = b.Against, reads || b.Reads
		if !(b.Uses.At > 0) || math.IsInf(b.Uses.At, 0) {
			never++
			continue
		}
		low, high := b.Uses.CI.Low, b.Uses.CI.High
		if math.IsInf(high, 0) || math.IsNaN(high) {
			high = b.Uses.At * 1e3
		}
		points[w] = append(points[w], point{x: float64(b.Case.Size), y: b.Uses.At, low: max(0, low), high: high})
		c.sizes = append(c.sizes, b.Case.Size)
	}
	for _, w := range v.Ways {
		if len(points[w]) > 0 {
			c.curves = append(c.curves, curve{w.Label, w.style, byX(points[w])})
		}
	}
	c.sizes = sorted(c.sizes)
	c.levels = []level{{"one use", 1}}
	f.Notes = []string{"Points are estimates, bands their 95 % confidence intervals; below the dashed line sharing is cheaper at the first use. " + againstNote(against, reads)}
	if never > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d cases never get there and are not drawn.", never))
	}
	return f.withChart(c)
}

func againstNote(against string, reads bool) string {
	switch {
	case against == results.AgainstMemcpy:
		return "Compared with a memcpy of the buffer for each use."
	case reads:
		return "Compared with staging: two copies for each use. A use includes reading the buffer once, on both sides."
	}
	return "Compared with staging: two copies for each use."
}

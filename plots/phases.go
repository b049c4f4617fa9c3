package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// bar is one way's cycle: the medians of its phases, one after the other.
type bar struct {
	label   string
	lengths []float64 // one a phase, 0 for a phase that the way does not have
	total   float64
	partial bool
}

// Cycle shows where the time of a cycle goes, at one size.
func (d *Data) Cycle(v *View, size int64) (Figure, error) {
	f := Figure{
		Name: "cycle-" + fileName(share.FormatSize(size)), Title: "Where the time of a cycle goes, sharing " + share.FormatSize(size),
		Subtitle: d.subtitle(v), Emulated: d.Run.Header.Emulated, Width: figureWidth,
		Notes: []string{"Medians of the phases, end to end; the figure is their sum, which is no median itself. First cycles are not in it."},
	}
	var bars []bar
	partial := false
	used := make(map[share.Phase]bool)
	for _, w := range v.Ways {
		b := bar{label: w.Label}
		for _, p := range share.Phases() {
			length := 0.0
			if r := w.Row(size, p.String()); r != nil {
				length = r.Stats.Median
				used[p] = true
			}
			b.lengths = append(b.lengths, length)
			b.total += length
		}
		if math.IsNaN(b.total) || math.IsInf(b.total, 0) {
			return Figure{}, fmt.Errorf("%s: %w", f.Name, ErrNotFinite)
		}
		status, _ := w.Status(size)
		b.partial = status == share.StatusPartial
		if b.total > 0 {
			partial = partial || b.partial
			bars = append(bars, b)
		}
	}
	if len(bars) == 0 {
		return Figure{}, fmt.Errorf("%s: %w", f.Name, ErrEmpty)
	}
	if partial {
		f.Notes = append(f.Notes, "Open at the end (+ …): the system declined the consumer's half, so the cycle is not whole.")
	}
	f.Height = vg.Length(len(bars))*rowHeight + axisHeight + 26 + f.headHeight() + f.footHeight()
	f.Alt = f.Title + ". "
	for _, b := range bars {
		f.Alt += fmt.Sprintf("%s: %s", plain(b.label), results.FormatQuantity(b.total, results.Nanoseconds))
		for i, p := range share.Phases() {
			if b.lengths[i] > 0 {
				f.Alt += fmt.Sprintf(", %s %s", shortTitle(p.String()), results.FormatQuantity(b.lengths[i], results.Nanoseconds))
			}
		}
		f.Alt += ". "
	}
	f.body = func(dc draw.Canvas) { drawBars(dc, bars, used) }
	return f, nil
}

func drawBars(dc draw.Canvas, bars []bar, used map[share.Phase]bool) {
	phaseLegend(dc, used)
	width := dc.Max.X - dc.Min.X
	longest := 0.0
	for _, b := range bars {
		longest = max(longest, b.total)
	}
	p := newPlot()
	p.X.Label.Text = "time of one cycle"
	p.X.Min, p.X.Max = 0, longest
	p.X.Tick.Marker = linearTicks(0, longest, results.Nanoseconds, 7)
	p.Y.Min, p.Y.Max = -0.5, float64(len(bars))-0.5
	var ticks plot.ConstantTicks
	at := func(i int) float64 { return float64(len(bars) - 1 - i) }
	for i, b := range bars {
		ticks = append(ticks, plot.Tick{Value: at(i), Label: fit(labelStyle, b.label, width/3)})
	}
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Length = 0
	p.Y.LineStyle.Width = 0
	restyle(&p.Y.Tick.Label, labelStyle)
	area := draw.Crop(dc, 0, -74, 0, -22)
	p.Draw(area)
	data := p.DataCanvas(area)
	x, y := p.Transforms(&data)
	for _, t := range p.X.Tick.Marker.Ticks(0, longest) {
		dc.StrokeLine2(draw.LineStyle{Color: grid, Width: 0.6}, x(t.Value), data.Min.Y, x(t.Value), data.Max.Y)
	}
	st := labelStyle
	for i, b := range bars {
		from, middle := 0.0, y(at(i))
		for k, phase := range share.Phases() {
			if b.lengths[k] <= 0 {
				continue
			}
			left, right := x(from), x(from+b.lengths[k])
			dc.FillPolygon(PhaseColor(phase), rectangle(left, middle-6.5, right, middle+6.5))
			dc.StrokeLine2(draw.LineStyle{Color: paper, Width: 0.5}, right, middle-6.5, right, middle+6.5)
			from += b.lengths[k]
		}
		text := results.FormatQuantity(b.total, results.Nanoseconds)
		if b.partial {
			text += " + …"
		}
		write(dc, st, vg.Point{X: x(b.total) + 5, Y: middle}, text)
	}
}

func rectangle(left, bottom, right, top vg.Length) []vg.Point {
	return []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}
}

// phaseLegend writes the phases in the order of the bars at the top.
func phaseLegend(dc draw.Canvas, used map[share.Phase]bool) {
	st := labelStyle
	x, y := dc.Min.X, dc.Max.Y-8
	for _, p := range share.Phases() {
		if !used[p] {
			continue
		}
		dc.FillPolygon(PhaseColor(p), rectangle(x, y-4.5, x+11, y+4.5))
		text := shortTitle(p.String())
		write(dc, st, vg.Point{X: x + 15, Y: y}, text)
		x += 15 + st.Width(text) + 13
	}
}

package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// ecdfPoints bounds the steps drawn of one distribution. Those that are drawn are exact.
const ecdfPoints = 160

// steps is a distribution: the fraction of samples at most x, for rising x.
type steps struct {
	label string
	style style
	x, p  []float64
	first []float64 // first cycles, not among the samples
}

// newSteps takes at most ecdfPoints steps of the empirical distribution: the smallest, the largest, and in between the
// order statistics nearest to evenly spaced fractions, closer together in the upper tail.
func newSteps(samples []float64) (x, p []float64, err error) {
	if len(samples) == 0 {
		return nil, nil, ErrEmpty
	}
	s := slices.Clone(samples)
	slices.Sort(s)
	if err := finite(s[0], s[len(s)-1]); err != nil {
		return nil, nil, err
	}
	n := len(s)
	add := func(rank int) { // from 1
		if len(x) == 0 || float64(rank)/float64(n) > p[len(p)-1] {
			x, p = append(x, s[rank-1]), append(p, float64(rank)/float64(n))
		}
	}
	if n <= ecdfPoints {
		for i := range n {
			add(i + 1)
		}
		return x, p, nil
	}
	const body = ecdfPoints * 3 / 4
	add(1)
	for i := 1; i <= body; i++ {
		add(max(1, int(math.Round(0.95*float64(n)*float64(i)/body))))
	}
	for i := 1; i <= ecdfPoints-body-1; i++ {
		add(min(n, int(math.Ceil(float64(n)*(0.95+0.05*float64(i)/(ecdfPoints-body-1))))))
	}
	add(n)
	return x, p, nil
}

// Distribution shows the empirical distribution of a metric's samples at a size, and the first cycles above it.
func (d *Data) Distribution(v *View, size int64, metric string) (Figure, error) {
	unit := results.Nanoseconds
	var all []steps
	longest, zeros := 0, 0
	for _, w := range v.Ways {
		r := w.Row(size, metric)
		if r == nil {
			continue
		}
		unit = r.Unit
		samples, first := w.Samples(size, metric)
		longest = max(longest, len(samples))
		if slices.Min(samples) <= 0 {
			zeros++
			continue
		}
		x, p, err := newSteps(samples)
		if err != nil {
			return Figure{}, fmt.Errorf("distribution of %s, %s: %w", metric, plain(w.Label), err)
		}
		all = append(all, steps{w.Label, w.style, x, p, first})
	}
	f := Figure{
		Name:  "distribution-" + fileName(metric),
		Title: fmt.Sprintf("Distribution of %s, sharing %s", MetricTitle(metric), share.FormatSize(size)), Subtitle: d.subtitle(v), Emulated: d.Run.Header.Emulated, Width: figureWidth, Height: figureHeight,
		Notes: []string{fmt.Sprintf("Each curve: the fraction of samples at most that %s. Marks on the curves: medians.", map[string]string{results.Nanoseconds: "long", results.BytesPerSecond: "fast"}[unit])},
	}
	if slices.ContainsFunc(all, func(s steps) bool { return len(s.first) > 0 }) {
		f.Notes[0] += " Marks above 100 %: first cycles, which are not among the samples."
	}
	if longest > ecdfPoints {
		f.Notes = append(f.Notes, fmt.Sprintf("Drawn through at most %d of up to %d samples; the points drawn are exact.", ecdfPoints, longest))
	}
	if zeros > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d ways have samples of 0 ns, below the clock's step, and are not drawn.", zeros))
	}
	if len(all) == 0 {
		return Figure{}, fmt.Errorf("%s: %w", f.Name, ErrEmpty)
	}
	f.Alt = f.Title + ". "
	for _, s := range all {
		f.Alt += fmt.Sprintf("%s: from %s to %s. ", plain(s.label), results.FormatQuantity(s.x[0], unit), results.FormatQuantity(s.x[len(s.x)-1], unit))
	}
	f.body = func(dc draw.Canvas) { drawSteps(dc, all, axisTitle(metric, unit), unit) }
	return f, nil
}

const firstStrip = 0.16 // height of the strip for first cycles, in fractions of the axis

func drawSteps(dc draw.Canvas, all []steps, name, unit string) {
	var legend []curve
	for _, s := range all {
		legend = append(legend, curve{label: s.label, style: s.style})
	}
	height := legendRows(&dc, legend, dc.Max.X-dc.Min.X)
	area := draw.Crop(dc, 0, -8, height+8, 0)
	p := newPlot()
	p.X.Scale = plot.LogScale{}
	p.X.Label.Text = name
	p.Y.Label.Text = "fraction of samples"
	low, high, strip := math.Inf(1), 0.0, 0.0
	for _, s := range all {
		low, high = min(low, s.x[0]), max(high, s.x[len(s.x)-1])
		for _, v := range s.first {
			if v > 0 {
				low, high, strip = min(low, v), max(high, v), firstStrip
			}
		}
	}
	p.X.Min, p.X.Max = around(low, high, 2)
	p.X.Tick.Marker = logTicks(p.X.Min, p.X.Max, unit)
	p.Y.Min, p.Y.Max = 0, 1+strip
	for _, v := range []float64{0, 25, 50, 75, 100} {
		p.Y.Tick.Marker = append(ticksOf(p.Y.Tick.Marker), plot.Tick{Value: v / 100, Label: tickLabel(v, unitPercent)})
	}
	p.Add(gridLines{})
	p.Draw(area)
	data := p.DataCanvas(area)
	x, y := p.Transforms(&data)
	for i, s := range all {
		pts := []vg.Point{{X: x(s.x[0]), Y: y(0)}}
		for k := range s.x {
			pts = append(pts, vg.Point{X: x(s.x[k]), Y: pts[len(pts)-1].Y}, vg.Point{X: x(s.x[k]), Y: y(s.p[k])})
		}
		dc.StrokeLines(s.style.line(), pts)
		if k := slices.IndexFunc(s.p, func(p float64) bool { return p >= 0.5 }); k >= 0 {
			dc.DrawGlyph(s.style.point(3.2), vg.Point{X: x(s.x[k]), Y: y(0.5)})
		}
		at := y(1 + firstStrip*(0.25+0.7*float64(i)/float64(len(all))))
		for _, v := range s.first {
			if v > 0 {
				dc.DrawGlyph(s.style.point(3), vg.Point{X: x(v), Y: at})
			}
		}
	}
	if strip == 0 {
		return
	}
	st := aligned(noteStyle, draw.XRight, draw.YTop)
	dc.FillText(st, vg.Point{X: data.Max.X - 2, Y: data.Max.Y - 2}, "first cycles")
}

// ticksOf returns the constant ticks collected so far.
func ticksOf(t plot.Ticker) plot.ConstantTicks {
	c, _ := t.(plot.ConstantTicks)
	return c
}

package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// forestRow is an estimate with its interval on a line of its own.
type forestRow struct {
	label        string
	style        style
	y, low, high float64 // +Inf: beyond the axis, drawn as an arrow
	open         bool
	value        string // written at the right end
}

// forest is rows of estimates over a logarithmic axis, the first row on top.
type forest struct {
	xLabel string
	unit   string
	rows   []forestRow
	levels []level
}

const (
	rowHeight  = vg.Length(20)
	axisHeight = vg.Length(40)
)

func (f *forest) height() vg.Length { return vg.Length(len(f.rows))*rowHeight + axisHeight + 14 }

func (f *forest) check() error {
	if len(f.rows) == 0 {
		return ErrEmpty
	}
	for _, r := range f.rows {
		for _, v := range []float64{r.y, r.low, r.high} {
			if math.IsNaN(v) || math.IsInf(v, -1) {
				return fmt.Errorf("row %q: %w", plain(r.label), ErrNotFinite)
			}
		}
		if r.y <= 0 {
			return fmt.Errorf("row %q: %w", plain(r.label), ErrNotPositive)
		}
	}
	return nil
}

func (f *forest) xRange() (low, high float64) {
	low, high = math.Inf(1), 0
	add := func(v float64) {
		if v > 0 && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	for _, r := range f.rows {
		add(r.y)
	}
	for _, l := range f.levels {
		add(l.y)
	}
	if high == 0 {
		low, high = 1, 1
	}
	wide := [2]float64{low / 3, high * 3}
	for _, r := range f.rows {
		add(max(r.low, wide[0]))
		add(min(r.high, wide[1]))
	}
	return around(low, high, 1.2)
}

// axes makes the plot: labels of the rows are ticks of the y axis.
func (f *forest) axes(labelRoom vg.Length) *plot.Plot {
	p := newPlot()
	p.X.Scale = plot.LogScale{}
	p.X.Label.Text = f.xLabel
	p.X.Min, p.X.Max = f.xRange()
	p.X.Tick.Marker = logTicks(p.X.Min, p.X.Max, f.unit)
	p.Y.Min, p.Y.Max = -0.5, float64(len(f.rows))-0.5
	var ticks plot.ConstantTicks
	for i, r := range f.rows {
		ticks = append(ticks, plot.Tick{Value: f.at(i), Label: fit(labelStyle, r.label, labelRoom)})
	}
	p.Y.Tick.Marker = ticks
	p.Y.Tick.Length = 0
	restyle(&p.Y.Tick.Label, labelStyle)
	p.Y.LineStyle.Width = 0
	return p
}

func (f *forest) at(row int) float64 { return float64(len(f.rows) - 1 - row) }

func (f *forest) draw(dc draw.Canvas) {
	width := dc.Max.X - dc.Min.X
	var values vg.Length
	for _, r := range f.rows {
		values = max(values, labelStyle.Width(r.value))
	}
	values = min(values+14, width*2/5)
	p := f.axes(width / 3)
	area := draw.Crop(dc, 0, -values, 0, -14)
	p.Draw(area)
	data := p.DataCanvas(area)
	x, y := p.Transforms(&data)
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if !t.IsMinor() && t.Value >= p.X.Min && t.Value <= p.X.Max {
			dc.StrokeLine2(draw.LineStyle{Color: grid, Width: 0.6}, x(t.Value), data.Min.Y, x(t.Value), data.Max.Y)
		}
	}
	var free vg.Length // where the next name of a level may begin
	for _, l := range f.levels {
		dc.StrokeLine2(draw.LineStyle{Color: ink, Width: 1, Dashes: dashed}, x(l.y), data.Min.Y, x(l.y), data.Max.Y)
		st := aligned(colored(noteStyle, ink), draw.XCenter, draw.YBottom)
		text := fit(st, l.label, width/3)
		half := st.Width(text) / 2
		at := min(max(x(l.y), dc.Min.X+half, free+half), dc.Max.X-half)
		dc.FillText(st, vg.Point{X: at, Y: data.Max.Y + 2}, text)
		free = at + half + 8
	}
	st := labelStyle
	for i, r := range f.rows {
		at := y(f.at(i))
		f.drawRow(data, r, x, at, p.X.Min, p.X.Max)
		write(dc, st, vg.Point{X: area.Max.X + 10, Y: at}, fit(st, r.value, values))
	}
}

// drawRow draws the interval with end strokes, an arrow where it leaves the axis, and the estimate.
func (f *forest) drawRow(c draw.Canvas, r forestRow, x func(float64) vg.Length, at vg.Length, low, high float64) {
	st := draw.LineStyle{Color: r.style.color, Width: 1.6}
	a, b := x(min(max(r.low, low), high)), x(min(max(r.high, low), high))
	c.StrokeLine2(st, a, at, b, at)
	end := func(px vg.Length, inside bool, direction vg.Length) {
		if inside {
			c.StrokeLine2(st, px, at-3, px, at+3)
			return
		}
		c.StrokeLines(st, []vg.Point{{X: px - 5*direction, Y: at + 3.5}, {X: px, Y: at}, {X: px - 5*direction, Y: at - 3.5}})
	}
	end(a, r.low >= low, -1)
	end(b, r.high <= high, 1)
	if r.y > high {
		return
	}
	glyph := r.style.point(3.4)
	if r.open {
		c.DrawGlyph(draw.GlyphStyle{Color: paper, Radius: 4, Shape: draw.CircleGlyph{}}, vg.Point{X: x(r.y), Y: at})
		glyph.Shape = draw.RingGlyph{}
	}
	c.DrawGlyph(glyph, vg.Point{X: x(r.y), Y: at})
}

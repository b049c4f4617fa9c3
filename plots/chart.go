package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// point is a value with its interval at a position; low = high = y where there is no interval.
type point struct {
	x, y, low, high float64
	open            bool // drawn hollow: it is not what it seems, see the notes
}

// curve is a line through points in the order of x.
type curve struct {
	label  string
	style  style
	points []point
}

// level is a horizontal line that curves are held against.
type level struct {
	label string
	y     float64
}

// chart is curves over sizes, both axes logarithmic.
type chart struct {
	yLabel string
	unit   string
	curves []curve
	levels []level
	sizes  []int64
}

// check refuses what has no place on logarithmic axes.
func (c *chart) check() error {
	n := 0
	for _, cv := range c.curves {
		for _, p := range cv.points {
			if err := finite(p.x, p.y, p.low, p.high); err != nil {
				return fmt.Errorf("curve %q: %w", plain(cv.label), err)
			}
			if p.x <= 0 || p.y <= 0 {
				return fmt.Errorf("curve %q: %w", plain(cv.label), ErrNotPositive)
			}
			n++
		}
	}
	for _, l := range c.levels {
		if err := finite(l.y); err != nil {
			return fmt.Errorf("line %q: %w", plain(l.label), err)
		}
		if l.y <= 0 {
			return fmt.Errorf("line %q: %w", plain(l.label), ErrNotPositive)
		}
	}
	if n == 0 || len(c.sizes) == 0 {
		return ErrEmpty
	}
	return nil
}

// yRange holds all points and lines. Intervals may leave it: one that reaches zero has no end on a logarithmic axis.
func (c *chart) yRange() (low, high float64) {
	low, high = math.Inf(1), 0
	for _, cv := range c.curves {
		for _, p := range cv.points {
			low, high = min(low, p.y), max(high, p.y)
		}
	}
	wide := [2]float64{low / 2, high * 2}
	for _, cv := range c.curves {
		for _, p := range cv.points {
			low, high = min(low, max(p.low, wide[0])), max(high, min(p.high, wide[1]))
		}
	}
	for _, l := range c.levels {
		low, high = min(low, l.y), max(high, l.y)
	}
	return around(low, high, 2)
}

// plot makes axes and curves. xTicks is how many labels find room on the x axis.
func (c *chart) plot(xTicks int) *plot.Plot {
	p := newPlot()
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Label.Text = "shared size"
	p.Y.Label.Text = c.yLabel
	p.X.Min, p.X.Max = around(float64(c.sizes[0]), float64(c.sizes[len(c.sizes)-1]), 4)
	p.Y.Min, p.Y.Max = c.yRange()
	p.X.Tick.Marker = sizeTicks(c.sizes, xTicks)
	p.Y.Tick.Marker = logTicks(p.Y.Min, p.Y.Max, c.unit)
	p.Add(gridLines{})
	for _, l := range c.levels {
		p.Add(levelLine(l))
	}
	for _, cv := range c.curves {
		p.Add(band{cv, p.Y.Min, p.Y.Max})
	}
	for _, cv := range c.curves {
		p.Add(line(cv))
	}
	return p
}

// gridLines draws a line at every labelled tick.
type gridLines struct{}

func (gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	st := draw.LineStyle{Color: grid, Width: 0.6}
	for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		if !t.IsMinor() && t.Value >= p.X.Min && t.Value <= p.X.Max {
			c.StrokeLine2(st, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
	}
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		if !t.IsMinor() && t.Value >= p.Y.Min && t.Value <= p.Y.Max {
			c.StrokeLine2(st, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
}

type levelLine level

var levelStyle = draw.LineStyle{Color: ink, Width: 1, Dashes: dashed}

func (l levelLine) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	c.StrokeLine2(levelStyle, c.Min.X, y(l.y), c.Max.X, y(l.y))
}

// band shades the intervals of a curve.
type band struct {
	curve
	min, max float64
}

func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(v float64) vg.Length { return y(min(max(v, b.min), b.max)) }
	n := len(b.points)
	outline := make([]vg.Point, 0, 2*n)
	for _, q := range b.points {
		outline = append(outline, vg.Point{X: x(q.x), Y: at(q.high)})
	}
	for _, q := range slices.Backward(b.points) {
		outline = append(outline, vg.Point{X: x(q.x), Y: at(q.low)})
	}
	if n > 1 {
		c.FillPolygon(faded(b.style.color, 50), outline)
		return
	}
	for _, q := range b.points {
		c.StrokeLine2(draw.LineStyle{Color: b.style.color, Width: 1}, x(q.x), at(q.low), x(q.x), at(q.high))
	}
}

// line draws a curve with a glyph at each point.
type line curve

func (l line) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	pts := make([]vg.Point, len(l.points))
	for i, q := range l.points {
		pts[i] = vg.Point{X: x(q.x), Y: y(q.y)}
	}
	c.StrokeLines(l.style.line(), pts)
	radius := vg.Length(2.6)
	if len(pts) > 12 {
		radius = 2
	}
	for i, at := range pts {
		st := l.style.point(radius)
		if l.points[i].open {
			c.DrawGlyph(draw.GlyphStyle{Color: paper, Radius: radius, Shape: draw.CircleGlyph{}}, at)
			st.Shape = draw.RingGlyph{}
			st.Radius += 1
		}
		c.DrawGlyph(st, at)
	}
}

// endLabels draws the names of curves and levels right of the plot, each at the height of its last point as far as they
// leave each other room, with a connector where it had to move.
func (ch *chart) endLabels(c draw.Canvas, p *plot.Plot, data draw.Canvas) {
	st := labelStyle
	leading := vg.Length(13)
	if room := (data.Max.Y - data.Min.Y + leading) / vg.Length(len(ch.curves)+len(ch.levels)); room < leading {
		leading = max(room, 9)
		st.Font.Size = min(st.Font.Size, leading-1)
	}
	x, y := p.Transforms(&data)
	type end struct {
		label   string
		line    draw.LineStyle
		glyph   *draw.GlyphStyle
		x, from vg.Length
	}
	var ends []end
	for _, cv := range ch.curves {
		last := cv.points[len(cv.points)-1]
		glyph := cv.style.point(2.6)
		ends = append(ends, end{cv.label, cv.style.line(), &glyph, x(last.x), y(last.y)})
	}
	for _, l := range ch.levels {
		ends = append(ends, end{l.label, levelStyle, nil, data.Max.X, y(l.y)})
	}
	slices.SortStableFunc(ends, func(a, b end) int {
		switch {
		case a.from > b.from:
			return -1
		case a.from < b.from:
			return 1
		}
		return 0
	})
	places := make([]vg.Length, len(ends))
	for i := range ends {
		places[i] = ends[i].from
	}
	spread(places, leading, data.Min.Y, data.Max.Y)
	left := data.Max.X + 34
	for i, e := range ends {
		at := places[i]
		c.StrokeLines(draw.LineStyle{Color: e.line.Color, Width: 0.6},
			[]vg.Point{{X: min(e.x+5, data.Max.X), Y: e.from}, {X: data.Max.X + 2, Y: e.from}, {X: data.Max.X + 11, Y: at}})
		c.StrokeLines(e.line, []vg.Point{{X: data.Max.X + 11, Y: at}, {X: left - 3, Y: at}})
		if e.glyph != nil {
			c.DrawGlyph(*e.glyph, vg.Point{X: data.Max.X + 21, Y: at})
		}
		write(c, st, vg.Point{X: left, Y: at}, fit(st, e.label, c.Max.X-left))
	}
}

// spread moves places, given from the top down, as little as possible so that neighbours are a leading apart and all lie
// within the range if it has room for them.
func spread(places []vg.Length, leading, low, high vg.Length) {
	for range 200 {
		moved := false
		for i := 1; i < len(places); i++ {
			if gap := places[i-1] - places[i]; gap < leading-0.01 {
				shift := (leading - gap) / 2
				places[i-1] += shift
				places[i] -= shift
				moved = true
			}
		}
		if n := len(places); n > 0 {
			places[0] = min(places[0], high)
			places[n-1] = max(places[n-1], low)
		}
		if !moved {
			return
		}
	}
	if len(places) == 0 {
		return
	}
	for i := 1; i < len(places); i++ { // what is left of the conflict is pushed down
		places[i] = min(places[i], places[i-1]-leading)
	}
}

// labelWidth is the room that the names of curves and levels need, at most a third of the picture.
func (ch *chart) labelWidth(total vg.Length) vg.Length {
	var w vg.Length
	for _, cv := range ch.curves {
		w = max(w, labelStyle.Width(fit(labelStyle, cv.label, total)))
	}
	for _, l := range ch.levels {
		w = max(w, labelStyle.Width(fit(labelStyle, l.label, total)))
	}
	return min(w+40, total/3)
}

// draw draws the chart with labels at the ends of its curves.
func (c *chart) draw(dc draw.Canvas) {
	right := c.labelWidth(dc.Max.X - dc.Min.X)
	p := c.plot(9)
	area := draw.Crop(dc, 0, -right, 0, 0)
	p.Draw(area)
	c.endLabels(dc, p, p.DataCanvas(area))
}

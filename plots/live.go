package plots

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// company is what there is beside the measured mapping, in a number that a run may sweep.
type company struct {
	name  string // of the figure
	title string // in its title, after "by"
	axis  string
	alt   string // behind a number
	count func(*share.Case) *int
}

var (
	liveMappings = company{"live", "the number of other live mappings", "other live mappings", "live", func(c *share.Case) *int { return &c.Live }}
	peers        = company{"peers", "the number of peers that had mapped all buffers", "peers", "peers", func(c *share.Case) *int { return &c.Peers }}
)

// companyMetrics are what company may slow down.
var companyMetrics = []string{share.Setup, share.Import.String(), share.Map.String()}

// Live shows setup, import and map by the number of other mappings that were alive, at the size that most ways have. It is
// empty where the ways of the view differ in nothing of the kind.
func (d *Data) Live(v *View) (Figure, error) { return d.byCompany(v, liveMappings) }

// Peers shows the same by the number of peers, processes that had mapped each other's and the pair's buffers.
func (d *Data) Peers(v *View) (Figure, error) { return d.byCompany(v, peers) }

func (d *Data) byCompany(v *View, what company) (Figure, error) {
	size := v.DefaultSize()
	f := Figure{
		Name: what.name, Title: fmt.Sprintf("Time of setup, import and map by %s, sharing %s", what.title, share.FormatSize(size)),
		Subtitle: d.subtitle(v), Emulated: d.Run.Header.Emulated, Width: figureWidth,
		Notes: []string{intervalNote + " All panels have the same axes."},
	}
	groups, counts := v.inCompany(size, what)
	if len(counts) < 2 {
		return Figure{}, fmt.Errorf("%s: %w", f.Name, ErrEmpty)
	}
	var titles []string
	var charts []chart
	f.Alt = f.Title + ". "
	for _, metric := range companyMetrics {
		c := chart{unit: results.Nanoseconds}
		alt := ""
		for _, g := range groups {
			cv := curve{label: g.label, style: g.style}
			for _, w := range g.ways {
				r := w.Row(size, metric)
				if r == nil || r.Stats.Median <= 0 {
					continue
				}
				low, high := Interval(r)
				n := *what.count(&w.Case)
				cv.points = append(cv.points, point{x: countAt(n), y: r.Stats.Median, low: low, high: high})
				c.sizes = append(c.sizes, int64(countAt(n)))
				alt += fmt.Sprintf("%s, %d %s: %s. ", plain(g.label), n, what.alt, results.FormatQuantity(r.Stats.Median, results.Nanoseconds))
			}
			if len(cv.points) > 0 {
				c.curves = append(c.curves, cv)
			}
		}
		c.sizes = sorted(c.sizes)
		if err := c.check(); err == nil {
			titles, charts = append(titles, shortTitle(metric)), append(charts, c)
			f.Alt += shortTitle(metric) + ": " + alt
		}
	}
	if len(charts) == 0 {
		return Figure{}, fmt.Errorf("%s: %w", f.Name, ErrEmpty)
	}
	f.Notes = append(f.Notes, limitNotes(groups, size)...)
	var legend []curve
	for _, g := range groups {
		legend = append(legend, curve{label: g.label, style: g.style})
	}
	legendHeight := legendRows(nil, legend, f.Width-2*margin)
	f.Height = f.headHeight() + f.footHeight() + companyHeight + legendHeight + 16
	f.body = func(dc draw.Canvas) {
		legendRows(&dc, legend, f.Width-2*margin)
		drawPanels(draw.Crop(dc, 0, 0, legendHeight+6, 0), titles, charts, counts, what.axis)
	}
	return f, nil
}

// companyGroup is one curve: the ways that differ in the number of their company only.
type companyGroup struct {
	label string
	style style
	ways  []*Way // by that number
}

// inCompany groups the ways that were asked for in more than one number of company. counts are all numbers that were
// measured at the size.
func (v *View) inCompany(size int64, what company) (groups []companyGroup, counts []int) {
	var bases []*Way
	members := make(map[share.Case][]*Way)
	for _, w := range v.Ways { // in the order of the number within what is the same otherwise
		base := w.Case
		*what.count(&base) = 0
		if members[base] == nil {
			bases = append(bases, &Way{Case: base})
		}
		members[base] = append(members[base], w)
	}
	nameWays(bases)
	for _, b := range bases {
		ways := members[b.Case]
		measured := slices.DeleteFunc(slices.Clone(ways), func(w *Way) bool { return !w.measured(size) })
		if len(ways) < 2 || len(measured) == 0 {
			continue
		}
		st := distinct(styleOf(b.Case), func(st style) bool {
			return slices.ContainsFunc(groups, func(g companyGroup) bool { return alike(g.style, st) })
		})
		groups = append(groups, companyGroup{label: b.Label, style: st, ways: ways})
		for _, w := range measured {
			counts = append(counts, *what.count(&w.Case))
		}
	}
	slices.Sort(counts)
	return groups, slices.Compact(counts)
}

// countAt is where a number of company lies on a logarithmic axis: twice the number, so that there is room for none
// left of one.
func countAt(n int) float64 { return math.Max(1, float64(2*n)) }

// limitNotes say where the machine had no room for as many as were asked for.
func limitNotes(groups []companyGroup, size int64) []string {
	var notes []string
	for _, g := range groups {
		for _, w := range g.ways {
			if _, reason := w.Status(size); strings.Contains(reason, "live mappings reached") {
				notes = append(notes, plain(g.label)+": "+reason)
			}
		}
	}
	const most = 4
	if len(notes) > most {
		notes = append(notes[:most], fmt.Sprintf("and %d other limits that were reached, see the list of what was not measured.", len(notes)-most))
	}
	return notes
}

const companyHeight = vg.Length(260)

// drawPanels draws the panels side by side, on the same axes.
func drawPanels(dc draw.Canvas, titles []string, charts []chart, counts []int, axis string) {
	low, high := math.Inf(1), 0.0
	for i := range charts {
		l, h := charts[i].yRange()
		low, high = min(low, l), max(high, h)
	}
	var ticks plot.ConstantTicks
	for _, n := range counts {
		ticks = append(ticks, plot.Tick{Value: countAt(n), Label: strconv.Itoa(n)})
	}
	thin(ticks, 5)
	row := make([]*plot.Plot, len(charts))
	for i := range charts {
		p := charts[i].plot(3)
		p.X.Label.Text, p.Y.Label.Text = axis, ""
		p.Y.Min, p.Y.Max = low, high
		p.Y.Tick.Marker = logTicks(low, high, charts[i].unit)
		p.X.Min, p.X.Max = around(countAt(counts[0]), countAt(counts[len(counts)-1]), 4)
		p.X.Tick.Marker = ticks
		if i > 0 {
			p.Y.Tick.Marker = unlabelled(p.Y.Tick.Marker)
		}
		row[i] = p
	}
	canvases := plot.Align([][]*plot.Plot{row}, draw.Tiles{Rows: 1, Cols: len(row), PadX: 10, PadTop: panelTitle, PadRight: 8}, dc)
	for i, p := range row {
		tile := canvases[0][i]
		st := aligned(colored(labelStyle, ink), draw.XCenter, draw.YBottom)
		st.Font.Weight = titleStyle.Font.Weight
		data := p.DataCanvas(tile)
		dc.FillText(st, vg.Point{X: (data.Min.X + data.Max.X) / 2, Y: tile.Max.Y + 3}, fit(st, titles[i], tile.Max.X-tile.Min.X))
		p.Draw(tile)
	}
}

// thin takes the labels of ticks that lie too close to a labelled one where most of them would fill the axis. The first and
// the last keep theirs.
func thin(ticks plot.ConstantTicks, most int) {
	last, end := 0, len(ticks)-1
	span := math.Log(ticks[end].Value / ticks[0].Value)
	near := func(i, j int) bool { return math.Log(ticks[j].Value/ticks[i].Value) < span/float64(most) }
	for i := 1; i < end; i++ {
		if near(last, i) || near(i, end) {
			ticks[i].Label = ""
			continue
		}
		last = i
	}
}

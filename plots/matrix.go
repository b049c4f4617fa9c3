package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// Matrix holds one metric of one way between all pairs of devices, at one size.
type Matrix struct {
	Metric, Unit string
	Way          string // label
	Settings     string // what the way's cases have beside path and allocator
	Size         int64
	Devices      []string       // names, of rows and columns
	Cells        [][]MatrixCell // [producer][consumer]
	Reasons      []string       // why cells are missing; cells refer to them by number, from 1
}

// MatrixCell is a value, or a reason why there is none.
type MatrixCell struct {
	Row    *results.Row // nil: not measured
	Shade  float64      // 0 to 1 over the logarithms of the values
	Reason int          // number of the reason, from 1
	Status share.Status // of the case that was not measured; "" if there is none
}

// MatrixWay is a way that was tried between several pairs.
type MatrixWay struct {
	Key   share.Case // without devices and size
	Label string
	Pairs int // in which it was measured
}

func keyOf(c share.Case) share.Case {
	c.Producer, c.Consumer, c.Size = "", "", 0
	return c
}

// MatrixMetrics lists the metrics that have matrices: setup and the kernels that move bytes.
func MatrixMetrics() []string { return append([]string{share.Setup}, BandwidthMetrics()...) }

// MatrixWays lists the ways with the metric, those measured between most pairs first. The baseline, which works between any
// two devices, is last, and has no kernels here: they run on a copy in the consumer's own memory.
func (d *Data) MatrixWays(metric string) []MatrixWay {
	var ways []MatrixWay
	for _, v := range d.Views {
		for _, w := range v.Ways {
			if w.Case.Path == Baseline && metric != share.Setup {
				continue
			}
			if !slices.ContainsFunc(w.sizes, func(size int64) bool { return w.Row(size, metric) != nil }) {
				continue
			}
			i := slices.IndexFunc(ways, func(m MatrixWay) bool { return m.Key == keyOf(w.Case) })
			if i < 0 {
				i = len(ways)
				ways = append(ways, MatrixWay{Key: keyOf(w.Case), Label: w.Label})
			}
			ways[i].Pairs++
		}
	}
	last := func(m MatrixWay) int {
		if m.Key.Path == Baseline {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(ways, func(a, b MatrixWay) int {
		return cmp.Or(last(a)-last(b), b.Pairs-a.Pairs, pathOrder(a.Key.Path)-pathOrder(b.Key.Path))
	})
	return ways
}

// Matrix collects a metric of a way at a size. Only devices that are an end of any pair have a row and a column.
func (d *Data) Matrix(way MatrixWay, size int64, metric string) Matrix {
	m := Matrix{Metric: metric, Way: way.Label, Settings: settingsOf([]*Way{{Case: way.Key}}), Size: size}
	var ids []string
	for _, v := range d.Views {
		for _, id := range []string{v.Producer, v.Consumer} {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.SortStableFunc(ids, func(a, b string) int { return cmp.Or(cmp.Compare(d.order(a), d.order(b)), cmp.Compare(a, b)) })
	low, high := math.Inf(1), 0.0
	number := make(map[string]int) // of reasons, by their kind
	for _, p := range ids {
		m.Devices = append(m.Devices, d.DeviceName(p))
		var line []MatrixCell
		for _, c := range ids {
			row, status, reason := d.find(way.Key, p, c, size, metric)
			cell := MatrixCell{Row: row, Status: status}
			if row != nil {
				m.Unit = row.Unit
				low, high = min(low, row.Stats.Median), max(high, row.Stats.Median)
			} else {
				kind := ReasonKind(reason)
				if number[kind] == 0 {
					m.Reasons = append(m.Reasons, reason)
					number[kind] = len(m.Reasons)
				}
				cell.Reason = number[kind]
			}
			line = append(line, cell)
		}
		m.Cells = append(m.Cells, line)
	}
	for _, line := range m.Cells {
		for i := range line {
			if r := line[i].Row; r != nil && low > 0 && high > low {
				line[i].Shade = math.Log(r.Stats.Median/low) / max(math.Log(high/low), fullContrast)
			}
		}
	}
	return m
}

// find returns the row of a way between two devices, or how its case ended and why there is none.
func (d *Data) find(key share.Case, producer, consumer string, size int64, metric string) (*results.Row, share.Status, string) {
	for _, v := range d.Views {
		if v.Producer != producer || v.Consumer != consumer {
			continue
		}
		for _, w := range v.Ways {
			if keyOf(w.Case) != key {
				continue
			}
			status, reason := w.Status(size)
			switch r := w.Row(size, metric); {
			case r != nil:
				return r, status, ""
			case status == "":
				return nil, "", "not measured at this size"
			case status == share.StatusOK:
				return nil, status, "this metric was not measured"
			default:
				return nil, status, strings.TrimSuffix(fmt.Sprintf("%s: %s", status, reason), ": ")
			}
		}
		return nil, "", "this way was not tried between these devices"
	}
	return nil, "", "this pair was not measured"
}

// Measured counts the cells with a value.
func (m *Matrix) Measured() int {
	n := 0
	for _, line := range m.Cells {
		for _, c := range line {
			if c.Row != nil {
				n++
			}
		}
	}
	return n
}

// fullContrast is the logarithm of the ratio that is shown from the lightest to the darkest shade, at least: a few percent
// must not look like a gulf.
const fullContrast = math.Ln2

// Shades of the matrix, from light to dark: one hue, so that it prints and survives any colour vision.
var lightest, darkest = rgb(0xE8F1FA), rgb(0x08306B)

// ShadeColor is the colour of a cell and the one of text on it, of black and white the one that stands out more.
func ShadeColor(shade float64) (background, text color.NRGBA) {
	background = mix(lightest, darkest, shade)
	text = rgb(0xFFFFFF)
	if contrast(background, nearBlack) > contrast(background, text) {
		text = nearBlack
	}
	return background, text
}

// MatrixFigure draws a matrix.
func (d *Data) MatrixFigure(m Matrix) (Figure, error) {
	f := Figure{
		Name:     "matrix-" + fileName(m.Metric),
		Title:    capital(axisTitle(m.Metric, m.Unit)) + " between all pairs: rows produce, columns consume",
		Subtitle: fmt.Sprintf("%s, sharing %s; %s; %s", m.Way, share.FormatSize(m.Size), d.machine(), m.Settings), Emulated: d.Run.Header.Emulated, Width: figureWidth,
		Notes: []string{"Medians; darker is more. The diagonal is two processes on one device."},
	}
	if m.Measured() == 0 {
		return Figure{}, fmt.Errorf("%s: %w", f.Name, ErrEmpty)
	}
	for i, reason := range m.Reasons {
		if i == 5 {
			f.Notes = append(f.Notes, fmt.Sprintf("%d further reasons are in summary.csv.", len(m.Reasons)-i))
			break
		}
		f.Notes = append(f.Notes, fmt.Sprintf("(%d) %s", i+1, reason))
	}
	n := vg.Length(len(m.Devices))
	side := min(vg.Length(64), (f.Width-2*margin-80)/n)
	height := max(min(side, 34), 22)
	f.Height = n*height + 46 + f.headHeight() + f.footHeight()
	f.Alt = fmt.Sprintf("%s. %d of %d pairs have a value.", f.Title, m.Measured(), len(m.Devices)*len(m.Devices))
	f.body = func(dc draw.Canvas) { m.draw(dc, side, height) }
	return f, nil
}

func (m *Matrix) draw(dc draw.Canvas, side, height vg.Length) {
	var names vg.Length
	for _, name := range m.Devices {
		names = max(names, labelStyle.Width(fit(labelStyle, name, 76)))
	}
	left, top := dc.Min.X+names+10+14, dc.Max.Y-32
	center := aligned(labelStyle, draw.XCenter, draw.YCenter)
	right := aligned(labelStyle, draw.XRight, draw.YCenter)
	middle := left + side*vg.Length(len(m.Devices))/2
	write(dc, colored(center, muted), vg.Point{X: middle, Y: dc.Max.Y - 6}, "consumer")
	turned := colored(center, muted)
	turned.Rotation = math.Pi / 2
	dc.FillText(turned, vg.Point{X: dc.Min.X + 6, Y: top - height*vg.Length(len(m.Devices))/2}, "producer")
	for i, name := range m.Devices {
		write(dc, center, vg.Point{X: left + side*(vg.Length(i)+0.5), Y: dc.Max.Y - 22}, fit(labelStyle, name, side-2))
		write(dc, right, vg.Point{X: left - 6, Y: top - height*(vg.Length(i)+0.5)}, fit(labelStyle, name, 76))
	}
	for i, line := range m.Cells {
		for k, c := range line {
			x, y := left+side*vg.Length(k), top-height*vg.Length(i+1)
			box := rectangle(x+0.7, y+0.7, x+side-0.7, y+height-0.7)
			at := vg.Point{X: x + side/2, Y: y + height/2}
			if c.Row == nil {
				dc.StrokeLines(draw.LineStyle{Color: grid, Width: 0.8}, append(box, box[0]))
				write(dc, colored(center, muted), at, fmt.Sprintf("— (%d)", c.Reason))
				continue
			}
			background, ink := ShadeColor(c.Shade)
			dc.FillPolygon(background, box)
			st := colored(center, ink)
			text := results.FormatQuantity(c.Row.Stats.Median, c.Row.Unit)
			if w := st.Width(text); w > side-4 {
				st.Font.Size *= (side - 4) / w
			}
			write(dc, st, at, text)
		}
	}
}

package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// Data is a run ordered for looking at: by pair of devices, then by way of sharing, then by size.
type Data struct {
	Run   *results.Run
	Rows  []results.Row // as results.Summaries gives them
	Views []*View       // one a pair of devices, in the order of device indices

	evens []results.BreakEven
	fits  []results.Fit
}

// View is what was measured between one pair of devices.
type View struct {
	Producer, Consumer string // device IDs
	Link               string // link class, "" not known
	Name               string // "GPU 0 → GPU 1 (NV18)", for people
	Ways               []*Way // paths in the order of the baseline's rows, then allocators
	Sizes              []int64
}

// Way is everything of a case but its size: one curve in a picture.
type Way struct {
	Case  share.Case // with Size 0
	Label string     // path, allocator and what else tells the ways of this view apart
	style style
	cells map[int64]*cell
	sizes []int64
}

// cell is one case.
type cell struct {
	status  share.Status
	reason  string
	rows    map[string]*results.Row
	results []*results.CaseResult // the repeats
}

// NewData orders a run.
func NewData(run *results.Run) *Data {
	d := &Data{Run: run, Rows: results.Summaries(run)}
	views := make(map[[2]string]*View)
	ways := make(map[share.Case]*Way)
	for i := range d.Rows {
		r := &d.Rows[i]
		c := d.cell(views, ways, r.Case)
		c.status, c.reason = r.Status, r.Reason
		if r.Metric != "" {
			c.rows[r.Metric] = r
		}
		if v := views[[2]string{r.Case.Producer, r.Case.Consumer}]; v.Link == "" {
			v.Link = r.Link
		}
	}
	for i := range run.Cases {
		res := &run.Cases[i]
		c := d.cell(views, ways, res.Case)
		c.results = append(c.results, res)
	}
	for _, v := range d.Views {
		v.finish(d)
	}
	slices.SortStableFunc(d.Views, func(a, b *View) int {
		return cmp.Or(d.order(a.Producer)-d.order(b.Producer), d.order(a.Consumer)-d.order(b.Consumer),
			cmp.Compare(a.Producer, b.Producer), cmp.Compare(a.Consumer, b.Consumer))
	})
	return d
}

func (d *Data) cell(views map[[2]string]*View, ways map[share.Case]*Way, c share.Case) *cell {
	pair := [2]string{c.Producer, c.Consumer}
	v := views[pair]
	if v == nil {
		v = &View{Producer: c.Producer, Consumer: c.Consumer}
		views[pair] = v
		d.Views = append(d.Views, v)
	}
	size := c.Size
	c.Size = 0
	w := ways[c]
	if w == nil {
		w = &Way{Case: c, cells: make(map[int64]*cell)}
		ways[c] = w
		v.Ways = append(v.Ways, w)
	}
	if w.cells[size] == nil {
		w.cells[size] = &cell{rows: make(map[string]*results.Row)}
		w.sizes = append(w.sizes, size)
	}
	return w.cells[size]
}

// finish sorts and names the ways of a view.
func (v *View) finish(d *Data) {
	v.Name = fmt.Sprintf("%s → %s", d.DeviceName(v.Producer), d.DeviceName(v.Consumer))
	if v.Link != "" && v.Link != v.Producer {
		v.Name += " (" + linkName(v.Link) + ")"
	}
	var sizes []int64
	for _, w := range v.Ways {
		slices.Sort(w.sizes)
		sizes = append(sizes, w.sizes...)
	}
	slices.Sort(sizes)
	v.Sizes = slices.Compact(sizes)
	slices.SortStableFunc(v.Ways, func(a, b *Way) int {
		x, y := a.Case, b.Case
		return cmp.Or(pathOrder(x.Path)-pathOrder(y.Path), cmp.Compare(x.Path, y.Path), cmp.Compare(x.Allocator, y.Allocator),
			cmp.Compare(x.Transport, y.Transport), cmp.Compare(x.Receiver, y.Receiver), cmp.Compare(x.Cache, y.Cache),
			cmp.Compare(x.Offset, y.Offset), cmp.Compare(x.Live, y.Live), cmp.Compare(x.Peers, y.Peers), cmp.Compare(x.Variant, y.Variant))
	})
	nameWays(v.Ways)
	for i, w := range v.Ways {
		w.style = distinct(styleOf(w.Case), func(st style) bool {
			return slices.ContainsFunc(v.Ways[:i], func(o *Way) bool { return alike(o.style, st) })
		})
	}
}

// pathOrder is the order of paths in legends and tables; the baseline is last.
func pathOrder(path string) int {
	order := []string{"memfd", "dma-buf", "cumemmap", "opaque-fd", "cuda-ipc", "mempool", "fabric"}
	if i := slices.Index(order, path); i >= 0 {
		return i
	}
	if path == Baseline {
		return len(order) + 1
	}
	return len(order)
}

// Baseline is the path without sharing that the others are compared with.
const Baseline = "staged"

func linkName(class string) string {
	if class == "same" {
		return "same GPU"
	}
	return class
}

// DeviceName is a device's name on screen: "cpu", or "GPU 3" by its index in the run's header.
func (d *Data) DeviceName(id string) string { return d.Run.Header.DeviceName(id) }

func (d *Data) order(id string) int {
	for _, dev := range d.Run.Header.Devices {
		if dev.ID == id && dev.Backend != "host" {
			return dev.Index
		}
	}
	return math.MaxInt32 // the CPU is last
}

// Device finds a device in the run's header.
func (d *Data) Device(id string) (share.DeviceInfo, bool) {
	for _, dev := range d.Run.Header.Devices {
		if dev.ID == id {
			return dev, true
		}
	}
	return share.DeviceInfo{}, false
}

// machine names the machine in a few words.
func (d *Data) machine() string {
	h := &d.Run.Header
	name := h.Host
	if name == "" {
		name = "unnamed machine"
	}
	counts := make(map[string]int)
	var models []string
	for _, dev := range h.Devices {
		if dev.Backend != "host" && dev.Name != "" {
			if counts[dev.Name] == 0 {
				models = append(models, dev.Name)
			}
			counts[dev.Name]++
		}
	}
	if len(models) == 0 {
		for _, dev := range h.Devices {
			if dev.Name != "" && dev.Name != dev.ID {
				counts[dev.Name], models = 1, []string{dev.Name}
				break
			}
		}
	}
	for _, m := range models {
		if n := counts[m]; n > 1 {
			m = fmt.Sprintf("%d× %s", n, m)
		}
		name += ", " + m
	}
	return name
}

// Machine names the machine in a few words; it says when the driver was emulated.
func (d *Data) Machine() string {
	if e := d.Run.Header.Emulated; e != "" {
		return fmt.Sprintf("EMULATED (%s) on %s", e, d.machine())
	}
	return d.machine()
}

// Representatives are the views that stand for the others in curves: of each link class the first pair. All of them are in
// the matrix.
func (d *Data) Representatives() []*View {
	var views []*View
	seen := make(map[string]bool)
	for _, v := range d.Views {
		class := v.Link
		if class == "" || class == "cpu" {
			class = d.kind(v.Producer) + ">" + d.kind(v.Consumer) + class
		}
		if !seen[class] {
			seen[class] = true
			views = append(views, v)
		}
	}
	return views
}

func (d *Data) kind(id string) string {
	if dev, ok := d.Device(id); ok {
		return dev.Backend
	}
	return id
}

// Fits are those of the representative views, computed once.
func (d *Data) Fits() []results.Fit {
	if d.fits == nil {
		d.fits = results.Fits(d.Shown())
	}
	return d.fits
}

// BreakEvens are those of the representative views, computed once.
func (d *Data) BreakEvens() []results.BreakEven {
	if d.evens == nil {
		d.evens = results.BreakEvens(d.Shown())
	}
	return d.evens
}

// Shown is the part of the run about the representative views.
func (d *Data) Shown() *results.Run {
	part := *d.Run
	part.Cases = nil
	views := d.Representatives()
	for _, c := range d.Run.Cases {
		if slices.ContainsFunc(views, func(v *View) bool { return v.Producer == c.Case.Producer && v.Consumer == c.Case.Consumer }) {
			part.Cases = append(part.Cases, c)
		}
	}
	return &part
}

// way finds the way of a case; nil if it is not of this view.
func (v *View) way(c share.Case) *Way {
	c.Size = 0
	for _, w := range v.Ways {
		if w.Case == c {
			return w
		}
	}
	return nil
}

// Label is the name of a case's way among the others between the same devices.
func (d *Data) Label(c share.Case) string {
	for _, v := range d.Views {
		if v.Producer == c.Producer && v.Consumer == c.Consumer {
			if w := v.way(c); w != nil {
				return w.Label
			}
		}
	}
	return pathAllocator(c)
}

package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gpushare-bench/plots"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// pageRun is the part of a page about one run.
type pageRun struct {
	ID       string // of the section
	Machine  string
	Emulated string
	Run      string
	When     string
	Outcome  []string
	Pairs    []option // pairs that have pictures
	PairsAll int
	Sizes    []option
	Phases   []option // metrics of a cycle
	Kernels  []option
	Spreads  []option // metrics that have distributions
	MatrixOf []option // metrics of matrices
	Ways     []option // of matrices

	Verdicts  []alternative
	Cycles    []alternative
	Numbers   []alternative // tables behind the cycles
	Scaling   []alternative
	Bandwidth []alternative
	Slow      []alternative // ways far below the best
	Peers     []alternative // what further processes cost
	Matrices  []alternative
	Spread    []alternative // distributions
	Undrawn   int           // distributions beyond the page's budget
	Even      []alternative
	Fits      []fitRow
	FitNote   string

	Missing     []missing
	Findings    []finding
	Devices     []deviceRow
	Environment []fact
	Method      []fact
	Command     string
	LeftOut     int // pictures beyond the page's budget, without distributions

	data *plots.Data
}

// option is something that can be selected.
type option struct {
	Value, Text string
	Selected    bool
}

type fact struct {
	Key, Value string
	Anchor     string // in the method, that says more; "" if none does
}

func newPageRun(run *results.Run, id string, budget *int) (pageRun, error) {
	d := plots.NewData(run)
	h := &run.Header
	r := pageRun{ID: id, Machine: clean(d.Machine()), Emulated: clean(h.Emulated), Run: clean(h.Run),
		When: h.Started.UTC().Format("2006-01-02 15:04 UTC"), Missing: notMeasured(d), Findings: findings(run), Command: command(run), PairsAll: len(d.Views), data: d}
	for _, line := range outcome(run) {
		r.Outcome = append(r.Outcome, clean(line))
	}
	for i := range r.Missing {
		m := &r.Missing[i]
		m.Reason = clean(m.Reason)
		for k := range m.Ways {
			m.Ways[k] = clean(m.Ways[k])
		}
	}
	how, err := theMethod()
	if err != nil {
		return pageRun{}, err
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Anchor = how.has(warningAnchor + f.Code)
		f.Code, f.Text, f.Example = clean(f.Code), clean(f.Text), clean(f.Example)
	}
	r.selections(d)
	r.matrices(d, budget)
	for i, v := range d.Representatives() {
		r.view(d, v, fmt.Sprint(i), i == 0, budget)
	}
	r.fits(d)
	r.environment(run)
	return r, nil
}

// selections lists what can be selected: the first pair and its default size are shown first.
func (r *pageRun) selections(d *plots.Data) {
	var sizes []int64
	views := d.Representatives()
	has := func(metric string) bool {
		return slices.ContainsFunc(views, func(v *plots.View) bool { return v.Has(metric) })
	}
	for i, v := range views {
		r.Pairs = append(r.Pairs, option{fmt.Sprint(i), clean(v.Name), i == 0})
		sizes = append(sizes, v.MeasuredSizes()...)
	}
	slices.Sort(sizes)
	for _, size := range slices.Compact(sizes) {
		r.Sizes = append(r.Sizes, option{fmt.Sprint(size), share.FormatSize(size), size == views[0].DefaultSize()})
	}
	if len(r.Sizes) > 0 && !slices.ContainsFunc(r.Sizes, func(o option) bool { return o.Selected }) {
		r.Sizes[0].Selected = true
	}
	for _, m := range plots.LatencyMetrics() {
		if has(m) {
			r.Phases = append(r.Phases, option{m, strings.ReplaceAll(m, "_", " "), len(r.Phases) == 0})
		}
	}
	for _, k := range share.Kernels() {
		if m := plots.KernelMetric(k); has(m) {
			r.Kernels = append(r.Kernels, option{m, string(k), len(r.Kernels) == 0})
		}
	}
	r.Spreads = slices.Clone(r.Phases)
	for _, k := range r.Kernels {
		k.Selected = len(r.Spreads) == 0
		r.Spreads = append(r.Spreads, k)
	}
}

// view adds the parts about one pair.
func (r *pageRun) view(d *plots.Data, v *plots.View, pair string, first bool, budget *int) {
	for _, o := range r.Phases {
		f, err := d.Latency(v, o.Value)
		if fig := r.picture(f, err, first && o.Selected, budget); fig != nil {
			r.Scaling = append(r.Scaling, alternative{Pair: pair, Metric: o.Value, Shown: first && o.Selected, Figure: fig})
		}
	}
	for _, o := range r.Kernels {
		f, err := d.Bandwidth(v, o.Value)
		if o.Value == plots.KernelMetric(share.KernelChase) {
			f, err = d.Latency(v, o.Value)
		}
		if fig := r.picture(f, err, first && o.Selected, budget); fig != nil {
			r.Bandwidth = append(r.Bandwidth, alternative{Pair: pair, Metric: o.Value, Shown: first && o.Selected, Figure: fig})
		}
		if rows := slow(v, o.Value); len(rows) > 0 {
			r.Slow = append(r.Slow, alternative{Pair: pair, Metric: o.Value, Shown: first && o.Selected, Rows: rows})
		}
	}
	f, err := d.BreakEven(v)
	if fig := r.picture(f, err, first, budget); fig != nil {
		r.Even = append(r.Even, alternative{Pair: pair, Shown: first, Figure: fig})
	} else if err != nil {
		r.Even = append(r.Even, alternative{Pair: pair, Shown: first, Text: clean(whyNoEven(d, v))})
	}
	r.peers(d, v, pair, first, budget)
	sizes := slices.Clone(r.Sizes)
	slices.SortStableFunc(sizes, func(a, b option) int { // the one shown first must find room
		switch {
		case a.Selected:
			return -1
		case b.Selected:
			return 1
		}
		return 0
	})
	for _, o := range sizes {
		var size int64
		fmt.Sscan(o.Value, &size)
		shown := first && o.Selected
		if x := newVerdict(d, v, size); x != nil {
			r.Verdicts = append(r.Verdicts, alternative{Pair: pair, Size: o.Value, Shown: shown, Verdict: x})
		}
		f, err := d.Cycle(v, size)
		if fig := r.picture(f, err, shown, budget); fig != nil {
			r.Cycles = append(r.Cycles, alternative{Pair: pair, Size: o.Value, Shown: shown, Figure: fig})
			head, rows := phaseNumbers(v, size)
			r.Numbers = append(r.Numbers, alternative{Pair: pair, Size: o.Value, Shown: shown, Head: head, Rows: rows})
		}
	}
}

// phaseNumbers is the table behind the bars: medians with their intervals.
func phaseNumbers(v *plots.View, size int64) (head []string, rows [][]string) {
	head = []string{"path, allocator"}
	_, ways := named(v, func(w *plots.Way) bool {
		status, _ := w.Status(size)
		return status != "" && status != share.StatusUnsupported
	})
	for _, w := range ways {
		rows = append(rows, []string{clean(w.Label)})
	}
	for _, m := range plots.LatencyMetrics() {
		if !slices.ContainsFunc(ways, func(w *plots.Way) bool { return w.Row(size, m) != nil }) {
			continue
		}
		head = append(head, strings.ReplaceAll(m, "_", " "))
		for i, w := range ways {
			rows[i] = append(rows[i], markdownCell(w, size, m))
		}
	}
	return head, rows
}

// slow lists ways that move less than half of what the best moves, at the largest size that both were measured at: something
// in between, such as a path over host memory, may have been taken silently.
func slow(v *plots.View, metric string) [][]string {
	if metric == plots.KernelMetric(share.KernelChase) {
		return nil
	}
	type found struct {
		size int64
		row  *results.Row
	}
	at := make(map[*plots.Way]found)
	best := 0.0
	var fastest string
	for _, w := range v.Ways {
		for _, size := range slices.Backward(w.Sizes()) {
			if row := w.Row(size, metric); row != nil {
				at[w] = found{size, row}
				if w.Case.Path != plots.Baseline && row.Stats.Median > best {
					best, fastest = row.Stats.Median, w.Label
				}
				break
			}
		}
	}
	var rows [][]string
	for _, w := range v.Ways {
		f, ok := at[w]
		if ok && f.row.Stats.Median < best/2 {
			rows = append(rows, []string{clean(w.Label), results.FormatInterval(f.row.Stats.Median, f.row.Stats.CI, f.row.Unit),
				fmt.Sprintf("%.2g %%", 100*f.row.Stats.Median/best), clean(fastest), share.FormatSize(f.size)})
		}
	}
	return rows
}

// fitRow is a line of the table of fits.
type fitRow struct {
	Pair, Way, First, Latency, Bandwidth, Half, From string
	Note                                             string
}

const mostFits = 40

func (r *pageRun) fits(d *plots.Data) {
	against := ""
	for _, f := range d.Fits() {
		if f.Metric != share.Setup {
			continue
		}
		if len(r.Fits) == mostFits {
			r.FitNote = "Further pairs and paths are in fits.csv. "
			break
		}
		row := fitRow{Pair: clean(d.DeviceName(f.Series.Producer) + " → " + d.DeviceName(f.Series.Consumer)), Way: clean(d.Label(f.Series)),
			First: results.FormatInterval(f.FirstByte.Median, f.FirstByte.CI, results.Nanoseconds) + " at " + share.FormatSize(f.Low)}
		if f.Why != "" {
			row.Note = clean(f.Why)
			r.Fits = append(r.Fits, row)
			continue
		}
		row.Latency = results.FormatInterval(f.Line.Latency, f.Line.LatencyCI, results.Nanoseconds)
		row.Bandwidth = "–"
		if !math.IsNaN(f.Line.Bandwidth) {
			row.Bandwidth = results.FormatQuantity(f.Line.Bandwidth*1e9, results.BytesPerSecond)
		}
		row.From = evenText(f)
		if f.Line.Misfit > 0.25 {
			row.Note = fmt.Sprintf("no straight line: a size is %.0f %% off", 100*f.Line.Misfit)
		}
		if f.Against != "" {
			against = f.Against
		}
		r.Fits = append(r.Fits, row)
	}
	switch against {
	case results.AgainstStaged:
		r.FitNote += "“Cheaper from” compares one setup with staging the buffer once."
	case results.AgainstMemcpy:
		r.FitNote += "“Cheaper from” compares one setup with one memcpy of the buffer."
	}
}

func evenText(f results.Fit) string {
	size := func(v float64) string {
		switch {
		case math.IsInf(v, 0):
			return "never"
		case v < 1:
			return "any size"
		case v > share.MaxSize:
			return "beyond " + share.FormatSize(share.MaxSize)
		}
		n := int64(v)
		if n >= 1024 {
			n = n / 1024 * 1024 // below the precision of any fit
		}
		return share.FormatSize(n)
	}
	if f.Against == "" || math.IsNaN(f.Even.At) {
		return "–"
	}
	s := size(f.Even.At)
	if ci := f.Even.CI; ci.Estimable() && size(ci.Low) != size(ci.High) {
		s += " [" + size(ci.Low) + ", " + size(ci.High) + "]"
	}
	return s
}

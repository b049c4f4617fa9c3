package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gpushare-bench/plots"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// missing is a reason for which cases were not measured, or not wholly.
type missing struct {
	Status share.Status
	Reason string
	Cases  int
	Ways   []string // paths and allocators, in the order of their first case
	Pairs  int
	Sizes  string // "4 KiB" or "4 KiB – 1 GiB"
	Live   span   // other mappings kept alive
	Peers  span   // processes that took part
}

// span is a smallest and a largest number.
type span struct{ few, many int }

func (s span) with(n int) span { return span{min(s.few, n), max(s.many, n)} }

// String is "64" or "1 – 1024", "" where there is nothing to tell.
func (s span) String() string {
	switch {
	case s.few < s.many:
		return fmt.Sprintf("%d – %d", s.few, s.many)
	case s.many > 0:
		return fmt.Sprint(s.many)
	}
	return ""
}

// statusOrder puts what must not be overlooked first.
var statusOrder = []share.Status{share.StatusCorrupt, share.StatusFailed, share.StatusTimeout, share.StatusInterrupted, share.StatusPartial,
	share.StatusUnsupported}

// notMeasured groups the cases that are not ok by status and kind of reason.
func notMeasured(d *plots.Data) []missing {
	type key struct {
		status share.Status
		reason string
	}
	type group struct {
		missing
		pairs     map[[2]string]bool
		low, high int64
	}
	groups := make(map[key]*group)
	var order []key
	for _, v := range d.Views {
		for _, w := range v.Ways {
			for _, size := range w.Sizes() {
				status, reason := w.Status(size)
				if status == share.StatusOK {
					continue
				}
				k := key{status, plots.ReasonKind(reason)}
				g := groups[k]
				if g == nil {
					g = &group{missing: missing{Status: status, Reason: reason, Live: span{w.Case.Live, w.Case.Live}, Peers: span{w.Case.Peers, w.Case.Peers}},
						pairs: make(map[[2]string]bool), low: size, high: size}
					groups[k] = g
					order = append(order, k)
				}
				g.Cases++
				g.pairs[[2]string{v.Producer, v.Consumer}] = true
				g.low, g.high = min(g.low, size), max(g.high, size)
				g.Live, g.Peers = g.Live.with(w.Case.Live), g.Peers.with(w.Case.Peers)
				if name := wayName(w.Case); !slices.Contains(g.Ways, name) {
					g.Ways = append(g.Ways, name)
				}
			}
		}
	}
	var all []missing
	for _, k := range order {
		g := groups[k]
		g.Pairs = len(g.pairs)
		g.Sizes = sizeRange(g.low, g.high)
		all = append(all, g.missing)
	}
	slices.SortStableFunc(all, func(a, b missing) int {
		return cmp.Or(slices.Index(statusOrder, a.Status)-slices.Index(statusOrder, b.Status), b.Cases-a.Cases)
	})
	return all
}

func sizeRange(low, high int64) string {
	if low == high {
		return share.FormatSize(low)
	}
	return share.FormatSize(low) + " – " + share.FormatSize(high)
}

func wayName(c share.Case) string {
	if c.Path == c.Allocator {
		return c.Path
	}
	return c.Path + " " + c.Allocator
}

// where says which cases of a group are meant.
func (m missing) where() string {
	s := strings.Join(m.Ways, ", ")
	if m.Pairs > 1 {
		s += fmt.Sprintf(", %d pairs", m.Pairs)
	}
	s += ", " + m.Sizes
	if live := m.Live.String(); live != "" {
		s += ", " + live + " live"
	}
	if peers := m.Peers.String(); peers != "" {
		s += ", " + peers + " peers"
	}
	return s
}

// finding is a warning that some cases have in common.
type finding struct {
	Code    string
	Cases   int
	Metrics []string // concerned, in the order of their first case; empty: the cases as such
	Text    string   // of the first of them
	Example string   // the case it is of
	Anchor  string   // in the page's method; "" if it does not have the code
}

// warningOrder puts first what makes numbers wrong, last what only makes them less precise.
var warningOrder = []string{"cached", "throttled", "shared-gpu", "busy-machine", "stalled", "bimodal", "drift", "idle-wake", "coarse-timer", "correlated",
	"cpu-scaling", "few-samples", "imprecise", "rounded"}

// findings groups the warnings of a run by code.
func findings(run *results.Run) []finding {
	groups := make(map[string]*finding)
	var codes []string
	for i := range run.Cases {
		c := &run.Cases[i]
		counted := make(map[string]bool)
		for _, w := range c.Warnings {
			f := groups[w.Code]
			if f == nil {
				f = &finding{Code: w.Code, Text: w.Text, Example: strings.TrimSpace(wayName(c.Case) + " " + share.FormatSize(c.Case.Size) + " " + w.Metric)}
				groups[w.Code] = f
				codes = append(codes, w.Code)
			}
			if !counted[w.Code] {
				counted[w.Code] = true
				f.Cases++
			}
			if w.Metric != "" && !slices.Contains(f.Metrics, w.Metric) {
				f.Metrics = append(f.Metrics, w.Metric)
			}
		}
	}
	rank := func(code string) int {
		if i := slices.Index(warningOrder, code); i >= 0 {
			return i
		}
		return -1 // unknown to this version: not to be overlooked
	}
	slices.SortStableFunc(codes, func(a, b string) int { return rank(a) - rank(b) })
	var all []finding
	for _, code := range codes {
		all = append(all, *groups[code])
	}
	return all
}

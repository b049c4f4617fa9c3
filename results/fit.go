package results

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// SetupAndTouch is the metric setup plus first_touch of the same cycle: what it costs until the consumer has used every
// page of the buffer once.
const SetupAndTouch = share.Setup + "+first_touch"

// What sharing is compared with by [Fits] and [BreakEvens].
const (
	// AgainstStaged: each use of a staged buffer costs its two copies, export and the copy step of map. The consumer's
	// allocation, which a program that stages would keep, and the message between the processes, which every use of a
	// shared buffer needs as well, don't count.
	AgainstStaged = "staged"
	// AgainstMemcpy: on the host, where nothing is staged, each use costs one memcpy of the buffer to local memory.
	AgainstMemcpy = "memcpy"
)

// Fit is the model time = latency + bytes/bandwidth of a series: cases that differ in their size only.
type Fit struct {
	Run, Host, Emulated string
	Series              share.Case // Size is 0
	Link                string
	Metric              string // share.Setup or SetupAndTouch
	Low, High           int64  // smallest and largest size, bytes
	Sizes               int
	Line                stats.Line // nanoseconds and bytes; of use only if Why is empty
	Why                 string     // why there is no line
	// FirstByte is the time to the first byte: the metric at the smallest size, nanoseconds.
	FirstByte stats.Summary
	// Against names what Even compares with, "" if there is nothing. Even is the size in bytes from which sharing once
	// takes less time than that once.
	Against string
	Even    stats.BreakEven
}

// series is a set of cases that differ in their size only, smallest first.
type series struct {
	key   share.Case // Size is 0
	link  string
	cases []repeats // without the repeats that can't be used
}

// seriesOf collects the series of a run, in the order in which they were first measured.
func seriesOf(run *Run) []*series {
	index := make(map[share.Case]*series)
	var all []*series
	for _, g := range groupByCase(run.Cases) {
		kept, _ := g.usable()
		if len(kept) == 0 {
			continue
		}
		key := kept[0].Case
		key.Size = 0
		s := index[key]
		if s == nil {
			s = &series{key: key, link: kept[0].Link}
			index[key] = s
			all = append(all, s)
		}
		s.cases = append(s.cases, kept)
	}
	for _, s := range all {
		slices.SortFunc(s.cases, func(a, b repeats) int { return cmp.Compare(a[0].Case.Size, b[0].Case.Size) })
	}
	return all
}

// samples returns a metric's samples of all repeats.
func (g repeats) samples(name, unit string) []float64 {
	return pool(sampleSets(g.metric(metricKey{name, unit})))
}

// times returns nanoseconds of a metric, or the sums that [SetupAndTouch] asks for: cycle by cycle, from the repeats that
// have as many samples of both.
func (g repeats) times(metric string) []float64 {
	if metric != SetupAndTouch {
		return g.samples(metric, Nanoseconds)
	}
	var sums []float64
	for _, c := range g {
		one := repeats{c}
		setup, touch := one.samples(share.Setup, Nanoseconds), one.samples(share.FirstTouch.String(), Nanoseconds)
		if len(setup) == len(touch) {
			for i := range setup {
				sums = append(sums, setup[i]+touch[i])
			}
		}
	}
	return sums
}

// kernelTimes returns the nanoseconds that a kernel with the measured rates takes for the whole buffer.
func (g repeats) kernelTimes(k share.Kernel) []float64 {
	var times []float64
	for _, rate := range g.samples("kernel/"+string(k), BytesPerSecond) {
		if rate > 0 {
			times = append(times, float64(g[0].Case.Size)/rate*1e9)
		}
	}
	return times
}

// lineOf fits the times that of returns for each size, and returns the sizes that have some, ascending.
func (s *series) lineOf(of func(repeats) []float64, seed uint64) (line stats.Line, sizes []int64, err error) {
	var points []stats.Series
	for _, g := range s.cases {
		if t := of(g); len(t) > 0 {
			points = append(points, stats.Series{Bytes: float64(g[0].Case.Size), Times: t})
			sizes = append(sizes, g[0].Case.Size)
		}
	}
	line, err = stats.FitLine(points, seed)
	return line, sizes, err
}

// baseline is what the series is compared with: the times of one use for each size.
type baseline struct {
	name  string
	of    *series
	times func(repeats) []float64
}

// baselineOf finds it: the fastest staged series of the same pair, else, on the host, the memcpy of the series itself.
func baselineOf(s *series, all []*series) (baseline, bool) {
	if s.key.Path == AgainstStaged {
		return baseline{}, false
	}
	var best *series
	for _, c := range all {
		key := c.key
		key.Allocator, key.Transport = s.key.Allocator, s.key.Transport
		if key.Path != AgainstStaged {
			continue
		}
		if key.Path = s.key.Path; key == s.key && (best == nil || faster(c, best)) {
			best = c
		}
	}
	if best != nil {
		return baseline{AgainstStaged, best, repeats.copies}, true
	}
	if s.key.Backend == "host" {
		return baseline{AgainstMemcpy, s, func(g repeats) []float64 { return g.kernelTimes(share.KernelMemcpy) }}, true
	}
	return baseline{}, false
}

// copies returns the nanoseconds of the two copies of each staged cycle.
func (g repeats) copies() []float64 {
	var sums []float64
	for _, c := range g {
		one := repeats{c}
		first, second := one.samples(share.Export.String(), Nanoseconds), one.samples(share.Map.String(), Nanoseconds)
		for _, m := range c.Metrics {
			if strings.HasPrefix(m.Name, share.Map.String()+"/cuMemcpy") && m.Unit == Nanoseconds {
				second = m.Samples
			}
		}
		if len(first) == len(second) {
			for i := range first {
				sums = append(sums, first[i]+second[i])
			}
		}
	}
	return sums
}

// faster compares the copies of two staged series at the largest size that both have.
func faster(a, b *series) bool {
	for _, x := range slices.Backward(a.cases) {
		for _, y := range b.cases {
			if x[0].Case.Size == y[0].Case.Size {
				return stats.Quantile(x.copies(), 0.5) < stats.Quantile(y.copies(), 0.5)
			}
		}
	}
	return false
}

// Fits fits every series of the run that has the metric setup, for setup and for [SetupAndTouch]. A series that can't be
// fitted, with less than three sizes for example, has a row that says why. Intervals are bootstrapped with seeds that
// follow from the order of the series: the same run gives the same fits.
func Fits(run *Run) []Fit {
	var fits []Fit
	all := seriesOf(run)
	h := &run.Header
	baselines := make(map[*series]*stats.Line) // nil: none can be fitted
	for i, s := range all {
		for k, metric := range []string{share.Setup, SetupAndTouch} {
			line, sizes, err := s.lineOf(func(g repeats) []float64 { return g.times(metric) }, uint64(2*i+k))
			if len(sizes) == 0 {
				continue
			}
			f := Fit{Run: h.Run, Host: h.Host, Emulated: h.Emulated, Series: s.key, Link: s.link, Metric: metric,
				Low: sizes[0], High: sizes[len(sizes)-1], Sizes: len(sizes), Line: line, FirstByte: s.firstByte(metric, sizes[0])}
			if err != nil {
				f.Why = whyNoFit(err)
				fits = append(fits, f)
				continue
			}
			if base, ok := baselineOf(s, all); ok {
				other, known := baselines[base.of]
				if !known {
					if l, _, err := base.of.lineOf(base.times, uint64(2*len(all)+i)); err == nil {
						other = &l
					}
					baselines[base.of] = other
				}
				if other != nil {
					f.Against, f.Even = base.name, stats.BreakEvenBytes(line, *other)
				}
			}
			fits = append(fits, f)
		}
	}
	return fits
}

func (s *series) firstByte(metric string, size int64) stats.Summary {
	for _, g := range s.cases {
		if g[0].Case.Size == size {
			if sum, err := stats.Summarize(g.times(metric)); err == nil {
				return sum
			}
		}
	}
	return notMeasured()
}

func whyNoFit(err error) string {
	switch {
	case errors.Is(err, stats.ErrTooFew):
		return "fewer than 3 sizes"
	case errors.Is(err, stats.ErrNotPositive):
		return "a sample is 0, the clock is too coarse for a fit"
	}
	return err.Error()
}

// BreakEven says after how many uses of one buffer sharing has taken less time than the alternative.
type BreakEven struct {
	Run, Host, Emulated string
	Case                share.Case
	Link                string
	Against             string // AgainstStaged or AgainstMemcpy
	// Once is what sharing costs once, [SetupAndTouch] where it was measured and setup otherwise; Use what it costs each
	// time, OtherUse what the alternative does. Medians in nanoseconds.
	Once, Use, OtherUse float64
	// Reads says that a use includes reading the buffer once with the kernel read, on both sides.
	Reads bool
	Uses  stats.BreakEven // number of uses; of use only if Why is empty
	Why   string          // why there is none
}

// BreakEvens computes, for every case with a setup and an alternative of the same size, after how many uses sharing is
// ahead. Sharing costs its setup and first touch once and reading the buffer each time; the alternative costs what
// [AgainstStaged] or [AgainstMemcpy] says and, when staged, reading the copy each time. Where a side has no kernel read, reading counts on neither.
func BreakEvens(run *Run) []BreakEven {
	var out []BreakEven
	all := seriesOf(run)
	h := &run.Header
	for i, s := range all {
		base, ok := baselineOf(s, all)
		if !ok {
			continue
		}
		for k, g := range s.cases {
			j := slices.IndexFunc(base.of.cases, func(o repeats) bool { return o[0].Case.Size == g[0].Case.Size })
			if j < 0 {
				continue
			}
			b := BreakEven{Run: h.Run, Host: h.Host, Emulated: h.Emulated, Case: g[0].Case, Link: s.link, Against: base.name}
			if b.find(g, base, base.of.cases[j], uint64(i)<<32+uint64(k)) {
				out = append(out, b)
			}
		}
	}
	return out
}

// find computes the break-even; false if one of the sides was not measured at all.
func (b *BreakEven) find(g repeats, base baseline, other repeats, seed uint64) bool {
	once := g.times(SetupAndTouch)
	if len(once) == 0 {
		once = g.times(share.Setup)
	}
	otherUse := base.times(other)
	if len(once) == 0 || len(otherUse) == 0 {
		return false
	}
	use := make([]float64, len(once)) // nothing
	if base.name == AgainstStaged {
		if mine, theirs := g.kernelTimes(share.KernelRead), other.kernelTimes(share.KernelRead); len(mine) > 0 && len(theirs) > 0 {
			b.Reads, use, otherUse = true, mine, sum(otherUse, theirs)
		}
	}
	b.Once, b.Use, b.OtherUse = stats.Quantile(once, 0.5), stats.Quantile(use, 0.5), stats.Quantile(otherUse, 0.5)
	even, err := stats.BreakEvenUses(stats.Cost{Setup: once, Use: use}, stats.Cost{Setup: make([]float64, len(otherUse)), Use: otherUse}, seed)
	if errors.Is(err, stats.ErrTooFew) {
		b.Why = "fewer than 6 samples"
	} else if err != nil {
		b.Why = fmt.Sprint(err)
	}
	b.Uses = even
	return true
}

// sum adds two kinds of samples that were taken independently of each other.
func sum(a, b []float64) []float64 {
	out := make([]float64, max(len(a), len(b)))
	for i := range out {
		out[i] = a[i%len(a)] + b[i%len(b)]
	}
	return out
}

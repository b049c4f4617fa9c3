package bench

import (
	"gpushare-bench/bench/worker"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// series collects the samples of a case, metric by metric, in the order in which metrics first appear.
type series struct {
	metrics []results.Metric
	index   map[string]int
	idle    []float64
	cycles  int // steady-state cycles seen
}

func newSeries() *series { return &series{index: map[string]int{}} }

func (s *series) add(name, unit string, v float64, first bool) {
	i, ok := s.index[name]
	if !ok {
		i = len(s.metrics)
		s.index[name] = i
		s.metrics = append(s.metrics, results.Metric{Name: name, Unit: unit})
	}
	if first {
		s.metrics[i].First = &v
	} else {
		s.metrics[i].Samples = append(s.metrics[i].Samples, v)
	}
}

// cycle adds what both ends saw of one cycle. Either may be nil.
func (s *series) cycle(prod, cons *worker.Result, p, c *worker.Cycle, first bool) {
	var phase [16]float64
	var have [16]bool
	var steps stepSums
	for _, x := range []struct {
		r *worker.Result
		c *worker.Cycle
	}{{prod, p}, {cons, c}} {
		if x.c == nil {
			continue
		}
		for i := 0; i+5 <= len(x.c.Spans); i += 5 {
			ph, id, start, end, ok := x.c.Spans[i], x.c.Spans[i+1], x.c.Spans[i+2], x.c.Spans[i+3], x.c.Spans[i+4]
			if ok != 1 || ph <= 0 || int(ph) >= len(phase) || id < 0 || int(id) >= len(x.r.Calls) || share.Phase(ph) == share.Transfer {
				continue
			}
			phase[ph] += float64(end - start)
			have[ph] = true
			steps.add(share.Phase(ph), x.r.Calls[id], float64(end-start))
		}
	}
	if p != nil && c != nil && p.Sent > 0 && c.Received > p.Sent {
		phase[share.Transfer], have[share.Transfer] = float64(c.Received-p.Sent), true
		if !first {
			s.idle = append(s.idle, max(0, float64(p.Sent-c.Waiting)))
		}
	}
	setup, whole := 0.0, true
	for _, ph := range share.Phases() {
		if !have[ph] {
			// Not every path has an import of its own; all have an export, a transfer and a map.
			whole = whole && (!ph.InSetup() || ph == share.Import)
			continue
		}
		s.add(ph.String(), results.Nanoseconds, phase[ph], first)
		for _, st := range steps.of(ph) {
			s.add(ph.String()+"/"+st.call, results.Nanoseconds, st.ns, first)
		}
		if ph.InSetup() {
			setup += phase[ph]
		}
	}
	if whole {
		s.add(share.Setup, results.Nanoseconds, setup, first)
	}
	if c != nil {
		for _, k := range c.Kernels {
			s.kernel(k, first)
		}
	}
	if !first {
		s.cycles++
	}
}

// kernel adds a kernel sample: a rate, or nanoseconds a load for chase.
func (s *series) kernel(k worker.Sample, first bool) {
	e := k.Elapsed
	name := "kernel/" + string(k.Kernel)
	switch {
	case e.Nanoseconds <= 0:
	case e.Loads > 0:
		s.add(name, results.Nanoseconds, e.Nanoseconds/float64(e.Loads), first)
	case e.Bytes > 0:
		s.add(name, results.BytesPerSecond, float64(e.Bytes)/e.Nanoseconds*1e9, first)
	}
}

// stepSums adds up the calls of each name within a phase, in order of first appearance.
type stepSums struct {
	n     int
	steps [share.TapeCapacity * 2]step
}

type step struct {
	phase share.Phase
	call  string
	ns    float64
}

func (s *stepSums) add(p share.Phase, call string, ns float64) {
	for i := range s.steps[:s.n] {
		if s.steps[i].phase == p && s.steps[i].call == call {
			s.steps[i].ns += ns
			return
		}
	}
	if s.n < len(s.steps) {
		s.steps[s.n] = step{p, call, ns}
		s.n++
	}
}

// of returns the steps of a phase that has more than one; a single call is the phase itself.
func (s *stepSums) of(p share.Phase) []step {
	var out []step
	for _, st := range s.steps[:s.n] {
		if st.phase == p {
			out = append(out, st)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

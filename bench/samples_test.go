package bench

import (
	"reflect"
	"strings"
	"testing"

	"gpushare-bench/bench/worker"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// span is five numbers of a worker's record.
func span(p share.Phase, call, start, end int64, ok bool) []int64 {
	v := int64(0)
	if ok {
		v = 1
	}
	return []int64{int64(p), call, start, end, v}
}

func join2(spans ...[]int64) []int64 {
	var all []int64
	for _, s := range spans {
		all = append(all, s...)
	}
	return all
}

func names(s *series) string {
	var n []string
	for _, m := range s.metrics {
		n = append(n, m.Name)
	}
	return strings.Join(n, " ")
}

func value(t *testing.T, s *series, name string) float64 {
	t.Helper()
	i, ok := s.index[name]
	if !ok || len(s.metrics[i].Samples) == 0 {
		t.Fatalf("no samples of %s among %s", name, names(s))
	}
	return s.metrics[i].Samples[len(s.metrics[i].Samples)-1]
}

// One cycle of both ends: phases are sums of their calls on either side, a phase with several different calls has steps,
// transfer is between the two stamps, setup is the sum of its four phases, and a refused call is no sample.
func TestSeriesCycle(t *testing.T) {
	prod := &worker.Result{Calls: []string{"alloc", "export", "free", "close"}}
	cons := &worker.Result{Calls: []string{"import", "reserve", "map", "touch", "unmap"}}
	p := &worker.Cycle{Sent: 5000, Spans: join2(
		span(share.Allocate, 0, 100, 200, true),
		span(share.Export, 1, 1000, 1300, true),
		span(share.Transfer, 1, 1, 999999, true), // no stamp of a call is the transfer
		span(share.Release, 2, 9000, 9010, true), span(share.Release, 3, 9010, 9015, true))}
	c := &worker.Cycle{Waiting: 2000, Received: 5700, Spans: join2(
		span(share.Import, 0, 6000, 6040, true),
		span(share.Map, 1, 6100, 6110, true), span(share.Map, 2, 6110, 6140, true), span(share.Map, 2, 6140, 6145, true),
		span(share.Map, 1, 6200, 9900, false), // refused
		span(share.FirstTouch, 3, 7000, 7001, true),
		span(share.Unmap, 4, 8000, 8002, true)),
		Kernels: []worker.Sample{
			{Kernel: share.KernelRead, Elapsed: share.Elapsed{Nanoseconds: 1000, Bytes: 4096}},
			{Kernel: share.KernelChase, Elapsed: share.Elapsed{Nanoseconds: 1000, Loads: 10}},
			{Kernel: share.KernelCopy, Elapsed: share.Elapsed{Bytes: 4096}}, // no time: no rate
		}}
	s := newSeries()
	s.cycle(prod, cons, p, c, true)
	if s.cycles != 0 || len(s.idle) != 0 {
		t.Errorf("the first cycle counts: %d, %v", s.cycles, s.idle)
	}
	s.cycle(prod, cons, p, c, false)
	want := "allocate export transfer import map map/reserve map/map first_touch unmap release release/free release/close setup kernel/read kernel/chase"
	if got := names(s); got != want {
		t.Errorf("metrics %s\nwant    %s", got, want)
	}
	for name, want := range map[string]float64{"allocate": 100, "export": 300, "transfer": 700, "import": 40, "map": 45, "map/reserve": 10, "map/map": 35,
		"first_touch": 1, "unmap": 2, "release": 15, "release/free": 10, "setup": 300 + 700 + 40 + 45, "kernel/read": 4.096e9, "kernel/chase": 100} {
		if got := value(t, s, name); got != want {
			t.Errorf("%s = %v, want %v", name, got, want)
		}
	}
	if s.cycles != 1 || !reflect.DeepEqual(s.idle, []float64{3000}) {
		t.Errorf("%d cycles, idle %v", s.cycles, s.idle)
	}
	for _, m := range s.metrics {
		if m.First == nil || len(m.Samples) != 1 || *m.First != m.Samples[0] {
			t.Errorf("%s: first %v, samples %v", m.Name, m.First, m.Samples)
		}
		if unit := m.Unit; (unit == results.BytesPerSecond) != (m.Name == "kernel/read") {
			t.Errorf("%s in %s", m.Name, unit)
		}
	}
}

// What a path does not have has no row, never zero; and a sum that lacks a part is none.
func TestSeriesWithoutPhases(t *testing.T) {
	prod, cons := &worker.Result{Calls: []string{"a"}}, &worker.Result{Calls: []string{"b"}}
	full := func(phases ...share.Phase) []int64 {
		var all []int64
		for _, p := range phases {
			all = append(all, span(p, 0, 0, 7, true)...)
		}
		return all
	}
	for _, c := range []struct {
		what string
		p, q *worker.Cycle
		want string
	}{
		{"no import", &worker.Cycle{Sent: 1, Spans: full(share.Export)}, &worker.Cycle{Received: 3, Spans: full(share.Map)}, "export transfer map setup"},
		{"no map", &worker.Cycle{Sent: 1, Spans: full(share.Export)}, &worker.Cycle{Received: 3, Spans: full(share.Import)}, "export transfer import"},
		{"no stamp of the sender", &worker.Cycle{Spans: full(share.Export)}, &worker.Cycle{Received: 3, Spans: full(share.Map)}, "export map"},
		{"received before it was sent", &worker.Cycle{Sent: 9, Spans: full(share.Export)}, &worker.Cycle{Received: 3, Spans: full(share.Map)}, "export map"},
		{"producer only", &worker.Cycle{Sent: 1, Spans: full(share.Allocate, share.Export)}, nil, "allocate export"},
		{"consumer only", nil, &worker.Cycle{Received: 3, Spans: full(share.Import)}, "import"},
		{"nothing", nil, nil, ""},
		{"spans of no phase, an unknown phase, unknown calls, a cut span", &worker.Cycle{Spans: append(join2(
			span(share.NoPhase, 0, 0, 7, true), span(200, 0, 0, 7, true), span(share.Export, 9, 0, 7, true), span(share.Export, -1, 0, 7, true)),
			int64(share.Export), 0, 0)}, nil, ""},
	} {
		s := newSeries()
		s.cycle(prod, cons, c.p, c.q, false)
		if got := names(s); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

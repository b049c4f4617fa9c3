package bench

import (
	"fmt"
	"testing"
	"time"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// scriptedCase is a case that is fed samples instead of running cycles.
func scriptedCase(c *Config, left time.Duration) *measurement {
	return &measurement{r: &Runner{Config: c, Plan: &Plan{}}, granted: allowance{left, left, stats.StopMaxTime}, started: time.Now(), samples: newSeries(),
		kernels: []share.Kernel{share.KernelRead, share.KernelChase},
		rule:    stats.Rule{Precision: c.Precision, MinSamples: c.MinSamples, MaxSamples: c.MaxSamples}, res: &results.CaseResult{}}
}

// feed adds n cycles with the value of each metric in cycle i.
func (m *measurement) feed(n int, metrics map[string]func(i int) float64) {
	for range n {
		for _, name := range []string{"export", "map", "map/step", "kernel/read", "kernel/chase"} {
			if f := metrics[name]; f != nil {
				m.samples.add(name, results.Nanoseconds, f(m.samples.cycles), false)
			}
		}
		m.samples.cycles++
	}
}

func reasons(m *measurement) string {
	s := ""
	for _, mt := range m.samples.metrics {
		s += fmt.Sprintf("%s=%s(%d) ", mt.Name, mt.StopReason, len(mt.Samples))
	}
	return s
}

func steady(i int) float64 { return 1000 + float64(i%2) } // an interval of a tenth of a percent
func wild(i int) float64   { return 1000 + 700*float64(i%7) }

func TestStopping(t *testing.T) {
	config := func() *Config { return &Config{Precision: 0.02, MinSamples: 30, MaxSamples: 100} }

	t.Run("precise at the floor", func(t *testing.T) {
		m := scriptedCase(config(), time.Hour)
		for n := m.next(time.Millisecond); n > 0; n = m.next(time.Millisecond) {
			m.feed(n, map[string]func(int) float64{"export": steady})
		}
		if got := reasons(m); got != "export=precision(30) " {
			t.Error(got)
		}
	})
	t.Run("never below the floor", func(t *testing.T) {
		m := scriptedCase(config(), time.Hour)
		m.feed(29, map[string]func(int) float64{"export": steady})
		if n := m.next(0); n != 1 {
			t.Errorf("next %d cycles, want the one up to the floor", n)
		}
	})
	t.Run("as many as allowed", func(t *testing.T) {
		m := scriptedCase(config(), time.Hour)
		decisions := 0
		for n := m.next(time.Microsecond); n > 0; n = m.next(time.Microsecond) {
			m.feed(n, map[string]func(int) float64{"export": wild, "map": steady})
			decisions++
		}
		if got := reasons(m); got != "export=max-samples(100) map=precision(100) " {
			t.Error(got)
		}
		if decisions != 8 {
			t.Errorf("%d decisions, want one at 30 and every 10", decisions)
		}
	})
	t.Run("out of time", func(t *testing.T) {
		for _, reason := range []stats.StopReason{stats.StopMaxTime, stats.StopTimeLimit} {
			m := scriptedCase(config(), -time.Second)
			m.granted.why = reason
			if n := m.next(time.Hour); n != 1 {
				t.Errorf("next %d cycles, want one even though the first cycle took all the time", n)
			}
			m.feed(7, map[string]func(int) float64{"export": wild})
			if n := m.next(time.Millisecond); n != 0 {
				t.Errorf("%d more cycles after the deadline", n)
			}
			if got, want := reasons(m), fmt.Sprintf("export=%s(7) ", reason); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
	t.Run("more time below the floor", func(t *testing.T) {
		m := scriptedCase(config(), -time.Second)
		m.granted.floor = time.Hour
		m.feed(29, map[string]func(int) float64{"export": wild})
		if n := m.next(time.Millisecond); n != 1 {
			t.Errorf("next %d cycles, want the one up to the floor", n)
		}
		m.feed(1, map[string]func(int) float64{"export": wild})
		if n := m.next(time.Millisecond); n != 0 {
			t.Errorf("%d more cycles than the floor", n)
		}
	})
	t.Run("batches end with the time", func(t *testing.T) {
		m := scriptedCase(config(), 50*time.Millisecond)
		if n := m.next(10 * time.Millisecond); n < 1 || n > 5 {
			t.Errorf("%d cycles of 10 ms in 50 ms", n)
		}
		if n := m.next(time.Hour); n != 1 {
			t.Errorf("%d cycles of an hour", n)
		}
		m = scriptedCase(&Config{Precision: 0.02, MinSamples: 100_000, MaxSamples: 1_000_000}, time.Hour)
		if n := m.next(time.Nanosecond); n != maxBatch {
			t.Errorf("%d cycles in one batch, at most %d are lost with a worker", n, maxBatch)
		}
	})
	t.Run("a kernel that is precise is dropped", func(t *testing.T) {
		m := scriptedCase(config(), time.Hour)
		feed := map[string]func(int) float64{"export": wild, "kernel/read": steady, "kernel/chase": wild}
		m.feed(30, feed)
		if n := m.next(time.Millisecond); n != 10 {
			t.Errorf("next %d cycles", n)
		}
		if len(m.kernels) != 1 || m.kernels[0] != share.KernelChase {
			t.Errorf("kernels left: %v", m.kernels)
		}
		delete(feed, "kernel/read")
		m.feed(70, feed)
		if m.next(time.Millisecond) != 0 {
			t.Error("no end at the sample limit")
		}
		if got := reasons(m); got != "export=max-samples(100) kernel/read=precision(30) kernel/chase=max-samples(100) " {
			t.Error(got)
		}
	})
	t.Run("a step does not keep the case going", func(t *testing.T) {
		m := scriptedCase(config(), time.Hour)
		m.feed(30, map[string]func(int) float64{"map": steady, "map/step": wild})
		if m.next(time.Millisecond) != 0 {
			t.Error("the case goes on for its step")
		}
		if got := reasons(m); got != "map=precision(30) map/step=with-case(30) " {
			t.Error(got)
		}
	})
	t.Run("a trial is one cycle", func(t *testing.T) {
		c := config()
		c.TrialOnly = true
		if n := scriptedCase(c, time.Hour).next(time.Millisecond); n != 0 {
			t.Errorf("%d cycles after the trial", n)
		}
	})
}

func TestMetricKinds(t *testing.T) {
	for name, want := range map[string]string{"export": "", "setup": "", "map/cuMemMap": "step", "kernel/read": "kernel", "first_touch": ""} {
		got := ""
		switch {
		case isKernel(name):
			got = "kernel"
		case isStep(name):
			got = "step"
		}
		if got != want {
			t.Errorf("%s is a %q, want %q", name, got, want)
		}
	}
}

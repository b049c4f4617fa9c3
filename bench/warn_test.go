package bench

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// repeat makes n samples.
func repeat(n int, f func(i int) float64) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = f(i)
	}
	return v
}

// noise is a number in [-1, 1] that depends on i only and looks random.
func noise(i int) float64 { return float64(int64(share.Word(1, uint64(i)))) / math.MaxInt64 }

// Every warning there is, with its exact text; the golden file has them all, and every code is among them.
func TestWarnings(t *testing.T) {
	ns := func(v []float64) *results.CaseResult {
		return &results.CaseResult{Case: share.Case{Producer: "cpu", Consumer: "cpu", Size: 1 << 20}, Status: share.StatusOK,
			Metrics: []results.Metric{{Name: "export", Unit: results.Nanoseconds, Samples: v, StopReason: stats.StopMaxTime}}}
	}
	rate := func(v []float64) *results.CaseResult {
		c := ns(v)
		c.Metrics[0].Name, c.Metrics[0].Unit = "kernel/read", results.BytesPerSecond
		return c
	}
	quiet := func(i int) float64 { return 1e6 + math.Round(100*noise(i))/10 }
	throttled := ns(repeat(40, quiet))
	throttled.Before = &share.DeviceState{Throttle: []string{"power cap", "hot"}, OtherPIDs: []int{7, 9}}
	throttled.After = &share.DeviceState{Throttle: []string{"power cap", "hot"}, OtherPIDs: []int{7}}
	idle := ns(repeat(40, func(i int) float64 { return 1e6 + 100*float64(i*7%40) }))
	idle.Metrics[0].Name = "transfer"
	idle.IdleNs = repeat(40, func(i int) float64 { return 5 * float64(i*7%40) })
	polled := ns(idle.Metrics[0].Samples)
	polled.Case.Receiver, polled.Metrics[0].Name, polled.IdleNs = share.ReceiverPolling, "transfer", idle.IdleNs
	few := ns(repeat(7, quiet))
	early := ns(repeat(7, quiet))
	early.Status, early.Metrics[0].StopReason = share.StatusFailed, ""
	step := ns(repeat(3, quiet))
	step.Metrics[0].Name = "map/cuMemMap"

	var texts strings.Builder
	codes := map[string]bool{}
	for _, c := range []struct {
		name    string
		res     *results.CaseResult
		steal   uint64
		scaling bool
		slept   time.Duration
		rounded string
	}{
		{"nothing to say", ns(repeat(40, quiet)), 0, false, 0, ""},
		{"a step", step, 0, false, 0, ""},
		{"nothing measured, on a machine that is busy", &results.CaseResult{}, 50, true, 0, ""},
		{"few", few, 0, false, 0, ""},
		{"few, because the case failed", early, 0, false, 0, ""},
		{"imprecise", ns(repeat(40, func(i int) float64 { return 1e6 + 9e5*noise(i) })), 0, false, 0, ""},
		{"correlated", ns(repeat(200, func(i int) float64 { return 1e6 + 1e4*math.Sin(float64(i)/9) })), 0, false, 0, ""},
		{"drift", ns(repeat(200, func(i int) float64 { return quiet(i) + 5e4*float64(i/100) })), 0, false, 0, ""},
		{"two groups", ns(repeat(200, func(i int) float64 { return quiet(i) + 5e5*float64(share.Word(2, uint64(i))%2) })), 0, false, 0, ""},
		{"coarse clock", ns(repeat(60, func(i int) float64 { return 1000 + 50*float64(share.Word(3, uint64(i))%3) })), 0, false, 0, ""},
		{"stalled", ns(append(repeat(60, quiet), 2.5e9)), 0, false, 0, ""},
		{"stalled kernel", rate(append(repeat(60, func(i int) float64 { return 1e9 + 1e6*noise(i) }), 1e6)), 0, false, 0, ""},
		{"in the cache", rate(repeat(60, func(i int) float64 { return 3e11 + 1e6*noise(i) })), 0, false, 0, ""},
		{"throttled and shared", throttled, 0, false, 0, ""},
		{"busy machine", ns(repeat(40, quiet)), 3, false, 0, ""},
		{"as busy as may be", ns(repeat(40, quiet)), 2, false, 0, ""},
		{"scaled frequency", ns(repeat(40, quiet)), 0, true, 0, ""},
		{"idle", idle, 0, false, 0, ""},
		{"idle, though it polled", polled, 0, false, 0, ""},
		{"suspended machine", ns(repeat(40, quiet)), 0, false, 90 * time.Second, ""},
		{"clocks read one after the other", ns(repeat(40, quiet)), 0, false, time.Millisecond, ""},
		{"rounded", ns(repeat(40, quiet)), 0, false, 0, "2 MiB are shared and mapped for 100 KiB: whole pages"},
		{"rounded, and not measured", &results.CaseResult{}, 0, false, 0, "2 MiB are shared and mapped for 100 KiB: whole pages"},
	} {
		r := &Runner{Config: goodConfig(), Plan: &Plan{Devices: []share.DeviceInfo{{ID: "cpu", PeakBytes: 2e11}}}, Scaling: c.scaling,
			Load: func() Load { return Load{Steal: c.steal, Total: 100, Suspended: c.slept} }}
		fmt.Fprintf(&texts, "# %s\n", c.name)
		for _, w := range r.warnings(c.res, c.rounded) {
			fmt.Fprintf(&texts, "%s %s: %s\n", w.Code, w.Metric, w.Text)
			codes[w.Code] = true
		}
	}
	golden(t, "warnings.golden", texts.String())

	source, err := os.ReadFile("warn.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`Warn\w+ += "([a-z-]+)"`).FindAllSubmatch(source, -1) {
		if code := string(m[1]); !codes[code] {
			t.Errorf("warning %q has no example here", code)
		}
	}
}

// The smallest step between a few samples is the clock's only where samples repeat.
func TestFewSamplesAreNoCoarseClock(t *testing.T) {
	c := goodConfig()
	c.MinSamples = 3
	r := &Runner{Config: c}
	for _, x := range []struct {
		samples []float64
		coarse  bool
	}{{[]float64{70e3, 80e3, 110e3}, false}, {[]float64{70e3, 80e3, 80e3, 110e3}, false}, {[]float64{70e3, 80e3, 80e3, 70e3, 80e3}, true}} {
		coarse := false
		r.metricWarnings(&results.Metric{Name: "map", Unit: results.Nanoseconds, Samples: x.samples}, 1<<20, func(code, _, _ string, _ ...any) {
			coarse = coarse || code == WarnCoarse
		})
		if coarse != x.coarse {
			t.Errorf("%v: coarse %v", x.samples, coarse)
		}
	}
}

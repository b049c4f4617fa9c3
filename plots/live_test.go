package plots

import (
	"errors"
	"math"
	"strings"
	"testing"

	"gpushare-bench/results"
	"gpushare-bench/results/resultstest"
	"gpushare-bench/share"
)

// liveRun is a run with several numbers of live mappings, the last of which the machine has no room for.
func liveRun() *results.Run {
	run := resultstest.HostRun(1 << 21)
	base := run.Cases
	run.Cases = nil
	for _, n := range []int{0, 1, 16, 128, 1024, 65536} {
		for _, c := range base {
			c.Case.Live, c.Order = n, len(run.Cases)
			if n == 65536 {
				c.Status, c.Metrics = share.StatusUnsupported, nil
				c.Reason = "32745 of 65536 live mappings reached: mmap of 2 MiB: cannot allocate memory"
			}
			metrics := c.Metrics
			c.Metrics = nil
			for _, m := range metrics { // from a thousand on it shows
				samples := make([]float64, len(m.Samples))
				for i, v := range m.Samples {
					samples[i] = math.Round(v * (1 + float64(n)/1000))
				}
				m.Samples = samples
				c.Metrics = append(c.Metrics, m)
			}
			run.Cases = append(run.Cases, c)
		}
	}
	return run
}

func TestLive(t *testing.T) {
	d := NewData(liveRun())
	f, err := d.Live(d.Views[0])
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "live", f)
	if notes := strings.Join(f.Notes, " "); !strings.Contains(notes, "32745 of 65536 live mappings reached") {
		t.Errorf("the limit is not among the notes: %s", notes)
	}
	if !strings.Contains(f.Alt, ", 1024 live: ") || strings.Contains(f.Alt, ", 65536 live: ") {
		t.Errorf("alternative text: %s", f.Alt)
	}
	for _, w := range d.Views[0].Ways {
		if w.Case.Live > 0 && !strings.Contains(w.Label, "live") {
			t.Errorf("the label %q of other pictures does not say %d live", w.Label, w.Case.Live)
		}
	}
	for name, run := range map[string]*results.Run{"no live mappings": resultstest.HostRun(1 << 21), "many sizes": resultstest.HostRun(resultstest.Powers(4096, 4, 5)...)} {
		d := NewData(run)
		if _, err := d.Live(d.Views[0]); !errors.Is(err, ErrEmpty) {
			t.Errorf("%s: %v, want ErrEmpty", name, err)
		}
	}
}

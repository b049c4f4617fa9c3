package plots

import (
	"errors"
	"math"
	"slices"
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

// peersRun is liveRun with 0, 2 and 6 peers instead of as many mappings.
func peersRun() *results.Run {
	run := liveRun()
	numbers := map[int]int{0: 0, 128: 2, 1024: 6}
	run.Cases = slices.DeleteFunc(run.Cases, func(c results.CaseResult) bool { _, ok := numbers[c.Case.Live]; return !ok })
	for i := range run.Cases {
		c := &run.Cases[i]
		c.Case.Live, c.Case.Peers = 0, numbers[c.Case.Live]
		for k := range c.Case.Peers + 1 {
			n := int64(k + 1)
			c.Joined = append(c.Joined, results.Joined{Wall: 90_000 * n, Export: 4000 * n, Import: 9000 * n, Map: 60_000 * n})
		}
		if c.Case.Peers == 0 {
			c.Joined = nil
		}
	}
	return run
}

func TestPeers(t *testing.T) {
	d := NewData(peersRun())
	f, err := d.Peers(d.Views[0])
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "peers", f)
	if !strings.Contains(f.Alt, ", 6 peers: ") {
		t.Errorf("alternative text: %s", f.Alt)
	}
	for _, w := range d.Views[0].Ways {
		joined := w.Joined(1 << 21)
		if want := w.Case.Peers + 1; w.Case.Peers > 0 && len(joined) != want || w.Case.Peers == 0 && joined != nil {
			t.Errorf("%s: %d joined", w.Label, len(joined))
		}
	}
	if _, err := d.Live(d.Views[0]); !errors.Is(err, ErrEmpty) {
		t.Errorf("live mappings of a run with peers: %v", err)
	}
}

// Of several repeats what joining took is the median, element by element.
func TestJoinedOfRepeats(t *testing.T) {
	run := peersRun()
	last := run.Cases[len(run.Cases)-1]
	for repeat, wall := range []int64{300, 100, 200} {
		c := last
		c.Repeat, c.Joined = repeat+1, []results.Joined{{Wall: wall, Export: 10 * wall}}
		run.Cases = append(run.Cases, c)
	}
	run.Cases = slices.DeleteFunc(run.Cases, func(c results.CaseResult) bool { return c.Case == last.Case && c.Repeat == 0 })
	for _, v := range NewData(run).Views {
		for _, w := range v.Ways {
			if got := w.Joined(last.Case.Size); len(got) == 1 && (got[0].Wall != 200 || got[0].Export != 2000) || last.Case.Peers == w.Case.Peers && last.Case.Path == w.Case.Path && last.Case.Allocator == w.Case.Allocator && len(got) != 1 {
				t.Errorf("%s: %+v", w.Label, got)
			}
		}
	}
}

// TestNoTwoWaysLookAlike wants ways of one path and allocator to be told apart in pictures without labels at their curves.
func TestNoTwoWaysLookAlike(t *testing.T) {
	for _, v := range NewData(liveRun()).Views {
		for i, a := range v.Ways {
			for _, b := range v.Ways[:i] {
				if alike(a.style, b.style) {
					t.Errorf("%s looks like %s", a.Label, b.Label)
				}
			}
		}
	}
}

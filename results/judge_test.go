package results

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// noisy makes a run of processes whose medians and samples vary by the given relative deviations.
func noisy(name string, repeats, metrics int, factor, between, within float64, random *rand.Rand) *Run {
	run := &Run{Header: Header{Schema: 1, Run: name, Repeats: repeats}}
	for r := range repeats {
		c := CaseResult{Case: exampleCase("memfd", "memfd", 4096), Repeat: r, Status: share.StatusOK}
		for m := range metrics {
			center := 1000 * factor * math.Exp(between*random.NormFloat64())
			metric := Metric{Name: fmt.Sprintf("metric%d", m), Unit: Nanoseconds}
			for range 40 {
				metric.Samples = append(metric.Samples, center*math.Exp(within*random.NormFloat64()))
			}
			c.Metrics = append(c.Metrics, metric)
		}
		run.Cases = append(run.Cases, c)
	}
	return run
}

// TestSameMachineGivesNoRegression compares a simulated machine with itself. Its processes differ by 10 %, more than the
// threshold, so that judging by samples would find regressions: a family of 8 in 20 comparisons, at most one false alarm.
func TestSameMachineGivesNoRegression(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	alarms, real := 0, 0
	for range 20 {
		a := noisy("a", 10, 8, 1, 0.1, 0.02, random)
		same, err := Compare([]*Run{a, noisy("b", 10, 8, 1, 0.1, 0.02, random)}, CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if same.ExitStatus() != 0 {
			alarms++
		}
		if same.Cells[0].Test.Basis != stats.ByProcesses {
			t.Fatalf("compared by %s", same.Cells[0].Test.Basis)
		}
		slow, err := Compare([]*Run{a, noisy("c", 10, 8, 1.5, 0.1, 0.02, random)}, CompareOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if slow.ExitStatus() == ExitRegression {
			real++
		}
	}
	if alarms > 1 || real < 19 {
		t.Errorf("%d false alarms and %d of 20 real regressions found", alarms, real)
	}
}

// compareAll compares the runs, with inconclusive metrics failing.
func compareAll(t *testing.T, runs ...*Run) *Comparison {
	t.Helper()
	c, err := Compare(runs, CompareOptions{FailOnInconclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestManyMetrics compares runs of 8 repeats with hundreds of metrics, as a sweep of a GPU has: where all are slower, that
// is found.
func TestManyMetrics(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 8))
	a := noisy("a", 8, 400, 1, 0.02, 0.01, random)
	c := compareAll(t, a, noisy("b", 8, 400, 2, 0.02, 0.01, random))
	if n := c.Verdicts()[stats.Slower]; n != 400 || c.ExitStatus() != ExitRegression {
		t.Errorf("%d of 400 slower, exit status %d", n, c.ExitStatus())
	}
	if c = compareAll(t, a, noisy("c", 8, 400, 1, 0.02, 0.01, random)); c.Verdicts()[stats.Slower]+c.Verdicts()[stats.Faster] > 0 {
		t.Errorf("the same machine: %v", c.Verdicts())
	}
}

// TestFasterIsNotSlower simulates runs of which four metrics in five are twice as fast and the others the same, though their
// processes differ by more than the threshold: that so much is significant must not help to call the others slower.
func TestFasterIsNotSlower(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 9))
	alarms := 0
	for range 10 {
		a, b := noisy("a", 8, 400, 1, 0.15, 0.01, random), noisy("b", 8, 400, 1, 0.15, 0.01, random)
		for i := range b.Cases {
			for k := range b.Cases[i].Metrics[:320] {
				for j := range b.Cases[i].Metrics[k].Samples {
					b.Cases[i].Metrics[k].Samples[j] /= 2
				}
			}
		}
		c := compareAll(t, a, b)
		if c.Verdicts()[stats.Faster] < 280 {
			t.Fatalf("%v", c.Verdicts())
		}
		if c.Verdicts()[stats.Slower] > 0 {
			alarms++
		}
	}
	if alarms > 0 {
		t.Errorf("%d of 10 comparisons called something slower", alarms)
	}
}

// TestStepsExplain has phases of two steps. A step is slower only where its phase is, and never counts.
func TestStepsExplain(t *testing.T) {
	make := func(name string, mapped, step, unmapped float64) *Run {
		run := &Run{Header: Header{Schema: 1, Run: name, Repeats: 8}}
		for r := range 8 {
			noise := 1 + 0.001*float64((r*5)%8)
			c := CaseResult{Case: exampleCase("memfd", "memfd", 4096), Repeat: r, Status: share.StatusOK}
			for _, m := range []struct {
				name  string
				value float64
			}{{"map", mapped}, {"map/mmap", step}, {"map/lseek", 100}, {"unmap", 1000}, {"unmap/munmap", unmapped}} {
				c.Metrics = append(c.Metrics, Metric{Name: m.name, Unit: Nanoseconds, Samples: slices.Repeat([]float64{m.value * noise}, 30)})
			}
			run.Cases = append(run.Cases, c)
		}
		return run
	}
	base := make("base", 1000, 900, 500)
	c := compareAll(t, base, make("slow", 2000, 1900, 1000))
	got := map[string]string{}
	for _, x := range c.Cells {
		got[x.Metric] = fmt.Sprintf("%s %v %.5f", x.Verdict, x.Step, x.AdjustedP)
	}
	for metric, want := range map[string]string{
		"map": "slower false 0.00047", "map/mmap": "slower true 0.00047", "map/lseek": "equivalent true 1.00000",
		"unmap": "equivalent false 1.00000", "unmap/munmap": "inconclusive true 1.00000",
	} {
		if got[metric] != want {
			t.Errorf("%s: %s, want %s", metric, got[metric], want)
		}
	}
	if v, s := c.Verdicts(), c.StepVerdicts(); v[stats.Slower] != 1 || v[stats.Equivalent] != 1 || s[stats.Slower] != 1 || s[stats.Inconclusive] != 1 || c.Steps() != 3 {
		t.Errorf("metrics %v, steps %v", v, s)
	}
	if !c.Cells[2].Step || c.Cells[1].Step {
		t.Error("steps are not behind the metrics")
	}
	if c = compareAll(t, base, make("step", 1000, 900, 1000)); c.ExitStatus() != 0 {
		t.Errorf("only a step differs: exit status %d, %v", c.ExitStatus(), c.Verdicts())
	}
}

// TestTooFewRepeatsAreSaid wants to be told what the number of repeats keeps from being found.
func TestTooFewRepeatsAreSaid(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	slow := func(repeats, metrics int) *Run { return noisy("slow", repeats, metrics, 2, 0.01, 0.01, random) }
	base := func(repeats, metrics int) *Run { return noisy("base", repeats, metrics, 1, 0.01, 0.01, random) }
	short := slow(6, 8)
	for i := range short.Cases {
		short.Cases[i].Metrics = short.Cases[i].Metrics[:8-4*min(1, i/3)] // four metrics have 3 repeats
	}
	for _, test := range []struct {
		name   string
		runs   []*Run
		notes  []string
		blind  bool
		status int
	}{
		{"one pair of processes", []*Run{base(1, 8), slow(1, 8)}, []string{"One pair of processes a run: what differs between two starts of the program is not in these " +
			"intervals, so only a difference of more than a factor of 3 is called slower or faster. To find less, measure both runs with --repeat 5 at least: 5 repeats find a difference that at " +
			"least 4 of these 8 metrics have, 6 find it in a single one."}, true, ExitInconclusive},
		{"one metric", []*Run{base(1, 1), slow(2, 1)}, []string{"Fewer than 4 repeats on a side: what differs between two starts of the program is not in these " +
			"intervals, so only a difference of more than a factor of 3 is called slower or faster. To find less, measure both runs with --repeat 4 or more."}, true, ExitInconclusive},
		{"one metric, gross", []*Run{base(1, 1), noisy("gross", 1, 1, 4, 0.01, 0.01, random)}, []string{"One pair of processes a run: what differs between two starts of the " +
			"program is not in these intervals, so only a difference of more than a factor of 3 is called slower or faster. To find less, measure both runs with " +
			"--repeat 4 or more."}, true, ExitRegression},
		{"4 repeats", []*Run{base(4, 8), slow(4, 8)}, []string{"With 4 repeats p is at least 0.029, which can't become significant among 8 metrics: nothing can be " +
			"called faster or slower. Measure all runs with --repeat 5 at least; 6 find a difference of a single metric."}, true, ExitInconclusive},
		{"5 repeats", []*Run{base(5, 8), slow(5, 8)}, []string{"With 5 repeats a difference is found only where at least 4 of these 8 metrics have it; --repeat 6 finds " +
			"it in a single one."}, false, ExitRegression},
		{"6 repeats", []*Run{base(6, 8), slow(6, 8)}, nil, false, ExitRegression},
		{"cut short", []*Run{base(6, 8), short}, []string{"4 of 8 metrics have fewer than 4 repeats on a side: what differs between two starts of the program is not " +
			"in their intervals, so of these only a difference of more than a factor of 3 is called slower or faster."}, false, ExitRegression},
		{"two runs", []*Run{base(4, 1), slow(4, 1), slow(4, 1)}, []string{"About slow: With 4 repeats p is at least 0.029, which can't become significant among 1 metric " +
			"of 2 runs: nothing can be called faster or slower. Measure all runs with --repeat 5 at least.", "About slow#2: With 4 repeats p is at least 0.029, which " +
			"can't become significant among 1 metric of 2 runs: nothing can be called faster or slower. Measure all runs with --repeat 5 at least."}, true, ExitInconclusive},
	} {
		c := compareAll(t, test.runs...)
		if !slices.Equal(c.Notes, test.notes) || (len(c.Blind) > 0) != test.blind || c.ExitStatus() != test.status {
			t.Errorf("%s: exit status %d, blind %v, notes\n%s\nwant %d, %v\n%s", test.name, c.ExitStatus(), len(c.Blind) > 0, strings.Join(c.Notes, "\n"), test.status,
				test.blind, strings.Join(test.notes, "\n"))
		}
	}
}

// TestWorseCases gives the second of two runs of four repeats a status in some of them.
func TestWorseCases(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, test := range []struct {
		base, run string // the repeats' statuses: o k, p artial, u nsupported, t imeout, f ailed, c orrupt, i nterrupted
		line      string
		status    int
	}{
		{"oooo", "oooo", "", 0},
		{"oooo", "ooco", "in b 1 of the cases that a measured is corrupt; ", ExitRegression},
		{"oooo", "ffff", "in b 1 of the cases that a measured failed; ", ExitRegression},
		{"oooo", "ooot", "in b 1 of the cases that a measured timed out; ", ExitRegression},
		{"oooo", "uuuu", "", 0},
		{"oooo", "ppoo", "", 0},
		{"oooo", "oooi", "", 0},
		{"ooof", "ooft", "", 0},
		{"ooof", "oooc", "in b 1 of the cases that a measured is corrupt; ", ExitRegression},
		{"ooof", "ffff", "in b 1 of the cases that a measured failed; ", ExitRegression},
		{"ffff", "cccc", "", 0},
		{"uuuu", "ffff", "", 0},
	} {
		a, b := noisy("a", 4, 1, 1, 0, 0.001, random), noisy("b", 4, 1, 1, 0, 0.001, random)
		for run, statuses := range map[*Run]string{a: test.base, b: test.run} {
			for i, s := range statuses {
				run.Cases[i].Status = map[rune]share.Status{'o': share.StatusOK, 'p': share.StatusPartial, 'u': share.StatusUnsupported, 't': share.StatusTimeout,
					'f': share.StatusFailed, 'c': share.StatusCorrupt, 'i': share.StatusInterrupted}[s]
			}
			other := noisy("", 4, 1, 1, 0, 0.001, random).Cases // a second case, so that something can be compared
			for i := range other {
				other[i].Case.Size = 8192
			}
			run.Cases = append(run.Cases, other...)
		}
		c, err := Compare([]*Run{a, b}, CompareOptions{Threshold: 0.5})
		if err != nil {
			t.Fatal(err)
		}
		line, _, found := strings.Cut(c.VerdictLine(), "0 slower")
		if line != test.line || !found || c.ExitStatus() != test.status {
			t.Errorf("%s, then %s: %q, exit status %d; want %q, %d", test.base, test.run, line, c.ExitStatus(), test.line, test.status)
		}
		if told := len(c.Worse) > 0; told != (test.line != "" || strings.ContainsAny(test.run, "up")) {
			t.Errorf("%s, then %s: %+v", test.base, test.run, c.Worse)
		}
	}
}

// TestEverythingBroke compares a run with one in which the only case fails.
func TestEverythingBroke(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	a, b := noisy("a", 1, 1, 1, 0, 0.001, random), noisy("b", 1, 1, 1, 0, 0.001, random)
	b.Cases[0].Status, b.Cases[0].Reason = share.StatusFailed, "mmap: cannot allocate memory"
	c, err := Compare([]*Run{a, b}, CompareOptions{})
	if err != nil || c.ExitStatus() != ExitRegression {
		t.Errorf("%+v, %v", c, err)
	}
}

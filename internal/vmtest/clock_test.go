package vmtest

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"gpushare-bench/bench"
	"gpushare-bench/report"
	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// TestClockStep measures, stops at a time limit and resumes while the time of day goes a day ahead and two days back
// all the while. No sample, limit or duration may hang on it.
func TestClockStep(t *testing.T) {
	needVM(t)
	t.Parallel()
	binary, err := Build(t.Context(), t.TempDir(), "gpushare-bench/cmd/gpushare-bench")
	if err != nil {
		t.Fatal(err)
	}
	under, err := Build(t.Context(), t.TempDir(), "./testdata/clockstep")
	if err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), Config{
		Binary: binary,
		Under:  under,
		Args: []string{"sweep", "--backend", "host", "--allocator", "memfd", "--size", "4KiB", "--kernel", "none", "--repeat", "2",
			"--precision", "0.01%", "--max-samples", "1000000", "--max-time", "3s", "--case-timeout", "4m", // a slow machine is no fault
			"--time-limit", "1ms", "--progress", "plain", "--out", "/tmp/out/run",
			";", "sweep", "--resume", "/tmp/out/run", "--time-limit", "0", "--progress", "plain"},
		Collect: "/tmp/out",
		Timeout: 9 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	if result.ExitStatus != 0 {
		t.Fatalf("exit status %d\n%s%s", result.ExitStatus, result.Stdout, result.Stderr)
	}
	run, err := results.Read(bytes.NewReader(result.Files["/tmp/out/run/run.jsonl"]), "run.jsonl")
	if err != nil {
		t.Fatalf("%v\n%s%s", err, result.Stdout, result.Stderr)
	}
	if len(run.Dropped) != 0 || run.End == nil || run.End.Outcome != "complete" || len(run.Cases) != 2 {
		t.Fatalf("the journal is not whole: %d cases of 2, end %+v, dropped %q", len(run.Cases), run.End, run.Dropped)
	}
	for _, c := range run.Cases {
		checkTimes(t, c)
	}
	// The second was measured by the resumed run, which has no other limit than the case's own.
	last := run.Cases[1]
	i := slices.IndexFunc(last.Metrics, func(m results.Metric) bool { return m.Name == share.Setup })
	if i < 0 || last.Metrics[i].StopReason != stats.StopMaxTime || last.DurationNs < (3*time.Second).Nanoseconds() {
		t.Errorf("the resumed case did not end at its limit of 3 s: %d ns, %+v", last.DurationNs, last.Metrics)
	}
	if err := report.Page(io.Discard, []*results.Run{run}); err != nil {
		t.Errorf("report: %v", err)
	}
	// Both directions at least, or nothing was tested.
	_, text, _ := strings.Cut(result.Stdout, "clockstep: steps: ")
	steps := 0
	if _, err := fmt.Sscan(text, &steps); err != nil || steps < 3 {
		t.Errorf("the time of day was stepped %d times (%v)\n%s%s", steps, err, result.Stdout, result.Stderr)
	}
	t.Logf("%d steps, %d samples in %v", steps, len(run.Cases[1].IdleNs), time.Duration(last.DurationNs))
}

// checkTimes wants every time of a case to be one that a slow machine can need, and no talk of a machine that slept.
func checkTimes(t *testing.T, c results.CaseResult) {
	t.Helper()
	const long = 4 * time.Minute // a step is a day or more
	if c.Status != share.StatusOK || c.DurationNs <= 0 || c.DurationNs > long.Nanoseconds() {
		t.Errorf("repeat %d: status %v, reason %q, %d ns", c.Repeat, c.Status, c.Reason, c.DurationNs)
	}
	for _, m := range c.Metrics {
		if len(m.Samples) == 0 || slices.Min(m.Samples) <= 0 || slices.Max(m.Samples) > float64(10*time.Second) {
			t.Errorf("repeat %d: %s has samples %v", c.Repeat, m.Name, m.Samples)
		}
	}
	for _, idle := range c.IdleNs {
		if idle < 0 || idle > float64(long) {
			t.Errorf("repeat %d: the receiver had waited %v ns", c.Repeat, idle)
		}
	}
	for _, w := range c.Warnings {
		if w.Code == bench.WarnSuspended {
			t.Errorf("repeat %d: %s", c.Repeat, w.Text)
		}
	}
}

package bench_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gpushare-bench/bench"
	"gpushare-bench/bench/worker"
	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/share/sharetest"
)

// The test binary is its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := worker.Main(context.Background(), []share.Backend{sharetest.Backend{}}); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func config() *bench.Config {
	return &bench.Config{Sizes: []int64{4096, 65536}, Receivers: []string{share.ReceiverPolling}, Caches: []string{share.CacheWarm},
		Kernels: share.Kernels(), Precision: 0.02, MinSamples: 10, MaxSamples: 20, MaxTime: 20 * time.Second,
		CaseTimeout: 10 * time.Second, Repeats: 1, Seed: 7, Verify: true}
}

// sweep runs a plan with scripted workers and returns the journal as read back.
func sweep(t *testing.T, c *bench.Config, script string) (*results.Run, bench.Outcome) {
	t.Helper()
	t.Setenv(sharetest.ScriptVariable, script)
	t.Setenv("TMPDIR", t.TempDir())
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := &bench.Launcher{Exe: exe, Args: []string{"worker"}, Isolate: c.Isolate}
	defer l.Close()
	inv, overhead, err := l.Probe(context.Background(), "host")
	if err != nil {
		t.Fatal(err)
	}
	if overhead.Samples == 0 || overhead.Median <= 0 {
		t.Errorf("overhead of the timed call was not measured: %+v", overhead)
	}
	plan, err := bench.NewPlan(c, []bench.Site{{Backend: sharetest.Backend{}, Inventory: inv}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), results.JournalName)
	j, err := results.Create(path, results.Header{Schema: results.SchemaVersion, Tool: "test", Run: "r", Host: "h", Seed: c.Seed,
		Planned: len(plan.Cases()) * c.Repeats, Repeats: c.Repeats, Backend: "host", Devices: plan.Devices})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r := &bench.Runner{Config: c, Plan: plan, Launcher: l, Record: j.Append}
	out, err := r.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	run, err := results.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Dropped) > 0 {
		t.Errorf("journal: %v", run.Dropped)
	}
	return run, out
}

// TestTimeLimitPassed wants a run whose time is up before it begins to measure one case, not none and not all.
func TestTimeLimitPassed(t *testing.T) {
	c := config()
	c.TimeLimit = time.Nanosecond
	run, out := sweep(t, c, "")
	measured := 0
	for _, c := range run.Cases {
		if c.Status == share.StatusOK {
			measured++
		}
	}
	if measured != 1 || out.End.Outcome != "time-limit" || out.End.ExitStatus != 0 {
		t.Errorf("%d cases measured, %+v", measured, out.End)
	}
}

// pick returns the only line of a path, allocator and size.
func pick(t *testing.T, run *results.Run, path, allocator string, size int64) results.CaseResult {
	t.Helper()
	for _, c := range run.Cases {
		if c.Case.Path == path && c.Case.Allocator == allocator && c.Case.Size == size {
			return c
		}
	}
	t.Fatalf("no line for %s/%s %d", path, allocator, size)
	return results.CaseResult{}
}

func metric(c results.CaseResult, name string) *results.Metric {
	for i := range c.Metrics {
		if c.Metrics[i].Name == name {
			return &c.Metrics[i]
		}
	}
	return nil
}

func TestSweepScripted(t *testing.T) {
	run, out := sweep(t, config(), "")
	if out.End.ExitStatus != 0 || out.Counts[share.StatusOK] != 4 || out.Counts[share.StatusUnsupported] != 2 {
		t.Fatalf("outcome %+v", out)
	}
	c := pick(t, run, "fake", "file", 4096)
	for _, p := range share.Phases() {
		m := metric(c, p.String())
		if m == nil {
			t.Fatalf("no metric %s; case %+v", p, c)
		}
		switch p {
		case share.Transfer:
			continue // real
		case share.Release: // with a real close of the descriptor beside the scripted call
			m = metric(c, "release/fakeFree")
		}
		if m.First == nil || *m.First != float64(sharetest.PhaseTime(p, 0)) && *m.First >= 10000 {
			// The first cycle of the process takes ten times as long; of a later case it does not.
			t.Errorf("%s: first cycle %v", p, m.First)
		}
		for _, v := range m.Samples {
			if base := float64(sharetest.PhaseTime(p, 3)); v < base || v > base+2 {
				t.Errorf("%s: sample %v is not what was scripted, %v to %v", p, v, base, base+2)
			}
		}
	}
	if m := metric(c, "kernel/chase"); m == nil || m.Unit != results.Nanoseconds || m.Samples[0] < 10 || m.Samples[0] > 10.1 {
		t.Errorf("chase: %+v", m)
	}
	if m := metric(c, "kernel/read"); m == nil || m.Unit != results.BytesPerSecond || m.Samples[0] != 2e9 {
		t.Errorf("read: %+v", m)
	}
	if none := pick(t, run, "fake", "none", 4096); none.Status != share.StatusUnsupported || len(none.Metrics) != 0 ||
		!strings.Contains(none.Reason, "use file") {
		t.Errorf("refused allocator: %+v", none)
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		script string
		status share.Status
		reason string // part of it
		phase  string
	}{
		{"export=refuse", share.StatusUnsupported, "a test wants it so", "export"},
		{"import=refuse", share.StatusPartial, "a test wants it so", "import"},
		{"map=refuse", share.StatusPartial, "a test wants it so", "map"},
		{"map@3=refuse", share.StatusFailed, "a test wants it so", "map"},
		{"allocate=fail", share.StatusFailed, "producer: allocate: scripted", "allocate"},
		{"export@2=fail", share.StatusFailed, "producer: export: scripted", "export"},
		{"import@2=fail", share.StatusFailed, "consumer: import: scripted", "import"},
		{"unmap@2=fail", share.StatusFailed, "consumer: unmap: scripted", "unmap"},
		{"release@2=fail", share.StatusFailed, "producer: release: scripted", "release"},
		{"consumer:read@2=fail", share.StatusFailed, "kernel read", ""},
		{"consumer:verify@2=flip", share.StatusCorrupt, "8 of 4096 bytes are wrong, in the 8-byte words from offset 2048 to offset 2048; random", ""},
		{"producer:verify@2=flip", share.StatusCorrupt, "producer, after the consumer wrote back: 8 of 4096", ""},
		{"producer:export@2=kill", share.StatusFailed, "producer was killed by signal 9", "export"},
		{"consumer:import@0=kill", share.StatusFailed, "consumer was killed by signal 9 (killed) in import/fakeImport", "import"},
		{"consumer:map@2=segv", share.StatusFailed, "consumer", "map"},
		{"consumer:touch@2=bus", share.StatusFailed, "SIGBUS", "first_touch"},
		{"producer:release@2=bus", share.StatusFailed, "SIGBUS", "release"},
		{"consumer:touch@2=exit", share.StatusFailed, "consumer exited with status 7", "first_touch"},
		{"consumer:map@2=hang", share.StatusTimeout, "in map/fakeMap of the consumer, cycle 2", "map"},
		{"consumer:open=hang", share.StatusTimeout, "open of the consumer: no answer within 1s (--case-timeout) in fakeOpen", "open"},
		{"open=hang", share.StatusTimeout, "open of the producer: no answer within 1s (--case-timeout) in fakeOpen; open of the consumer: no answer", "open"},
		{"producer:open@0=fail", share.StatusFailed, "producer: open device cpu: open: scripted", ""},
		{"producer:release@2=hang", share.StatusTimeout, "in release/fakeFree of the producer, cycle 2", "release"},
	} {
		t.Run(c.script, func(t *testing.T) {
			cfg := config()
			cfg.Paths, cfg.Allocators, cfg.Sizes = []string{"fake"}, []string{"file"}, []int64{4096, 8192}
			if strings.Contains(c.script, "hang") {
				cfg.CaseTimeout = time.Second // elsewhere a slow machine must not look like a hang
				bench.SetOpenLeast(t, time.Second)
			}
			run, out := sweep(t, cfg, c.script)
			if len(run.Cases) != 2 {
				t.Fatalf("%d lines in the journal, want every case", len(run.Cases))
			}
			var hit *results.CaseResult
			for i := range run.Cases {
				if run.Cases[i].Status == c.status {
					hit = &run.Cases[i]
				}
			}
			if hit == nil {
				t.Fatalf("no case is %s: %s %q, %s %q", c.status, run.Cases[0].Status, run.Cases[0].Reason, run.Cases[1].Status, run.Cases[1].Reason)
			}
			reason := strings.ReplaceAll(hit.Reason, "8192", "4096")
			reason = strings.ReplaceAll(reason, "offset 4096", "offset 2048")
			if !strings.Contains(reason, c.reason) {
				t.Errorf("reason %q does not contain %q", hit.Reason, c.reason)
			}
			if !strings.HasPrefix(hit.Phase, c.phase) {
				t.Errorf("phase %q, want %q", hit.Phase, c.phase)
			}
			if hit.Status == share.StatusPartial {
				if m := metric(*hit, "export"); m == nil || len(m.Samples) < 10 {
					t.Errorf("the phases before the refused import were not measured: %+v", hit.Metrics)
				}
				if metric(*hit, "import") != nil || metric(*hit, share.Setup) != nil {
					t.Error("a refused import is among the samples")
				}
			}
			if want := map[share.Status]int{share.StatusCorrupt: 4, share.StatusFailed: 1, share.StatusTimeout: 1}[c.status]; want != 0 && out.End.ExitStatus != want {
				t.Errorf("exit status %d, want %d", out.End.ExitStatus, want)
			}
			left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
			if killed := strings.Contains(c.script, "kill") || strings.Contains(c.script, "segv") || strings.Contains(c.script, "exit") ||
				strings.Contains(c.script, "hang") || strings.Contains(c.script, "bus"); len(left) > 0 && !killed {
				t.Errorf("buffers left behind: %v", left)
			}
		})
	}
}

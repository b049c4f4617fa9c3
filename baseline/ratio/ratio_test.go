package main

import (
	"bytes"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

var update = flag.Bool("update", false, "rewrite the golden file")

func TestVerdict(t *testing.T) {
	for _, test := range []struct {
		name       string
		base, ours float64
		want       verdict
	}{
		{"equal", 10_000, 10_000, within},
		{"faster", 10_000, 1_000, within},
		{"ratio at the limit", 100_000, 115_000, within},
		{"beyond the ratio", 100_000, 115_001, over},
		{"difference at the limit", 2_000, 5_000, within},
		{"beyond both", 2_000, 5_001, over},
		{"a call of no time", 0, 3_000, within},
		{"not measured", 10_000, math.NaN(), missing},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := (comparison{base: test.base, ours: test.ours}).verdict(); got != test.want {
				t.Errorf("bare C %v, tool %v: %s, want %s", test.base, test.ours, got, test.want)
			}
		})
	}
}

func row(change func(*results.Row)) results.Row {
	r := results.Row{Status: share.StatusOK, Case: share.Case{Path: "cumemmap", Allocator: "vmm", Producer: "GPU-1", Consumer: "GPU-1", Transport: share.TransportSCMRights,
		Receiver: share.ReceiverPolling, Cache: share.CacheCold, Size: 2 << 20}, Metric: "export", Unit: results.Nanoseconds,
		Stats: stats.Summary{N: 30, Median: 500}}
	if change != nil {
		change(&r)
	}
	return r
}

func TestMedians(t *testing.T) {
	same := row(nil)
	rows := []results.Row{same,
		row(func(r *results.Row) { r.Metric, r.Unit = "kernel/read", results.BytesPerSecond }),
		row(func(r *results.Row) { r.Case.Consumer = "GPU-2" }),
		row(func(r *results.Row) { r.Case.Offset = 8 }),
		row(func(r *results.Row) { r.Case.Live = 1 }),
		row(func(r *results.Row) { r.Case.Peers = 1 }),
		row(func(r *results.Row) { r.Case.Variant = "isolate=pid" }),
		row(func(r *results.Row) { r.Case.Transport = share.TransportPidfd }),
		row(func(r *results.Row) { r.Stats.N = 0 }),
	}
	m, err := medians(rows)
	if err != nil {
		t.Fatal(err)
	}
	want := key{"cumemmap", "vmm", "polling", 2 << 20, "export"}
	if len(m) != 1 || m[want] != 500 {
		t.Errorf("got %v, want only %v of 500", m, want)
	}
	warm := row(func(r *results.Row) { r.Case.Cache = share.CacheWarm })
	if _, err := medians([]results.Row{same, warm}); err == nil {
		t.Error("two rows for one key were taken")
	}
}

func TestReadBaselineRefuses(t *testing.T) {
	head := strings.Join(baselineColumns, ",") + ",p5_ns,p95_ns\n"
	good := "cumemmap,vmm,polling,2097152,export,3,500.0,1.0,2.0\n"
	if _, err := readBaseline(strings.NewReader(head+good), "good"); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"empty":        "",
		"other header": "phase,median_ns\nmap,1\n",
		"bad size":     head + strings.Replace(good, "2097152", "2MiB", 1),
		"bad median":   head + strings.Replace(good, "500.0", "NaN", 1),
		"negative":     head + strings.Replace(good, "500.0", "-1", 1),
		"twice":        head + good + good,
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := readBaseline(strings.NewReader(text), "file"); !errors.Is(err, errBaseline) {
				t.Errorf("got error %v, want errBaseline", err)
			}
		})
	}
}

func FuzzReadBaseline(f *testing.F) {
	f.Add(strings.Join(baselineColumns, ",") + "\ncumemmap,vmm,polling,2097152,export,3,500.0\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := readBaseline(strings.NewReader(text), "fuzz")
		if err == nil && len(b.order) != len(b.medians) {
			t.Errorf("%d rows, %d medians", len(b.order), len(b.medians))
		}
	})
}

// TestRun compares files of both programs: the summary that testdata has was written by results.WriteRows.
func TestRun(t *testing.T) {
	files := func(names ...string) (paths []string) {
		for _, n := range names {
			paths = append(paths, filepath.Join("testdata", n))
		}
		return paths
	}
	var out, errs bytes.Buffer
	status := run(files("summary.csv", "baseline-1.csv", "baseline-2.csv"), &out, &errs)
	if status != 1 || errs.Len() > 0 {
		t.Errorf("status %d, standard error %q; want 1 and nothing", status, errs.String())
	}
	golden := filepath.Join("testdata", "table.golden")
	if *update {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestRunStatus(t *testing.T) {
	dir := t.TempDir()
	summary := filepath.Join(dir, "summary.csv")
	f, err := os.Create(summary)
	if err != nil {
		t.Fatal(err)
	}
	if err := results.WriteRows(f, []results.Row{row(nil)}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	base := filepath.Join(dir, "baseline.csv")
	for _, test := range []struct {
		name, line string
		args       []string
		want       int
	}{
		{"within", "cumemmap,vmm,polling,2097152,export,3,500.0", []string{summary, base}, 0},
		{"not measured", "cumemmap,vmm,blocked,2097152,export,3,500.0", []string{summary, base}, 1},
		{"one file", "", []string{summary}, 2},
		{"no such run", "", []string{filepath.Join(dir, "absent.csv"), base}, 2},
		{"no such baseline", "", []string{summary, filepath.Join(dir, "absent.csv")}, 2},
		{"no baseline", "", []string{summary, summary}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Join(baselineColumns, ",") + "\n" + test.line + "\n"
			if err := os.WriteFile(base, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			if got := run(test.args, &out, &errs); got != test.want {
				t.Errorf("status %d, want %d; %s%s", got, test.want, out.String(), errs.String())
			}
			if test.want == 2 && errs.Len() == 0 {
				t.Error("nothing on standard error")
			}
		})
	}
}

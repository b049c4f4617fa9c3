package vmtest

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"gpushare-bench/results"
	"gpushare-bench/share"
)

// TestSweep runs the tool's main job where dma-buf is real, and reads the journal it leaves.
func TestSweep(t *testing.T) {
	needVM(t)
	t.Parallel()
	binary, err := Build(t.Context(), t.TempDir(), "gpushare-bench/cmd/gpushare-bench")
	if err != nil {
		t.Fatal(err)
	}
	result, err := Run(t.Context(), Config{
		Binary: binary,
		Args: []string{"sweep", "--backend", "host", "--allocator", "memfd,memfd-huge,drm-dumb,udmabuf,dma-heap", "--size", "4KiB,2MiB", "--kernel", "read",
			"--min-samples", "10", "--max-samples", "10", "--max-time", "5m", "--time-limit", "8m", "--case-timeout", "8m", // a slow machine is no fault
			"--progress", "plain", "--out", "/tmp/out/run"},
		Modules: []string{"vgem"},
		Kernel:  []string{"hugepages=32"},
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
	if len(run.Dropped) != 0 || run.End == nil || run.End.Outcome != "complete" {
		t.Errorf("the journal is not whole: end %+v, dropped %q", run.End, run.Dropped)
	}
	if run.Header.Emulated != "" {
		t.Errorf("marked as emulated: %q; the kernel is real", run.Header.Emulated)
	}
	measured := make(map[string]int)
	for _, c := range run.Cases {
		measured[c.Case.Allocator]++
		checkCase(t, c)
	}
	for _, allocator := range []string{"memfd", "memfd-huge", "drm-dumb", "udmabuf", "dma-heap"} {
		if measured[allocator] < 2 {
			t.Errorf("%s has %d cases, want at least one for each of two sizes", allocator, measured[allocator])
		}
	}
}

// checkCase wants clean bytes and real samples in every phase that the case's path has.
func checkCase(t *testing.T, c results.CaseResult) {
	t.Helper()
	if c.Status != share.StatusOK || c.Mismatch != nil {
		t.Errorf("%v: status %v, reason %q, mismatch %+v", c.Case, c.Status, c.Reason, c.Mismatch)
		return
	}
	want := []string{"allocate", "transfer", "map", "first_touch", "unmap", "release", "setup"}
	exporters := map[string]string{"drm-dumb": "drm", "udmabuf": "udmabuf", "dma-heap": "system"}
	if exporter, ok := exporters[c.Case.Allocator]; ok {
		if c.Exporter != exporter {
			t.Errorf("%v: exporter %q, want %q", c.Case, c.Exporter, exporter)
		}
	}
	if c.Case.Allocator == "drm-dumb" {
		// The others are made as descriptors: only a dumb buffer has to be exported.
		want = append(want, "export")
	}
	for _, name := range want {
		i := slices.IndexFunc(c.Metrics, func(m results.Metric) bool { return m.Name == name })
		if i < 0 {
			t.Errorf("%v has no metric %s", c.Case, name)
			continue
		}
		samples := c.Metrics[i].Samples
		if len(samples) < 10 || slices.Min(samples) <= 0 {
			t.Errorf("%v: %s has samples %v", c.Case, name, samples)
		}
	}
}

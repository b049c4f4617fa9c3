package results

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gpushare-bench/share"
	"gpushare-bench/stats"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares text with a file in testdata. On a difference the text is left beside the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		actual := path + ".actual"
		if err := os.WriteFile(actual, got, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s differs from %s; see with: diff results/%s results/%s", actual, path, path, actual)
	}
}

func ptr[T any](v T) *T { return &v }

var exampleStart = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// exampleHeader uses every field.
func exampleHeader() Header {
	return Header{
		Schema: 1, Tool: "gpushare-bench", Version: "v1.0.0", Run: "example", Host: "node-a", Started: exampleStart,
		Args: []string{"sweep", "--backend", "host"}, Seed: 42, Planned: 6, Repeats: 1, Emulated: "", Backend: "cuda",
		BackendWhy: "a GPU was found",
		Devices: []share.DeviceInfo{
			{ID: "cpu", Backend: "host", Name: "Example CPU", NUMANode: ptr(0), CPUs: []int{0, 1}, MemoryBytes: 1 << 36, CacheBytes: 32 << 20},
			{ID: "GPU-11111111-0000-0000-0000-000000000001", Backend: "cuda", Name: "NVIDIA H200", PCI: "0000:01:00.0",
				MemoryBytes: 139 << 30, PeakBytes: 4.8e12, CacheBytes: 60 << 20, Details: map[string]string{"compute_capability": "9.0"}},
		},
		Links:       []share.Link{{Producer: "cpu", Consumer: "cpu", Class: "cpu"}},
		Details:     map[string]string{"driver": "580.65.06"},
		Environment: json.RawMessage(`{"kernel":"6.12.1","cpu":{"model":"Example CPU","cores":2},"boot_id":"b1"}`),
		Settings: Settings{Precision: 0.02, MinSamples: 30, MaxSamples: 1000, MaxTimeNs: 5e9, TimeLimitNs: 60e9, Verify: true,
			Kernels: []string{"read"}, Threads: 2},
		Overhead: Overhead{Samples: 1000, Min: 28, Median: 30, P99: 41},
	}
}

func exampleCase(path, allocator string, size int64) share.Case {
	return share.Case{Backend: "host", Path: path, Allocator: allocator, Producer: "cpu", Consumer: "cpu",
		Transport: share.TransportSCMRights, Receiver: share.ReceiverPolling, Cache: share.CacheCold, Size: size}
}

// samplesAbout is n samples about base: the same every time, in no order, without ties.
func samplesAbout(base float64, n int, seed uint64) []float64 {
	out := make([]float64, n)
	for i := range out {
		seed = seed*6364136223846793005 + 1442695040888963407
		out[i] = base + float64(seed>>40)/float64(1<<24)*base/10
	}
	return out
}

func exampleCases() []CaseResult {
	gpu := "GPU-11111111-0000-0000-0000-000000000001"
	shared := exampleCase("cuda-ipc", "device", 1<<21)
	shared.Backend, shared.Producer, shared.Consumer, shared.Transport = "cuda", gpu, gpu, share.TransportBytes
	odd := exampleCase("memfd", "memfd", 4096)
	odd.Offset, odd.Live, odd.Variant = 512, 3, "isolate=pid,ipc"
	return []CaseResult{
		{Case: exampleCase("memfd", "memfd", 4096), Order: 0, Link: "cpu", Allocated: 4096, Status: share.StatusOK, Metrics: []Metric{
			{Name: "export", Unit: Nanoseconds, Samples: samplesAbout(1000, 40, 1), First: ptr(5000.0), StopReason: stats.StopPrecision},
			{Name: "setup", Unit: Nanoseconds, Samples: samplesAbout(9000, 40, 2), First: ptr(20000.5), StopReason: stats.StopPrecision},
			{Name: "kernel/read", Unit: BytesPerSecond, Samples: samplesAbout(1.2345e10, 7, 3), StopReason: stats.StopMaxTime},
		}, IdleNs: samplesAbout(200, 40, 4), Started: exampleStart, DurationNs: 12345678},
		{Case: exampleCase("memfd", "memfd", 1<<20), Order: 1, Link: "cpu", Allocated: 1 << 20, Status: share.StatusOK, Metrics: []Metric{
			{Name: "setup", Unit: Nanoseconds, Samples: []float64{9100, 9300, 9050.25}, StopReason: stats.StopMaxSamples},
		}, Warnings: []Warning{{Code: "few-samples", Metric: "setup", Text: "3 samples are too few for an interval"},
			{Code: "steal", Text: "2 % of the CPU time was stolen"}}, Started: exampleStart.Add(time.Second), DurationNs: 1},
		{Case: exampleCase("dma-buf", "udmabuf", 4096), Order: 2, Status: share.StatusUnsupported,
			Reason: "open /dev/udmabuf: no such file or directory; load the module udmabuf", Started: exampleStart.Add(2 * time.Second)},
		{Case: exampleCase("dma-buf", "dma-heap", 4096), Order: 3, Allocated: 4096, Exporter: "system", Status: share.StatusCorrupt,
			Reason: "verification: 8 bytes differ", Phase: "first_touch", Mismatch: &share.Mismatch{Bytes: 8, First: 16, Last: 16},
			Started: exampleStart.Add(3 * time.Second)},
		{Case: shared, Order: 4, Link: "same", Allocated: 1 << 21, Status: share.StatusPartial, Phase: "import",
			Reason:  "cuIpcOpenMemHandle: CUDA_ERROR_NOT_SUPPORTED",
			Metrics: []Metric{{Name: "export", Unit: Nanoseconds, Samples: samplesAbout(2500, 30, 5), First: ptr(90000.0), StopReason: stats.StopPrecision}},
			Before:  &share.DeviceState{SMClockHz: ptr(int64(1980e6)), TemperatureC: ptr(int64(40))},
			After:   &share.DeviceState{SMClockHz: ptr(int64(1980e6)), Throttle: []string{"power-cap"}, OtherPIDs: []int{17}},
			Started: exampleStart.Add(4 * time.Second), DurationNs: 77},
		{Case: odd, Order: 5, Link: "cpu", Status: share.StatusTimeout, Reason: "=cmd|' /C calc'!A0, \"quoted\"\nsecond line",
			Phase: "map", Started: exampleStart.Add(5 * time.Second), DurationNs: 5e9},
	}
}

// exampleJournal is a whole journal as bytes.
func exampleJournal(t testing.TB) []byte {
	t.Helper()
	return journalBytes(t, exampleHeader(), exampleCases(), &End{Outcome: "complete", ExitStatus: 4, Finished: exampleStart.Add(time.Minute), Measured: 6})
}

func journalBytes(t testing.TB, h Header, cases []CaseResult, end *End) []byte {
	t.Helper()
	out, err := appendLine(nil, lineHeader, h)
	for i := 0; i < len(cases) && err == nil; i++ {
		out, err = appendLine(out, lineCase, cases[i])
	}
	if end != nil && err == nil {
		out, err = appendLine(out, lineEnd, end)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func readBytes(t testing.TB, b []byte) *Run {
	t.Helper()
	run, err := Read(bytes.NewReader(b), "run.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return run
}

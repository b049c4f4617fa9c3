package main

import (
	"strings"
	"testing"
	"time"

	"gpushare-bench/bench"
	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// Where there is no driver the line is short; every other reason is told in full.
func TestTold(t *testing.T) {
	missing := "auto: no GPU to measure (use CUDA: no NVIDIA driver library: open library libcuda.so.1, libcuda.so: " + noLibrary + "; install it)"
	other := "auto: no GPU to measure (use CUDA: no NVIDIA driver library: libcuda.so.1: libdep.so: cannot open shared object file: No such file or directory)"
	if got := (&backendChoice{why: other}).told(); got != other {
		t.Errorf("told %q", got)
	}
	got := (&backendChoice{why: missing}).told()
	if driverLoaded() {
		if got != missing {
			t.Errorf("with the module loaded: told %q", got)
		}
	} else if len(got) > 80 || strings.Count(got, "libcuda") != 1 {
		t.Errorf("told %q", got)
	}
}

// A driver that hangs is not waited for in silence, and what is measured instead is not said to be all there is.
func TestDriverHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for ten seconds")
	}
	cudatest.Machine(t, "h200-580", cudatest.Faults("cuInit=hang")).Setenv(t)
	t.Setenv(programVariable, "1")
	defer func(d time.Duration) { silence = d }(silence)
	silence = 100 * time.Millisecond
	l := &bench.Launcher{Exe: "gpushare-bench", Args: []string{"worker"}, ProbeTimeout: 5 * time.Second}
	defer l.Close()
	for want, text := range map[string]string{
		"auto": "auto: the CUDA driver did not answer, so no GPU is measured (look for cuda devices: no answer within 5s)",
		"cuda": "--backend cuda: look for cuda devices: no answer within 5s",
	} {
		var stderr strings.Builder
		a := &app{stderr: &stderr}
		c, err := a.chooseBackend(t.Context(), l, want)
		switch {
		case want == "auto" && (err != nil || c.name != "host" || c.told() != text):
			t.Errorf("%s: %+v, %v", want, c, err)
		case want == "cuda" && (err == nil || err.Error() != text):
			t.Errorf("%s: %v", want, err)
		}
		if got := stderr.String(); got != "waiting for the CUDA driver, which has not answered for 100ms, a minute at most; --backend host does without it\n" {
			t.Errorf("%s: said %q", want, got)
		}
	}
}

func TestCaseLine(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: ", 1 cycle in 2.0 s", 2: ", 2 cycles in 2.0 s"} {
		res := results.CaseResult{Status: share.StatusOK, DurationNs: 2e9, Metrics: []results.Metric{{Samples: make([]float64, n)}}}
		if got := caseLine(&res); !strings.HasSuffix(got, ": ok"+want) {
			t.Errorf("%d cycles: %q", n, got)
		}
	}
}

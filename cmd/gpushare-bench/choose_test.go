package main

import (
	"strings"
	"testing"

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

func TestCaseLine(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: ", 1 cycle in 2.0 s", 2: ", 2 cycles in 2.0 s"} {
		res := results.CaseResult{Status: share.StatusOK, DurationNs: 2e9, Metrics: []results.Metric{{Samples: make([]float64, n)}}}
		if got := caseLine(&res); !strings.HasSuffix(got, ": ok"+want) {
			t.Errorf("%d cycles: %q", n, got)
		}
	}
}

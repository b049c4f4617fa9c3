package gpu_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/gpu"
	"gpushare-bench/share"
	"gpushare-bench/share/sharetest"
)

var update = flag.Bool("update", false, "write the golden files")

// TestSteps holds what is recorded for each path and allocator against testdata/steps.golden, which documents it: phase by
// phase, the calls in their order. The machine is one that grants nearly everything.
func TestSteps(t *testing.T) {
	needEmulated(t)
	const name = "new-driver"
	m := on(t, name)
	var b strings.Builder
	fmt.Fprintf(&b, "# The timed calls of one cycle, by path and allocator, on the emulated machine %s.\n# Written by go test ./gpu -run TestSteps -update\n", name)
	uuid := m.profile.Devices[0].UUID
	c := &sharetest.Contract{Backend: gpu.Backend{}, Producer: uuid, Consumer: uuid, Sizes: few, Once: once,
		Command: func() *exec.Cmd { return exec.Command("/proc/self/exe", "rows") },
		Expect:  expectation(m.profile, 0, 0),
		Steps:   func(path, allocator string, spans []share.Span) { writeSteps(&b, path, allocator, spans) }}
	c.Run(t)
	m.check(t, cudatest.Exception{Class: cudatest.Refused})
	if t.Failed() {
		return
	}
	golden := filepath.Join("testdata", "steps.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the steps have changed; see the difference after go test ./gpu -run TestSteps -update. Now:\n%s", b.String())
	}
}

// writeSteps writes the calls of one cycle, a line a phase.
func writeSteps(b *strings.Builder, path, allocator string, spans []share.Span) {
	fmt.Fprintf(b, "\n%s/%s\n", path, allocator)
	for _, p := range share.Phases() {
		var calls []string
		for _, s := range spans {
			switch {
			case s.Phase != p:
			case s.OK:
				calls = append(calls, s.Call)
			default:
				calls = append(calls, s.Call+" (refused)")
			}
		}
		if len(calls) > 0 {
			fmt.Fprintf(b, "  %-11s %s\n", p, strings.Join(calls, ", "))
		}
	}
}

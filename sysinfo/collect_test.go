package sysinfo

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestCollectGolden fixes the recorded environment of every sample machine,
// names and units included.
func TestCollectGolden(t *testing.T) {
	for _, name := range []string{"x86-laptop", "arm64-64k", "cgroup-v1", "cgroup-v1-unlimited", "cgroup-v2-nested", "container-v2"} {
		t.Run(name, func(t *testing.T) {
			e := Collect(t.Context(), sample(t, name))
			e.PageSize = 4096 // of the machine that tests
			got, err := json.MarshalIndent(e, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, '\n')
			golden := "testdata/" + name + ".json"
			if *update {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("environment differs from %s (-update rewrites it); got\n%s", golden, got)
			}
			var back Environment
			if err := json.Unmarshal(got, &back); err != nil {
				t.Fatalf("reading it back: %v", err)
			}
			again, err := json.MarshalIndent(back, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(append(again, '\n'), got) {
				t.Errorf("environment changes when read back; got\n%s", again)
			}
		})
	}
}

func TestCollectNothing(t *testing.T) {
	e := Collect(t.Context(), files(nil))
	if e.CPU != nil || e.Memory != nil || e.UsableMemory != nil || e.Limits != nil || e.IOMMU != nil || e.Machine != nil || e.Container != nil {
		t.Errorf("an empty root gave values: %+v", e)
	}
	var parts []string
	for _, line := range e.Missing {
		part, why, _ := strings.Cut(line, ": ")
		parts = append(parts, part)
		if !strings.Contains(why, "file does not exist") {
			t.Errorf("%q does not say why", line)
		}
	}
	check(t, "missing", parts, []string{"kernel", "cpu", "memory", "cgroup", "numa", "limits", "process", "namespaces", "load"})
}

func TestCollectCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := Collect(ctx, sample(t, "x86-laptop"))
	if e.CPU != nil || len(e.Missing) == 0 || !strings.Contains(e.Missing[0], "context canceled") {
		t.Errorf("after cancellation: cpu %v, missing %q", e.CPU, e.Missing)
	}
}

// TestCollectHost holds what every Linux machine must answer.
func TestCollectHost(t *testing.T) {
	e := Collect(t.Context(), Host())
	if e.CPU == nil || e.CPU.Logical < 1 {
		t.Errorf("cpu = %+v; missing %q", e.CPU, e.Missing)
	}
	if e.UsableMemory == nil || e.Memory == nil || *e.UsableMemory > *e.Memory.Total {
		t.Errorf("usable memory = %v of %+v", deref(e.UsableMemory), e.Memory)
	}
	if e.Kernel == nil || e.Limits == nil || e.Limits.OpenFiles == nil || e.Limits.OpenFiles.Soft == 0 {
		t.Errorf("kernel %+v, limits %+v; missing %q", e.Kernel, e.Limits, e.Missing)
	}
}

// TestNames holds the rule for JSON names over all samples.
func TestNames(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z][a-z0-9_]*$|^DMA(-FQ)?$`) // the kernel's own words for IOMMU types
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, inner := range v {
				if !snake.MatchString(name) {
					t.Errorf("JSON name %q is not in snake case", name)
				}
				walk(inner)
			}
		case []any:
			for _, inner := range v {
				walk(inner)
			}
		}
	}
	for _, name := range []string{"x86-laptop", "arm64-64k"} {
		b, err := json.Marshal(Collect(t.Context(), sample(t, name)))
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		walk(v)
	}
}

// BenchmarkCollect shows what recording the environment costs a run.
func BenchmarkCollect(b *testing.B) {
	for b.Loop() {
		Collect(b.Context(), Host())
	}
}

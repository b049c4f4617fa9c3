package plots

import (
	"strings"
	"testing"

	"gpushare-bench/results"
	"gpushare-bench/results/resultstest"
)

// changed is a run of one size whose cases are changed.
func changed(change func(i int, c *results.CaseResult)) *results.Run {
	run := resultstest.HostRun(1 << 20)
	for i := range run.Cases {
		change(i, &run.Cases[i])
	}
	return run
}

func TestHeadingSaysWhatAllHave(t *testing.T) {
	for _, x := range []struct {
		run  *results.Run
		want string
	}{
		{changed(func(int, *results.CaseResult) {}), "cpu → cpu, scm-rights, polling receiver, cold cache"},
		{changed(func(_ int, c *results.CaseResult) { c.Case.Variant = "isolate=pid+ipc;same-process" }),
			"cpu → cpu, isolate=pid+ipc, same-process, scm-rights, polling receiver, cold cache"},
		{changed(func(_ int, c *results.CaseResult) { c.Case.Offset, c.Case.Live = 4096, 1 }),
			"cpu → cpu, offset 4 KiB, 1 other live mapping, scm-rights, polling receiver, cold cache"},
		{changed(func(i int, c *results.CaseResult) { c.Case.Transport = []string{"scm-rights", "bytes"}[i%2] }), "cpu → cpu, polling receiver, cold cache"},
	} {
		d := NewData(x.run)
		v := d.Views[0]
		if got := v.Heading(); got != x.want {
			t.Errorf("%q, want %q", got, x.want)
		}
		for _, f := range Figures(x.run) {
			if !strings.Contains(f.Subtitle, x.want) {
				t.Errorf("%s: subtitle %q lacks %q", f.Name, f.Subtitle, x.want)
			}
		}
	}
}

func TestLabelsSayWhatDiffers(t *testing.T) {
	// One way has an offset: the others can't be taken for it, and it not for them.
	v := NewData(changed(func(i int, c *results.CaseResult) {
		if c.Case.Allocator == "memfd-huge" {
			c.Case.Offset = 4096
		}
	})).Views[0]
	if got := v.Ways[1].Label; got != "memfd memfd-huge (+4 KiB)" {
		t.Errorf("label %q", got)
	}
	if got := v.Heading(); strings.Contains(got, "offset") {
		t.Errorf("heading %q", got)
	}
	// What differs between paths is no part of the labels of one path.
	run := liveRun()
	for i := range run.Cases {
		if run.Cases[i].Case.Allocator == "memfd-huge" {
			run.Cases[i].Case.Transport = "pidfd"
		}
	}
	for _, w := range NewData(run).Views[0].Ways {
		if w.Case.Live == 1024 && w.Case.Allocator == "memfd" && w.Label != "memfd (live 1024)" {
			t.Errorf("label %q", w.Label)
		}
	}
}

package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"gpushare-bench/results"
	"gpushare-bench/results/resultstest"
)

// TestSpecialSettingsAreSaid wants figures of another experiment to be told from those of any other run, wherever they are
// shown.
func TestSpecialSettingsAreSaid(t *testing.T) {
	oneThread(t)
	for _, x := range []struct {
		change  func(*results.CaseResult)
		heading string
		method  string
	}{
		{func(c *results.CaseResult) { c.Case.Variant = "same-process" }, "same-process", "ONE process (--same-process)"},
		{func(c *results.CaseResult) { c.Case.Variant = "exported-before" }, "exported-before", "exported once before, untimed (--exported-before)"},
		{func(c *results.CaseResult) { c.Case.Offset = 4096 }, "offset 4 KiB", "always two processes"},
		{func(c *results.CaseResult) { c.Case.Live = 3 }, "3 other live mappings", "always two processes"},
		{func(c *results.CaseResult) { c.Case.Peers = 2 }, "2 peers", "always two processes, and as many more as a case has peers"},
	} {
		run := resultstest.HostRun(1 << 20)
		for i := range run.Cases {
			x.change(&run.Cases[i])
		}
		for name, write := range map[string]func(*bytes.Buffer) error{
			"summary":  func(b *bytes.Buffer) error { return Summary(b, run, TableOptions{}) },
			"markdown": func(b *bytes.Buffer) error { return Markdown(b, run) },
			"page":     func(b *bytes.Buffer) error { return Page(b, []*results.Run{run}) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(b.String(), fmt.Sprintf("cpu → cpu, %s, scm-rights", x.heading)) {
				t.Errorf("%s of a run with %s does not say so", name, x.heading)
			}
			if name != "page" {
				continue
			}
			if !strings.Contains(b.String(), x.method) {
				t.Errorf("the page of a run with %s lacks %q", x.heading, x.method)
			}
			if x.heading == "same-process" && strings.Contains(b.String(), "always two processes") {
				t.Error("the page of a run in one process says that there are always two")
			}
		}
	}
}

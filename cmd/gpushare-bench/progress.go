package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"gpushare-bench/bench"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// progress tells of a run while it goes on: a bar on a terminal, a line a case in a log.
type progress struct {
	w       io.Writer
	mode    string // "bar", "plain" or "none"
	started time.Time

	mu   sync.Mutex // the bar draws from its own goroutine
	text string
	bars *mpb.Progress
	bar  *mpb.Bar
}

// newProgress chooses how to tell: "auto" is a bar where w is a terminal that can draw one.
func newProgress(mode string, w io.Writer, env func(string) string) *progress {
	p := &progress{w: w, mode: mode, started: time.Now()}
	if mode == "auto" {
		p.mode = "plain"
		if f, ok := w.(*os.File); ok && isatty.IsTerminal(f.Fd()) && env("TERM") != "dumb" {
			p.mode = "bar"
		}
	}
	return p
}

// event takes one event of the run.
func (p *progress) event(e bench.Event) {
	switch p.mode {
	case "bar":
		p.draw(e)
	case "plain":
		if e.Note != "" {
			fmt.Fprintln(p.w, printable(e.Note))
		}
		if e.Finished != nil {
			fmt.Fprintf(p.w, "[%*d/%d] %s\n", width(e.Total), e.Number, e.Total, caseLine(e.Finished))
		}
	}
}

func width(n int) int { return len(fmt.Sprint(n)) }

// caseLine tells how a case ended, in one line.
func caseLine(res *results.CaseResult) string {
	s := fmt.Sprintf("%s: %s", res.Case, res.Status)
	if res.Repeat > 0 {
		s += fmt.Sprintf(" (repeat %d)", res.Repeat+1)
	}
	if n := cycles(res); n > 0 {
		unit := "cycles"
		if n == 1 {
			unit = "cycle"
		}
		s += fmt.Sprintf(", %d %s in %.1f s", n, unit, float64(res.DurationNs)/1e9)
	}
	if res.Reason != "" {
		s += ": " + printable(res.Reason)
	}
	return s
}

// cycles is the number of steady-state cycles of a case.
func cycles(res *results.CaseResult) int {
	n := 0
	for _, m := range res.Metrics {
		n = max(n, len(m.Samples))
	}
	return n
}

// draw moves the bar.
func (p *progress) draw(e bench.Event) {
	p.mu.Lock()
	switch {
	case e.Note != "":
		p.text = printable(e.Note)
	case e.Starting != nil:
		p.text = e.Starting.Case.String()
	case e.Finished != nil && e.Finished.Status != share.StatusOK:
		p.text = fmt.Sprintf("%s: %s", e.Finished.Case, e.Finished.Status)
	}
	p.mu.Unlock()
	if p.bar == nil {
		p.bars = mpb.New(mpb.WithOutput(p.w), mpb.WithWidth(40), mpb.WithRefreshRate(200*time.Millisecond))
		p.bar = p.bars.AddBar(int64(e.Total),
			mpb.PrependDecorators(decor.CountersNoUnit("%d/%d ")),
			mpb.AppendDecorators(
				decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO, decor.WC{W: 6}), ""),
				decor.Any(func(decor.Statistics) string {
					p.mu.Lock()
					defer p.mu.Unlock()
					return "  " + p.text
				})))
	}
	if e.Finished != nil {
		p.bar.SetCurrent(int64(e.Number))
	}
}

// finish ends the drawing.
func (p *progress) finish() {
	if p.bars != nil {
		if !p.bar.Completed() {
			p.bar.Abort(false)
		}
		p.bars.Wait()
	}
}

// printable replaces what a terminal would take for a command.
func printable(s string) string {
	out := []rune(s)
	for i, r := range out {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			out[i] = '?'
		}
	}
	return string(out)
}

package results

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"gpushare-bench/stats"
)

// Most rows of a table in Markdown: what is left out is counted.
const (
	maxDifferences = 40
	maxCells       = 60
	maxUnmatched   = 40
	maxWorse       = 40
)

// WriteMarkdown writes the comparison for an issue or a pull request: verdicts, what differs between the runs, a summary
// per path and metric, the metrics themselves (equivalent ones only counted) and what was not compared.
func (c *Comparison) WriteMarkdown(w io.Writer) error {
	bw := bufio.NewWriter(w)
	p := func(format string, args ...any) { fmt.Fprintf(bw, format, args...) }
	base := c.Runs[0]
	p("## Compared with %s\n\n", md(base.Label))
	p("**%s** of %s", md(c.VerdictLine()), count(len(c.Cells)-c.Steps(), "metric"))
	if n := c.Steps(); n > 0 {
		p(" (%s of phases not among them)", count(n, "step"))
	}
	p(". A difference below %s%% does not matter%s; p is adjusted for the number of metrics.\n", percent(c.Options.Threshold), thresholdList(c.Options.Thresholds))
	c.mdWorse(p)
	for _, n := range c.Notes {
		p("\n> %s\n", md(n))
	}
	p("\n| run | host | started | repeats | cases | devices matched by | |\n| --- | --- | --- | ---: | ---: | --- | --- |\n")
	for _, r := range c.Runs {
		p("| %s | %s | %s | %d | %d | %s | %s |\n", md(r.Label), md(r.Host), r.Started.UTC().Format("2006-01-02 15:04 UTC"), r.Repeats, r.Cases, r.Matching, md(r.remarks()))
	}
	c.mdDifferences(p)
	p("\n### By path and metric\n\n| run | path | metric | metrics | geometric mean of ratios | slower | faster | inconclusive | equivalent |\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, g := range c.Groups {
		p("| %s | %s | %s | %d | ×%s | %d | %d | %d | %d |\n", md(c.Runs[g.Run].Label), md(g.Path), md(g.Metric), g.Cells, ratioDigits(g.GeoMean),
			g.Verdicts[stats.Slower], g.Verdicts[stats.Faster], g.Verdicts[stats.Inconclusive], g.Verdicts[stats.Equivalent])
	}
	c.mdCells(p)
	if len(c.Unmatched) > 0 {
		p("\n### Not compared\n\n")
		for i, u := range c.Unmatched {
			if i == maxUnmatched {
				p("- and %d more\n", len(c.Unmatched)-i)
				break
			}
			what := u.Case.String()
			if u.Metric != "" {
				what += " " + u.Metric
			}
			p("- %s of %s, not in %s: %s\n", md(what), md(c.Runs[u.In].Label), md(c.Runs[u.NotIn].Label), md(u.Why))
		}
	}
	return bw.Flush() // bufio keeps the first error
}

// mdWorse lists the cases that got worse, broken ones first.
func (c *Comparison) mdWorse(p func(string, ...any)) {
	if len(c.Worse) == 0 {
		return
	}
	p("\n### Cases that got worse\n\n")
	for i, w := range c.Worse {
		if i == maxWorse {
			p("- and %d more\n", len(c.Worse)-i)
			break
		}
		what := fmt.Sprintf("%s in %s, %s in %s", w.From, c.Runs[0].Label, w.To, c.Runs[w.Run].Label)
		for _, s := range []string{w.Where(), shorten(w.Reason)} {
			if s != "" {
				what += ": " + s
			}
		}
		p("- %s: %s\n", md(w.Case.String()), md(what))
	}
}

func (c *Comparison) mdDifferences(p func(string, ...any)) {
	if len(c.Differences) == 0 {
		p("\nNo differences between the machines and settings.\n")
		return
	}
	p("\n### What differs\n\n| |")
	for _, r := range c.Runs {
		p(" %s |", md(r.Label))
	}
	p("\n| --- |%s\n", strings.Repeat(" --- |", len(c.Runs)))
	for i, d := range c.Differences {
		if i == maxDifferences {
			p("\nand %d more.\n", len(c.Differences)-i)
			break
		}
		p("| %s |", md(d.Key))
		for _, v := range d.Short(mostRunes) {
			p(" %s |", md(v))
		}
		p("\n")
	}
}

func (c *Comparison) mdCells(p func(string, ...any)) {
	p("\n### Metrics\n\n")
	var shown []*Cell
	left, equivalent := 0, 0
	for i := range c.Cells {
		switch x := &c.Cells[i]; {
		case x.Verdict == stats.Equivalent:
			equivalent++
		case len(shown) == maxCells:
			left++
		default:
			shown = append(shown, x)
		}
	}
	if len(shown) > 0 {
		p("| verdict | run | case | metric | %s | this run | ratio | p | by | warnings |\n| --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- | --- |\n", md(c.Runs[0].Label))
	}
	for _, x := range shown {
		p("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", x.Verdict, md(c.Runs[x.Run].Label), md(x.Case.String()), md(x.Metric),
			FormatInterval(x.A.Median, x.A.CI, x.Unit), FormatInterval(x.B.Median, x.B.CI, x.Unit), FormatRatio(x.Test.Ratio, x.Test.CI),
			FormatP(x.AdjustedP), x.Test.Basis, md(strings.Join(append(warningsOf(x), x.Notes...), "; ")))
	}
	if left > 0 {
		p("\nand %d more.\n", left)
	}
	if equivalent > 0 {
		p("\nEquivalent and not listed: %d.\n", equivalent)
	}
}

// warningsOf lists the codes of both sides.
func warningsOf(x *Cell) []string {
	var s []string
	for _, w := range slices.Concat(x.WarningsA, x.WarningsB) {
		if !slices.Contains(s, w.Code) {
			s = append(s, w.Code)
		}
	}
	return s
}

func (r RunInfo) remarks() string {
	var s []string
	if r.Emulated != "" {
		s = append(s, "emulated: "+r.Emulated)
	}
	if !r.Complete {
		s = append(s, "not complete")
	}
	if r.Dropped > 0 {
		s = append(s, fmt.Sprintf("%d journal lines could not be read", r.Dropped))
	}
	return strings.Join(s, "; ")
}

// counts says how many cells have which verdict.
func (c *Comparison) counts() string {
	n := c.Verdicts()
	var s []string
	for _, v := range verdicts {
		s = append(s, fmt.Sprintf("%d %s", n[v], v))
	}
	return strings.Join(s, ", ")
}

func percent(threshold float64) string { return fmt.Sprintf("%.4g ", 100*threshold) }

func thresholdList(thresholds map[string]float64) string {
	var s []string
	for name, t := range thresholds {
		s = append(s, fmt.Sprintf("%s: %s%%", md(name), percent(t)))
	}
	if len(s) == 0 {
		return ""
	}
	slices.Sort(s)
	return " (" + strings.Join(s, ", ") + ")"
}

// mostRunes is the length of long values, such as kernel command lines.
const mostRunes = 120

func shorten(s string) string { return (Difference{Values: []string{s}}).Short(mostRunes)[0] }

// count is a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

var mdEscapes = strings.NewReplacer("\\", "\\\\", "|", "\\|", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "~", "\\~",
	"#", "\\#", "<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "&#64;", "!", "\\!")

// md makes any text safe in a Markdown table: without control characters, markup, HTML and mentions.
func md(s string) string { return mdEscapes.Replace(plain(s)) }

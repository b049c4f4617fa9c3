package report

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"slices"
	"strings"

	"gpushare-bench/plots"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// Markdown writes a summary for an issue or a pull request: for one pair of each link class setup by size and the kernels,
// then what was not measured, warnings, and the command.
func Markdown(w io.Writer, run *results.Run) error {
	d := plots.NewData(run)
	var b bytes.Buffer
	fmt.Fprintf(&b, "### Sharing memory between processes: %s\n\n", markup(d.Machine()))
	if run.Header.Emulated != "" {
		b.WriteString("> **EMULATED: these are no measurements.**\n\n")
	}
	for _, line := range outcome(run) {
		fmt.Fprintf(&b, "> %s\n\n", markup(line))
	}
	views := d.Representatives()
	for _, v := range views[:min(len(views), mostViews)] {
		fmt.Fprintf(&b, "**%s**\n\n", markup(v.Heading()))
		sizes := v.MeasuredSizes()
		if len(sizes) == 0 {
			b.WriteString("Nothing could be measured.\n\n")
			continue
		}
		if v.Has(share.Setup) {
			some := evenly(sizes, 6)
			fmt.Fprintf(&b, "Setup (export + transfer + import + map), median [95 %% interval], %d of %d sizes:\n\n", len(some), len(sizes))
			head, ways := []string{"path, allocator"}, measuredWays(v)
			for _, size := range some {
				head = append(head, share.FormatSize(size))
			}
			markdownTable(&b, head, ways, func(w *plots.Way, i int) string { return markdownCell(w, some[i], share.Setup) })
		}
		if size, ok := kernelSize(v, sizes); ok {
			fmt.Fprintf(&b, "The consumer's kernels on %s (GB/s = 1e9 bytes/s, payload counted once):\n\n", share.FormatSize(size))
			head, metrics := []string{"path, allocator"}, []string{}
			for _, k := range share.Kernels() {
				if v.Has(plots.KernelMetric(k)) {
					head, metrics = append(head, string(k)), append(metrics, plots.KernelMetric(k))
				}
			}
			markdownTable(&b, head, measuredWays(v), func(w *plots.Way, i int) string { return markdownCell(w, size, metrics[i]) })
		}
	}
	if all := notMeasured(d); len(all) > 0 {
		b.WriteString("<details><summary>Not measured, or not wholly</summary>\n\n")
		for _, m := range all {
			fmt.Fprintf(&b, "- %s × %d (%s): %s\n", m.Status, m.Cases, markup(m.where()), markup(m.Reason))
		}
		b.WriteString("\n</details>\n\n")
	}
	if all := findings(run); len(all) > 0 {
		b.WriteString("<details><summary>Warnings</summary>\n\n")
		for _, f := range all {
			fmt.Fprintf(&b, "- %s × %d, such as %s: %s\n", markup(f.Code), f.Cases, markup(f.Example), markup(f.Text))
		}
		b.WriteString("\n</details>\n\n")
	}
	fmt.Fprintf(&b, "%s; again with: <code>%s</code>\n", markup(fmt.Sprintf("%s %s, seed %d, %s", run.Header.Tool, run.Header.Version, run.Header.Seed,
		run.Header.Started.UTC().Format("2006-01-02 15:04 UTC"))), markup(command(run)))
	_, err := w.Write(b.Bytes())
	return err
}

// measuredWays are the ways that have more than unsupported cases.
func measuredWays(v *plots.View) []*plots.Way {
	_, ways := named(v, func(w *plots.Way) bool { return !unsupported(w) })
	return ways
}

func markdownTable(b *bytes.Buffer, head []string, ways []*plots.Way, cell func(*plots.Way, int) string) {
	fmt.Fprintf(b, "| %s |\n| --- |%s\n", strings.Join(head, " | "), strings.Repeat(" ---: |", len(head)-1))
	for _, w := range ways {
		fmt.Fprintf(b, "| %s |", markup(w.Label))
		for i := range head[1:] {
			fmt.Fprintf(b, " %s |", markup(cell(w, i)))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
}

func markdownCell(w *plots.Way, size int64, metric string) string {
	return cellText(w, size, metric, func(r *results.Row) string { return results.FormatInterval(r.Stats.Median, r.Stats.CI, r.Unit) })
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`,
	"@", "@\u200b", "://", ":\u200b//")

// markup makes any text safe in Markdown: without control characters, HTML, markup, links and mentions.
func markup(s string) string { return markdownEscapes.Replace(html.EscapeString(clean(s))) }

// command is the command line that makes the run again, quoted for a shell. The seed is in it even where it was drawn, and
// --out, whose directory is taken, is not.
func command(run *results.Run) string {
	words := []string{"gpushare-bench"}
	for i, a := range run.Header.Args {
		if a == "--out" || strings.HasPrefix(a, "--out=") || i > 0 && run.Header.Args[i-1] == "--out" {
			continue
		}
		words = append(words, results.ShellQuote(a))
	}
	if !slices.ContainsFunc(run.Header.Args, func(a string) bool { return a == "--seed" || strings.HasPrefix(a, "--seed=") }) {
		words = append(words, "--seed", fmt.Sprint(run.Header.Seed))
	}
	return strings.Join(words, " ")
}

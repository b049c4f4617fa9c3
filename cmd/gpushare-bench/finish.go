package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/mattn/go-isatty"

	"gpushare-bench/bench"
	"gpushare-bench/plots"
	"gpushare-bench/report"
	"gpushare-bench/results"
)

// Names of the files in a run directory beside the journal.
const (
	summaryName  = "summary.csv"
	samplesName  = "samples.csv"
	fitsName     = "fits.csv"
	evensName    = "breakeven.csv"
	benchfmtName = "benchfmt.txt"
	pageName     = "report.html"
	plotsDir     = "plots"
)

// What takes most of the time after a run: tests of everything else do without.
var (
	drawPlots = plots.Write
	writePage = report.Page
)

// printPlan lists what would be measured.
func (a *app) printPlan(f *sweepFlags, p *bench.Plan) error {
	w := bufio.NewWriter(a.stdout)
	n, refused := 0, 0
	for repeat := range f.Repeats {
		for _, g := range p.Order(repeat) {
			for _, c := range g.Cases {
				n++
				fmt.Fprintf(w, "%4d  %s", n, c.Case)
				if c.Refuse != "" {
					refused++
					fmt.Fprintf(w, "  (unsupported: %s)", c.Refuse)
				}
				fmt.Fprintln(w)
			}
		}
	}
	most := fmt.Sprintf("at most %s each", f.MaxTime)
	if f.TimeLimit > 0 {
		most += fmt.Sprintf(" and %s in all", f.TimeLimit)
	}
	fmt.Fprintf(w, "%d cases, %d of them refused by the plan, seed %d; %s. Nothing was measured.\n", n, refused, f.Seed, most)
	return w.Flush()
}

// summarise writes every file that is made from the journal, and tells what was found.
// lost are journal lines that could not be written; they count.
func (a *app) summarise(dir string, f *sweepFlags, lost []byte) error {
	run, err := loadWith(dir, lost)
	if err != nil {
		return fmt.Errorf("read back what was measured: %w", err)
	}
	out := a.stdout
	if f.json == "-" {
		out = a.stderr // standard output is the JSON's alone
	}
	// The files first: whoever reads the table may stop reading (sweep | head).
	files := strings.Join([]string{pageName, results.JournalName, summaryName, samplesName, fitsName, evensName, plotsDir + "/"}, ", ")
	if err = a.writeFiles(dir, run, f.export, []string{"png"}); err != nil {
		files = results.JournalName
		first := "the journal has everything: make room, or make " + dir + " writable again"
		if len(lost) > 0 {
			first = "when the lines that are kept are back in the journal"
		}
		err = fmt.Errorf("%w\n%s, then make the files with: gpushare-bench report %s", err, first, results.ShellQuote(dir))
	}
	write := func(w io.Writer) error { return writeJSON(w, run) }
	switch f.json {
	case "":
	case "-":
		err = errors.Join(err, unlessGone(write(a.stdout)))
	default:
		err = errors.Join(err, writeNamed(f.json, write))
	}
	err = errors.Join(err, unlessGone(report.Summary(out, run, a.tableOptions(out))))
	fmt.Fprintf(a.stderr, "\nresults in %s: %s\n", dir, files)
	return err
}

// tableOptions says how a table should look on w.
func (a *app) tableOptions(w io.Writer) report.TableOptions {
	f, ok := w.(*os.File)
	return report.TableOptions{Color: ok && isatty.IsTerminal(f.Fd()) && a.env("NO_COLOR") == "" && a.env("TERM") != "dumb"}
}

// writeFiles makes the tables, pictures and the page of a run from its journal.
func (a *app) writeFiles(dir string, run *results.Run, export, formats []string) error {
	err := errors.Join(
		writeFile(filepath.Join(dir, summaryName), func(w io.Writer) error { return results.WriteSummary(w, run) }),
		writeFile(filepath.Join(dir, samplesName), func(w io.Writer) error { return results.WriteSamples(w, run) }),
		writeFile(filepath.Join(dir, fitsName), func(w io.Writer) error { return results.WriteFits(w, results.Fits(run)) }),
		writeFile(filepath.Join(dir, evensName), func(w io.Writer) error { return results.WriteBreakEvens(w, results.BreakEvens(run)) }))
	if len(export) > 0 {
		err = errors.Join(err, writeFile(filepath.Join(dir, benchfmtName), func(w io.Writer) error { return results.WriteBenchfmt(w, run) }))
	}
	return errors.Join(err, writePlots(filepath.Join(dir, plotsDir), run, formats),
		writeFile(filepath.Join(dir, pageName), func(w io.Writer) error { return writePage(w, []*results.Run{run}) }))
}

// writePlots draws the pictures. A link that stands where their directory belongs is not followed.
func writePlots(dir string, run *results.Run, formats []string) error {
	if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
		return fmt.Errorf("write pictures: %s is no directory (%v); remove it", dir, info.Mode().Type())
	}
	_, err := drawPlots(dir, run, formats)
	return err
}

// writeNamed writes a file that the user named. What is there and is no regular file, such as a pipe, a terminal or
// /dev/stdout, is written to as it is; all else is as in writeFile.
func writeNamed(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		return writeFile(path, write)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write %w", err)
	}
	w := bufio.NewWriter(f)
	if err := errors.Join(write(w), w.Flush(), f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// writeFile writes under a temporary name and renames, so that a file is whole or absent and no link is followed.
func writeFile(path string, write func(io.Writer) error) (err error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, plain(err))
	}
	defer func() {
		if err != nil {
			tmp.Close()
			os.Remove(tmp.Name())
			err = fmt.Errorf("write %s: %w", path, err)
		}
	}()
	w := bufio.NewWriterSize(tmp, 1<<20)
	if err = write(w); err != nil {
		return err
	}
	if err = errors.Join(w.Flush(), tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"gpushare-bench/bench"
	"gpushare-bench/plots"
	"gpushare-bench/report"
	"gpushare-bench/results"
)

// compareFlags is what compare was asked for.
type compareFlags struct {
	thresholds         []string
	force              bool
	failOnInconclusive bool
	csv, json          string
	markdown, plots    string
}

func (a *app) compareCommand() *cobra.Command {
	f := &compareFlags{}
	cmd := &cobra.Command{
		Use:   "compare BASE RUN [RUN…]",
		Short: "Put runs side by side and say which differences are real",
		Long: `Compare runs (directories or run.jsonl files) with the first one. A phase, setup or
kernel is "slower" or "faster" only if the difference is significant after correction
for the number of them and its interval lies beyond the threshold. That takes runs of
at least 4 fresh pairs of processes (sweep --repeat 10); with fewer, only a difference
of more than a factor of three is called. Exit status 5: something is slower, or a
case that the base measured is now corrupt, failed or timed out; 6: something can't
be told, with --fail-on-inconclusive.`,
		Example: `  gpushare-bench compare old-machine new-machine
  gpushare-bench compare base candidate --threshold 5% --threshold export=10%`,
		RunE: func(cmd *cobra.Command, dirs []string) error {
			if len(dirs) < 2 {
				return bench.Usagef("compare: name at least two runs, the base first")
			}
			err := errors.Join(checkNoJournal("--csv", f.csv, dirs...), checkNoJournal("--json", f.json, dirs...),
				checkNoJournal("--markdown", f.markdown, dirs...), f.checkOneStdout())
			if err == nil {
				err = endOnSignal(cmd.Context())
			}
			if err != nil {
				return err
			}
			return a.compare(dirs, f)
		},
	}
	fs := cmd.Flags()
	fs.StringArrayVar(&f.thresholds, "threshold", nil, "difference that doesn't matter: 5%, or METRIC=10% for one metric and its steps (default 5%)")
	fs.BoolVar(&f.force, "force", false, "compare emulated with real runs")
	fs.BoolVar(&f.failOnInconclusive, "fail-on-inconclusive", false, "exit with status 6 where a difference can't be told")
	fs.StringVar(&f.csv, "csv", "", "write the comparison as CSV to this file, - for standard output")
	fs.StringVar(&f.json, "json", "", "the same as JSON")
	fs.StringVar(&f.markdown, "markdown", "", "the same as Markdown, for an issue or a pull request")
	fs.StringVar(&f.plots, "plots", "", "draw the ratios and both curves into this directory")
	return cmd
}

// checkOneStdout refuses two outputs on standard output.
func (f *compareFlags) checkOneStdout() error {
	var flags []string
	for _, out := range []struct{ flag, path string }{{"--csv", f.csv}, {"--json", f.json}, {"--markdown", f.markdown}} {
		if out.path == "-" {
			flags = append(flags, out.flag)
		}
	}
	if len(flags) > 1 {
		return bench.Usagef("%s: only one of them can go to standard output; name a file for the others", strings.Join(flags, " and "))
	}
	return nil
}

// runNames names runs by their directories or files, and where two have the same name as they were typed.
func runNames(args []string) []string {
	names := make([]string, len(args))
	seen := make(map[string]bool)
	for i, arg := range args {
		path, err := filepath.Abs(arg)
		if err != nil {
			return args
		}
		if filepath.Base(path) == results.JournalName {
			path = filepath.Dir(path)
		}
		names[i] = filepath.Base(path)
		if seen[names[i]] {
			return args
		}
		seen[names[i]] = true
	}
	return names
}

// compareOptions turns flags into options.
func compareOptions(f *compareFlags) (results.CompareOptions, error) {
	o := results.CompareOptions{Threshold: results.DefaultThreshold, Thresholds: map[string]float64{},
		Force: f.force, FailOnInconclusive: f.failOnInconclusive}
	for _, t := range f.thresholds {
		metric, percent, ok := strings.Cut(t, "=")
		if !ok {
			metric, percent = "", t
		}
		p, err := parsePercent(percent)
		switch {
		case err == nil && p >= 1 && !strings.HasSuffix(strings.TrimSpace(percent), "%"):
			return o, bench.Usagef("--threshold %q: this is %g%%; did you mean %g%%?", t, 100*p, p)
		case err != nil || p <= 0 || p >= 10:
			return o, bench.Usagef("--threshold %q: want more than 0%% and less than 1000%%, such as 5%% or export=10%%", t)
		}
		if metric == "" {
			o.Threshold = p
		} else {
			o.Thresholds[metric] = p
		}
	}
	return o, nil
}

// compare compares runs, and tells the outcome by table, file and exit status.
func (a *app) compare(dirs []string, f *compareFlags) error {
	o, err := compareOptions(f)
	if err != nil {
		return err
	}
	var runs []*results.Run
	for _, d := range dirs {
		run, err := loadRun(a, d)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	o.Names = runNames(dirs)
	c, err := results.Compare(runs, o)
	switch {
	case errors.Is(err, results.ErrNothingMatches):
		return &exitError{status: exitNothing, err: err}
	case errors.Is(err, results.ErrEmulated), errors.Is(err, results.ErrUnknownMetric):
		return bench.Usagef("%v", err)
	case err != nil:
		return err
	}
	table := true
	for _, out := range []struct {
		path  string
		write func(io.Writer) error
	}{
		{f.csv, c.WriteCSV}, {f.json, c.WriteJSON}, {f.markdown, c.WriteMarkdown},
	} {
		switch out.path {
		case "":
		case "-":
			table = false
			err = errors.Join(err, out.write(a.stdout))
		default:
			err = errors.Join(err, writeNamed(out.path, out.write))
		}
	}
	if table {
		err = errors.Join(err, report.Comparison(a.stdout, c, a.tableOptions(a.stdout)))
	}
	if f.plots != "" {
		files, perr := plots.WriteComparison(f.plots, c, []string{"png"})
		err = errors.Join(err, perr)
		fmt.Fprintf(a.stderr, "%d pictures in %s\n", len(files), f.plots)
	}
	if err != nil {
		return err
	}
	for _, note := range c.Blind {
		a.complain(errors.New(note))
	}
	if status := c.ExitStatus(); status != exitOK {
		return &exitError{status: status}
	}
	return nil
}

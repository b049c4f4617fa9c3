package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gpushare-bench/bench"
	"gpushare-bench/report"
	"gpushare-bench/results"
)

func (a *app) reportCommand() *cobra.Command {
	var out, markdown string
	var formats, export []string
	cmd := &cobra.Command{
		Use:   "report DIR [DIR…]",
		Short: "Make the page, the pictures and the tables of runs from their journals",
		Long: `Make report.html, the pictures and the tables of a run again, from its journal alone.
The tables that a sweep ends with are printed again too. With several runs one page
holds them all, and no tables are printed. With --out the page is the only file that is
made; several runs need it. --markdown - prints the Markdown instead of the tables, and
makes no files unless --out, --format or --export asks for them.`,
		RunE: func(cmd *cobra.Command, dirs []string) error {
			switch {
			case len(dirs) == 0:
				return bench.Usagef("report: which run? Give one or more run directories, such as gpushare-runs/20261201T120000Z-host")
			case len(dirs) > 1 && out == "":
				return bench.Usagef("report: with several runs say where the page goes: --out all.html")
			}
			for _, f := range formats {
				if !slices.Contains([]string{"png", "svg", "pdf"}, f) {
					return bench.Usagef("--format %q: not one of png, svg, pdf", f)
				}
			}
			if err := checkExport(export); err != nil {
				return err
			}
			for _, flag := range []string{"format", "export"} {
				if out != "" && cmd.Flags().Changed(flag) {
					return bench.Usagef("--%s: not together with --out, with which the page alone is made; leave one of them away", flag)
				}
			}
			err := errors.Join(checkNoJournal("--out", out, dirs...), checkNoJournal("--markdown", markdown, dirs...))
			if err == nil {
				err = endOnSignal(cmd.Context())
			}
			if err != nil {
				return err
			}
			changed := cmd.Flags().Changed
			files := markdown != "-" || changed("out") || changed("format") || changed("export")
			return a.report(dirs, out, markdown, formats, export, files)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "file for the page (default: report.html in the run's directory)")
	cmd.Flags().StringSliceVar(&formats, "format", []string{"png"}, "formats of the pictures: png, svg, pdf")
	cmd.Flags().StringSliceVar(&export, "export", nil, "further formats: benchfmt")
	cmd.Flags().StringVar(&markdown, "markdown", "", "write a summary of the first run for an issue or a pull request to this file, - for standard output")
	return cmd
}

// report makes a run's files again, if files are wanted, and prints its tables or its Markdown.
func (a *app) report(dirs []string, out, markdown string, formats, export []string, files bool) error {
	var runs []*results.Run
	var errs error
	for _, d := range dirs {
		run, err := loadRun(a, d)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	if markdown != "" {
		write := func(w io.Writer) error { return report.Markdown(w, runs[0]) }
		if markdown == "-" {
			errs = write(a.stdout)
		} else {
			errs = writeNamed(markdown, write)
		}
	}
	if !files {
		return errs
	}
	var wrote string
	if len(runs) == 1 && out == "" {
		dir := filepath.Clean(strings.TrimSuffix(dirs[0], results.JournalName))
		errs = errors.Join(errs, a.writeFiles(dir, runs[0], export, formats))
		wrote = fmt.Sprintf("%s, tables and pictures in %s", pageName, dir)
	} else {
		errs = errors.Join(errs, writeFile(out, func(w io.Writer) error { return writePage(w, runs) }))
		wrote = out
	}
	if len(runs) == 1 && markdown != "-" {
		errs = errors.Join(errs, report.Summary(a.stdout, runs[0], a.tableOptions(a.stdout)))
	}
	if errs == nil {
		fmt.Fprintf(a.stderr, "wrote %s\n", wrote)
	}
	return errs
}

// loadJournal is replaced by tests that need reading to take long.
var loadJournal = results.Load

// loadRun reads a journal and tells what of it was unreadable.
func loadRun(a *app, path string) (*results.Run, error) {
	run, err := loadJournal(path)
	if err != nil {
		return nil, bench.Usagef("%s: %v", path, err)
	}
	for _, d := range run.Dropped {
		fmt.Fprintf(a.stderr, "gpushare-bench: dropped: %s\n", printable(d))
	}
	if run.End == nil {
		fmt.Fprintf(a.stderr, "gpushare-bench: %s: the run did not end in order; %d of %d cases are there\n", path, len(run.Cases), run.Header.Planned)
	}
	return run, nil
}

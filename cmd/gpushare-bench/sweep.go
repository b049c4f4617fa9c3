package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gpushare-bench/bench"
	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/sysinfo"
)

func (a *app) sweepCommand() *cobra.Command {
	f := &sweepFlags{}
	cmd := &cobra.Command{
		Use:   "sweep",
		Short: "Measure sizes x allocators x pairs through every sharing path",
		Long: `Measure sizes x allocators x (producer, consumer) pairs through every sharing path of
this machine, between two real processes. What the system declines is listed with
its reason. The results are files in a new directory; a run that was stopped is
finished with --resume DIR.`,
		Example: `  gpushare-bench sweep                                  what this machine has, within two minutes
  gpushare-bench sweep --path dma-buf --size 4KiB:256MiB:x4
  gpushare-bench sweep --pair 0:1 --repeat 5 --precision 1%
  gpushare-bench sweep --resume gpushare-runs/20261201T120000Z-host`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.seedSet = cmd.Flags().Changed("seed")
			if err := checkResumeFlags(cmd.Flags()); err != nil {
				return err
			}
			f.limitSet = cmd.Flags().Changed("time-limit")
			f.maxTimeSet = cmd.Flags().Changed("max-time")
			outliveReaders()
			return a.sweep(cmd.Context(), f, argsOf(cmd))
		},
	}
	f.register(cmd.Flags())
	return cmd
}

// argsOf is the command line for the header, without the program's name, such that parsing it again gives the same: a
// list is one flag an element.
func argsOf(cmd *cobra.Command) []string {
	args := []string{cmd.Name()}
	cmd.Flags().Visit(func(fl *pflag.Flag) {
		values := []string{fl.Value.String()}
		if list, ok := fl.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			args = append(args, "--"+fl.Name+"="+v)
		}
	})
	return args
}

// sweep does the main job: plan, measure, summarise.
func (a *app) sweep(ctx context.Context, f *sweepFlags, args []string) error {
	if err := f.checkWords(); err != nil {
		return err
	}
	if f.resume != "" {
		return a.resumeSweep(ctx, f)
	}
	return a.runSweep(ctx, f, args, nil)
}

// resumeSweep finishes a run with the flags it was begun with.
func (a *app) resumeSweep(ctx context.Context, f *sweepFlags) error {
	if filepath.Base(f.resume) == results.JournalName {
		f.resume = filepath.Dir(f.resume)
	}
	run, err := results.Load(f.resume)
	if err != nil {
		return bench.Usagef("--resume %s: %v", f.resume, err)
	}
	for _, d := range run.Dropped {
		fmt.Fprintf(a.stderr, "--resume %s: %s\n", f.resume, printable(d))
	}
	begun := &sweepFlags{}
	cmd := &cobra.Command{}
	begun.register(cmd.Flags())
	if len(run.Header.Args) > 0 {
		if err := cmd.ParseFlags(run.Header.Args[1:]); err != nil {
			return bench.Usagef("--resume %s: the run's own flags %q: %v", f.resume, run.Header.Args, err)
		}
	}
	if !slices.Equal(f.ProducerEnv, begun.ProducerEnv) || !slices.Equal(f.ConsumerEnv, begun.ConsumerEnv) {
		// A variable such as LD_PRELOAD runs code: whoever made the file does not decide on that.
		return bench.Usagef("--resume %s: the variables of the workers are not taken from a file; give those that the run was begun with: --producer-env %q --consumer-env %q",
			f.resume, begun.ProducerEnv, begun.ConsumerEnv)
	}
	begun.Seed, begun.seedSet = run.Header.Seed, true
	begun.resume, begun.out, begun.progress, begun.json, begun.dryRun = f.resume, "", f.progress, f.json, f.dryRun
	begun.export = append(begun.export, f.export...)
	begun.maxTimeSet = cmd.Flags().Changed("max-time")
	begun.limitSet = f.limitSet || cmd.Flags().Changed("time-limit")
	if f.limitSet {
		begun.TimeLimit = f.TimeLimit
	}
	if begun.backend == "auto" {
		begun.backend = run.Header.Backend
	}
	return a.runSweep(ctx, begun, run.Header.Args, run)
}

// runSweep measures a plan, from its beginning or from where an earlier run stopped.
func (a *app) runSweep(ctx context.Context, f *sweepFlags, args []string, earlier *results.Run) error {
	l, err := launcher(f.Isolate)
	if err != nil {
		return err
	}
	defer l.Close()
	if err := f.checkAll(runtime.NumCPU()); err != nil {
		return err
	}
	choice, err := a.chooseBackend(ctx, l, f.backend)
	if err != nil {
		return err
	}
	if err := f.complete(choice.name, runtime.NumCPU()); err != nil {
		return err
	}
	if err := choice.checkNames(&f.Config, f.backend); err != nil {
		return err
	}
	plan, err := bench.NewPlan(&f.Config, choice.sites)
	if err != nil {
		return err
	}
	if f.backend == "auto" || choice.emulated() != "" {
		fmt.Fprintf(a.stderr, "backend %s: %s\n", choice.name, choice.told())
	}
	if limit := plan.DefaultTimeLimit(f.Repeats); !f.limitSet && limit > f.TimeLimit {
		f.TimeLimit = limit
		fmt.Fprintf(a.stderr, "time limit %s, for %d blocks of cases (pairs × cache states × numbers of peers × repeats); --time-limit sets another\n", limit, len(plan.Groups)*f.Repeats)
	}
	if f.dryRun {
		return a.printPlan(f, plan)
	}
	r := &bench.Runner{Config: &f.Config, Plan: plan, Launcher: l, Load: readLoad,
		Suspects: func(p, c share.DeviceInfo) string { return suspects(sysinfo.Host(), p, c, plan.Links) }}
	dir, journal, err := a.openRun(f, args, choice, plan, earlier, r)
	if err != nil {
		return err
	}
	defer journal.Close()
	r.Record = journal.Append
	p := newProgress(f.progress, a.stderr, a.env)
	r.Events = p.event
	out, runErr := r.Run(ctx)
	p.finish()
	if out.End.Outcome == "interrupted" && errors.Is(runErr, context.Canceled) {
		runErr = nil // the signal, which is told below
	}
	var finishErr error
	if len(lostLines(runErr, nil)) == 0 {
		// After a case that found no room there is no end: the case is put back behind it, and a journal ends with its end.
		finishErr = journal.Finish(out.End)
	}
	lost := lostLines(runErr, finishErr)
	runErr = errors.Join(runErr, finishErr)
	if len(lost) > 0 {
		runErr = errors.Join(runErr, keepLines(journal.Path(), lost))
	}
	status := out.End.ExitStatus
	if err := a.summarise(dir, f, lost); err != nil {
		runErr = errors.Join(runErr, err)
		status = max(status, exitFailure)
	}
	if out.End.Outcome == "interrupted" {
		fmt.Fprintf(a.stderr, "interrupted; finish the run with: gpushare-bench sweep --resume %s\n", results.ShellQuote(dir))
		return &exitError{status: exitInterrupted, err: runErr}
	}
	if runErr != nil {
		return &exitError{status: max(status, exitFailure), err: runErr}
	}
	if status != exitOK {
		return &exitError{status: status}
	}
	return nil
}

// openRun makes the run's directory and journal, or opens those of the run that is to be finished.
func (a *app) openRun(f *sweepFlags, args []string, choice *backendChoice, plan *bench.Plan, earlier *results.Run, r *bench.Runner) (dir string, j *results.Journal, err error) {
	env := sysinfo.Collect(context.Background(), sysinfo.Host())
	r.Scaling = cpuScaling(env)
	if earlier != nil {
		if err := bench.CheckResume(earlier, plan, &f.Config); err != nil {
			return "", nil, err
		}
		j, run, err := results.Open(filepath.Join(f.resume, results.JournalName))
		if err != nil {
			return "", nil, err
		}
		r.Done = bench.DoneOf(run)
		return f.resume, j, nil
	}
	now := time.Now().UTC()
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	dir = f.out
	if dir == "" {
		first := filepath.Join(runsDir, now.Format("20060102T150405Z")+"-"+host)
		dir = first
		for n := 2; exists(dir); n++ { // begun in the same second
			dir = fmt.Sprintf("%s-%d", first, n)
		}
	}
	h := header(f, args, choice, plan, env)
	h.Run, h.Host, h.Started = filepath.Base(filepath.Clean(dir)), host, now
	j, err = createRun(dir, h)
	return dir, j, err
}

// header is what the journal says about the run as a whole.
func header(f *sweepFlags, args []string, choice *backendChoice, plan *bench.Plan, env sysinfo.Environment) results.Header {
	h := results.Header{Schema: results.SchemaVersion, Tool: "gpushare-bench", Version: version(), Args: args, Seed: f.Seed,
		Planned: len(plan.Cases()) * f.Repeats, Repeats: f.Repeats, Backend: choice.name, BackendWhy: choice.why,
		Devices: plan.Devices, Links: plan.Links,
		Settings: results.Settings{Precision: f.Precision, MinSamples: f.MinSamples, MaxSamples: f.MaxSamples,
			MaxTimeNs: f.MaxTime.Nanoseconds(), TimeLimitNs: f.TimeLimit.Nanoseconds(), Verify: f.Verify, Threads: f.Threads}}
	for _, k := range f.Kernels {
		h.Settings.Kernels = append(h.Settings.Kernels, string(k))
	}
	h.Details, h.Emulated = choice.details(), choice.emulated()
	h.Overhead = results.Overhead{Samples: choice.overhead.Samples, Min: float64(choice.overhead.Min),
		Median: float64(choice.overhead.Median), P99: float64(choice.overhead.P99)}
	if raw, err := json.Marshal(env); err == nil {
		h.Environment = raw
	}
	return h
}

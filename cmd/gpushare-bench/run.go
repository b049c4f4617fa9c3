package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gpushare-bench/bench"
	"gpushare-bench/bench/worker"
)

// Exit statuses. When several apply the worst one wins.
const (
	exitOK           = 0
	exitFailure      = 1   // an error at run time
	exitUsage        = 2   // what was asked for makes no sense
	exitNothing      = 3   // nothing could be measured
	exitCorrupt      = 4   // data arrived wrong
	exitRegression   = 5   // compare found one
	exitInconclusive = 6   // compare, with --fail-on-inconclusive
	exitInterrupted  = 130 // stopped by a signal
)

// exitError carries an exit status. err may be nil: everything has been said already.
type exitError struct {
	status int
	err    error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// app is what the commands share: where to write and where to look.
type app struct {
	stdout, stderr io.Writer
	env            func(string) string
}

// run is the whole program: it returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer, env func(string) string) int {
	a := &app{stdout: stdout, stderr: stderr, env: env}
	root := a.command()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var ee *exitError
	if errors.As(err, &ee) {
		if ee.err != nil {
			a.complain(ee.err)
		}
		return ee.status
	}
	if errors.Is(err, context.Canceled) {
		a.complain(errors.New("interrupted"))
		return exitInterrupted
	}
	a.complain(err)
	if errors.Is(err, bench.ErrUsage) {
		return exitUsage
	}
	return exitFailure
}

// command builds the command tree.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "gpushare-bench",
		Short: "Measure what it costs to share memory between processes and GPUs",
		Long: `gpushare-bench measures what it costs to share memory between processes and GPUs:
every sharing path of this machine, phase by phase, between two real processes,
with proof that the bytes arrived.

  gpushare-bench sweep      measure this machine
  gpushare-bench info       what this machine can share, and why not the rest
  gpushare-bench compare    put runs side by side and say which differences are real
  gpushare-bench report     make the page and the pictures of a run again`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return bench.Usagef("unknown command %q; see gpushare-bench --help", args[0])
			}
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		var bad *pflag.InvalidValueError
		if errors.As(err, &bad) {
			return bench.Usagef("--%s %s: %v", bad.GetFlag().Name, bad.GetValue(), cause(bad))
		}
		return bench.Usagef("%v; see %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(a.sweepCommand(), a.compareCommand(), a.reportCommand(), a.infoCommand(), a.listCommand(), a.workerCommand())
	return root
}

// noArgs refuses arguments in the words of a usage error.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return bench.Usagef("%s takes no arguments, only flags: what is %q?", cmd.Name(), strings.Join(args, " "))
	}
	return nil
}

// cause says why a flag's value was refused, also where strconv and time repeat the value.
func cause(bad *pflag.InvalidValueError) error {
	var number *strconv.NumError
	if errors.As(bad, &number) {
		switch {
		case errors.Is(number.Err, strconv.ErrRange):
			return errors.New("out of range")
		case bad.GetFlag().Value.Type() == "uint64":
			return errors.New("want a whole number from 0")
		}
		return errors.New("want a whole number")
	}
	if bad.GetFlag().Value.Type() == "duration" {
		return errors.New("want a number with its unit, such as 500ms, 4s or 2m")
	}
	return bad.Unwrap()
}

// complain writes an error to standard error, every line with the program's name in front.
func (a *app) complain(err error) {
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(a.stderr, "gpushare-bench: %s\n", printable(line))
	}
}

// workerCommand is the hidden command that the runner starts: one end of a cycle.
func (a *app) workerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "worker", Hidden: true, Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// A signal to the terminal's group is the runner's to handle.
			return worker.Main(context.WithoutCancel(cmd.Context()), backends)
		},
	}
}

// launcher starts workers from the running binary.
func launcher(isolate []string) (*bench.Launcher, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file, which the workers are started from: %w", err)
	}
	return &bench.Launcher{Exe: exe, Args: []string{"worker"}, Isolate: isolate}, nil
}

// version is the module's version or the commit that the binary was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
	}
	rev, dirty := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			rev = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+dirty"
			}
		}
	}
	if rev != "" && !strings.Contains(v, rev) {
		v += "-" + rev + dirty
	}
	return v
}

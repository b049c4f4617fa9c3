// Command gpushare-bench measures what it costs to share memory between processes and GPUs.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// endingSignals end a command in order: Ctrl-C, kill, a terminal that is closed.
var endingSignals = []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}

func main() {
	if err := takeDescriptors(); err != nil {
		fmt.Fprintf(os.Stderr, "gpushare-bench: %v\n", err)
		os.Exit(exitFailure)
	}
	var ending []os.Signal
	for _, s := range endingSignals {
		if !signal.Ignored(s) { // as under nohup
			ending = append(ending, s)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	if len(ending) > 0 { // of none, NotifyContext would take all signals
		ctx, stop = signal.NotifyContext(ctx, ending...)
	}
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// endOnSignal lets the first signal end the process at once, for commands that have nothing to end in order: their files
// are made under temporary names, and can be made again. The error is ctx's, of a signal that came before.
func endOnSignal(ctx context.Context) error {
	signal.Reset(endingSignals...)
	return ctx.Err()
}

// outliveReaders keeps the process from being ended by SIGPIPE when whoever read its output is gone, as tee is after
// Ctrl-C: what is measured is worth more than what is said.
func outliveReaders() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// unlessGone is nil for an error that says that the reader of standard output is gone, which is no failure: sweep | head.
func unlessGone(err error) error {
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// takeDescriptors makes the Go runtime take its poller's two descriptors now, while it can be said that there are none: the
// runtime ends the process with a dump of its stacks if there are too few when it first needs them. Two more are for the
// command, which can do nothing without.
func takeDescriptors() error {
	var fds [4]int
	err := syscall.Pipe2(fds[:2], syscall.O_CLOEXEC)
	if err == nil {
		if err = syscall.Pipe2(fds[2:], syscall.O_CLOEXEC); err == nil {
			_, _ = syscall.Close(fds[2]), syscall.Close(fds[3])
		}
		_, _ = syscall.Close(fds[0]), syscall.Close(fds[1])
	}
	if err != nil {
		return fmt.Errorf("four file descriptors for a start: %w; ulimit -n says how many there may be, 1024 as a rule", err)
	}
	time.AfterFunc(time.Hour, func() {}).Stop()
	return nil
}

package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// An interrupted run tells of errors all the same.
func TestInterruptedWithError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startSweep(t, dir, []string{scriptVariable + "=consumer:map@4=hang"}, append(slices.Clone(scripted), "--size", "4KiB:64KiB", "--min-samples", "2", "--max-samples", "2")...)
	s.measured(1)
	s.workers(2)
	if err := os.Symlink(dir, filepath.Join(dir, "run", plotsDir)); err != nil {
		t.Fatal(err)
	}
	send(t, s.cmd.Process.Pid, syscall.SIGINT)
	if status := s.wait(); status != exitInterrupted {
		t.Errorf("exit status %d, want %d", status, exitInterrupted)
	}
	text := s.stderr.String()
	for _, want := range []string{"run/plots is no directory", "finish the run with: gpushare-bench sweep --resume run"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing about %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, context.Canceled.Error()) {
		t.Errorf("the signal is told as an error:\n%s", text)
	}
}

// The first signal ends the commands that only read runs.
func TestReadersInterrupted(t *testing.T) {
	for _, args := range [][]string{{"report", "run"}, {"compare", "run", "run"}} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(args[0]+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				s := startSweep(t, t.TempDir(), []string{stallVariable + "=1"}, args...)
				s.hangs()
				send(t, s.cmd.Process.Pid, sig)
				if status := s.wait(); status != -1 {
					t.Errorf("exit status %d, want the end by the signal", status)
				}
			})
		}
	}
}

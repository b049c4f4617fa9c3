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
	for _, args := range [][]string{{"report", "pipe"}, {"compare", "pipe", "pipe"}} {
		for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
			t.Run(args[0]+" "+sig.String(), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				pipe := filepath.Join(dir, "pipe")
				if err := syscall.Mkfifo(pipe, 0o600); err != nil {
					t.Fatal(err)
				}
				s := startSweep(t, dir, nil, args...)
				var writer *os.File
				eventually(t, "the journal is being read", func() (ok bool) {
					var err error
					writer, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
					return err == nil
				})
				defer writer.Close()
				send(t, s.cmd.Process.Pid, sig)
				if status := s.wait(); status != -1 {
					t.Errorf("exit status %d, want the end by the signal", status)
				}
			})
		}
	}
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/share/sharetest"
)

// scripted are the flags of a small sweep of sharetest's memory.
var scripted = []string{"sweep", "--backend", "host", "--path", "fake", "--allocator", "file", "--cache", "warm", "--kernel", "none",
	"--max-time", "50ms", "--seed", "3", "--out", "run"}

// sweeping is a sweep in a process of its own.
type sweeping struct {
	t              *testing.T
	cmd            *exec.Cmd
	dir            string // working directory
	stdout, stderr bytes.Buffer
	done           chan error
}

// startSweep starts the program with sharetest's backend and the environment given beside.
func startSweep(t *testing.T, dir string, env []string, args ...string) *sweeping {
	t.Helper()
	s := newSweep(t, dir, env, args...)
	s.start()
	return s
}

func newSweep(t *testing.T, dir string, env []string, args ...string) *sweeping {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &sweeping{t: t, cmd: exec.Command(exe, args...), dir: dir, done: make(chan error, 1)}
	s.cmd.Dir = dir
	s.cmd.Env = append(os.Environ(), programVariable+"=1", scriptedBackend+"=1", logVariable+"="+filepath.Join(dir, "started"),
		sharetest.HungVariable+"="+filepath.Join(dir, "hung"), "TMPDIR="+t.TempDir())
	s.cmd.Env = append(s.cmd.Env, env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	return s
}

func (s *sweeping) start() {
	s.t.Helper()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	go func() { s.done <- s.cmd.Wait() }()
	s.t.Cleanup(func() { _ = s.cmd.Process.Kill() })
}

// wait waits for the end and returns the exit status; -1 is a signal.
func (s *sweeping) wait() int {
	s.t.Helper()
	select {
	case err := <-s.done:
		var ee *exec.ExitError
		if errors.As(err, &ee) {
			return ee.ExitCode()
		}
		if err != nil {
			s.t.Fatal(err)
		}
		return 0
	case <-time.After(3 * time.Minute):
		s.t.Fatalf("no end within three minutes\n%s%s", &s.stdout, &s.stderr)
		return 0
	}
}

// eventually waits until what is true. A minute is for machines that are very busy.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	within(t, time.Minute, what, is)
}

// within waits for so long until what is true.
func within(t *testing.T, limit time.Duration, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(limit); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", limit, what)
		}
	}
}

// hangs waits until a worker is in the call that hangs by the script.
func (s *sweeping) hangs() {
	s.t.Helper()
	eventually(s.t, "a call hangs", func() bool {
		_, err := os.Stat(filepath.Join(s.dir, "hung"))
		return err == nil
	})
}

// workers waits for n workers of the pair and returns their process numbers.
func (s *sweeping) workers(n int) []int {
	s.t.Helper()
	var pids []int
	eventually(s.t, fmt.Sprintf("%d workers", n), func() bool {
		pids = nil
		text, _ := os.ReadFile(filepath.Join(s.dir, "started"))
		for line := range strings.Lines(string(text)) {
			role, pid, _ := strings.Cut(strings.TrimSpace(line), " ")
			if p, err := strconv.Atoi(pid); err == nil && role != "probe" {
				pids = append(pids, p)
			}
		}
		return len(pids) >= n
	})
	return pids
}

// load reads the journal of a run.
func load(t *testing.T, dir string) *results.Run {
	t.Helper()
	run, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Dropped) > 0 {
		t.Errorf("journal is damaged: %q", run.Dropped)
	}
	return run
}

// measured waits until the journal has n cases.
func (s *sweeping) measured(n int) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("%d cases in the journal", n), func() bool {
		run, err := results.Load(filepath.Join(s.dir, "run"))
		return err == nil && len(run.Cases) >= n
	})
}

func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z") // a zombie is dead; here nobody may be waiting for it
}

// goneWithin is how long processes that were killed may take to end. They do at once; the rest is for a busy machine.
const goneWithin = 10 * time.Second

// gone wants the processes to end soon.
func gone(t *testing.T, pids []int) {
	t.Helper()
	t.Cleanup(func() {
		for _, pid := range pids {
			if alive(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	within(t, goneWithin, fmt.Sprintf("processes %v gone", pids), func() bool { return !slices.ContainsFunc(pids, alive) })
}

// everyCaseOnce wants n cases, all of them with the status.
func everyCaseOnce(t *testing.T, dir string, n int, status share.Status) {
	t.Helper()
	run := load(t, dir)
	if len(run.Cases) != n || run.End == nil || run.End.Outcome != "complete" || run.End.Measured != n {
		t.Fatalf("%d cases, want %d; end %+v", len(run.Cases), n, run.End)
	}
	for _, c := range run.Cases {
		if c.Status != status {
			t.Errorf("case %s is %s: %s", c.Case, c.Status, c.Reason)
		}
	}
}

func send(t *testing.T, pid int, s syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		t.Fatal(err)
	}
}

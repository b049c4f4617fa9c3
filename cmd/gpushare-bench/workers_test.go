package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gpushare-bench/bench"
	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// Workers that are stopped for a while go on, on real memory. What that did to a sample is said.
func TestStopped(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startSweep(t, dir, []string{scriptedBackend + "="}, "sweep", "--backend", "host", "--path", "memfd", "--allocator", "memfd", "--cache", "warm",
		"--size", "4MiB", "--kernel", "read", "--max-time", "4s", "--max-samples", "100000", "--precision", "0.01%", "--out", "run")
	pids := s.workers(2)
	for range 6 {
		for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
			for _, pid := range pids {
				send(t, pid, sig)
			}
			time.Sleep(200 * time.Millisecond)
		}
	}
	if status := s.wait(); status != exitOK {
		t.Fatalf("exit status %d\n%s", status, &s.stderr)
	}
	c := load(t, filepath.Join(dir, "run")).Cases[0]
	if c.Status != share.StatusOK {
		t.Fatalf("%s: %s", c.Status, c.Reason)
	}
	for _, m := range c.Metrics {
		marked := slices.ContainsFunc(c.Warnings, func(w results.Warning) bool { return w.Code == bench.WarnStalled && w.Metric == m.Name })
		if m.Unit == results.Nanoseconds && !strings.Contains(m.Name, "/") && slices.Max(m.Samples) > 190e6 {
			longest, median := slices.Max(m.Samples), stats.Quantile(m.Samples, 0.5)
			t.Logf("%s: a sample of %.0f ms, the median is %.3f ms, marked: %t", m.Name, longest/1e6, median/1e6, marked)
			if !marked && longest > 50*median { // a machine so busy that the median is in milliseconds has no stall

				t.Errorf("%s has a sample of %.0f ms without a warning", m.Name, slices.Max(m.Samples)/1e6)
			}
		}
	}
}

// The runner is stopped for longer than a case may take, as by Ctrl-Z, alone or with its workers, and goes on as if nothing
// had been.
func TestRunnerStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for ten seconds and more")
	}
	for _, c := range []struct {
		name    string
		workers bool // are stopped until the runner goes on; otherwise they have answered when it does
	}{{"alone", false}, {"with workers", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := startSweep(t, dir, nil, append(slices.Clone(scripted), "--size", "4KiB:64KiB", "--max-time", "1m", "--max-samples", "1000",
				"--precision", "0.001%", "--case-timeout", "5s")...)
			s.measured(1)
			pids := s.workers(2)
			runner := s.cmd.Process.Pid
			signal := func(sig syscall.Signal, pids ...int) {
				for _, pid := range pids {
					send(t, pid, sig)
				}
			}
			// Workers that are stopped first leave the runner waiting for them.
			signal(syscall.SIGSTOP, pids...)
			time.Sleep(100 * time.Millisecond)
			signal(syscall.SIGSTOP, runner)
			time.Sleep(3 * time.Second)
			if !c.workers {
				signal(syscall.SIGCONT, pids...)
			}
			time.Sleep(3 * time.Second)
			signal(syscall.SIGCONT, append(pids, runner)...)
			if status := s.wait(); status != exitOK {
				t.Errorf("exit status %d\n%s", status, &s.stderr)
			}
			if n := len(s.workers(2)); n != 2 {
				t.Errorf("%d workers were started, want the two that were stopped", n)
			}
			everyCaseOnce(t, filepath.Join(dir, "run"), 5, share.StatusOK)
		})
	}
}

// The binary is replaced while a run goes on: workers that are started afresh are of the old one all the same.
func TestBinaryReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "gpushare-bench")
	if err := os.WriteFile(binary, text, 0o755); err != nil {
		t.Fatal(err)
	}
	s := newSweep(t, dir, []string{scriptVariable + "=consumer:map@4=hang"}, append(slices.Clone(scripted), "--size", "4KiB:64KiB",
		"--min-samples", "2", "--max-samples", "2", "--case-timeout", "2s")...)
	s.cmd.Path, s.cmd.Args[0] = binary, binary
	s.start()
	s.hangs() // in the second case; the third has other workers
	for _, pid := range s.workers(2) {
		if name, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm"); err != nil || string(name) != "gpushare-bench\n" {
			t.Errorf("the worker's name is %q, %v", name, err)
		}
	}
	if err := errors.Join(os.Remove(binary), os.WriteFile(binary, []byte("#!/bin/sh\nexit 9\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	if status := s.wait(); status != exitFailure {
		t.Errorf("exit status %d\n%s", status, &s.stderr)
	}
	for _, c := range load(t, filepath.Join(dir, "run")).Cases {
		if c.Status != share.StatusOK && c.Status != share.StatusTimeout {
			t.Errorf("case %s is %s: %s", c.Case, c.Status, c.Reason)
		}
	}
}

// A worker has the descriptors and the environment that it needs and no others.
func TestWorkersHoldLittle(t *testing.T) {
	for _, peers := range []int{0, 2} {
		t.Run(strconv.Itoa(peers)+" peers", func(t *testing.T) { workersHoldLittle(t, peers) })
	}
}

func workersHoldLittle(t *testing.T, peers int) {
	t.Parallel()
	dir := t.TempDir()
	secret, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer secret.Close()
	s := newSweep(t, dir, []string{scriptVariable + "=consumer:map@1=hang", "SECRET=1", "AWS_SESSION_TOKEN=1"}, append(slices.Clone(scripted), "--size", "4KiB", "--case-timeout", "10s", "--peers", strconv.Itoa(peers))...)
	s.cmd.ExtraFiles = []*os.File{secret} // inherited by the runner; must not get to the workers
	s.start()
	pids := s.workers(2 + peers)
	time.Sleep(300 * time.Millisecond)
	for _, pid := range pids {
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err != nil {
			t.Fatal(err)
		}
		for kv := range strings.SplitSeq(string(environ), "\x00") {
			if strings.Contains(kv, "SECRET") || strings.Contains(kv, "AWS_") {
				t.Errorf("worker %d has %q", pid, kv)
			}
		}
		fds := "/proc/" + strconv.Itoa(pid) + "/fd"
		names, err := os.ReadDir(fds)
		if err != nil {
			t.Fatal(err)
		}
		sockets := 0
		for _, n := range names {
			target, err := os.Readlink(filepath.Join(fds, n.Name()))
			if err != nil {
				continue // closed meanwhile
			}
			switch {
			case strings.HasPrefix(target, "socket:"):
				sockets++
			case target == "/dev/null" && (n.Name() == "0" || n.Name() == "1"):
			case strings.HasPrefix(target, "pipe:") && n.Name() == "2":
			case strings.HasPrefix(target, "/sys/fs/cgroup/"): // the Go runtime's own
			case strings.Contains(target, "memfd:gpushare-where"), strings.Contains(target, "sharetest-"), strings.HasPrefix(target, "anon_inode:"):
			default:
				t.Errorf("worker %d holds %s → %s", pid, n.Name(), target)
			}
		}
		if sockets != 2+peers {
			t.Errorf("worker %d has %d sockets, want the one to the runner and one to each other worker", pid, sockets)
		}
	}
	send(t, s.cmd.Process.Pid, syscall.SIGINT)
	s.wait()
}

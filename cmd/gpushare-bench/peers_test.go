package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gpushare-bench/share"
)

// withRole is which of the workers has the role.
func withRole(t *testing.T, pids []int, role string) int {
	t.Helper()
	for _, pid := range pids {
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		if err == nil && slices.Contains(strings.Split(string(environ), "\x00"), "GPUSHARE_ROLE="+role) {
			return pid
		}
	}
	t.Fatalf("none of %v is %s", pids, role)
	return 0
}

// A peer that dies while it has nothing to do fails the case, which was not measured as it says.
func TestIdlePeerKilled(t *testing.T) {
	t.Parallel()
	dir, buffers := t.TempDir(), t.TempDir()
	s := startSweep(t, dir, []string{"TMPDIR=" + buffers}, append(slices.Clone(scripted), "--size", "4KiB", "--peers", "2", "--min-samples", "100000", "--max-samples", "100000", "--max-time", "3s")...)
	pids := s.workers(4)
	eventually(t, "a fifth buffer, that of a cycle", func() bool {
		files, _ := filepath.Glob(filepath.Join(buffers, "*"))
		return len(files) > 4
	})
	send(t, withRole(t, pids, "peer1"), syscall.SIGKILL)
	if status := s.wait(); status != exitFailure {
		t.Fatalf("exit status %d\n%s", status, &s.stderr)
	}
	gone(t, pids)
	c := load(t, filepath.Join(dir, "run")).Cases[0]
	if c.Status != share.StatusFailed || !strings.HasPrefix(c.Reason, "peer 1 on cpu was killed by signal 9") || len(c.Joined) != 3 {
		t.Errorf("%s, %d joined: %s", c.Status, len(c.Joined), c.Reason)
	}
}

// Peers die with the runner.
func TestRunnerKilledWithPeers(t *testing.T) {
	t.Parallel()
	s := startSweep(t, t.TempDir(), []string{scriptVariable + "=peer2:import@1=hang"}, append(slices.Clone(scripted), "--size", "4KiB", "--peers", "2")...)
	pids := s.workers(4)
	send(t, s.cmd.Process.Pid, syscall.SIGKILL)
	s.wait()
	gone(t, pids)
}

// A signal ends a run while processes join.
func TestInterruptedAmongPeers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := startSweep(t, dir, []string{scriptVariable + "=peer2:import@1=hang"}, append(slices.Clone(scripted), "--size", "4KiB", "--peers", "2")...)
	pids := s.workers(4)
	send(t, s.cmd.Process.Pid, syscall.SIGINT)
	if status := s.wait(); status != exitInterrupted {
		t.Fatalf("exit status %d\n%s", status, &s.stderr)
	}
	gone(t, pids)
}

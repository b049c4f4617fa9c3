package bench_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"gpushare-bench/share"
)

// A worker that is killed or crashes, wherever in the cycle: the case says so with the place, every other case is
// measured, and no process and no descriptor is left.
func TestDeathAtEveryPoint(t *testing.T) {
	points := []string{"producer:allocate", "producer:fill", "producer:export", "consumer:import", "consumer:map", "consumer:touch",
		"consumer:verify", "consumer:read", "consumer:fill", "consumer:unmap", "producer:verify", "producer:release"}
	for _, how := range []string{"kill", "segv"} {
		for i, point := range points {
			if testing.Short() && i%4 != 0 {
				continue
			}
			t.Run(point+"="+how, func(t *testing.T) {
				cfg := config()
				cfg.Paths, cfg.Allocators, cfg.Sizes, cfg.MaxSamples = []string{"fake"}, []string{"file"}, []int64{4096, 8192}, 10
				before := descriptors(t)
				// Processes that start afresh count from 0 again and reach the point in the second case too.
				run, out := sweep(t, cfg, point+"@11="+how)
				if len(run.Cases) != 2 || run.Cases[0].Status != share.StatusOK && run.Cases[1].Status != share.StatusOK {
					t.Fatalf("%d cases, the first %s: %s", len(run.Cases), run.Cases[0].Status, run.Cases[0].Reason)
				}
				if out.Counts[share.StatusFailed] != 1 || out.End.ExitStatus != 1 {
					t.Fatalf("%+v", out)
				}
				role, _, _ := strings.Cut(point, ":")
				for _, c := range run.Cases {
					if c.Status == share.StatusFailed && !strings.Contains(c.Reason, role+" was killed by signal 9") && !strings.Contains(c.Reason, role+" exited with status 2: SIGSEGV") {
						t.Errorf("reason %q", c.Reason)
					}
				}
				if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
					t.Errorf("a process is left: %d, %v", pid, err)
				}
				if after := descriptors(t); after > before+2 { // the poller's own, made at first use
					t.Errorf("%d descriptors before, %d after", before, after)
				}
			})
		}
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

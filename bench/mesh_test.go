package bench_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gpushare-bench/bench"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// meshed sweeps the descriptor path with peers and wants nothing left of it: no process, no descriptor, no buffer.
func meshed(t *testing.T, c *bench.Config, script string) (*results.Run, bench.Outcome) {
	t.Helper()
	c.Paths, c.Allocators = []string{"fake"}, []string{"file"}
	before := descriptors(t)
	run, out := sweep(t, c, script)
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("a process is left: %d, %v", pid, err)
	}
	if after := descriptors(t); after > before+2 { // the poller's own, made at first use
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
	if dead := strings.Contains(script, "kill") || strings.Contains(script, "segv") || strings.Contains(script, "hang"); len(left) > 0 && !dead {
		t.Errorf("buffers left behind: %v", left)
	}
	return run, out
}

// Every process joins those before it: what that took is told for each, and the usual cycle is measured.
func TestPeers(t *testing.T) {
	c := config()
	c.Peers, c.Transports = []int{0, 1, 3}, []string{"all"}
	run, out := meshed(t, c, "")
	if out.Counts[share.StatusOK] != 12 || len(run.Cases) != 12 {
		t.Fatalf("outcome %+v: %+v", out, run.Cases)
	}
	for _, r := range run.Cases {
		want := 0
		if r.Case.Peers > 0 {
			want = 1 + r.Case.Peers // the first process joins nobody
		}
		if len(r.Joined) != want || metric(r, share.Setup) == nil || len(metric(r, share.Setup).Samples) < 10 {
			t.Fatalf("%s: %d joined, want %d; %+v", r.Case, len(r.Joined), want, r.Metrics)
		}
		for i, j := range r.Joined {
			// Each of the i+1 that were there exchanges with the one that joins. In fresh processes the first call of each
			// takes ten times as long.
			for _, x := range []struct {
				phase string
				got   int64
				one   int64
			}{{"export", j.Export, 2000}, {"import", j.Import, 3000}, {"map", j.Map, 4000}} {
				if least, most := int64(2*(i+1))*x.one, int64(2*(i+1)+18)*x.one+100; x.got < least || x.got > most {
					t.Errorf("%s: the %ss of the process that joins %d: %d ns, want %d to %d", r.Case, x.phase, i+1, x.got, least, most)
				}
			}
			if j.Wall <= 0 {
				t.Errorf("%s: joining took %d ns", r.Case, j.Wall)
			}
		}
	}
}

// What goes wrong with a peer is told with its name and place, nothing hangs, and the other case of the pair is measured.
func TestPeerFaults(t *testing.T) {
	// Four processes: in the mesh of a case each exports and maps three times, and peers do so only there.
	for _, c := range []struct {
		script string
		status share.Status
		reason string
		phase  string
	}{
		{"peer1:allocate@1=refuse", share.StatusUnsupported, "the processes can't all map each other's memory: peer 1 on cpu: allocate", "allocate"},
		{"peer2:export@4=refuse", share.StatusUnsupported, "the processes can't all map each other's memory: peer 2 on cpu: export", "export"},
		{"peer1:import@3=refuse", share.StatusUnsupported, "peer 1 on cpu: import", "import"},
		{"peer1:import@5=refuse", share.StatusUnsupported, "peer 1 on cpu: import", "import"},
		{"producer:import@3=fail", share.StatusFailed, "producer: import: scripted", "import"},
		{"consumer:map@6=fail", share.StatusFailed, "consumer: map: scripted", "map"},
		{"peer2:import@4=fail", share.StatusFailed, "peer 2 on cpu: import: scripted", "import"},
		{"peer2:unmap@4=fail", share.StatusFailed, "peer 2 on cpu: unmap: scripted", "unmap"},
		{"peer1:release@1=fail", share.StatusFailed, "peer 1 on cpu: release: scripted", "release"},
		{"peer2:verify@4=flip", share.StatusCorrupt, ": buffer of consumer: 8 of ", ""},
		{"peer1:allocate@1=kill", share.StatusFailed, "peer 1 on cpu was killed by signal 9", "allocate"},
		{"peer1:fill@1=kill", share.StatusFailed, "peer 1 on cpu was killed by signal 9", "fill"},
		{"peer1:export@3=kill", share.StatusFailed, "peer 1 on cpu was killed by signal 9", "export"},
		{"peer2:map@4=kill", share.StatusFailed, "peer 2 on cpu was killed by signal 9 (killed) in map/fakeMap of peer 2 on cpu, mapping each other's buffers", "map"},
		{"peer1:map@5=segv", share.StatusFailed, "peer 1 on cpu", "map"},
		{"peer1:verify@3=kill", share.StatusFailed, "peer 1 on cpu was killed by signal 9", "verify"},
		{"peer2:unmap@3=kill", share.StatusFailed, "peer 2 on cpu was killed by signal 9", "unmap"},
		{"peer2:release@1=kill", share.StatusFailed, "peer 2 on cpu was killed by signal 9", "release"},
		{"peer2:import@4=hang", share.StatusTimeout, "no answer within 3s (--case-timeout) in import/fakeImport of peer 2 on cpu", "import"},
		{"peer1:unmap@4=hang", share.StatusTimeout, "in unmap/fakeUnmap of peer 1 on cpu", "unmap"},
	} {
		t.Run(c.script, func(t *testing.T) {
			cfg := config()
			cfg.Peers, cfg.MinSamples, cfg.MaxSamples = []int{2}, 2, 2
			if strings.Contains(c.script, "hang") {
				cfg.CaseTimeout = 3 * time.Second // elsewhere a slow machine must not look like a hang
			}
			run, out := meshed(t, cfg, c.script)
			if len(run.Cases) != 2 || out.Counts[share.StatusOK] != 1 || out.Counts[c.status] != 1 {
				t.Fatalf("%v; %+v", out.Counts, run.Cases)
			}
			for _, r := range run.Cases {
				if r.Status == c.status && (!strings.Contains(r.Reason, c.reason) || !strings.HasPrefix(r.Phase, c.phase)) {
					t.Errorf("%q in phase %q, want %q in %q", r.Reason, r.Phase, c.reason, c.phase)
				}
				if r.Status == share.StatusUnsupported && len(r.Metrics) > 0 {
					t.Errorf("%d metrics of a case whose condition did not come about", len(r.Metrics))
				}
			}
		})
	}
}

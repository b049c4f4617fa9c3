package gpu_test

import (
	"strings"
	"testing"

	"gpushare-bench/bench"
	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/share"
)

// freeMemory is what is free on each GPU.
func freeMemory(t *testing.T) []int64 {
	t.Helper()
	var free []int64
	for _, d := range foundDevices(t) {
		free = append(free, d.FreeBytes)
	}
	return free
}

// TestPeers is one process on each of eight GPUs, every process with the memory of all mapped, while the cycle of the first
// two is measured. All of it is given up.
func TestPeers(t *testing.T) {
	needEmulated(t)
	m := on(t, "eight-h200")
	before := freeMemory(t)
	c := config()
	c.Pairs, c.Paths, c.Allocators, c.Sizes, c.Kernels = []string{"0:1"}, []string{"cumemmap"}, []string{"vmm"}, []int64{2 << 20, 4 << 20}, nil
	c.Peers = []int{0, 2, bench.AllPeers}
	run, out := sweep(t, c)
	if len(run.Cases) != 6 || out.Counts[share.StatusOK] != 6 {
		for _, r := range run.Cases {
			t.Errorf("%s: %s: %s", r.Case, r.Status, r.Reason)
		}
		t.FailNow()
	}
	counts := map[int]int{}
	free := map[int]int64{} // on the consumer's GPU, by peers, of the smaller size
	for _, r := range run.Cases {
		counts[r.Case.Peers]++
		if want := r.Case.Peers + 1; r.Case.Peers > 0 && len(r.Joined) != want || r.Case.Peers == 0 && len(r.Joined) > 0 {
			t.Errorf("%s: %d processes joined", r.Case, len(r.Joined))
		}
		for i, j := range r.Joined {
			if j.Wall <= 0 || j.Export <= 0 || j.Import <= 0 || j.Map <= 0 || j.Export+j.Import+j.Map > j.Wall { // one call at a time
				t.Errorf("%s: process %d: %+v", r.Case, i+1, j)
			}
		}
		if r.Case.Size == 2<<20 && r.Before != nil && r.Before.FreeBytes != nil {
			free[r.Case.Peers] = *r.Before.FreeBytes
		}
		if r.Before != nil && len(r.Before.OtherPIDs) > 0 {
			t.Errorf("%s: processes of its own are taken for others: %v", r.Case, r.Before.OtherPIDs)
		}
	}
	if counts[0] != 2 || counts[2] != 2 || counts[6] != 2 {
		t.Errorf("cases by peers: %v", counts)
	}
	// The consumer holds one buffer for the others, however many map it.
	if free[0]-free[2] != 2<<20 || free[2] != free[6] {
		t.Errorf("free on the consumer's GPU by peers: %v", free)
	}
	m.check(t)
	for i, f := range freeMemory(t) {
		if f != before[i] {
			t.Errorf("GPU %d: %d bytes free before, %d after", i, before[i], f)
		}
	}
}

// TestPeersOnOneGPU has all processes on one GPU, on every path.
func TestPeersOnOneGPU(t *testing.T) {
	needEmulated(t)
	for path, allocator := range map[string]string{"dma-buf": "device", "cumemmap": "vmm", "opaque-fd": "vmm", "cuda-ipc": "device",
		"mempool": "pool", "fabric": "vmm", "staged": "device"} {
		t.Run(path, func(t *testing.T) {
			m := on(t, "new-driver")
			c := config()
			c.Paths, c.Allocators, c.Sizes, c.Kernels, c.Peers, c.Live = []string{path}, []string{allocator}, []int64{64 << 10}, nil, []int{2}, []int{2}
			run, _ := sweep(t, c)
			r := run.Cases[0]
			if path == "staged" {
				if r.Status != share.StatusUnsupported || r.Reason != "staged shares no memory that peers could map" {
					t.Errorf("%s: %s", r.Status, r.Reason)
				}
			} else if r.Status != share.StatusOK || len(r.Joined) != 3 {
				t.Errorf("%s, %d joined: %s", r.Status, len(r.Joined), r.Reason)
			}
			m.check(t)
		})
	}
}

// TestPeersDeclined has a driver say no to one peer, or fail it, or corrupt what it maps: the case tells which, nothing is
// left, and the other case is measured.
func TestPeersDeclined(t *testing.T) {
	needEmulated(t)
	for _, c := range []struct {
		fault  string
		status share.Status
		reason string
	}{
		{"peer2:cuMemImportFromShareableHandle@5=CUDA_ERROR_NOT_SUPPORTED", share.StatusUnsupported, "the processes can't all map each other's memory: peer 2 on GPU 3: cuMemImportFromShareableHandle"},
		{"peer1:cuMemCreate@2=CUDA_ERROR_OUT_OF_MEMORY", share.StatusUnsupported, "the processes can't all map each other's memory: peer 1 on GPU 2: cuMemCreate"},
		{"peer1:cuMemMap@6=CUDA_ERROR_UNKNOWN", share.StatusFailed, "peer 1 on GPU 2: cuMemMap"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			m := on(t, "eight-h200", cudatest.Faults(c.fault))
			before := freeMemory(t)
			cfg := config()
			cfg.Pairs, cfg.Paths, cfg.Allocators, cfg.Sizes, cfg.Kernels = []string{"0:1"}, []string{"cumemmap"}, []string{"vmm"}, []int64{2 << 20, 4 << 20}, nil
			cfg.Peers = []int{2}
			run, out := sweep(t, cfg)
			if out.Counts[share.StatusOK] != 1 || out.Counts[c.status] != 1 {
				t.Errorf("%v", out.Counts)
			}
			for _, r := range run.Cases {
				if r.Status == c.status && !strings.Contains(r.Reason, c.reason) {
					t.Errorf("%q, want %q", r.Reason, c.reason)
				}
			}
			m.check(t)
			for i, f := range freeMemory(t) {
				if f != before[i] {
					t.Errorf("GPU %d: %d bytes free before, %d after", i, before[i], f)
				}
			}
		})
	}
}

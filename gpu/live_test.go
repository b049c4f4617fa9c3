package gpu_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// TestLive keeps other mappings alive while one is measured: as many as asked for, on every path.
func TestLive(t *testing.T) {
	needEmulated(t)
	const live, size = 6, 64 << 10
	for path, allocator := range map[string]string{"dma-buf": "device", "cumemmap": "vmm", "opaque-fd": "vmm", "cuda-ipc": "device",
		"mempool": "pool", "fabric": "vmm", "staged": "device"} {
		t.Run(path, func(t *testing.T) {
			m := on(t, "new-driver")
			c := config()
			c.Paths, c.Allocators, c.Sizes, c.Kernels = []string{path}, []string{allocator}, []int64{size}, nil
			var free []int64
			for _, n := range []int{0, live} {
				c.Live = []int{n}
				run, _ := sweep(t, c)
				r := run.Cases[0]
				if r.Status != share.StatusOK || r.Case.Live != n || r.Before == nil || r.Before.FreeBytes == nil {
					t.Fatalf("%s: %s: %s", r.Case, r.Status, r.Reason)
				}
				free = append(free, *r.Before.FreeBytes)
			}
			// The producer may have taken the buffer of the first cycle already when the consumer reads what is free.
			if taken := free[0] - free[1]; taken < (live-1)*size {
				t.Errorf("%d live mappings take %d bytes, too few for so many", live, taken)
			}
			m.check(t)
		})
	}
}

// TestLiveLimit runs out of something before all live mappings are made: the case says how many there were and what the
// system answered, and the rest of the plan is measured.
func TestLiveLimit(t *testing.T) {
	needEmulated(t)
	for _, c := range []struct {
		name, path, allocator string
		options               []cudatest.Option
		descriptors           string // ulimit -n of the workers; "" as it is
		reason                string
	}{
		{"memory", "cumemmap", "vmm", []cudatest.Option{cudatest.Faults("producer:cuMemCreate@40=CUDA_ERROR_OUT_OF_MEMORY")}, "", "CUDA_ERROR_OUT_OF_MEMORY (2)"},
		{"consumer's memory", "staged", "device", []cudatest.Option{cudatest.Faults("consumer:cuMemAlloc@40=CUDA_ERROR_OUT_OF_MEMORY")}, "", "CUDA_ERROR_OUT_OF_MEMORY (2)"},
		{"address space", "cumemmap", "vmm", []cudatest.Option{cudatest.Faults("consumer:cuMemAddressReserve@40=CUDA_ERROR_OUT_OF_MEMORY")}, "", "the address space is used up"},
		{"descriptors", "opaque-fd", "vmm", nil, "48", "ulimit -n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := on(t, "new-driver", c.options...)
			cfg := config()
			cfg.Paths, cfg.Allocators, cfg.Sizes, cfg.Live = []string{c.path}, []string{c.allocator}, []int64{4096}, []int{1, 4096}
			t.Setenv(descriptorsVariable, c.descriptors)
			run, out := sweep(t, cfg)
			if len(run.Cases) != 2 || out.End.ExitStatus != 0 {
				t.Fatalf("%d cases, exit status %d: %+v", len(run.Cases), out.End.ExitStatus, run.Cases)
			}
			i := slices.IndexFunc(run.Cases, func(r results.CaseResult) bool { return r.Case.Live == 4096 })
			hit, other := run.Cases[i], run.Cases[1-i]
			if hit.Status != share.StatusUnsupported || len(hit.Metrics) > 0 || strings.HasPrefix(hit.Reason, "0 of") ||
				!strings.Contains(hit.Reason, " of 4096 live mappings reached: ") || !strings.Contains(hit.Reason, c.reason) {
				t.Errorf("%s, %d metrics: %s; want the number reached and %q", hit.Status, len(hit.Metrics), hit.Reason, c.reason)
			}
			if other.Status != share.StatusOK {
				t.Errorf("the other case: %s: %s", other.Status, other.Reason)
			}
			m.check(t)
		})
	}
}

// TestLiveTooMany asks for more small allocations than there is room for at the granularity: none of them is tried.
func TestLiveTooMany(t *testing.T) {
	needEmulated(t)
	m := on(t, "new-driver", cudatest.Memory(256<<20))
	cfg := config()
	cfg.Paths, cfg.Allocators, cfg.Sizes, cfg.Live = []string{"cumemmap"}, []string{"vmm"}, []int64{4096}, []int{60, 70}
	run, _ := sweep(t, cfg)
	for _, r := range run.Cases {
		if fits := r.Case.Live == 60; fits != (r.Status == share.StatusOK) || !fits && !strings.HasPrefix(r.Reason, "does not fit: needs 144 MiB on ") {
			t.Errorf("%d live: %s: %s", r.Case.Live, r.Status, r.Reason)
		}
	}
	m.check(t)
}

// TestDescriptorLimit runs out of descriptors in whatever call takes the last one, at either end: that is a limit with the
// number reached, whatever the driver's own word for it.
func TestDescriptorLimit(t *testing.T) {
	needEmulated(t)
	for path, allocator := range map[string]string{"dma-buf": "device", "cumemmap": "vmm", "opaque-fd": "vmm", "cuda-ipc": "device", "mempool": "pool"} {
		for _, limit := range []string{"30", "31", "32", "33"} {
			t.Run(path+"/"+limit, func(t *testing.T) {
				m := on(t, "new-driver")
				cfg := config()
				cfg.Paths, cfg.Allocators, cfg.Sizes, cfg.Live = []string{path}, []string{allocator}, []int64{4096}, []int{64}
				t.Setenv(descriptorsVariable, limit)
				run, _ := sweep(t, cfg)
				if len(run.Cases) != 1 {
					t.Fatalf("%d cases", len(run.Cases))
				}
				hit := run.Cases[0]
				if hit.Status != share.StatusUnsupported || strings.HasPrefix(hit.Reason, "0 of") || !strings.Contains(hit.Reason, " of 64 live mappings reached: ") ||
					!strings.Contains(hit.Reason, "too many open files") || !strings.Contains(hit.Reason, "ulimit -n") {
					t.Errorf("%s: %s: want the number reached and what to raise", hit.Status, hit.Reason)
				}
				m.check(t, cudatest.Exception{Class: cudatest.Refused})
			})
		}
	}
}

// descriptorsVariable is the environment variable that limits the open files of a worker of these tests.
const descriptorsVariable = "GPUSHARE_TEST_DESCRIPTORS"

// limitDescriptors sets this worker's limit on open files to what the environment says.
func limitDescriptors() {
	n, err := strconv.ParseUint(os.Getenv(descriptorsVariable), 10, 64)
	if err != nil {
		return // not set
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
		panic(err)
	}
}

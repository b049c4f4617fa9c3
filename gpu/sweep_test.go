package gpu_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/kernels"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// summary is a line for each case: path, allocator and status, sorted.
func summary(run *results.Run) []string {
	var lines []string
	for _, c := range run.Cases {
		lines = append(lines, fmt.Sprintf("%s/%s %s", c.Case.Path, c.Case.Allocator, c.Status))
	}
	slices.Sort(lines)
	return lines
}

// TestSweep measures all paths with everything that a case can ask for: a cold cache, an offset that is no multiple of 16,
// other mappings kept alive, pidfd.
func TestSweep(t *testing.T) {
	name := "new-driver"
	if onReal() {
		name = realMachine()
	}
	m := on(t, name)
	c := config()
	c.Offset, c.Live = 1<<20+8, []int{2}
	c.Caches = []string{share.CacheCold}
	c.Transports = []string{"all"}
	c.Kernels = share.Kernels()
	c.MinSamples, c.MaxSamples = 2, 2
	run, out := sweep(t, c)
	if !onReal() && (out.Counts[share.StatusOK] == 0 || out.Counts[share.StatusFailed]+out.Counts[share.StatusCorrupt]+out.Counts[share.StatusTimeout] > 0) {
		t.Errorf("outcome %+v", out)
	}
	if fabric := slices.Contains(summary(run), "fabric/vmm ok"); !onReal() && !fabric {
		t.Error("fabric was not measured")
	}
	for _, x := range run.Cases {
		switch x.Status {
		case share.StatusFailed, share.StatusCorrupt, share.StatusTimeout:
			t.Errorf("%v: %s: %s", x.Case, x.Status, x.Reason)
		case share.StatusOK:
			for _, name := range []string{"allocate", "export", "transfer", "map", "first_touch", "unmap", "release", share.Setup,
				"kernel/read", "kernel/write", "kernel/copy", "kernel/copy-to", "kernel/memcpy", "kernel/memcpy-to", "kernel/memcpy-both", "kernel/chase"} {
				if !slices.ContainsFunc(x.Metrics, func(m results.Metric) bool { return m.Name == name && len(m.Samples) > 0 }) {
					t.Errorf("%v: no samples of %s", x.Case, name)
				}
			}
		case share.StatusPartial:
			if !slices.ContainsFunc(x.Metrics, func(m results.Metric) bool { return m.Name == "export" && len(m.Samples) > 0 }) {
				t.Errorf("%v: the export was not measured", x.Case)
			}
		}
	}
	m.check(t, cudatest.Exception{Class: cudatest.Refused})
}

// TestColdCacheMemory shows that only a consumer that empties the cache before kernels holds the memory for that.
func TestColdCacheMemory(t *testing.T) {
	needEmulated(t)
	l2 := 0
	free := func(cache string, kernels ...share.Kernel) int64 {
		l2 = on(t, "h200-580").profile.Attributes["L2_CACHE_SIZE"]
		c := config()
		c.Paths, c.Allocators, c.Caches, c.Kernels = []string{"cumemmap"}, []string{"vmm"}, []string{cache}, kernels
		run, _ := sweep(t, c)
		if len(run.Cases) != 1 || run.Cases[0].Before == nil || run.Cases[0].Before.FreeBytes == nil {
			t.Fatalf("no free memory recorded: %+v", run.Cases)
		}
		return *run.Cases[0].Before.FreeBytes
	}
	// What is free is read while the producer may have taken the first cycle's buffer or not.
	const buffer = 2 << 20
	near := func(a, b int64) bool { return max(a, b)-min(a, b) <= buffer }
	warm := free(share.CacheWarm, share.KernelRead)
	if none := free(share.CacheCold); !near(none, warm) {
		t.Errorf("without kernels %d bytes are free, with warm ones %d", none, warm)
	}
	if taken, want := warm-free(share.CacheCold, share.KernelRead), int64(kernels.EvictBytes(uint64(l2))); !near(taken, want) {
		t.Errorf("for cold kernels %d bytes are taken, want %d, in the consumer only", taken, want)
	}
}

// TestVisibleDevices shows processes that see different GPUs: devices are matched by UUID, whatever their ordinals are.
func TestVisibleDevices(t *testing.T) {
	needEmulated(t)
	for _, c := range []struct {
		pair, fault string
		status      share.Status
		reason      []string
	}{
		{"3:3", "producer:cuMemCreate@*=CUDA_ERROR_NOT_SUPPORTED", share.StatusUnsupported, []string{"cuMemCreate(2 MiB, GPU-e3000004, POSIX fd)"}},
		{"3:3", "", share.StatusOK, nil}, // ordinal 1 in the producer, 0 in the consumer
		{"2:2", "", share.StatusUnsupported, []string{"consumer", "find GPU GPU-e3000003-0000-4000-8000-000000000003", "sees 1 GPU(s) [GPU-e3000004-0000-4000-8000-000000000004]", `CUDA_VISIBLE_DEVICES is "3"`}},
		{"2:3", "", share.StatusPartial, []string{"CUDA_ERROR_INVALID_DEVICE (101)", "the exporter's GPU may not be visible to this process",
			"the consumer does not see the producer's device: find GPU GPU-e3000003-0000-4000-8000-000000000003; this process sees 1 GPU(s) [GPU-e3000004-0000-4000-8000-000000000004]"}},
	} {
		t.Run(c.pair+c.fault, func(t *testing.T) {
			// A refusal whose arguments name the GPU, which is another by number in each process.
			m := on(t, "eight-h200", cudatest.Faults(c.fault))
			if got := m.profile.Devices[2].UUID; !strings.HasSuffix(got, "3") {
				t.Fatalf("the third GPU is %s", got)
			}
			cfg := config()
			cfg.Pairs = []string{c.pair}
			cfg.Paths, cfg.Allocators = []string{"cumemmap", "cuda-ipc"}, []string{"vmm", "device"}
			cfg.ProducerEnv, cfg.ConsumerEnv = []string{"CUDA_VISIBLE_DEVICES=2,3"}, []string{"CUDA_VISIBLE_DEVICES=3"}
			run, _ := sweep(t, cfg)
			for _, x := range run.Cases {
				if x.Case.Path == "cuda-ipc" && (x.Case.Allocator == "vmm" || c.fault != "") {
					continue
				}
				if x.Status != c.status {
					t.Errorf("%v: %s, want %s: %s", x.Case, x.Status, c.status, x.Reason)
				}
				if ordinal := regexp.MustCompile(`device [0-9]`).FindString(x.Reason); ordinal != "" {
					t.Errorf("%v: the number of a device, which means another in each process: %q", x.Case, x.Reason)
				}
				for _, r := range c.reason {
					if !strings.Contains(x.Reason, r) {
						t.Errorf("%v: reason %q does not contain %q", x.Case, x.Reason, r)
					}
				}
			}
		})
	}
}

// TestKept shows GPUs that let no second process in, by their compute mode and by the MPS server before them.
func TestKept(t *testing.T) {
	needEmulated(t)
	for _, c := range []struct {
		machine, reason string
		option          cudatest.Option
	}{
		{"exclusive", "CUDA_ERROR_DEVICE_UNAVAILABLE (46); the GPU is in compute mode EXCLUSIVE_PROCESS", cudatest.Faults()},
		{"exclusive", "CUDA_ERROR_DEVICE_UNAVAILABLE (46); the GPU is in compute mode PROHIBITED", cudatest.Attribute("COMPUTE_MODE", 2)},
		{"h200-580", "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED (808); the MPS server has no room for another client", cudatest.Faults("consumer:cuDevicePrimaryCtxRetain@*=CUDA_ERROR_MPS_MAX_CLIENTS_REACHED")},
		{"h200-580", "CUDA_ERROR_MPS_SERVER_NOT_READY (807); the MPS server is starting", cudatest.Faults("consumer:cuDevicePrimaryCtxRetain@*=CUDA_ERROR_MPS_SERVER_NOT_READY")},
	} {
		t.Run(c.reason[:32], func(t *testing.T) {
			m := on(t, c.machine, c.option)
			cfg := config()
			cfg.Paths, cfg.Allocators = []string{"cumemmap"}, []string{"vmm"}
			run, out := sweep(t, cfg)
			if len(run.Cases) == 0 || out.Counts[share.StatusUnsupported] != len(run.Cases) || out.End.ExitStatus != 3 {
				t.Errorf("outcome %+v", out)
			}
			where := "cuDevicePrimaryCtxRetain(" + share.ShortID(m.profile.Devices[0].UUID) + "): "
			for _, x := range run.Cases {
				if !strings.Contains(x.Reason, where+c.reason) {
					t.Errorf("%v: %s", x.Case, x.Reason)
				}
			}
		})
	}
}

// TestOpenHangs shows a driver that does not come back while a GPU is opened: the reason has the end and the call, and no
// further pair of processes is started to wait for the same.
func TestOpenHangs(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for ten seconds")
	}
	needEmulated(t)
	on(t, "h200-580", cudatest.Faults("consumer:cuDevicePrimaryCtxRetain=hang"))
	cfg := config()
	cfg.Paths, cfg.Allocators, cfg.CaseTimeout = []string{"cumemmap"}, []string{"vmm", "vmm-rdma"}, time.Second
	run, out := sweep(t, cfg)
	if len(run.Cases) != 2 || out.Counts[share.StatusTimeout] != 2 {
		t.Errorf("outcome %+v", out)
	}
	for _, x := range run.Cases {
		if want := "open of the consumer: no answer within 10s (the least time to open a device) in cuDevicePrimaryCtxRetain"; x.Reason != want {
			t.Errorf("%v: %q, want %q", x.Case, x.Reason, want)
		}
	}
}

// TestMissingFunctions shows a driver that lacks one function of each of several paths: the case names it, and other paths
// are measured.
func TestMissingFunctions(t *testing.T) {
	needEmulated(t)
	missing := map[string]string{
		"cumemmap/vmm":    "cuMemImportFromShareableHandle",
		"mempool/pool":    "cuMemPoolImportPointer",
		"cuda-ipc/device": "cuIpcOpenMemHandle",
		"staged/async":    "cuMemAllocAsync",
	}
	m := on(t, "h200-580", cudatest.Without("cuMemImportFromShareableHandle", "cuMemPoolImportPointer", "cuIpcOpenMemHandle_v2", "cuMemAllocAsync"))
	run, _ := sweep(t, config())
	for _, x := range run.Cases {
		name := x.Case.Path + "/" + x.Case.Allocator
		if function := missing[name]; function != "" {
			delete(missing, name)
			if x.Status != share.StatusUnsupported || !strings.Contains(x.Reason, function+": this driver does not have the function") || strings.Count(x.Reason, "newer driver is needed") != 1 {
				t.Errorf("%v: %s: %s", x.Case, x.Status, x.Reason)
			}
		}
		if (name == "staged/device" || name == "opaque-fd/vmm") && x.Status != share.StatusOK {
			t.Errorf("%v: %s: %s", x.Case, x.Status, x.Reason)
		}
	}
	if len(missing) > 0 {
		t.Errorf("not in the journal: %v", missing)
	}
	m.check(t, cudatest.Exception{Class: cudatest.Refused})
}

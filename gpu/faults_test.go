package gpu_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gpushare-bench/bench"
	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// threeCases is a plan of three cases of four cycles each. A fault in the sixth cycle of a process hits the second case,
// and the first and the third show what it does to others.
func threeCases(path, allocator string) *bench.Config {
	c := config()
	c.Paths, c.Allocators = []string{path}, []string{allocator}
	c.Sizes = []int64{8192, 8200, 8208}
	c.CaseTimeout = 2 * time.Second
	return c
}

// Ends of processes after a fault.
const (
	orderly = iota // all processes give everything back
	dies           // one ends without, or with a context that is beyond use
)

// TestFaults injects faults into the driver of one end. The case says what happened, in the driver's words; the others
// are measured, in fresh processes where it must be; and what ended in order left nothing.
func TestFaults(t *testing.T) {
	needEmulated(t)
	for _, c := range []struct {
		path, allocator, fault string
		status                 share.Status
		reason, phase          string
		end                    int
	}{
		// An error at the n-th call. The first calls of a kind are made by the trial.
		{"cumemmap", "vmm", "producer:cuMemCreate@6=CUDA_ERROR_OUT_OF_MEMORY", share.StatusFailed, "producer: cuMemCreate(2 MiB, GPU-e3000000, POSIX fd): CUDA_ERROR_OUT_OF_MEMORY (2)", "allocate", orderly},
		{"cumemmap", "vmm", "producer:cuMemExportToShareableHandle@6=CUDA_ERROR_OPERATING_SYSTEM", share.StatusFailed, "producer: cuMemExportToShareableHandle", "export", orderly},
		{"cumemmap", "vmm", "consumer:cuMemImportFromShareableHandle@6=CUDA_ERROR_NOT_SUPPORTED", share.StatusFailed, "consumer: cuMemImportFromShareableHandle", "import", orderly},
		{"cumemmap", "vmm", "consumer:cuMemMap@6=CUDA_ERROR_MAP_FAILED", share.StatusFailed, "CUDA_ERROR_MAP_FAILED", "map", orderly},
		{"cumemmap", "vmm", "consumer:cuMemSetAccess@6=CUDA_ERROR_UNKNOWN", share.StatusFailed, "CUDA_ERROR_UNKNOWN", "map", orderly},
		{"opaque-fd", "vmm", "consumer:cuExternalMemoryGetMappedBuffer@6=CUDA_ERROR_OUT_OF_MEMORY", share.StatusFailed, "cuExternalMemoryGetMappedBuffer", "map", orderly},
		{"cuda-ipc", "device", "consumer:cuIpcOpenMemHandle@6=CUDA_ERROR_MAP_FAILED", share.StatusFailed, "cuIpcOpenMemHandle", "map", orderly},
		{"mempool", "pool", "consumer:cuMemPoolImportPointer@6=CUDA_ERROR_INVALID_VALUE", share.StatusFailed, "cuMemPoolImportPointer", "map", orderly},
		{"mempool", "pool", "producer:cuMemPoolExportPointer@6=CUDA_ERROR_UNKNOWN", share.StatusFailed, "cuMemPoolExportPointer", "export", orderly},
		// Allocations that fail half way: what was made before is given back.
		{"cumemmap", "vmm", "producer:cuMemAddressReserve@6=CUDA_ERROR_OUT_OF_MEMORY", share.StatusFailed, "the address space is used up", "allocate", orderly},
		{"cumemmap", "vmm", "producer:cuMemMap@6=CUDA_ERROR_OUT_OF_MEMORY", share.StatusFailed, "producer: cuMemMap", "allocate", orderly},
		{"mempool", "pool", "producer:cuMemAllocFromPoolAsync@6=CUDA_ERROR_OUT_OF_MEMORY", share.StatusFailed, "cuMemAllocFromPoolAsync(", "allocate", orderly},
		// Descriptors are there, so they are not what is said to be missing.
		{"cumemmap", "vmm", "producer:cuMemExportToShareableHandle@7=CUDA_ERROR_UNKNOWN", share.StatusFailed, "CUDA_ERROR_UNKNOWN (999)", "export", orderly},
		// A refusal in the trial, by a driver that grants it otherwise.
		{"cumemmap", "vmm", "consumer:cuMemImportFromShareableHandle=CUDA_ERROR_NOT_SUPPORTED", share.StatusPartial, "CUDA_ERROR_NOT_SUPPORTED (801)", "import", orderly},
		{"cumemmap", "vmm", "producer:cuMemCreate=CUDA_ERROR_NOT_SUPPORTED", share.StatusUnsupported, "CUDA_ERROR_NOT_SUPPORTED (801)", "allocate", orderly},
		// Errors that spoil the context: the processes are replaced.
		{"cumemmap", "vmm", "consumer:cuMemMap@6=sticky:700", share.StatusFailed, "CUDA_ERROR_ILLEGAL_ADDRESS (700)", "map", dies},
		{"cumemmap", "vmm", "consumer:kernel:verify@7=trap", share.StatusFailed, "CUDA_ERROR_LAUNCH_FAILED (719)", "", dies},
		{"cumemmap", "vmm", "consumer:kernel:read@110=sticky:700", share.StatusFailed, "CUDA_ERROR_ILLEGAL_ADDRESS (700)", "", dies},
		{"cumemmap", "vmm", "producer:kernel:fill@7=trap", share.StatusFailed, "fill the buffer", "", dies},
		// Calls and kernels that never end.
		{"cumemmap", "vmm", "consumer:cuMemImportFromShareableHandle@6=hang", share.StatusTimeout, "(--case-timeout) in import/cuMemImportFromShareableHandle of the consumer, cycle 1", "import", dies},
		{"cumemmap", "vmm", "producer:cuMemExportToShareableHandle@6=hang", share.StatusTimeout, "in export/cuMemExportToShareableHandle of the producer, cycle 1", "export", dies},
		{"cuda-ipc", "device", "producer:cuMemFree@7=hang", share.StatusTimeout, "in release/cuMemFree of the producer", "release", dies},
		{"cumemmap", "vmm", "consumer:kernel:read@110=hang", share.StatusTimeout, "of the consumer", "", dies},
		// Work that is queued too late: the gate before it does not wait for ever.
		{"cumemmap", "vmm", "consumer:cuEventRecord@75=slow:2500ms", share.StatusFailed, "the gate kernel reached its time limit", "", orderly},
		// Processes that die.
		{"cumemmap", "vmm", "producer:cuMemCreate@6=kill", share.StatusFailed, "producer was killed by signal 9 (killed) in allocate/cuMemCreate", "allocate", dies},
		{"cumemmap", "vmm", "producer:cuMemExportToShareableHandle@6=crash", share.StatusFailed, "producer", "export", dies},
		{"cumemmap", "vmm", "consumer:cuMemImportFromShareableHandle@6=kill", share.StatusFailed, "consumer was killed by signal 9 (killed) in import/cuMemImportFromShareableHandle", "import", dies},
		{"cumemmap", "vmm", "consumer:cuMemSetAccess@6=crash", share.StatusFailed, "consumer", "map", dies},
		{"cumemmap", "vmm", "consumer:kernel:copy@100=kill", share.StatusFailed, "consumer was killed by signal 9", "", dies},
		{"cumemmap", "vmm", "consumer:cuMemUnmap@6=kill", share.StatusFailed, "consumer was killed by signal 9 (killed) in unmap/cuMemUnmap", "unmap", dies},
		{"cumemmap", "vmm", "producer:cuMemRelease@6=kill", share.StatusFailed, "producer was killed by signal 9 (killed) in release/cuMemRelease", "release", dies},
		{"cumemmap", "vmm", "producer:cuMemCreate@6=exit", share.StatusFailed, "producer exited", "allocate", dies},
		// Bytes that are wrong.
		{"cumemmap", "vmm", "consumer:cuMemImportFromShareableHandle@6=corrupt:zeros", share.StatusCorrupt, "zeros", "", orderly},
		{"cumemmap", "vmm", "consumer:cuMemImportFromShareableHandle@6=corrupt:constant", share.StatusCorrupt, "constant", "", orderly},
		{"cumemmap", "vmm", "consumer:cuMemImportFromShareableHandle@6=corrupt:shifted", share.StatusCorrupt, "shifted: the right pattern, but from +64 bytes away", "", orderly},
		{"cumemmap", "vmm", "consumer:cuMemImportFromShareableHandle@6=corrupt:random", share.StatusCorrupt, "random", "", orderly},
		{"cumemmap", "vmm", "consumer:kernel:verify@7=corrupt", share.StatusCorrupt, "consumer: 8 of ", "", orderly},
		{"cumemmap", "vmm", "consumer:kernel:fill@7=skip", share.StatusCorrupt, "producer, after the consumer wrote back", "", orderly},
		{"cuda-ipc", "device", "consumer:kernel:fill@7=corrupt", share.StatusCorrupt, "producer, after the consumer wrote back: 8 of ", "", orderly},
	} {
		t.Run(c.fault, func(t *testing.T) {
			if testing.Short() && (strings.HasSuffix(c.fault, "=hang") || strings.Contains(c.fault, "=slow")) {
				t.Skip("waits for seconds")
			}
			m := on(t, "h200-580", cudatest.Faults(c.fault))
			cfg := threeCases(c.path, c.allocator)
			if strings.Contains(c.fault, "=slow") {
				cfg.CaseTimeout *= 10
			}
			run, out := sweep(t, cfg)
			hit := theOnly(t, run, c.status)
			if !strings.Contains(hit.Reason, c.reason) {
				t.Errorf("reason %q does not contain %q", hit.Reason, c.reason)
			}
			if !strings.HasPrefix(hit.Phase, c.phase) {
				t.Errorf("phase %q, want %q", hit.Phase, c.phase)
			}
			want := map[share.Status]int{share.StatusCorrupt: 4, share.StatusFailed: 1, share.StatusTimeout: 1}[c.status]
			if out.End.ExitStatus != want {
				t.Errorf("exit status %d, want %d", out.End.ExitStatus, want)
			}
			var allowed []cudatest.Exception
			if c.end == dies {
				allowed = []cudatest.Exception{{Class: cudatest.Unreleased}}
			}
			m.check(t, allowed...)
		})
	}
}

// theOnly returns the one case of three that has the status; the others must be ok.
func theOnly(t *testing.T, run *results.Run, status share.Status) results.CaseResult {
	t.Helper()
	var hit []results.CaseResult
	var seen []string
	ok := 0
	for _, c := range run.Cases {
		if c.Status == status {
			hit = append(hit, c)
		}
		if c.Status == share.StatusOK {
			ok++
		}
		seen = append(seen, fmt.Sprintf("%s in %q: %s", c.Status, c.Phase, c.Reason))
	}
	if len(run.Cases) != 3 || len(hit) != 1 || ok != 2 {
		t.Fatalf("want one case of three to be %s and the others ok:\n%s", status, strings.Join(seen, "\n"))
	}
	return hit[0]
}

package gpu_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/host"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// memfdHost is the host's memory with memfds that go by the name of dma-bufs: kernels without udmabuf, heaps and display
// devices make no others. A machine takes them with cudatest.MemfdIsDMABuf.
type memfdHost struct{ host.Backend }

func (h memfdHost) Exporters() []share.Exporter {
	rows := h.Backend.Exporters()
	dmabuf := rows[slices.IndexFunc(rows, func(x share.Exporter) bool { return x.Path.Name == "dma-buf" })]
	memfd := rows[slices.IndexFunc(rows, func(x share.Exporter) bool { return x.Path.Name == "memfd" })]
	memfd.Path, memfd.Allocators = dmabuf.Path, []string{"memfd"}
	return append(rows, memfd)
}

// TestCPU shows a dma-buf of a GPU that the CPU may not map: the phases before are measured.
func TestCPU(t *testing.T) {
	m := on(t, "h200-580")
	c := config()
	c.Pairs = []string{"0:cpu"}
	c.Offset = 1 << 20
	run, _ := sweep(t, c)
	if len(run.Cases) == 0 {
		t.Fatal("no case")
	}
	granted := 0
	for _, x := range run.Cases {
		if e := expectation(m.profile, 0, 0)(share.Path{Name: x.Case.Path}, x.Case.Allocator); e.Refused[0] < share.Import || declined(m.profile, "cuMemGetHandleForAddressRange/"+x.Case.Allocator+"/INSIDE") {
			if x.Status != share.StatusUnsupported {
				t.Errorf("%v: %s: %s", x.Case, x.Status, x.Reason)
			}
			continue
		}
		granted++
		if x.Status != share.StatusPartial || !strings.Contains(x.Reason, "mmap") {
			t.Errorf("%v: %s: %s", x.Case, x.Status, x.Reason)
		}
	}
	if granted == 0 {
		t.Error("no export is granted")
	}
	m.check(t, cudatest.Exception{Class: cudatest.Refused})
}

// TestCPUGranted measures a GPU's memory that the CPU maps and the CPU's that a GPU imports, where the driver grants both:
// every path and allocator of the pair that there is, at ranges that are whole pages and at some that are not.
func TestCPUGranted(t *testing.T) {
	needEmulated(t)
	for _, c := range []struct {
		pair       string
		allocators []string
		kernels    []string // of the consumer, besides the phases
	}{
		{"0:cpu", []string{"async", "device", "managed", "pinned", "pool", "vmm", "vmm-host", "vmm-rdma"}, []string{"kernel/read", "kernel/write", "kernel/copy", "kernel/memcpy", "kernel/chase"}},
		{"cpu:0", []string{"memfd"}, []string{"kernel/read", "kernel/write", "kernel/copy", "kernel/memcpy", "kernel/chase"}},
	} {
		for _, offset := range []int64{0, 8, 4096, 1<<20 + 8} {
			t.Run(fmt.Sprintf("%s+%d", c.pair, offset), func(t *testing.T) {
				m := on(t, "new-driver", cudatest.MemfdIsDMABuf())
				cfg := config()
				cfg.Pairs, cfg.Paths, cfg.Allocators, cfg.Offset = []string{c.pair}, []string{"dma-buf"}, c.allocators, offset
				cfg.Transports = []string{"all"}
				run, out := sweep(t, cfg)
				if len(run.Cases) != 2*len(c.allocators) || out.End.ExitStatus != 0 {
					t.Errorf("%d cases, want %d; outcome %+v", len(run.Cases), 2*len(c.allocators), out)
				}
				for _, x := range run.Cases {
					if x.Status != share.StatusOK {
						t.Errorf("%v: %s: %s", x.Case, x.Status, x.Reason)
						continue
					}
					for _, name := range append([]string{"allocate", "export", "transfer", "map", "first_touch", "unmap", "release", share.Setup}, c.kernels...) {
						if !slices.ContainsFunc(x.Metrics, func(m results.Metric) bool { return m.Name == name && len(m.Samples) > 0 }) {
							t.Errorf("%v: no samples of %s", x.Case, name)
						}
					}
					sync := func(m results.Metric) bool { return strings.HasSuffix(m.Name, "/ioctl(DMA_BUF_IOCTL_SYNC)") }
					if c.pair == "0:cpu" && slices.ContainsFunc(x.Metrics, sync) {
						t.Errorf("%v: a refused call became a sample", x.Case)
					}
				}
				m.check(t)
			})
		}
	}
}

// TestCPUCorrupt shows that a pair of a GPU and the CPU is verified in both directions.
func TestCPUCorrupt(t *testing.T) {
	needEmulated(t)
	for _, c := range []struct{ pair, allocator, fault, reason string }{
		{"0:cpu", "device", "producer:kernel:fill@3=corrupt", "consumer: 8 of "},
		{"0:cpu", "device", "producer:kernel:verify@3=corrupt", "producer, after the consumer wrote back: 8 of "},
		{"cpu:0", "memfd", "consumer:kernel:verify@3=corrupt", "consumer: 8 of "},
		{"cpu:0", "memfd", "consumer:kernel:fill@3=corrupt", "producer, after the consumer wrote back: 8 of "},
	} {
		t.Run(c.pair+c.fault, func(t *testing.T) {
			on(t, "new-driver", cudatest.MemfdIsDMABuf(), cudatest.Faults(c.fault))
			cfg := config()
			cfg.Pairs, cfg.Paths, cfg.Allocators = []string{c.pair}, []string{"dma-buf"}, []string{c.allocator}
			run, _ := sweep(t, cfg)
			if len(run.Cases) != 1 || run.Cases[0].Status != share.StatusCorrupt || !strings.Contains(run.Cases[0].Reason, c.reason) {
				t.Errorf("%+v", run.Cases)
			}
		})
	}
}

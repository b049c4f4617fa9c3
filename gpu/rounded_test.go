package gpu_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gpushare-bench/bench"
	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/share"
)

// TestRounded goes through offsets and sizes that are no multiples of a host page, of 64 KiB or of the granularity: every
// path shares them, and says how much more it shares and by which rule, or says nothing where it shares just that.
func TestRounded(t *testing.T) {
	needEmulated(t)
	if os.Getpagesize() != 4096 {
		t.Skip("the texts are for pages of 4 KiB")
	}
	const (
		pages = ": a dma-buf consists of whole host pages of 4 KiB"
		whole = ": a handle opens a whole allocation, and the granularity of those is 2 MiB"
	)
	allocators := map[string]string{"dma-buf": "device", "dma-buf-pcie": "vmm", "cumemmap": "vmm", "opaque-fd": "vmm-unmapped", "fabric": "vmm-host", "cuda-ipc": "device", "mempool": "pool", "staged": "device"}
	for _, c := range []struct {
		offset, size int64
		dmabuf       string // what is said; "": nothing
		vmm          string
	}{
		{0, 100 << 10, "", "2 MiB are shared and mapped for 100 KiB"},
		{0, 100_000, "100 KiB are shared and mapped for 100000 B", "2 MiB are shared and mapped for 100000 B"},
		{0, 3 << 20, "", "4 MiB are shared and mapped for 3 MiB"},
		{0, 4 << 20, "", ""},
		{2 << 20, 4 << 20, "", ""},
		{8, 100 << 10, "104 KiB are shared and mapped for 100 KiB at offset 8 B", "2 MiB are shared and mapped for 100 KiB at offset 8 B"},
		{8, 3 << 20, "3076 KiB are shared and mapped for 3 MiB at offset 8 B", "4 MiB are shared and mapped for 3 MiB at offset 8 B"},
		{4096, 100 << 10, "", "2 MiB are shared and mapped for 100 KiB at offset 4 KiB"},
		{4096, 3 << 20, "", "4 MiB are shared and mapped for 3 MiB at offset 4 KiB"},
		{64 << 10, 100 << 10, "", "2 MiB are shared and mapped for 100 KiB at offset 64 KiB"},
		{64 << 10, 3 << 20, "", "4 MiB are shared and mapped for 3 MiB at offset 64 KiB"},
		{1 << 20, 100 << 10, "", "2 MiB are shared and mapped for 100 KiB at offset 1 MiB"},
		{1 << 20, 3 << 20, "", "4 MiB are shared and mapped for 3 MiB at offset 1 MiB"},
		{1 << 20, 2 << 20, "", "4 MiB are shared and mapped for 2 MiB at offset 1 MiB"},
	} {
		if testing.Short() && (c.offset == 0 || c.size > 100<<10) {
			continue
		}
		t.Run(fmt.Sprintf("%d+%d", c.offset, c.size), func(t *testing.T) {
			m := on(t, "new-driver")
			cfg := config()
			cfg.Offset, cfg.Sizes, cfg.Kernels = c.offset, []int64{c.size}, nil
			for path, allocator := range allocators {
				cfg.Paths, cfg.Allocators = append(cfg.Paths, path), append(cfg.Allocators, allocator)
			}
			run, _ := sweep(t, cfg)
			seen := map[string]bool{}
			for _, x := range run.Cases {
				if allocators[x.Case.Path] != x.Case.Allocator {
					continue
				}
				seen[x.Case.Path] = true
				if x.Status != share.StatusOK {
					t.Errorf("%v: %s: %s", x.Case, x.Status, x.Reason)
				}
				want := ""
				switch x.Case.Path {
				case "dma-buf", "dma-buf-pcie":
					if want = c.dmabuf; want != "" {
						want += pages
					}
				case "cumemmap", "opaque-fd", "fabric":
					if want = c.vmm; want != "" {
						want += whole
					}
				}
				got := ""
				for _, w := range x.Warnings {
					if w.Code == bench.WarnRounded {
						got += w.Text
					}
				}
				if got != want {
					t.Errorf("%v: said %q, want %q", x.Case, got, want)
				}
			}
			if len(seen) != len(allocators) {
				t.Errorf("only %v measured", seen)
			}
			m.check(t, cudatest.Exception{Class: cudatest.Refused})
		})
	}
}

// TestOffsetRefused: where the driver takes no range inside of an allocation the case says which rule that breaks.
func TestOffsetRefused(t *testing.T) {
	needEmulated(t)
	on(t, "h200-580")
	cfg := config()
	cfg.Offset, cfg.Sizes, cfg.Paths, cfg.Allocators = 64<<10, []int64{100 << 10}, []string{"dma-buf"}, []string{"pool", "async", "device"}
	run, _ := sweep(t, cfg)
	for _, x := range run.Cases {
		switch x.Case.Allocator {
		case "device":
			if x.Status != share.StatusPartial {
				t.Errorf("%v: %s: %s", x.Case, x.Status, x.Reason)
			}
		default:
			if x.Status != share.StatusUnsupported || !strings.Contains(x.Reason, "exported from the start of an allocation only") {
				t.Errorf("%v: %s: %s", x.Case, x.Status, x.Reason)
			}
		}
	}
	if len(run.Cases) != 3 {
		t.Errorf("%d cases", len(run.Cases))
	}
}

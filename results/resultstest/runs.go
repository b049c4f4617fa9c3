package resultstest

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/stats"
)

// Noise is the state of a sequence of numbers that is the same every time. Its first value is the seed.
type Noise uint64

// next returns the next number, in [0, 1).
func (n *Noise) next() float64 {
	*n = *n*6364136223846793005 + 1442695040888963407
	return float64(*n>>40) / (1 << 24)
}

// Samples scatters values about a base, with a tail as times have.
func (n *Noise) Samples(base float64, count int) []float64 {
	out := make([]float64, count)
	for i := range out {
		u := n.next()
		out[i] = math.Round(base * (0.96 + 0.06*n.next() + 0.08*u*u*u*u))
	}
	return out
}

// model is how long a phase takes: a fixed part and a part for each byte, in nanoseconds.
type model struct{ fixed, perByte float64 }

func (m model) at(size int64) float64 { return m.fixed + m.perByte*float64(size) }

// synthetic describes a made-up way of sharing.
type synthetic struct {
	path, allocator string
	phases          map[share.Phase]model
	kernels         map[share.Kernel]float64 // bytes per nanosecond at large sizes
	status          share.Status             // "": ok
	reason          string
}

func (s synthetic) result(c share.Case, order, count int, seed uint64) results.CaseResult {
	n := Noise(seed*977 + uint64(order))
	res := results.CaseResult{Case: c, Order: order, Allocated: c.Size, Status: s.status, Reason: s.reason,
		Started: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC), DurationNs: 1e8}
	if s.status == "" {
		res.Status = share.StatusOK
	}
	if res.Status == share.StatusUnsupported {
		return res
	}
	setup := make([]float64, count)
	first, whole := 0.0, true
	for _, p := range share.Phases() {
		m, ok := s.phases[p]
		if !ok {
			whole = whole && !p.InSetup()
			continue
		}
		metric := results.Metric{Name: p.String(), Unit: results.Nanoseconds, Samples: n.Samples(m.at(c.Size), count),
			First: new(float64), StopReason: stats.StopPrecision}
		*metric.First = math.Round(m.at(c.Size) * (3 + 4*n.next()))
		res.Metrics = append(res.Metrics, metric)
		if p.InSetup() {
			for i, v := range metric.Samples {
				setup[i] += v
			}
			first += *metric.First
		}
	}
	if res.Status == share.StatusOK || whole {
		res.Metrics = append(res.Metrics, results.Metric{Name: share.Setup, Unit: results.Nanoseconds, Samples: setup, First: &first, StopReason: stats.StopPrecision})
	}
	for _, k := range share.Kernels() {
		if rate, ok := s.kernels[k]; ok {
			bandwidth := 1e9 / (1500/float64(c.Size) + 1/rate)
			unit := results.BytesPerSecond
			if k == share.KernelChase {
				bandwidth, unit = rate, results.Nanoseconds
			}
			res.Metrics = append(res.Metrics, results.Metric{Name: "kernel/" + string(k), Unit: unit, Samples: n.Samples(bandwidth, count), StopReason: stats.StopPrecision})
		}
	}
	return res
}

func syntheticHeader() results.Header {
	return results.Header{
		Schema: 1, Tool: "gpushare-bench", Version: "v0.0.0-test", Run: "synthetic", Host: "made-up", Started: time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC),
		Args: []string{"sweep", "--backend", "host", "--out", "it's here"}, Seed: 42, Repeats: 1, Backend: "host",
		Devices:     []share.DeviceInfo{{ID: "cpu", Backend: "host", Name: "Made-up CPU", MemoryBytes: 1 << 34, CacheBytes: 32 << 20}},
		Environment: json.RawMessage(`{"kernel":{"release":"6.12.1"},"cpu":{"model":"Made-up CPU","cores":2},"memory":{"total_bytes":17179869184}}`),
		Settings: results.Settings{Precision: 0.02, MinSamples: 30, MaxSamples: 1000, MaxTimeNs: 5e9, Verify: true, Kernels: []string{"read", "write", "copy"},
			Threads: 2},
		Overhead: results.Overhead{Samples: 1000, Min: 28, Median: 30, P99: 41},
	}
}

func hostPhases() map[share.Phase]model {
	return map[share.Phase]model{share.Allocate: {9000, 0.22}, share.Export: {140, 0}, share.Transfer: {5200, 0}, share.Import: {900, 0},
		share.Map: {3100, 1e-5}, share.FirstTouch: {2100, 0.013}, share.Unmap: {1800, 0.002}, share.Release: {700, 0.008}}
}

// HostRun is a run of a machine without a GPU: two ways that work and two that the machine lacks, at each size in bytes.
func HostRun(sizes ...int64) *results.Run {
	rates := map[share.Kernel]float64{share.KernelRead: 18, share.KernelWrite: 11, share.KernelCopy: 9, share.KernelChase: 92}
	huge := hostPhases()
	huge[share.FirstTouch], huge[share.Allocate] = model{2400, 0.0008}, model{14000, 0.12}
	return syntheticRun(syntheticHeader(), sizes, []synthetic{
		{path: "memfd", allocator: "memfd", phases: hostPhases(), kernels: rates},
		{path: "memfd", allocator: "memfd-huge", phases: huge, kernels: rates},
		{path: "dma-buf", allocator: "udmabuf", status: share.StatusUnsupported, reason: "open /dev/udmabuf: no such file or directory; load the module udmabuf"},
		{path: "dma-buf", allocator: "dma-heap", status: share.StatusUnsupported, reason: "open /dev/dma_heap/system: no such file or directory; the kernel has CONFIG_DMABUF_HEAPS off"},
	})
}

func syntheticRun(h results.Header, sizes []int64, ways []synthetic) *results.Run {
	run := &results.Run{Header: h}
	for _, w := range ways {
		for _, size := range sizes {
			c := share.Case{Backend: "host", Path: w.path, Allocator: w.allocator, Producer: "cpu", Consumer: "cpu", Transport: share.TransportSCMRights,
				Receiver: share.ReceiverPolling, Cache: share.CacheCold, Size: size}
			res := w.result(c, len(run.Cases), 60, 1)
			res.Link = "cpu"
			run.Cases = append(run.Cases, res)
		}
	}
	return finishRun(run)
}

func finishRun(run *results.Run) *results.Run {
	run.Header.Planned = len(run.Cases)
	run.End = &results.End{Outcome: "complete", Finished: run.Header.Started.Add(2 * time.Minute), Measured: len(run.Cases)}
	return run
}

func gpuID(i int) string { return fmt.Sprintf("GPU-%08d-0000-0000-0000-00000000000%d", i, i) }

// gpuWays are ten ways to share between GPUs, some of which end early.
func gpuWays() []synthetic {
	vmm := map[share.Phase]model{share.Allocate: {14000, 1e-7}, share.Export: {530000, 0.0003}, share.Transfer: {8000, 0}, share.Import: {33000, 2e-5},
		share.Map: {41000, 9e-5}, share.FirstTouch: {21000, 2e-6}, share.Unmap: {35000, 4e-5}, share.Release: {16000, 1e-6}}
	ipc := map[share.Phase]model{share.Allocate: {35000, 7e-5}, share.Export: {2100, 1e-6}, share.Transfer: {6000, 0}, share.Import: {41000, 5e-5},
		share.FirstTouch: {20000, 2e-6}, share.Unmap: {23000, 2e-5}, share.Release: {34000, 3e-4}}
	ext := map[share.Phase]model{share.Allocate: {14000, 1e-7}, share.Export: {541000, 0.0003}, share.Transfer: {8100, 0}, share.Import: {27000, 2e-5},
		share.Map: {52000, 1e-4}, share.FirstTouch: {21000, 2e-6}, share.Unmap: {46000, 4e-5}, share.Release: {16000, 1e-6}}
	half := map[share.Phase]model{share.Allocate: {35000, 7e-5}, share.Export: {12000, 7e-6}, share.Transfer: {8000, 0}, share.Release: {45000, 3e-4}}
	pool := map[share.Phase]model{share.Allocate: {52000, 6e-5}, share.Export: {61000, 1e-6}, share.Transfer: {9000, 0}, share.Import: {150000, 4e-5},
		share.Map: {7000, 1e-6}, share.FirstTouch: {21000, 2e-6}, share.Unmap: {9000, 2e-5}, share.Release: {81000, 3e-4}}
	staged := map[share.Phase]model{share.Allocate: {35000, 7e-5}, share.Export: {9000, 0.018}, share.Transfer: {6000, 0}, share.Map: {45000, 0.018},
		share.FirstTouch: {20000, 2e-6}, share.Unmap: {34000, 3e-4}, share.Release: {34000, 3e-4}}
	rates := map[share.Kernel]float64{share.KernelRead: 4550, share.KernelWrite: 4620, share.KernelCopy: 2130, share.KernelMemcpy: 2120, share.KernelChase: 610}
	slow := map[share.Kernel]float64{share.KernelRead: 51, share.KernelWrite: 52, share.KernelCopy: 49, share.KernelMemcpy: 55, share.KernelChase: 1200}
	const declined = "cuImportExternalMemory(DMABUF_FD): CUDA_ERROR_NOT_SUPPORTED (801); import of a dma-buf needs Jetson Thor or a newer driver"
	return []synthetic{
		{path: "dma-buf", allocator: "device", phases: half, status: share.StatusPartial, reason: declined},
		{path: "dma-buf", allocator: "pinned", status: share.StatusUnsupported, reason: "cuMemGetHandleForAddressRange: CUDA_ERROR_INVALID_VALUE (1); the memory is not the device's own"},
		{path: "cumemmap", allocator: "vmm", phases: vmm, kernels: rates},
		{path: "cumemmap", allocator: "vmm-rdma", phases: vmm, kernels: rates},
		{path: "cumemmap", allocator: "vmm-host", phases: vmm, kernels: slow},
		{path: "opaque-fd", allocator: "vmm", phases: ext, kernels: rates},
		{path: "cuda-ipc", allocator: "device", phases: ipc, kernels: rates},
		{path: "mempool", allocator: "pool", phases: pool, kernels: rates},
		{path: "fabric", allocator: "vmm", status: share.StatusUnsupported, reason: "cuMemCreate: CUDA_ERROR_NOT_PERMITTED (800); no IMEX channel, see /dev/nvidia-caps-imex-channels"},
		{path: "staged", allocator: "device", phases: staged, kernels: rates},
	}
}

// GPURun is a run of a machine of n GPUs, up to nine, with every ordered pair, at each size in bytes. Some ways end early
// or are unsupported. emulated is the name of the emulated machine, "" for a real one.
func GPURun(n int, emulated string, sizes ...int64) *results.Run {
	h := syntheticHeader()
	h.Backend, h.Emulated = "cuda", emulated
	h.Args = []string{"sweep", "--backend", "cuda", "--pair", "all"}
	for i := range n {
		h.Devices = append(h.Devices, share.DeviceInfo{ID: gpuID(i), Backend: "cuda", Index: i, Name: "NVIDIA H200", MemoryBytes: 143771 << 20,
			PeakBytes: 4.815e12, CacheBytes: 62914560})
	}
	run := &results.Run{Header: h}
	for p := range n {
		for c := range n {
			link, share0 := "same", 1.0
			if p != c {
				link, share0 = "NV18", 0.08
			}
			run.Header.Links = append(run.Header.Links, share.Link{Producer: gpuID(p), Consumer: gpuID(c), Class: link})
			for _, w := range gpuWays() {
				for _, size := range sizes {
					run.Cases = append(run.Cases, gpuCase(w, len(run.Cases), p, c, size, link, share0))
				}
			}
		}
	}
	return finishRun(run)
}

func gpuCase(w synthetic, order, p, c int, size int64, link string, slower float64) results.CaseResult {
	kernels := make(map[share.Kernel]float64)
	for k, rate := range w.kernels {
		kernels[k] = rate
		if w.path != "staged" && w.allocator != "vmm-host" && k != share.KernelChase {
			kernels[k] = rate * slower * (1 - 0.02*float64(c))
		}
	}
	w.kernels = kernels
	if p == 2 && c == 5 && w.status == "" {
		w.status, w.reason, w.phases = share.StatusUnsupported, "cuDeviceCanAccessPeer(2, 5): 0; the GPUs have no common link", nil
	}
	key := share.Case{Backend: "cuda", Path: w.path, Allocator: w.allocator, Producer: gpuID(p), Consumer: gpuID(c), Transport: share.TransportSCMRights,
		Receiver: share.ReceiverPolling, Cache: share.CacheCold, Size: size}
	res := w.result(key, order, 40, 2)
	res.Link = link
	return res
}

// Powers lists n sizes from low on, each factor times the one before.
func Powers(low, factor int64, n int) []int64 {
	var sizes []int64
	for range n {
		sizes = append(sizes, low)
		low *= factor
	}
	return sizes
}

// OddRun is a run that did not end, with twelve ways of the statuses and names that a journal may hold.
func OddRun() *results.Run {
	phases := func(f float64) map[share.Phase]model {
		m := hostPhases()
		m[share.Transfer], m[share.Map] = model{5200 * f, 1e-4 * f}, model{3100 * f, 2e-4 * f}
		return m
	}
	ways := []synthetic{
		{path: "memfd", allocator: "memfd", phases: phases(1)},
		{path: "<b>bold</b>&amp;", allocator: "\"quoted\" 'text' \x1b[31mred\x07", phases: phases(1.5)},
		{path: "dma-buf", allocator: "a name that is far too long for any legend of any picture and goes on and on and on and on", phases: phases(2)},
		{path: "=cmd|' /C calc'!A0", allocator: "=1+1", phases: phases(2.5)},
		{path: "メモリ", allocator: "共有\u202egnp", phases: phases(3)},
		{path: "dma-buf", allocator: "udmabuf", phases: phases(3.5), status: share.StatusPartial, reason: "mmap: permission denied\nsecond line\x00"},
		{path: "dma-buf", allocator: "dma-heap", phases: phases(4), status: share.StatusTimeout, reason: "ioctl(DMA_BUF_IOCTL_SYNC) did not return within 5 s"},
		{path: "dma-buf", allocator: "drm-dumb", phases: phases(4.5), status: share.StatusCorrupt, reason: "verification: 8 bytes differ, first at offset 16"},
		{path: "dma-buf", allocator: "failed", status: share.StatusFailed, reason: "</script><script>alert(1)</script>"},
		{path: "dma-buf", allocator: "stopped", phases: phases(5), status: share.StatusInterrupted},
		{path: "", allocator: "", phases: phases(6)},
		{path: "huge", allocator: "huge", phases: map[share.Phase]model{share.Export: {9e17, 0}, share.Transfer: {1, 0}, share.Import: {0, 0}, share.Map: {1, 0}}},
	}
	h := syntheticHeader()
	h.Host, h.Run = "<img src=x onerror=alert(1)>", "../../etc/passwd\x1b]0;title\x07"
	h.Args = []string{"sweep", "--size", "$(reboot)", "a'b\nc"}
	h.Devices[0].Name = "</title><script>alert(2)</script>"
	h.Details = map[string]string{"<i>key</i>": "javascript:alert(3)\u2028"}
	h.Environment = json.RawMessage(`{"k":["</script>",1e300,null,{"x":"\u0000"}]}`)
	run := syntheticRun(h, Powers(1<<19, 4, 4), ways)
	for i := range run.Cases {
		run.Cases[i].Warnings = []results.Warning{{Code: "drift", Metric: "map", Text: "the second half is <b>+12 %</b> against the first"},
			{Code: "\x1b[2Jcode", Text: "=HYPERLINK(\"http://example.com\")"}}
	}
	run.End = nil
	run.Header.Planned += 7
	run.Dropped = []string{"run.jsonl:9: \x1b[31mchecksum"}
	return run
}

// Repeat gives the run each of its cases in n repeats. The processes differ by up to 2 %, as samples do not.
func Repeat(run *results.Run, n int) *results.Run {
	once := run.Cases
	run.Cases, run.Header.Repeats = nil, n
	noise := Noise(n)
	for r := range n {
		for _, c := range once {
			c.Repeat, c.Order = r, len(run.Cases)
			c.Metrics = append([]results.Metric(nil), c.Metrics...)
			for k := range c.Metrics {
				m := &c.Metrics[k]
				f := 0.99 + 0.02*noise.next()
				samples := make([]float64, len(m.Samples))
				for i, v := range m.Samples {
					samples[i] = v * f
				}
				m.Samples = samples
			}
			run.Cases = append(run.Cases, c)
		}
	}
	return run
}

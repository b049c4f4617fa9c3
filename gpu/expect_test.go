package gpu_test

import (
	"slices"
	"strings"

	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/share"
	"gpushare-bench/share/sharetest"
)

// symbols are the driver functions without which an allocator or a path can't work, and the phase that says so.
var symbols = []struct {
	name  string // of an allocator or a path
	needs []string
	phase share.Phase
}{
	{"async", []string{"cuMemAllocAsync"}, share.Allocate},
	{"pool", []string{"cuMemPoolCreate"}, share.Allocate},
	{"dma-buf", []string{"cuMemGetHandleForAddressRange"}, share.Export},
	{"dma-buf-pcie", []string{"cuMemGetHandleForAddressRange"}, share.Export},
}

// declined reports whether a machine answers a call with an error.
func declined(p cudatest.Profile, what string) bool {
	r, ok := p.Answer(what, "")
	return ok && r != "CUDA_SUCCESS"
}

// expectation is what a machine's description says about the paths between two of its devices.
func expectation(p cudatest.Profile, producer, consumer int) func(share.Path, string) sharetest.Expectation {
	refused := func(phase share.Phase, answers ...string) sharetest.Expectation {
		return sharetest.Expectation{Refused: []share.Phase{phase}, Answers: answers}
	}
	// asked is what the machine answers to a call, "" for success.
	asked := func(what string) string {
		if r, ok := p.Answer(what, ""); ok && r != "CUDA_SUCCESS" {
			return r
		}
		return ""
	}
	return func(path share.Path, allocator string) sharetest.Expectation {
		for _, s := range symbols {
			if i := slices.IndexFunc(s.needs, func(f string) bool { return slices.Contains(p.Missing, f) }); i >= 0 && s.phase == share.Allocate && s.name == allocator {
				return refused(share.Allocate, s.needs[i])
			}
		}
		vmm := strings.HasPrefix(allocator, "vmm")
		if allocator == "vmm-host" && asked("cuMemCreate/HOST_NUMA") != "" {
			return refused(share.Allocate, asked("cuMemCreate/HOST_NUMA"))
		}
		if path.Name == "fabric" && asked("cuMemCreate/FABRIC") != "" {
			return refused(share.Allocate, asked("cuMemCreate/FABRIC"))
		}
		host := allocator == "vmm-host" || allocator == "pinned"
		peers := producer == consumer || host || p.Peers.Can(consumer, producer)
		switch path.Name {
		case "staged":
			return sharetest.Expectation{}
		case "dma-buf", "dma-buf-pcie":
			if slices.Contains(p.Missing, "cuMemGetHandleForAddressRange") {
				return refused(share.Export, "cuMemGetHandleForAddressRange")
			}
			what := "cuMemGetHandleForAddressRange/" + allocator
			if path.Name == "dma-buf-pcie" {
				what += "/PCIE"
			}
			if a := asked(what); a != "" {
				return refused(share.Export, a, "CUDA_ERROR_NOT_SUPPORTED") // either, for memory that can't be exported at all
			}
			if a := asked("cuImportExternalMemory/DMABUF_FD"); a != "" {
				return refused(share.Import, a)
			}
		case "opaque-fd":
			if a := asked("cuImportExternalMemory/OPAQUE_FD"); a != "" {
				return refused(share.Import, a)
			}
		case "cuda-ipc":
			if a := asked("cuIpcGetMemHandle"); a != "" {
				return refused(share.Export, a)
			}
			if allocator != "device" {
				return refused(share.Export, "CUDA_ERROR_INVALID_VALUE")
			}
			if a := asked("cuIpcOpenMemHandle"); a != "" {
				return refused(share.Map, a)
			}
		}
		if !peers {
			e := refused(share.Map, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "CUDA_ERROR_INVALID_DEVICE")
			if !vmm && path.Name == "mempool" {
				e.Answers = []string{"CUDA_ERROR_INVALID_DEVICE"}
			}
			return e
		}
		return sharetest.Expectation{}
	}
}

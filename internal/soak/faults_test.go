package soak

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// takes are the driver calls of a cycle that take or use something, by the end that makes them. A cuStreamSynchronize that
// fails without spoiling the context is not among the faults: nobody could know then when memory is free to go.
var takes = map[string][]string{
	"producer": {"cuMemAlloc", "cuMemAllocHost", "cuMemAllocAsync", "cuMemAllocManaged", "cuMemAllocFromPoolAsync", "cuMemCreate",
		"cuMemAddressReserve", "cuMemMap", "cuMemSetAccess", "cuMemGetHandleForAddressRange", "cuMemExportToShareableHandle",
		"cuIpcGetMemHandle", "cuMemPoolCreate", "cuMemPoolExportToShareableHandle", "cuMemPoolExportPointer", "cuMemHostRegister",
		"cuMemcpyDtoH", "cuLaunchKernel", "cuStreamSynchronize", "kernel:fill", "kernel:verify"},
	"consumer": {"cuMemAlloc", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess", "cuMemImportFromShareableHandle",
		"cuImportExternalMemory", "cuExternalMemoryGetMappedBuffer", "cuIpcOpenMemHandle", "cuMemPoolImportFromShareableHandle",
		"cuMemPoolImportPointer", "cuMemPoolSetAccess", "cuMemHostRegister", "cuMemcpyHtoD", "cuEventRecord", "cuLaunchKernel",
		"cuStreamSynchronize", "kernel:fill", "kernel:verify", "kernel:read", "kernel:copy", "cuMemcpyDtoDAsync"},
}

// gives are those that give something back. One that fails leaves what it did not take.
var gives = map[string][]string{
	"producer": {"cuMemFree", "cuMemFreeHost", "cuMemFreeAsync", "cuMemRelease", "cuMemUnmap", "cuMemAddressFree", "cuMemPoolDestroy", "cuMemHostUnregister"},
	"consumer": {"cuMemFree", "cuMemFreeAsync", "cuMemRelease", "cuMemUnmap", "cuMemAddressFree", "cuDestroyExternalMemory", "cuIpcCloseMemHandle", "cuMemPoolDestroy", "cuMemHostUnregister"},
}

// errors are answers of calls.
var errors = []string{"CUDA_ERROR_OUT_OF_MEMORY", "CUDA_ERROR_NOT_SUPPORTED", "CUDA_ERROR_INVALID_VALUE", "CUDA_ERROR_UNKNOWN",
	"CUDA_ERROR_OPERATING_SYSTEM", "CUDA_ERROR_NOT_PERMITTED", "CUDA_ERROR_MAP_FAILED"}

// violent are the faults by which a process, its context or its bytes come to grief. A hang costs a timeout, so it is rare.
var violent = []string{"crash", "kill", "exit", "sticky:700", "sticky:719", "slow:2ms", "corrupt", "corrupt:zeros", "corrupt:stale", "corrupt:random"}

// faults is one round's faults.
type faults struct {
	rules []string
	// spoils says that a context may be spoilt, or a call that gives something back fail: then an end can't give up what it
	// has, and the other end releases what the first still has mapped.
	spoils bool
}

func (f faults) String() string { return strings.Join(f.rules, ";") }

// someFaults draws two to five rules.
func someFaults(rnd *rand.Rand) faults {
	var f faults
	one := func(list []string) string { return list[rnd.IntN(len(list))] }
	for range 2 + rnd.IntN(4) {
		role := one([]string{"producer", "consumer"})
		call, action := one(takes[role]), one(errors)
		giving := rnd.IntN(4) == 0
		if giving {
			call = one(gives[role])
		}
		switch n := rnd.IntN(40); {
		case n == 0:
			action = "hang"
		case n < 20 || call == "cuStreamSynchronize":
			action = one(violent)
		case strings.HasPrefix(call, "kernel:"):
			action = one([]string{"trap", "skip", "corrupt"})
		}
		f.spoils = f.spoils || giving || action == "trap" || strings.HasPrefix(action, "sticky")
		// Every so many calls, or once: in the trial, or later.
		when := fmt.Sprintf("%%%d", 3+rnd.IntN(40))
		if rnd.IntN(3) == 0 {
			when = fmt.Sprint(1 + rnd.IntN(30))
		}
		f.rules = append(f.rules, fmt.Sprintf("%s:%s@%s=%s", role, call, when, action))
	}
	return f
}

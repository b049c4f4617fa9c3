package gpu

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"gpushare-bench/cuda"
	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/share"
	"gpushare-bench/share/sharetest"
)

// TestExplain goes through the table of circumstances line by line: what was called, what the driver answered, on which
// machine and for which memory, and what is said about it. The handle is a fabric handle, and memory without an allocator
// comes from another GPU; TestSituation has what is said otherwise.
func TestExplain(t *testing.T) {
	if os.Getenv(sharetest.MachineVariable) != "" {
		t.Skip("the circumstances are those of emulated machines")
	}
	said := map[string]bool{}
	for _, c := range []struct {
		machine, call string
		answer        cuda.Result
		allocator     string
		want          string // "": nothing
	}{
		{"h200-580", "cuMemCreate", cuda.ErrorNotPermitted, "vmm", "the attribute for fabric handles is 1, but no IMEX channel is open"},
		{"thor", "cuMemCreate", cuda.ErrorNotPermitted, "vmm", "no IMEX channel is open to this process"},
		{"h200-580", "cuMemImportFromShareableHandle", cuda.ErrorNotPermitted, "", "no IMEX channel is open to this process"},
		{"h200-580", "cuMemCreate", cuda.ErrorInvalidValue, "vmm-host", "does not make shareable host memory"},
		{"h200-580", "cuMemCreate", cuda.ErrorInvalidValue, "vmm", ""},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, "pinned", "exports only device memory as dma-buf"},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, "managed", "exports only device memory as dma-buf"},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, "async", "from the start of an allocation only"},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, "pool", "from the start of an allocation only"},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, "device", "must start and end on a host page"},
		{"h200-580", "cuMemGetHandleForAddressRange", cuda.ErrorNotSupported, "device", "DMA_BUF_SUPPORTED is 1, but"},
		{"old-driver", "cuMemGetHandleForAddressRange", cuda.ErrorNotSupported, "device", "needs the open kernel module"},
		{"h200-580", "cuImportExternalMemory", cuda.ErrorNotSupported, "", "Jetson Thor and later only"},
		{"mig", "cuIpcGetMemHandle", cuda.ErrorNotSupported, "device", "some MIG instances"},
		{"h200-580", "cuIpcGetMemHandle", cuda.ErrorInvalidValue, "vmm", "share VMM allocations with cumemmap"},
		{"h200-580", "cuIpcGetMemHandle", cuda.ErrorInvalidValue, "pinned", "exist for cuMemAlloc memory only"},
		{"h200-580", "cuIpcOpenMemHandle", cuda.ErrorInvalidValue, "", "one PID and one IPC namespace"},
		{"h200-580", "cuIpcOpenMemHandle", cuda.ErrorInvalidHandle, "", "one PID and one IPC namespace"},
		{"h200-580", "cuIpcOpenMemHandle", cuda.ErrorMapFailed, "", "one PID and one IPC namespace"},
		{"h200-580", "cuIpcOpenMemHandle", cuda.ErrorInvalidContext, "", "in the process that made it"},
		{"h200-580", "cuMemExportToShareableHandle", cuda.ErrorInvalidValue, "vmm", "made without this handle type"},
		{"eight-h200", "cuMemSetAccess", cuda.ErrorInvalidDevice, "", "can't address each other's memory"},
		{"eight-h200", "cuMemPoolSetAccess", cuda.ErrorInvalidDevice, "", "can't address each other's memory"},
		{"eight-h200", "cuMemImportFromShareableHandle", cuda.ErrorInvalidDevice, "", "compare CUDA_VISIBLE_DEVICES of both"},
		{"eight-nopeer", "cuIpcOpenMemHandle", cuda.ErrorPeerAccessUnsupported, "", "nvidia-smi topo -p2p r"},
		{"h200-580", "cuMemAddressReserve", cuda.ErrorOutOfMemory, "", "the address space is used up, not the memory"},
		{"h200-580", "cuMemCreate", cuda.ErrorOutOfMemory, "vmm", ""},
		{"exclusive", "cuDevicePrimaryCtxRetain", cuda.ErrorDeviceUnavailable, "", "compute mode EXCLUSIVE_PROCESS"},
		{"prohibited", "cuDevicePrimaryCtxRetain", cuda.ErrorDeviceUnavailable, "", "compute mode PROHIBITED"},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorDeviceUnavailable, "", ""},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorSystemNotReady, "", "the fabric manager is not running"},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorSystemDriverMismatch, "", "reboot after a driver update"},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorMPSConnectionFailed, "", "the MPS control daemon did not answer"},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorMPSRPCFailure, "", "the MPS server did not answer"},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorMPSServerNotReady, "", "the MPS server is starting or recovering"},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorMPSMaxClientsReached, "", "no room for another client"},
		{"h200-580", "cuDevicePrimaryCtxRetain", cuda.ErrorMPSMaxConnectionsReached, "", "no room for another client"},
		{"h200-580", "cuStreamCreate", cuda.ErrorMPSClientTerminated, "", "the MPS server has ended this client"},
	} {
		t.Run(fmt.Sprintf("%s/%s/%s/%s", c.machine, c.call, c.answer.Name(), c.allocator), func(t *testing.T) {
			if c.machine == "prohibited" {
				cudatest.Machine(t, "exclusive", cudatest.Attribute("COMPUTE_MODE", int(cuda.ComputeModeProhibited))).Setenv(t)
			} else {
				cudatest.Machine(t, c.machine).Setenv(t)
			}
			lib, err := openLibrary()
			if err != nil {
				t.Fatal(err)
			}
			d := &device{lib: lib, id: "GPU-this", options: share.Options{Peer: "GPU-that"}}
			s := situation{allocator: c.allocator, handles: cuda.HandleFabric, importing: c.allocator == ""}
			e := &cuda.Error{Call: c.call, Args: "its arguments", Result: c.answer}
			got := d.hint(e, s)
			said[got] = true
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("said %q, want %q", got, c.want)
			}
			// Refused or failed, the system's own words stand beside ours.
			refused := d.refusal(fmt.Errorf("wrapped: %w", e), []cuda.Result{c.answer}, s)
			var u *share.Unsupported
			if !errors.As(refused, &u) || u.Op != c.call+"(its arguments)" || u.Answer != c.answer || u.Hint != got {
				t.Errorf("refused: %#v", refused)
			}
			failed := d.refusal(e, nil, s)
			if errors.Is(failed, share.ErrUnsupported) != (c.answer == cuda.ErrorNotSupported) || !errors.Is(failed, c.answer) {
				t.Errorf("failed: %#v", failed)
			}
			for _, err := range []error{refused, failed} {
				text := err.Error()
				if !strings.Contains(text, c.call+"(its arguments): "+c.answer.Error()) || !strings.HasSuffix(text, got) {
					t.Errorf("%q lacks the call, the answer or the sentence", text)
				}
			}
		})
	}
	for _, line := range circumstances {
		if !said[line.text] {
			t.Errorf("no test reaches the line %s, %v: %s", line.call, line.result, line.text)
		}
	}
}

// TestSituation shows that the same answer of the same call means something else elsewhere, and that nothing is said that
// is not so.
func TestSituation(t *testing.T) {
	if os.Getenv(sharetest.MachineVariable) != "" {
		t.Skip("the circumstances are those of emulated machines")
	}
	cudatest.Machine(t, "eight-h200").Setenv(t)
	lib, err := openLibrary()
	if err != nil {
		t.Fatal(err)
	}
	fd, fabric := situation{allocator: "vmm", handles: cuda.HandlePosixFD}, situation{allocator: "vmm", handles: cuda.HandleFabric}
	importing := situation{handles: cuda.HandlePosixFD, importing: true}
	for _, c := range []struct {
		call   string
		answer cuda.Result
		in     situation
		peer   string
		want   string // "": nothing
	}{
		{"cuMemCreate", cuda.ErrorNotPermitted, fabric, "GPU-this", "IMEX"},
		{"cuMemCreate", cuda.ErrorNotPermitted, fd, "GPU-this", ""},
		{"cuMemPoolCreate", cuda.ErrorNotPermitted, fd, "GPU-this", ""},
		{"cuMemSetAccess", cuda.ErrorInvalidDevice, importing, "GPU-that", "can't address each other"},
		{"cuMemSetAccess", cuda.ErrorInvalidDevice, importing, "GPU-this", ""},
		{"cuMemSetAccess", cuda.ErrorInvalidDevice, importing, "", ""},  // memory of the CPU
		{"cuMemSetAccess", cuda.ErrorInvalidDevice, fd, "GPU-that", ""}, // the producer maps its own
		{"cuMemPoolSetAccess", cuda.ErrorInvalidDevice, importing, "GPU-this", ""},
		{"cuIpcOpenMemHandle", cuda.ErrorPeerAccessUnsupported, importing, "GPU-that", "can't address each other"},
		{"cuIpcOpenMemHandle", cuda.ErrorPeerAccessUnsupported, importing, "GPU-this", ""},
		{"cuMemImportFromShareableHandle", cuda.ErrorInvalidDevice, importing, "GPU-that", "CUDA_VISIBLE_DEVICES of both"},
		{"cuMemImportFromShareableHandle", cuda.ErrorInvalidDevice, importing, "GPU-this", ""},
		{"cuMemCreate", cuda.ErrorInvalidDevice, fd, "GPU-that", ""},
	} {
		t.Run(fmt.Sprintf("%s/%s/%+v/%s", c.call, c.answer.Name(), c.in, c.peer), func(t *testing.T) {
			d := &device{lib: lib, id: "GPU-this", options: share.Options{Peer: c.peer}}
			got := d.hint(&cuda.Error{Call: c.call, Result: c.answer}, c.in)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("said %q, want %q", got, c.want)
			}
		})
	}
}

// TestKeptByOthers shows that a device which lets no second process in is a refusal, with the reason; another answer to
// the same call is none.
func TestKeptByOthers(t *testing.T) {
	if os.Getenv(sharetest.MachineVariable) != "" {
		t.Skip("the answers are those of an emulated machine")
	}
	cudatest.Machine(t, "h200-580").Setenv(t)
	lib, err := openLibrary()
	if err != nil {
		t.Fatal(err)
	}
	for r, refused := range map[cuda.Result]bool{cuda.ErrorDeviceUnavailable: true, cuda.ErrorMPSConnectionFailed: true, cuda.ErrorMPSRPCFailure: true,
		cuda.ErrorMPSServerNotReady: true, cuda.ErrorMPSMaxClientsReached: true, cuda.ErrorMPSMaxConnectionsReached: true,
		cuda.ErrorMPSClientTerminated: true, cuda.ErrorOutOfMemory: false, cuda.ErrorSystemNotReady: false} {
		err := explainContext(lib, 0, &cuda.Error{Call: "cuDevicePrimaryCtxRetain", Result: r})
		if errors.Is(err, share.ErrUnsupported) != refused || !errors.Is(err, r) {
			t.Errorf("%v: refused is %v, want %v: %v", r, !refused, refused, err)
		}
	}
}

// TestCannotUse says why CUDA can't be used at all.
func TestCannotUse(t *testing.T) {
	if os.Getenv(sharetest.MachineVariable) != "" {
		t.Skip("this machine can use it")
	}
	for machine, want := range map[string]string{
		"no-device":   "CUDA_ERROR_NO_DEVICE (100)",
		"mismatch":    "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)",
		"fabric-down": "CUDA_ERROR_SYSTEM_NOT_READY (802)",
		"":            "no NVIDIA driver library",
	} {
		t.Run(machine, func(t *testing.T) {
			if machine != "" {
				cudatest.Machine(t, machine).Setenv(t)
			} else {
				t.Setenv(LibraryVariable, "/nowhere/libcuda.so.1")
			}
			_, err := Backend{}.Describe(t.Context())
			var u *share.Unsupported
			if !errors.As(err, &u) || u.Op == "" || u.Answer == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
}

package gpu

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// situation is what explains an answer beside the call and the device.
type situation struct {
	allocator string          // of the memory; "" at an importer
	handles   cuda.HandleType // how the memory is shared
	importing bool            // memory that the other end made
}

// refusal turns an answer that means "not here" into a share.Unsupported and leaves every other error as it is, with a
// sentence where there is one. NOT_SUPPORTED always means it; each path names its own further answers. INVALID_VALUE is
// how drivers decline memory of the wrong kind.
func (d *device) refusal(err error, beyond []cuda.Result, s situation) error {
	var ce *cuda.Error
	if !errors.As(err, &ce) {
		return err
	}
	if slices.Contains(vague, ce.Result) {
		if errno := descriptorsLeft(); errno != nil {
			return fmt.Errorf("%w: %w; raise the limit on open files (ulimit -n)", err, errno)
		}
	}
	hint := d.hint(ce, s)
	if ce.Result == cuda.ErrorNotSupported || slices.Contains(beyond, ce.Result) {
		return &share.Unsupported{Op: fmt.Sprintf("%s(%s)", ce.Call, ce.Args), Answer: ce.Result, Hint: hint}
	}
	if hint != "" {
		return fmt.Errorf("%w; %s", err, hint)
	}
	return err
}

// vague are the answers behind which a lack of descriptors may stand.
var vague = []cuda.Result{cuda.ErrorOperatingSystem, cuda.ErrorUnknown}

// spareDescriptors is how many a call may take for its time, those included that were closed before an error is explained.
const spareDescriptors = 4

// descriptorsLeft opens a few descriptors, and closes them. The error is EMFILE or ENFILE where there are no more.
func descriptorsLeft() error {
	for range spareDescriptors {
		fd, err := syscall.Open("/", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		if err == nil {
			defer syscall.Close(fd)
		} else if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			return err
		}
	}
	return nil
}

func (d *device) refusedAllocation(a *allocator, r share.Request, err error) error {
	beyond := []cuda.Result{cuda.ErrorNotPermitted}
	if slices.Contains(vmmAllocators, a.name) || a.name == "pool" {
		beyond = append(beyond, cuda.ErrorInvalidValue)
	}
	return d.refusal(err, beyond, situation{allocator: a.name, handles: cuda.HandleType(r.Handles)})
}

func (d *device) refusedExport(p *path, b *buffer, err error) error {
	return d.refusal(err, p.refusals, situation{allocator: b.allocator, handles: p.handles})
}

func (d *device) refusedImport(p *path, err error) error {
	beyond := append([]cuda.Result{cuda.ErrorPeerAccessUnsupported, cuda.ErrorInvalidDevice}, p.refusals...)
	return d.refusal(err, beyond, situation{handles: p.handles, importing: true})
}

// tooOld is the refusal of a driver that lacks a function.
func tooOld(what string, err error) error {
	return &share.Unsupported{Op: what, Answer: err} // which says itself that a newer driver is needed
}

// circumstance is one line of the table from (call, answer) to a sentence that helps.
type circumstance struct {
	call   string // "" any
	result cuda.Result
	when   func(*device, situation) bool // nil: always
	text   string
}

func attributeIs(a cuda.DeviceAttribute, v int) func(*device, situation) bool {
	return func(d *device, _ situation) bool {
		got, err := d.lib.DeviceAttribute(a, d.dev)
		return err == nil && got == v
	}
}

func allocatorIn(names ...string) func(*device, situation) bool {
	return func(_ *device, s situation) bool { return slices.Contains(names, s.allocator) }
}

func fabricHandle(_ *device, s situation) bool { return s.handles&cuda.HandleFabric != 0 }

// otherGPU is about memory of a GPU that is not this one.
func otherGPU(d *device, s situation) bool {
	return s.importing && d.options.Peer != "" && d.options.Peer != d.id
}

// advice is the line of an answer that says the same from every call.
func advice(r cuda.Result) circumstance { return circumstance{result: r, text: r.Advice()} }

func both(a, b func(*device, situation) bool) func(*device, situation) bool {
	return func(d *device, s situation) bool { return a(d, s) && b(d, s) }
}

const (
	noPeer        = "these two GPUs can't address each other's memory: see nvidia-smi topo -p2p r"
	ipcNamespaces = "legacy IPC needs both processes in one PID and one IPC namespace, and the exporter alive"
)

// circumstances is searched from the top; the first line that fits speaks.
var circumstances = []circumstance{
	{"cuMemCreate", cuda.ErrorNotPermitted, both(fabricHandle, attributeIs(cuda.AttributeHandleTypeFabric, 1)),
		"the attribute for fabric handles is 1, but no IMEX channel is open to this process: see /dev/nvidia-caps-imex-channels and nvidia-imex"},
	{"", cuda.ErrorNotPermitted, fabricHandle, "no IMEX channel is open to this process: see /dev/nvidia-caps-imex-channels and nvidia-imex"},
	{"cuMemCreate", cuda.ErrorInvalidValue, allocatorIn("vmm-host"), "this driver does not make shareable host memory at that place"},
	{"cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, allocatorIn("pinned", "managed", "vmm-host"),
		"this driver exports only device memory as dma-buf; host allocations need attribute HOST_ALLOC_DMA_BUF_SUPPORTED"},
	{"cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, allocatorIn("async", "pool"),
		"memory of a pool is exported from the start of an allocation only (so answered driver 580 on an H200)"},
	{"cuMemGetHandleForAddressRange", cuda.ErrorInvalidValue, nil, "the range must start and end on a host page and lie in one allocation"},
	{"cuMemGetHandleForAddressRange", cuda.ErrorNotSupported, attributeIs(cuda.AttributeDMABuf, 1),
		"the attribute DMA_BUF_SUPPORTED is 1, but not for this kind of mapping"},
	{"cuMemGetHandleForAddressRange", cuda.ErrorNotSupported, nil, "dma-buf export needs the open kernel module and Linux 5.12 or later"},
	{"cuImportExternalMemory", cuda.ErrorNotSupported, nil,
		"NVIDIA documents import of a dma-buf for Jetson Thor and later only (CUDA 13.0)"},
	{"cuIpcGetMemHandle", cuda.ErrorNotSupported, nil, "legacy IPC is not there on integrated GPUs and on some MIG instances"},
	{"cuIpcGetMemHandle", cuda.ErrorInvalidValue, allocatorIn("vmm", "vmm-rdma", "vmm-host", "vmm-unmapped"),
		"legacy IPC handles exist for cuMemAlloc only; share VMM allocations with cumemmap"},
	{"cuIpcGetMemHandle", cuda.ErrorInvalidValue, nil, "legacy IPC handles exist for cuMemAlloc memory only"},
	{"cuIpcOpenMemHandle", cuda.ErrorInvalidContext, nil, "a legacy IPC handle can't be opened in the process that made it"},
	{"cuIpcOpenMemHandle", cuda.ErrorInvalidValue, nil, ipcNamespaces},
	{"cuIpcOpenMemHandle", cuda.ErrorInvalidHandle, nil, ipcNamespaces},
	{"cuIpcOpenMemHandle", cuda.ErrorMapFailed, nil, ipcNamespaces},
	{"cuMemExportToShareableHandle", cuda.ErrorInvalidValue, nil, "the allocation was made without this handle type"},
	{"cuMemSetAccess", cuda.ErrorInvalidDevice, otherGPU, noPeer},
	{"cuMemPoolSetAccess", cuda.ErrorInvalidDevice, otherGPU, noPeer},
	{"", cuda.ErrorInvalidDevice, otherGPU, "the exporter's GPU may not be visible to this process: compare CUDA_VISIBLE_DEVICES of both"},
	{"", cuda.ErrorPeerAccessUnsupported, otherGPU, noPeer},
	{"cuMemAddressReserve", cuda.ErrorOutOfMemory, nil, "the address space is used up, not the memory: see ulimit -v and the number of live mappings"},
	{"cuDevicePrimaryCtxRetain", cuda.ErrorDeviceUnavailable, attributeIs(cuda.AttributeComputeMode, int(cuda.ComputeModeExclusiveProcess)),
		"the GPU is in compute mode EXCLUSIVE_PROCESS and another process has it; sharing needs two: nvidia-smi -c DEFAULT"},
	{"", cuda.ErrorSystemNotReady, nil, "the fabric manager is not running: see systemctl status nvidia-fabricmanager"},
	{"", cuda.ErrorSystemDriverMismatch, nil, "library and kernel module are of different versions: reboot after a driver update"},
	{"cuDevicePrimaryCtxRetain", cuda.ErrorDeviceUnavailable, attributeIs(cuda.AttributeComputeMode, int(cuda.ComputeModeProhibited)),
		"the GPU is in compute mode PROHIBITED, which lets no process use it: nvidia-smi -c DEFAULT"},
	advice(cuda.ErrorMPSConnectionFailed), advice(cuda.ErrorMPSRPCFailure), advice(cuda.ErrorMPSServerNotReady),
	advice(cuda.ErrorMPSMaxClientsReached), advice(cuda.ErrorMPSMaxConnectionsReached), advice(cuda.ErrorMPSClientTerminated),
}

// hint is the sentence for an answer, or "".
func (d *device) hint(e *cuda.Error, s situation) string {
	for _, c := range circumstances {
		if (c.call == "" || c.call == e.Call) && c.result == e.Result && (c.when == nil || c.when(d, s)) {
			return c.text
		}
	}
	return ""
}

// keptByOthers are the answers of a device, or of the MPS server before it, that lets no further process in.
var keptByOthers = []cuda.Result{cuda.ErrorDeviceUnavailable, cuda.ErrorMPSConnectionFailed, cuda.ErrorMPSRPCFailure, cuda.ErrorMPSServerNotReady,
	cuda.ErrorMPSMaxClientsReached, cuda.ErrorMPSMaxConnectionsReached, cuda.ErrorMPSClientTerminated}

// explainContext adds the sentence for a context that can't be made. A device that lets this process not in is a refusal.
func explainContext(lib *cuda.Lib, dev cuda.Device, err error) error {
	d := &device{lib: lib, dev: dev}
	return d.refusal(err, keptByOthers, situation{})
}

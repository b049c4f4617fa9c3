package cuda

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const big = 0x7f12345678901000 // what testdata/driver.c gives for handles and addresses

// key64 is the 64 bytes that testdata/driver.c fills handles with, and text64 how it prints them.
var key64, text64 = func() (k [64]byte, s string) {
	for i := range k {
		k[i] = byte(i + 1)
		s += fmt.Sprintf("%02x", i+1)
	}
	return k, s
}()

// calls has each function once, with distinct arguments: seen is how C saw
// them, got the results. The text of each error is checked with it.
var calls = []struct {
	seen   string
	make   func(f *fixture) (got any, err error)
	want   any    // nil: no result
	errArg string // arguments in the error's text
}{
	{"cuDeviceGetCount", func(f *fixture) (any, error) { return f.lib.DeviceCount() }, 8, ""},
	{"cuDeviceGet 3", func(f *fixture) (any, error) { return f.lib.DeviceGet(3) }, Device(103), ""},
	{"cuDeviceGetName 256 2", func(f *fixture) (any, error) { return f.lib.DeviceName(2) }, "NVIDIA Test", "GPU-01020304"},
	{"cuDeviceGetUuid 2", func(f *fixture) (any, error) { u, err := f.lib.DeviceUUID(2); return u.String(), err },
		"GPU-01020304-0506-0708-090a-0b0c0d0e0f10", "GPU-01020304"},
	{"cuDeviceTotalMem 2", func(f *fixture) (any, error) { return f.lib.DeviceTotalMem(2) }, int64(big), "GPU-01020304"},
	{"cuDeviceGetAttribute 124 2", func(f *fixture) (any, error) { return f.lib.DeviceAttribute(AttributeDMABuf, 2) }, -1, "attribute 124, GPU-01020304"},
	{"cuDeviceGetPCIBusId 32 2", func(f *fixture) (any, error) { return f.lib.DevicePCI(2) }, "0000:0F:00.0", "GPU-01020304"},
	{"cuDeviceCanAccessPeer 2 3", func(f *fixture) (any, error) { return f.lib.DeviceCanAccessPeer(2, 3) }, true, "GPU-01020304, peer GPU-01020304"},
	{"cuDeviceGetP2PAttribute 1 2 3", func(f *fixture) (any, error) { return f.lib.DeviceP2PAttribute(P2PPerformanceRank, 2, 3) }, 3, "attribute 1, GPU-01020304, GPU-01020304"},
	{"cuDeviceGetDefaultMemPool 2", func(f *fixture) (any, error) { return f.lib.DeviceDefaultMemPool(2) }, MemPool(big), "GPU-01020304"},
	{"cuDevicePrimaryCtxRetain 2", func(f *fixture) (any, error) { return f.lib.DevicePrimaryCtxRetain(2) }, Context(big), "GPU-01020304"},
	{"cuDevicePrimaryCtxRelease 2", func(f *fixture) (any, error) { return nil, f.lib.DevicePrimaryCtxRelease(2) }, nil, "GPU-01020304"},

	{"cuCtxSetCurrent 0x11", func(f *fixture) (any, error) { return nil, f.CtxSetCurrent(0x11) }, nil, "context 0x11"},
	{"cuCtxSynchronize", func(f *fixture) (any, error) { return nil, f.CtxSynchronize() }, nil, ""},
	{"cuCtxEnablePeerAccess 0x11 0", func(f *fixture) (any, error) { return nil, f.CtxEnablePeerAccess(0x11) }, nil, "context 0x11"},
	{"cuCtxDisablePeerAccess 0x11", func(f *fixture) (any, error) { return nil, f.CtxDisablePeerAccess(0x11) }, nil, "context 0x11"},

	{"cuMemGetInfo", func(f *fixture) (any, error) {
		free, total, err := f.MemInfo()
		return []int64{free, total}, err
	}, []int64{7, big}, ""},
	{"cuMemAlloc 4097", func(f *fixture) (any, error) { return f.MemAlloc(4097) }, DevicePtr(big), "4097 bytes"},
	{"cuMemFree 0x12", func(f *fixture) (any, error) { return nil, f.MemFree(0x12) }, nil, "address 0x12"},
	{"cuMemAllocHost 16", func(f *fixture) (any, error) { b, err := f.MemAllocHost(16); return len(b), err }, 16, "16 bytes"},
	{"cuMemFreeHost 1", func(f *fixture) (any, error) { return nil, f.MemFreeHost(f.hostMemory(1024)) }, nil, "1 KiB of host memory at HOST"},
	{"cuMemHostAlloc 16 3", func(f *fixture) (any, error) {
		b, err := f.MemHostAlloc(16, HostPortable|HostDeviceMap)
		return len(b), err
	}, 16, "16 bytes, flags 3"},
	{"cuMemHostRegister 1 16 2", func(f *fixture) (any, error) { return nil, f.MemHostRegister(f.hostMemory(16), HostDeviceMap) }, nil, "16 bytes of host memory at HOST, flags 2"},
	{"cuMemHostUnregister 1", func(f *fixture) (any, error) { return nil, f.MemHostUnregister(f.hostMemory(16)) }, nil, "16 bytes of host memory at HOST"},
	{"cuMemHostGetDevicePointer 1 0", func(f *fixture) (any, error) { return f.MemHostDevicePtr(f.hostMemory(16)) }, DevicePtr(big), "16 bytes of host memory at HOST"},
	{"cuMemAllocManaged 16 1", func(f *fixture) (any, error) { return f.MemAllocManaged(16) }, DevicePtr(big), "16 bytes, attached to all devices"},
	{"cuMemAllocAsync 16 0x22", func(f *fixture) (any, error) { return f.MemAllocAsync(16, 0x22) }, DevicePtr(big), "16 bytes"},
	{"cuMemFreeAsync 0x12 0x22", func(f *fixture) (any, error) { return nil, f.MemFreeAsync(0x12, 0x22) }, nil, "address 0x12"},
	{"cuMemGetAddressRange 0x12", func(f *fixture) (any, error) {
		base, size, err := f.MemGetAddressRange(0x12)
		return []int64{int64(base), size}, err
	}, []int64{big, 77}, "address 0x12"},
	{"cuPointerGetAttribute 2 0x12", func(f *fixture) (any, error) { return f.PointerAttribute(PointerMemoryType, 0x12) }, uint64(2), "attribute 2, address 0x12"},
	{"cuPointerSetAttribute 1 6 0x12", func(f *fixture) (any, error) { return nil, f.SetSyncMemops(0x12) }, nil, "SYNC_MEMOPS 1, address 0x12"},

	{"cuMemcpyHtoD 0x12 abc", func(f *fixture) (any, error) { return nil, f.MemcpyHtoD(0x12, []byte("abc")) }, nil, "to address 0x12, 3 bytes of host memory at HOST"},
	{"cuMemcpyDtoH 0x12 3", func(f *fixture) (any, error) {
		b := make([]byte, 3)
		err := f.MemcpyDtoH(b, 0x12)
		return string(b), err
	}, "xxx", "3 bytes of host memory at HOST, from address 0x12"},
	{"cuMemcpyHtoDAsync 0x12 abc 0x22", func(f *fixture) (any, error) { return nil, f.MemcpyHtoDAsync(0x12, []byte("abc"), 0x22) }, nil, "to address 0x12, 3 bytes of host memory at HOST"},
	{"cuMemcpyDtoHAsync 0x12 3 0x22", func(f *fixture) (any, error) {
		b := make([]byte, 3)
		err := f.MemcpyDtoHAsync(b, 0x12, 0x22)
		return string(b), err
	}, "yyy", "3 bytes of host memory at HOST, from address 0x12"},
	{"cuMemcpyDtoDAsync 0x12 0x13 16 0x22", func(f *fixture) (any, error) { return nil, f.MemcpyDtoDAsync(0x12, 0x13, 16, 0x22) }, nil, "to address 0x12, from address 0x13, 16 bytes"},
	{"cuMemcpyPeerAsync 0x12 0x31 0x13 0x32 16 0x22", func(f *fixture) (any, error) { return nil, f.MemcpyPeerAsync(0x12, 0x31, 0x13, 0x32, 16, 0x22) }, nil,
		"to address 0x12, context 0x31, from address 0x13, context 0x32, 16 bytes"},
	{"cuMemsetD8Async 0x12 171 16 0x22", func(f *fixture) (any, error) { return nil, f.MemsetD8Async(0x12, 0xab, 16, 0x22) }, nil, "address 0x12, value 0xab, 16 bytes"},
	{"cuMemsetD32Async 0x12 2882400001 16 0x22", func(f *fixture) (any, error) { return nil, f.MemsetD32Async(0x12, 0xabcdef01, 16, 0x22) }, nil, "address 0x12, value 0xabcdef01, 64 bytes"},

	{"cuMemGetAllocationGranularity type=1 handles=1 loc=1/2 win32=(nil) comp=0 rdma=0 usage=0 option=1", func(f *fixture) (any, error) {
		minimum, recommended, err := f.MemGranularity(AllocationProp{Location: AtDevice(2), Handles: HandlePosixFD})
		return []int64{minimum, recommended}, err
	}, []int64{2 << 20, 4 << 20}, "GPU-01020304, POSIX fd"},
	{"cuMemCreate 2097152 type=1 handles=1 loc=1/2 win32=(nil) comp=0 rdma=1 usage=0 flags=0", func(f *fixture) (any, error) {
		return f.MemCreate(2<<20, AllocationProp{Location: AtDevice(2), Handles: HandlePosixFD, GPUDirectRDMA: true})
	}, MemHandle(big), "2 MiB, GPU-01020304, POSIX fd, GPUDirect RDMA"},
	{"cuMemCreate 1073741824 type=1 handles=8 loc=3/1 win32=(nil) comp=0 rdma=0 usage=0 flags=0", func(f *fixture) (any, error) {
		return f.MemCreate(1<<30, AllocationProp{Location: AtHostNUMA(1), Handles: HandleFabric})
	}, MemHandle(big), "1 GiB, host NUMA node 1, fabric"},
	{"cuMemRelease 0x14", func(f *fixture) (any, error) { return nil, f.MemRelease(0x14) }, nil, "allocation 0x14"},
	{"cuMemExportToShareableHandle 0x14 1 0", func(f *fixture) (any, error) { return f.MemExportFD(0x14) }, 33, "allocation 0x14, POSIX fd"},
	{"cuMemExportToShareableHandle 0x14 8 0", func(f *fixture) (any, error) { return f.MemExportFabric(0x14) }, FabricHandle(key64), "allocation 0x14, fabric"},
	{"cuMemImportFromShareableHandle 1 fd 33", func(f *fixture) (any, error) { return f.MemImportFD(33) }, MemHandle(big), "fd 33, POSIX fd"},
	{"cuMemImportFromShareableHandle 8 " + text64, func(f *fixture) (any, error) { return f.MemImportFabric(key64) }, MemHandle(big), "64-byte handle, fabric"},
	{"cuMemAddressReserve 2097152 4096 0 0", func(f *fixture) (any, error) { return f.MemAddressReserve(2<<20, 4096) }, DevicePtr(big), "2 MiB, alignment 4 KiB"},
	{"cuMemAddressFree 0x12 16", func(f *fixture) (any, error) { return nil, f.MemAddressFree(0x12, 16) }, nil, "address 0x12, 16 bytes"},
	{"cuMemMap 0x12 16 0 0x14 0", func(f *fixture) (any, error) { return nil, f.MemMap(0x12, 16, 0x14) }, nil, "address 0x12, 16 bytes, allocation 0x14"},
	{"cuMemUnmap 0x12 16", func(f *fixture) (any, error) { return nil, f.MemUnmap(0x12, 16) }, nil, "address 0x12, 16 bytes"},
	{"cuMemSetAccess 0x12 16 1/2=3 3/1=3", func(f *fixture) (any, error) {
		return nil, f.MemSetAccess(0x12, 16, AccessReadWrite, AtDevice(2), AtHostNUMA(1))
	}, nil, "address 0x12, 16 bytes, read-write, by GPU-01020304, host NUMA node 1"},
	{"cuMemGetAllocationPropertiesFromHandle 0x14", func(f *fixture) (any, error) { return f.MemAllocationProp(0x14) },
		AllocationProp{Location: AtHostNUMA(5), Handles: HandlePosixFD | HandleFabric, GPUDirectRDMA: true}, "allocation 0x14"},

	{"cuMemGetHandleForAddressRange 0x12 4096 1 0", func(f *fixture) (any, error) { return f.MemGetDMABuf(0x12, 4096, 0) }, 34, "address 0x12, 4 KiB, dma-buf"},
	{"cuMemGetHandleForAddressRange 0x12 4096 1 1", func(f *fixture) (any, error) { return f.MemGetDMABuf(0x12, 4096, DMABufPCIe) }, 34, "address 0x12, 4 KiB, dma-buf over PCIe"},

	{"cuImportExternalMemory type=9 fd=33 size=4096 flags=0", func(f *fixture) (any, error) { return f.ImportExternalMemory(ExternalDMABufFD, 33, 4096) }, ExternalMemory(big), "DMABUF_FD, fd 33, 4 KiB"},
	{"cuImportExternalMemory type=1 fd=33 size=4096 flags=0", func(f *fixture) (any, error) { return f.ImportExternalMemory(ExternalOpaqueFD, 33, 4096) }, ExternalMemory(big), "OPAQUE_FD, fd 33, 4 KiB"},
	{"cuExternalMemoryGetMappedBuffer 0x15 offset=64 size=4096 flags=0", func(f *fixture) (any, error) { return f.ExternalMemoryGetMappedBuffer(0x15, 64, 4096) }, DevicePtr(big),
		"external memory 0x15, offset 64 bytes, 4 KiB"},
	{"cuDestroyExternalMemory 0x15", func(f *fixture) (any, error) { return nil, f.DestroyExternalMemory(0x15) }, nil, "external memory 0x15"},

	{"cuIpcGetMemHandle 0x12", func(f *fixture) (any, error) { return f.IPCGetMemHandle(0x12) }, IPCMemHandle(key64), "address 0x12"},
	{"cuIpcOpenMemHandle " + text64 + " 1", func(f *fixture) (any, error) { return f.IPCOpenMemHandle(key64) }, DevicePtr(big), "64-byte handle, peer access where needed"},
	{"cuIpcCloseMemHandle 0x12", func(f *fixture) (any, error) { return nil, f.IPCCloseMemHandle(0x12) }, nil, "address 0x12"},

	{"cuMemPoolCreate type=1 handles=1 loc=1/2 win32=(nil) max=4096 usage=0", func(f *fixture) (any, error) {
		return f.MemPoolCreate(PoolProps{Location: AtDevice(2), Handles: HandlePosixFD, MaxSize: 4096})
	}, MemPool(big), "GPU-01020304, POSIX fd, at most 4 KiB"},
	{"cuMemPoolDestroy 0x16", func(f *fixture) (any, error) { return nil, f.MemPoolDestroy(0x16) }, nil, "pool 0x16"},
	{"cuMemPoolSetAttribute 0x16 4 99", func(f *fixture) (any, error) { return nil, f.MemPoolSetAttribute(0x16, PoolReleaseThreshold, 99) }, nil, "pool 0x16, attribute 4, value 99"},
	{"cuMemPoolSetAccess 0x16 1/2=1 1", func(f *fixture) (any, error) { return nil, f.MemPoolSetAccess(0x16, AccessRead, AtDevice(2)) }, nil, "pool 0x16, read, by GPU-01020304"},
	{"cuMemPoolExportToShareableHandle 0x16 1 0", func(f *fixture) (any, error) { return f.MemPoolExportFD(0x16) }, 35, "pool 0x16, POSIX fd"},
	{"cuMemPoolImportFromShareableHandle 33 1 0", func(f *fixture) (any, error) { return f.MemPoolImportFD(33) }, MemPool(big), "fd 33, POSIX fd"},
	{"cuMemPoolExportPointer 0x12", func(f *fixture) (any, error) { return f.MemPoolExportPointer(0x12) }, PoolPointer(key64), "address 0x12"},
	{"cuMemPoolImportPointer 0x16 " + text64, func(f *fixture) (any, error) { return f.MemPoolImportPointer(0x16, key64) }, DevicePtr(big), "pool 0x16"},
	{"cuMemAllocFromPoolAsync 16 0x16 0x22", func(f *fixture) (any, error) { return f.MemAllocFromPoolAsync(16, 0x16, 0x22) }, DevicePtr(big), "16 bytes, pool 0x16"},

	{"cuStreamCreate 1", func(f *fixture) (any, error) { return f.StreamCreate() }, Stream(big), "non-blocking"},
	{"cuStreamDestroy 0x22", func(f *fixture) (any, error) { return nil, f.StreamDestroy(0x22) }, nil, ""},
	{"cuStreamSynchronize 0x22", func(f *fixture) (any, error) { return nil, f.StreamSynchronize(0x22) }, nil, ""},
	{"cuStreamQuery 0x22", func(f *fixture) (any, error) { return f.StreamQuery(0x22) }, true, ""},
	{"cuStreamWaitEvent 0x22 0x23 0", func(f *fixture) (any, error) { return nil, f.StreamWaitEvent(0x22, 0x23) }, nil, ""},
	{"cuEventCreate 6", func(f *fixture) (any, error) { return f.EventCreate(EventDisableTiming | EventInterprocess) }, Event(big), "flags 6"},
	{"cuEventDestroy 0x23", func(f *fixture) (any, error) { return nil, f.EventDestroy(0x23) }, nil, ""},
	{"cuEventRecord 0x23 0x22", func(f *fixture) (any, error) { return nil, f.EventRecord(0x23, 0x22) }, nil, ""},
	{"cuEventSynchronize 0x23", func(f *fixture) (any, error) { return nil, f.EventSynchronize(0x23) }, nil, ""},
	{"cuEventQuery 0x23", func(f *fixture) (any, error) { return f.EventQuery(0x23) }, true, ""},
	{"cuEventElapsedTime 0x23 0x24", func(f *fixture) (any, error) { return f.EventElapsed(0x23, 0x24) }, 62500.0, ""},

	{"cuModuleLoadDataEx .version 8.0 2 5 6 size=8192", func(f *fixture) (any, error) { return f.ModuleLoad([]byte(".version 8.0")) }, Module(big), "12 bytes of code"},
	{"cuModuleUnload 0x25", func(f *fixture) (any, error) { return nil, f.ModuleUnload(0x25) }, nil, ""},
	{"cuModuleGetFunction 0x25 fill", func(f *fixture) (any, error) { return f.ModuleGetFunction(0x25, "fill") }, Function(big), "fill"},
	{"cuLaunchKernel 0x26 1,2,3 4,5,6 7 0x22 0x1234567890123 4294967295 (nil)", func(f *fixture) (any, error) {
		return nil, f.LaunchKernel(0x26, Dim{1, 2, 3}, Dim{4, 5, 6}, 7, 0x22, 0x1234567890123, 1<<32-1)
	}, nil, "grid 1x2x3, block 4x5x6, shared 7 bytes, 2 parameters"},
}

// TestCalls makes each call twice: granted, where C must have seen the
// arguments in their places and Go the results, and refused.
func TestCalls(t *testing.T) {
	f := open(t)
	var r recorder
	f.Recorder = &r
	for _, c := range calls {
		name, _, _ := strings.Cut(c.seen, " ")
		t.Run(name, func(t *testing.T) {
			r.span = span{}
			got, err := c.make(f)
			if err != nil {
				t.Fatal(err)
			}
			if seen := f.lastCall(); seen != c.seen {
				t.Errorf("C saw  %s\nwant    %s", seen, c.seen)
			}
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			timed := r.span != span{}
			if timed {
				if r.started != name || r.call != name || !r.ok {
					t.Errorf("recorded %+v, want %s, ok", r.span, name)
				}
				if r.start <= 0 || r.end < r.start {
					t.Errorf("stamps %d, %d", r.start, r.end)
				}
			}

			f.nextResult(ErrorNotSupported)
			_, err = c.make(f)
			if !errors.Is(err, ErrorNotSupported) {
				t.Fatalf("refused call: error %v", err)
			}
			text := strings.ReplaceAll(err.Error(), hostAddress(err), "HOST")
			text, _, _ = strings.Cut(text, ": the driver's compiler")
			if want := name + "(" + c.errArg + "): CUDA_ERROR_NOT_SUPPORTED (801)"; text != want {
				t.Errorf("error %q\nwant  %q", text, want)
			}
			if timed && r.ok {
				t.Error("a refused call was recorded as ok")
			}
		})
	}
}

// hostAddress finds the changing part of an error's text.
func hostAddress(err error) string {
	_, after, found := strings.Cut(err.Error(), "host memory at ")
	if !found {
		return "\x00"
	}
	return after[:strings.IndexAny(after, ",)")]
}

// TestCallsComplete: every function of the table of symbols is in calls.
func TestCallsComplete(t *testing.T) {
	tested := map[string]bool{"cuInit": true, "cuDriverGetVersion": true}
	for _, c := range calls {
		name, _, _ := strings.Cut(c.seen, " ")
		tested[name] = true
	}
	for f := range fnCount {
		if exported[f] == "" {
			t.Errorf("function %d has no symbol", f)
		}
		if !tested[f.String()] {
			t.Errorf("%v is not called by TestCalls", f)
		}
	}
}

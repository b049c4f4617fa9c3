package cuda

import (
	"fmt"
	"unsafe"
)

// DevicePtr is a CUdeviceptr: an address that the GPU uses. On the systems that
// this package runs on, host memory known to CUDA has the same address on both sides.
type DevicePtr uintptr

// String gives "address 0x7f30a0000000".
func (p DevicePtr) String() string { return fmt.Sprintf("address %#x", uintptr(p)) }

// HostFlags are the flags of [Thread.MemHostAlloc] and [Thread.MemHostRegister].
type HostFlags uint32

// Flags for pinned host memory (CU_MEMHOSTALLOC_…, CU_MEMHOSTREGISTER_…).
const (
	HostPortable  HostFlags = 1 // pinned for all contexts
	HostDeviceMap HostFlags = 2 // mapped into the GPU's address space
)

// PointerAttribute is a CUpointer_attribute, an argument of [Thread.PointerAttribute].
type PointerAttribute int32

// Attributes of an address (CU_POINTER_ATTRIBUTE_…).
const (
	PointerMemoryType         PointerAttribute = 2
	PointerDevicePointer      PointerAttribute = 3
	PointerSyncMemops         PointerAttribute = 6 // 1: copies of this allocation are synchronous
	PointerBufferID           PointerAttribute = 7 // unique within the process
	PointerLegacyIPCCapable   PointerAttribute = 10
	PointerAllowedHandleTypes PointerAttribute = 14 // a HandleType
)

// MemInfo returns the free and total bytes of the current context's device
// (cuMemGetInfo_v2).
func (t *Thread) MemInfo() (free, total int64, err error) {
	if r := t.call(cuMemGetInfo, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(unsafe.Pointer(&t.mem.word[1])), 0, 0, 0, 0); r != Success {
		return 0, 0, t.fail(cuMemGetInfo, r)
	}
	return int64(t.mem.word[0]), int64(t.mem.word[1]), nil
}

// MemAlloc allocates device memory of the current context (cuMemAlloc_v2).
func (t *Thread) MemAlloc(size int64) (DevicePtr, error) {
	if r := t.call(cuMemAlloc, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(size), 0, 0, 0, 0); r != Success {
		return 0, t.fail(cuMemAlloc, r, sizeText(size))
	}
	return DevicePtr(t.mem.word[0]), nil
}

// MemFree frees what MemAlloc, MemAllocManaged or ExternalMemoryGetMappedBuffer
// gave (cuMemFree_v2). It waits for the device's work.
func (t *Thread) MemFree(p DevicePtr) error {
	if r := t.call(cuMemFree, uintptr(p), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuMemFree, r, p.String())
	}
	return nil
}

// MemAllocManaged allocates memory that migrates between host and devices
// (cuMemAllocManaged, CU_MEM_ATTACH_GLOBAL). MemFree frees it.
func (t *Thread) MemAllocManaged(size int64) (DevicePtr, error) {
	const attachGlobal = 1
	if r := t.call(cuMemAllocManaged, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(size), attachGlobal, 0, 0, 0); r != Success {
		return 0, t.fail(cuMemAllocManaged, r, sizeText(size), "attached to all devices")
	}
	return DevicePtr(t.mem.word[0]), nil
}

// MemAllocAsync allocates from the device's current pool in the order of the
// stream (cuMemAllocAsync). Another stream or process may use the memory only
// after the stream got there: synchronise it first.
func (t *Thread) MemAllocAsync(size int64, s Stream) (DevicePtr, error) {
	if r := t.call(cuMemAllocAsync, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(size), uintptr(s), 0, 0, 0); r != Success {
		return 0, t.fail(cuMemAllocAsync, r, sizeText(size))
	}
	return DevicePtr(t.mem.word[0]), nil
}

// MemFreeAsync frees memory of MemAllocAsync or of a pool in the order of the
// stream (cuMemFreeAsync).
func (t *Thread) MemFreeAsync(p DevicePtr, s Stream) error {
	if r := t.call(cuMemFreeAsync, uintptr(p), uintptr(s), 0, 0, 0, 0); r != Success {
		return t.fail(cuMemFreeAsync, r, p.String())
	}
	return nil
}

// MemAllocHost allocates pinned host memory (cuMemAllocHost_v2). The slice must
// not be used after MemFreeHost.
func (t *Thread) MemAllocHost(size int64) ([]byte, error) {
	if r := t.call(cuMemAllocHost, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(size), 0, 0, 0, 0); r != Success {
		return nil, t.fail(cuMemAllocHost, r, sizeText(size))
	}
	return hostBytes(t.mem.word[0], size), nil
}

// MemHostAlloc allocates pinned host memory with flags (cuMemHostAlloc).
// MemFreeHost frees it.
func (t *Thread) MemHostAlloc(size int64, flags HostFlags) ([]byte, error) {
	if r := t.call(cuMemHostAlloc, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(size), uintptr(flags), 0, 0, 0); r != Success {
		return nil, t.fail(cuMemHostAlloc, r, sizeText(size), fmt.Sprintf("flags %d", flags))
	}
	return hostBytes(t.mem.word[0], size), nil
}

// MemFreeHost frees memory of MemAllocHost or MemHostAlloc (cuMemFreeHost). b
// must start where that memory starts.
func (t *Thread) MemFreeHost(b []byte) error {
	if r := t.call(cuMemFreeHost, uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuMemFreeHost, r, hostText(b))
	}
	return nil
}

// MemHostRegister pins host memory that was allocated otherwise, such as a
// shared mapping (cuMemHostRegister_v2).
func (t *Thread) MemHostRegister(b []byte, flags HostFlags) error {
	if r := t.call(cuMemHostRegister, uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), uintptr(flags), 0, 0, 0); r != Success {
		return t.fail(cuMemHostRegister, r, hostText(b), fmt.Sprintf("flags %d", flags))
	}
	return nil
}

// MemHostUnregister undoes MemHostRegister (cuMemHostUnregister).
func (t *Thread) MemHostUnregister(b []byte) error {
	if r := t.call(cuMemHostUnregister, uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuMemHostUnregister, r, hostText(b))
	}
	return nil
}

// MemHostDevicePtr returns the address under which the GPU sees pinned host
// memory (cuMemHostGetDevicePointer_v2).
func (t *Thread) MemHostDevicePtr(b []byte) (DevicePtr, error) {
	if r := t.call(cuMemHostGetDevicePointer, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(unsafe.Pointer(unsafe.SliceData(b))), 0, 0, 0, 0); r != Success {
		return 0, t.fail(cuMemHostGetDevicePointer, r, hostText(b))
	}
	return DevicePtr(t.mem.word[0]), nil
}

// MemGetAddressRange returns the start and the size of the allocation or
// mapping that p lies in (cuMemGetAddressRange_v2).
func (t *Thread) MemGetAddressRange(p DevicePtr) (base DevicePtr, size int64, err error) {
	if r := t.call(cuMemGetAddressRange, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(unsafe.Pointer(&t.mem.word[1])), uintptr(p), 0, 0, 0); r != Success {
		return 0, 0, t.fail(cuMemGetAddressRange, r, p.String())
	}
	return DevicePtr(t.mem.word[0]), int64(t.mem.word[1]), nil
}

// PointerAttribute returns an attribute of an address, whatever its width, as a
// number (cuPointerGetAttribute).
func (t *Thread) PointerAttribute(a PointerAttribute, p DevicePtr) (uint64, error) {
	t.mem.word[0] = 0 // the driver writes 1, 4 or 8 bytes, little-endian
	if r := t.call(cuPointerGetAttribute, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(a), uintptr(p), 0, 0, 0); r != Success {
		return 0, t.fail(cuPointerGetAttribute, r, fmt.Sprintf("attribute %d", int32(a)), p.String())
	}
	return t.mem.word[0], nil
}

// SetSyncMemops makes copies from and to the allocation at p synchronous
// (cuPointerSetAttribute, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS), as the driver
// manual asks for memory that another device or process accesses as well.
func (t *Thread) SetSyncMemops(p DevicePtr) error {
	t.mem.word[0] = 1
	if r := t.call(cuPointerSetAttribute, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(PointerSyncMemops), uintptr(p), 0, 0, 0); r != Success {
		return t.fail(cuPointerSetAttribute, r, "SYNC_MEMOPS 1", p.String())
	}
	return nil
}

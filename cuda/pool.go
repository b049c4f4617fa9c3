package cuda

import (
	"fmt"
	"structs"
	"unsafe"
)

// MemPool is a CUmemoryPool.
type MemPool uintptr

// String gives "pool 0x5581…".
func (p MemPool) String() string { return fmt.Sprintf("pool %#x", uintptr(p)) }

// PoolPointer is a CUmemPoolPtrExportData: an address in an exported pool.
type PoolPointer [64]byte

// PoolProps says what pool [Thread.MemPoolCreate] shall make.
type PoolProps struct {
	Location Location
	Handles  HandleType // how it will be shared; 0 not at all
	MaxSize  int64      // bytes; 0 as the driver likes. Since CUDA 12.2
}

// String gives "device 0, POSIX fd".
func (p PoolProps) String() string { return p.text(Device.String) }

func (p PoolProps) text(name func(Device) string) string {
	s := p.Location.text(name) + ", " + p.Handles.String()
	if p.MaxSize != 0 {
		s += ", at most " + sizeText(p.MaxSize)
	}
	return s
}

// poolProps is CUmemPoolProps.
type poolProps struct {
	_                       structs.HostLayout
	allocType               uint32
	handleTypes             HandleType
	location                Location
	win32SecurityAttributes uintptr
	maxSize                 uint64
	usage                   uint16
	_                       [54]uint8
}

// PoolAttribute is a CUmemPool_attribute.
type PoolAttribute int32

// PoolReleaseThreshold is how many unused bytes a pool keeps instead of giving
// them back when a stream or event is synchronised
// (CU_MEMPOOL_ATTR_RELEASE_THRESHOLD). It starts at 0.
const PoolReleaseThreshold PoolAttribute = 4

// MemPoolCreate makes a memory pool (cuMemPoolCreate).
func (t *Thread) MemPoolCreate(p PoolProps) (MemPool, error) {
	t.mem.pool = poolProps{
		allocType:   allocationTypePinned,
		handleTypes: p.Handles,
		location:    p.Location,
		maxSize:     uint64(p.MaxSize),
	}
	if r := t.call(cuMemPoolCreate, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(unsafe.Pointer(&t.mem.pool)), 0, 0, 0, 0); r != Success {
		return 0, t.fail(cuMemPoolCreate, r, p)
	}
	return MemPool(t.mem.word[0]), nil
}

// MemPoolDestroy destroys a pool, also an imported one, once its allocations
// were freed (cuMemPoolDestroy).
func (t *Thread) MemPoolDestroy(p MemPool) error {
	if r := t.call(cuMemPoolDestroy, uintptr(p), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuMemPoolDestroy, r, p.String())
	}
	return nil
}

// MemPoolSetAttribute sets an attribute of a pool (cuMemPoolSetAttribute).
func (t *Thread) MemPoolSetAttribute(p MemPool, a PoolAttribute, value uint64) error {
	t.mem.word[0] = value
	if r := t.call(cuMemPoolSetAttribute, uintptr(p), uintptr(a), uintptr(unsafe.Pointer(&t.mem.word[0])), 0, 0, 0); r != Success {
		return t.fail(cuMemPoolSetAttribute, r, p.String(), fmt.Sprintf("attribute %d", int32(a)), fmt.Sprintf("value %d", value))
	}
	return nil
}

// MemPoolSetAccess gives another device access to a pool's allocations
// (cuMemPoolSetAccess). The device that the pool is on always has it.
func (t *Thread) MemPoolSetAccess(p MemPool, a Access, by Location) error {
	t.mem.access[0] = accessDesc{location: by, flags: a}
	if r := t.call(cuMemPoolSetAccess, uintptr(p), uintptr(unsafe.Pointer(&t.mem.access)), 1, 0, 0, 0); r != Success {
		return t.fail(cuMemPoolSetAccess, r, p.String(), a.String(), accessors{by})
	}
	return nil
}

// MemAllocFromPoolAsync allocates from a pool in the order of the stream
// (cuMemAllocFromPoolAsync). MemFreeAsync frees it.
func (t *Thread) MemAllocFromPoolAsync(size int64, p MemPool, s Stream) (DevicePtr, error) {
	if r := t.call(cuMemAllocFromPoolAsync, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(size), uintptr(p), uintptr(s), 0, 0); r != Success {
		return 0, t.fail(cuMemAllocFromPoolAsync, r, sizeText(size), p.String())
	}
	return DevicePtr(t.mem.word[0]), nil
}

// MemPoolExportFD makes a descriptor for a pool, which the caller closes
// (cuMemPoolExportToShareableHandle). Importing it gives no access to its
// allocations: each address is exported by itself with MemPoolExportPointer.
func (t *Thread) MemPoolExportFD(p MemPool) (fd int, err error) {
	if r := t.call(cuMemPoolExportToShareableHandle, uintptr(unsafe.Pointer(&t.mem.fd)), uintptr(p), uintptr(HandlePosixFD), 0, 0, 0); r != Success {
		return -1, t.fail(cuMemPoolExportToShareableHandle, r, p.String(), HandlePosixFD.String())
	}
	return int(t.mem.fd), nil
}

// MemPoolImportFD opens the pool behind a descriptor, which stays the caller's
// to close (cuMemPoolImportFromShareableHandle). The importing process cannot
// allocate from it.
func (t *Thread) MemPoolImportFD(fd int) (MemPool, error) {
	if r := t.call(cuMemPoolImportFromShareableHandle, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(fd), uintptr(HandlePosixFD), 0, 0, 0); r != Success {
		return 0, t.fail(cuMemPoolImportFromShareableHandle, r, fmt.Sprintf("fd %d", fd), HandlePosixFD.String())
	}
	return MemPool(t.mem.word[0]), nil
}

// MemPoolExportPointer describes an allocation of an exported pool for another
// process (cuMemPoolExportPointer).
func (t *Thread) MemPoolExportPointer(p DevicePtr) (PoolPointer, error) {
	if r := t.call(cuMemPoolExportPointer, uintptr(unsafe.Pointer(&t.mem.key)), uintptr(p), 0, 0, 0, 0); r != Success {
		return PoolPointer{}, t.fail(cuMemPoolExportPointer, r, p.String())
	}
	return t.mem.key, nil
}

// MemPoolImportPointer opens an allocation of an imported pool
// (cuMemPoolImportPointer). It must be freed here, with MemFreeAsync, before
// the exporting process frees it.
func (t *Thread) MemPoolImportPointer(p MemPool, key PoolPointer) (DevicePtr, error) {
	t.mem.key = key
	if r := t.call(cuMemPoolImportPointer, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(p), uintptr(unsafe.Pointer(&t.mem.key)), 0, 0, 0); r != Success {
		return 0, t.fail(cuMemPoolImportPointer, r, p.String())
	}
	return DevicePtr(t.mem.word[0]), nil
}

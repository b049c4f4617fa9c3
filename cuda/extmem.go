package cuda

import (
	"fmt"
	"structs"
	"unsafe"
)

// ExternalMemory is a CUexternalMemory: an imported allocation without an address.
type ExternalMemory uintptr

// String gives "external memory 0x5581…".
func (m ExternalMemory) String() string { return fmt.Sprintf("external memory %#x", uintptr(m)) }

// ExternalType is a CUexternalMemoryHandleType.
type ExternalType uint32

// What a descriptor is (CU_EXTERNAL_MEMORY_HANDLE_TYPE_…).
const (
	ExternalOpaqueFD ExternalType = 1 // of cuMemExportToShareableHandle or Vulkan
	ExternalDMABufFD ExternalType = 9
)

// String gives "OPAQUE_FD" or "DMABUF_FD".
func (e ExternalType) String() string {
	switch e {
	case ExternalOpaqueFD:
		return "OPAQUE_FD"
	case ExternalDMABufFD:
		return "DMABUF_FD"
	}
	return fmt.Sprintf("external type %d", uint32(e))
}

// externalMemoryHandleDesc is CUDA_EXTERNAL_MEMORY_HANDLE_DESC.
type externalMemoryHandleDesc struct {
	_     structs.HostLayout
	kind  ExternalType
	_     uint32
	fd    int32    // at 8: the union is aligned to a pointer
	_     [12]byte // the rest of the union
	size  uint64
	flags uint32
	_     [16]uint32
}

// externalMemoryBufferDesc is CUDA_EXTERNAL_MEMORY_BUFFER_DESC.
type externalMemoryBufferDesc struct {
	_      structs.HostLayout
	offset uint64
	size   uint64
	flags  uint32
	_      [16]uint32
}

// ImportExternalMemory imports the allocation behind a descriptor
// (cuImportExternalMemory); size is the whole allocation's. On success the
// driver owns an OPAQUE_FD, and closing it is an error; on failure it stays the
// caller's.
func (t *Thread) ImportExternalMemory(kind ExternalType, fd int, size int64) (ExternalMemory, error) {
	t.mem.extHandle = externalMemoryHandleDesc{kind: kind, fd: int32(fd), size: uint64(size)}
	if r := t.call(cuImportExternalMemory, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(unsafe.Pointer(&t.mem.extHandle)), 0, 0, 0, 0); r != Success {
		return 0, t.fail(cuImportExternalMemory, r, kind.String(), fmt.Sprintf("fd %d", fd), sizeText(size))
	}
	return ExternalMemory(t.mem.word[0]), nil
}

// ExternalMemoryGetMappedBuffer maps a range of imported memory
// (cuExternalMemoryGetMappedBuffer). MemFree unmaps it.
func (t *Thread) ExternalMemoryGetMappedBuffer(m ExternalMemory, offset, size int64) (DevicePtr, error) {
	t.mem.extBuffer = externalMemoryBufferDesc{offset: uint64(offset), size: uint64(size)}
	if r := t.call(cuExternalMemoryGetMappedBuffer, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(m), uintptr(unsafe.Pointer(&t.mem.extBuffer)), 0, 0, 0); r != Success {
		return 0, t.fail(cuExternalMemoryGetMappedBuffer, r, m.String(), "offset "+sizeText(offset), sizeText(size))
	}
	return DevicePtr(t.mem.word[0]), nil
}

// DestroyExternalMemory gives imported memory back, after its buffers were
// freed (cuDestroyExternalMemory).
func (t *Thread) DestroyExternalMemory(m ExternalMemory) error {
	if r := t.call(cuDestroyExternalMemory, uintptr(m), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuDestroyExternalMemory, r, m.String())
	}
	return nil
}

package cuda

import (
	"fmt"
	"slices"
	"structs"
	"unsafe"
)

// MemHandle is a CUmemGenericAllocationHandle: physical memory without an address.
type MemHandle uint64

// String gives "allocation 0x5581…".
func (h MemHandle) String() string { return fmt.Sprintf("allocation %#x", uint64(h)) }

// HandleType is a set of CUmemAllocationHandleType: how an allocation or pool
// can be given to another process. It must be asked for when allocating.
type HandleType uint32

// Handle types (CU_MEM_HANDLE_TYPE_…).
const (
	HandlePosixFD HandleType = 1
	HandleFabric  HandleType = 8 // 64 bytes, valid on other nodes of an NVLink fabric
)

// String gives "POSIX fd", "fabric", "POSIX fd + fabric", "not shareable".
func (h HandleType) String() string {
	switch h {
	case 0:
		return "not shareable"
	case HandlePosixFD:
		return "POSIX fd"
	case HandleFabric:
		return "fabric"
	case HandlePosixFD | HandleFabric:
		return "POSIX fd + fabric"
	}
	return fmt.Sprintf("handle types %#x", uint32(h))
}

// FabricHandle is a CUmemFabricHandle.
type FabricHandle [64]byte

// LocationType is a CUmemLocationType.
type LocationType uint32

// Kinds of places for memory (CU_MEM_LOCATION_TYPE_…).
const (
	LocationDevice          LocationType = 1
	LocationHost            LocationType = 2
	LocationHostNUMA        LocationType = 3
	LocationHostNUMACurrent LocationType = 4
)

// Location is a CUmemLocation: where memory is, or who accesses it.
type Location struct {
	_    structs.HostLayout
	Type LocationType
	ID   int32 // a Device or a NUMA node; 0 for the other types
}

// AtDevice is the memory of a device, or the device as one that accesses memory.
func AtDevice(d Device) Location { return Location{Type: LocationDevice, ID: int32(d)} }

// AtHostNUMA is the host memory of a NUMA node, or the host's processors.
func AtHostNUMA(node int) Location { return Location{Type: LocationHostNUMA, ID: int32(node)} }

// String gives "device 0", "host", "host NUMA node 1", "current host NUMA node".
func (l Location) String() string { return l.text(Device.String) }

func (l Location) text(name func(Device) string) string {
	switch l.Type {
	case LocationDevice:
		return name(Device(l.ID))
	case LocationHost:
		return "host"
	case LocationHostNUMA:
		return fmt.Sprintf("host NUMA node %d", l.ID)
	case LocationHostNUMACurrent:
		return "current host NUMA node"
	}
	return fmt.Sprintf("location %d/%d", uint32(l.Type), l.ID)
}

// AllocationProp says what [Thread.MemCreate] shall allocate.
type AllocationProp struct {
	Location      Location
	Handles       HandleType // how it will be shared; 0 not at all
	GPUDirectRDMA bool       // third-party devices shall be able to access it
}

// String gives "device 0, POSIX fd, GPUDirect RDMA".
func (p AllocationProp) String() string { return p.text(Device.String) }

func (p AllocationProp) text(name func(Device) string) string {
	s := p.Location.text(name) + ", " + p.Handles.String()
	if p.GPUDirectRDMA {
		s += ", GPUDirect RDMA"
	}
	return s
}

// allocationProp is CUmemAllocationProp.
type allocationProp struct {
	_                    structs.HostLayout
	kind                 uint32 // CUmemAllocationType
	requestedHandleTypes HandleType
	location             Location
	win32HandleMetaData  uintptr
	compressionType      uint8
	gpuDirectRDMACapable uint8
	usage                uint16
	_                    [4]uint8
}

const allocationTypePinned = 1

func (p AllocationProp) raw() allocationProp {
	raw := allocationProp{
		kind:                 allocationTypePinned,
		requestedHandleTypes: p.Handles,
		location:             p.Location,
	}
	if p.GPUDirectRDMA {
		raw.gpuDirectRDMACapable = 1
	}
	return raw
}

// Access is a CUmemAccess_flags.
type Access uint32

// Access rights (CU_MEM_ACCESS_FLAGS_…).
const (
	AccessRead      Access = 1
	AccessReadWrite Access = 3
)

// accessDesc is CUmemAccessDesc.
type accessDesc struct {
	_        structs.HostLayout
	location Location
	flags    Access
}

// maxAccess is the most locations in one [Thread.MemSetAccess].
const maxAccess = 32

// MemGranularity returns the minimum and the recommended granularity in bytes
// of allocations with these properties (cuMemGetAllocationGranularity).
// MemCreate takes multiples of the minimum only.
func (t *Thread) MemGranularity(p AllocationProp) (minimum, recommended int64, err error) {
	t.mem.prop = p.raw()
	for option := range uintptr(2) { // CU_MEM_ALLOC_GRANULARITY_MINIMUM, _RECOMMENDED
		if r := t.call(cuMemGetAllocationGranularity, uintptr(unsafe.Pointer(&t.mem.word[option])), uintptr(unsafe.Pointer(&t.mem.prop)), option, 0, 0, 0); r != Success {
			return 0, 0, t.fail(cuMemGetAllocationGranularity, r, p)
		}
	}
	return int64(t.mem.word[0]), int64(t.mem.word[1]), nil
}

// MemCreate allocates physical memory without an address (cuMemCreate). size
// must be a multiple of the granularity.
func (t *Thread) MemCreate(size int64, p AllocationProp) (MemHandle, error) {
	t.mem.prop = p.raw()
	if r := t.call(cuMemCreate, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(size), uintptr(unsafe.Pointer(&t.mem.prop)), 0, 0, 0); r != Success {
		return 0, t.fail(cuMemCreate, r, sizeText(size), p)
	}
	return MemHandle(t.mem.word[0]), nil
}

// MemRelease drops a reference to physical memory: made by MemCreate, or taken
// by MemImportFD or MemImportFabric (cuMemRelease). The memory is freed when no
// reference, mapping or exported handle is left in any process.
func (t *Thread) MemRelease(h MemHandle) error {
	if r := t.call(cuMemRelease, uintptr(h), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuMemRelease, r, h.String())
	}
	return nil
}

// MemExportFD makes a file descriptor for the memory, which the caller closes
// (cuMemExportToShareableHandle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR).
func (t *Thread) MemExportFD(h MemHandle) (fd int, err error) {
	if r := t.call(cuMemExportToShareableHandle, uintptr(unsafe.Pointer(&t.mem.fd)), uintptr(h), uintptr(HandlePosixFD), 0, 0, 0); r != Success {
		return -1, t.fail(cuMemExportToShareableHandle, r, h.String(), HandlePosixFD.String())
	}
	return int(t.mem.fd), nil
}

// MemExportFabric makes a handle that other nodes of the NVLink fabric can
// import (cuMemExportToShareableHandle, CU_MEM_HANDLE_TYPE_FABRIC).
func (t *Thread) MemExportFabric(h MemHandle) (FabricHandle, error) {
	if r := t.call(cuMemExportToShareableHandle, uintptr(unsafe.Pointer(&t.mem.key)), uintptr(h), uintptr(HandleFabric), 0, 0, 0); r != Success {
		return FabricHandle{}, t.fail(cuMemExportToShareableHandle, r, h.String(), HandleFabric.String())
	}
	return t.mem.key, nil
}

// MemImportFD takes a reference to the memory behind a descriptor, which stays
// the caller's to close (cuMemImportFromShareableHandle).
func (t *Thread) MemImportFD(fd int) (MemHandle, error) {
	// The manual's (void *)(uintptr_t)fd: the descriptor itself, not its address.
	if r := t.call(cuMemImportFromShareableHandle, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(fd), uintptr(HandlePosixFD), 0, 0, 0); r != Success {
		return 0, t.fail(cuMemImportFromShareableHandle, r, fmt.Sprintf("fd %d", fd), HandlePosixFD.String())
	}
	return MemHandle(t.mem.word[0]), nil
}

// MemImportFabric takes a reference to the memory behind a fabric handle
// (cuMemImportFromShareableHandle).
func (t *Thread) MemImportFabric(key FabricHandle) (MemHandle, error) {
	t.mem.key = key
	if r := t.call(cuMemImportFromShareableHandle, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(unsafe.Pointer(&t.mem.key)), uintptr(HandleFabric), 0, 0, 0); r != Success {
		return 0, t.fail(cuMemImportFromShareableHandle, r, "64-byte handle", HandleFabric.String())
	}
	return MemHandle(t.mem.word[0]), nil
}

// MemAddressReserve reserves addresses (cuMemAddressReserve). size must be a
// multiple of the granularity, alignment a power of two or 0.
func (t *Thread) MemAddressReserve(size, alignment int64) (DevicePtr, error) {
	if r := t.call(cuMemAddressReserve, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(size), uintptr(alignment), 0, 0, 0); r != Success {
		return 0, t.fail(cuMemAddressReserve, r, sizeText(size), "alignment "+sizeText(alignment))
	}
	return DevicePtr(t.mem.word[0]), nil
}

// MemAddressFree gives reserved addresses back (cuMemAddressFree).
func (t *Thread) MemAddressFree(p DevicePtr, size int64) error {
	if r := t.call(cuMemAddressFree, uintptr(p), uintptr(size), 0, 0, 0, 0); r != Success {
		return t.fail(cuMemAddressFree, r, p.String(), sizeText(size))
	}
	return nil
}

// MemMap maps physical memory, from its start, at reserved addresses
// (cuMemMap). Nobody can access it before MemSetAccess.
func (t *Thread) MemMap(p DevicePtr, size int64, h MemHandle) error {
	if r := t.call(cuMemMap, uintptr(p), uintptr(size), 0, uintptr(h), 0, 0); r != Success {
		return t.fail(cuMemMap, r, p.String(), sizeText(size), h.String())
	}
	return nil
}

// MemUnmap undoes MemMap for whole mappings (cuMemUnmap).
func (t *Thread) MemUnmap(p DevicePtr, size int64) error {
	if r := t.call(cuMemUnmap, uintptr(p), uintptr(size), 0, 0, 0, 0); r != Success {
		return t.fail(cuMemUnmap, r, p.String(), sizeText(size))
	}
	return nil
}

// MemSetAccess gives locations access to mapped memory (cuMemSetAccess): at
// most 32 of them, others are ErrorInvalidValue.
func (t *Thread) MemSetAccess(p DevicePtr, size int64, a Access, by ...Location) error {
	r := ErrorInvalidValue
	if len(by) <= maxAccess {
		for i, location := range by {
			t.mem.access[i] = accessDesc{location: location, flags: a}
		}
		r = t.call(cuMemSetAccess, uintptr(p), uintptr(size), uintptr(unsafe.Pointer(&t.mem.access)), uintptr(len(by)), 0, 0)
	}
	if r != Success {
		return t.fail(cuMemSetAccess, r, p.String(), sizeText(size), a.String(), accessors(slices.Clone(by))) // a copy, so that by stays on the caller's stack
	}
	return nil
}

// String gives "read" or "read-write".
func (a Access) String() string {
	switch a {
	case AccessRead:
		return "read"
	case AccessReadWrite:
		return "read-write"
	}
	return fmt.Sprintf("access %d", uint32(a))
}

// MemAllocationProp returns the properties of physical memory, also imported
// memory (cuMemGetAllocationPropertiesFromHandle).
func (t *Thread) MemAllocationProp(h MemHandle) (AllocationProp, error) {
	if r := t.call(cuMemGetAllocationPropertiesFromHandle, uintptr(unsafe.Pointer(&t.mem.prop)), uintptr(h), 0, 0, 0, 0); r != Success {
		return AllocationProp{}, t.fail(cuMemGetAllocationPropertiesFromHandle, r, h.String())
	}
	return AllocationProp{
		Location:      t.mem.prop.location,
		Handles:       t.mem.prop.requestedHandleTypes,
		GPUDirectRDMA: t.mem.prop.gpuDirectRDMACapable != 0,
	}, nil
}

package cuda

import (
	"testing"
	"unsafe"
)

// TestLayout compares structures with what a C compiler made of CUDA 13.0's
// header on x86-64 and arm64.
func TestLayout(t *testing.T) {
	var (
		prop   allocationProp
		access accessDesc
		handle externalMemoryHandleDesc
		buffer externalMemoryBufferDesc
		pool   poolProps
	)
	for _, c := range []struct {
		what      string
		got, want uintptr
	}{
		{"CUmemAllocationProp", unsafe.Sizeof(prop), 32},
		{"CUmemAllocationProp.type", unsafe.Offsetof(prop.kind), 0},
		{"CUmemAllocationProp.requestedHandleTypes", unsafe.Offsetof(prop.requestedHandleTypes), 4},
		{"CUmemAllocationProp.location", unsafe.Offsetof(prop.location), 8},
		{"CUmemAllocationProp.win32HandleMetaData", unsafe.Offsetof(prop.win32HandleMetaData), 16},
		{"CUmemAllocationProp.allocFlags.compressionType", unsafe.Offsetof(prop.compressionType), 24},
		{"CUmemAllocationProp.allocFlags.gpuDirectRDMACapable", unsafe.Offsetof(prop.gpuDirectRDMACapable), 25},
		{"CUmemAllocationProp.allocFlags.usage", unsafe.Offsetof(prop.usage), 26},
		{"CUmemLocation", unsafe.Sizeof(Location{}), 8},
		{"CUmemLocation.type", unsafe.Offsetof(Location{}.Type), 0},
		{"CUmemLocation.id", unsafe.Offsetof(Location{}.ID), 4},
		{"CUmemAccessDesc", unsafe.Sizeof(access), 12},
		{"CUmemAccessDesc.location", unsafe.Offsetof(access.location), 0},
		{"CUmemAccessDesc.flags", unsafe.Offsetof(access.flags), 8},
		{"CUDA_EXTERNAL_MEMORY_HANDLE_DESC", unsafe.Sizeof(handle), 104},
		{"CUDA_EXTERNAL_MEMORY_HANDLE_DESC.type", unsafe.Offsetof(handle.kind), 0},
		{"CUDA_EXTERNAL_MEMORY_HANDLE_DESC.handle.fd", unsafe.Offsetof(handle.fd), 8},
		{"CUDA_EXTERNAL_MEMORY_HANDLE_DESC.size", unsafe.Offsetof(handle.size), 24},
		{"CUDA_EXTERNAL_MEMORY_HANDLE_DESC.flags", unsafe.Offsetof(handle.flags), 32},
		{"CUDA_EXTERNAL_MEMORY_BUFFER_DESC", unsafe.Sizeof(buffer), 88},
		{"CUDA_EXTERNAL_MEMORY_BUFFER_DESC.offset", unsafe.Offsetof(buffer.offset), 0},
		{"CUDA_EXTERNAL_MEMORY_BUFFER_DESC.size", unsafe.Offsetof(buffer.size), 8},
		{"CUDA_EXTERNAL_MEMORY_BUFFER_DESC.flags", unsafe.Offsetof(buffer.flags), 16},
		{"CUmemPoolProps", unsafe.Sizeof(pool), 88},
		{"CUmemPoolProps.allocType", unsafe.Offsetof(pool.allocType), 0},
		{"CUmemPoolProps.handleTypes", unsafe.Offsetof(pool.handleTypes), 4},
		{"CUmemPoolProps.location", unsafe.Offsetof(pool.location), 8},
		{"CUmemPoolProps.win32SecurityAttributes", unsafe.Offsetof(pool.win32SecurityAttributes), 16},
		{"CUmemPoolProps.maxSize", unsafe.Offsetof(pool.maxSize), 24},
		{"CUmemPoolProps.usage", unsafe.Offsetof(pool.usage), 32},
		{"CUmemPoolPtrExportData", unsafe.Sizeof(PoolPointer{}), 64},
		{"CUipcMemHandle", unsafe.Sizeof(IPCMemHandle{}), 64},
		{"CUmemFabricHandle", unsafe.Sizeof(FabricHandle{}), 64},
		{"CUuuid", unsafe.Sizeof(UUID{}), 16},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.what, c.got, c.want)
		}
	}
}

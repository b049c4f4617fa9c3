package cuda

import "unsafe"

// DMABufFlags are the flags of [Thread.MemGetDMABuf].
type DMABufFlags uint64

// DMABufPCIe asks for a mapping through PCIe even where a faster link exists
// (CU_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE).
const DMABufPCIe DMABufFlags = 1

// String gives "dma-buf" or "dma-buf over PCIe".
func (f DMABufFlags) String() string {
	if f&DMABufPCIe != 0 {
		return "dma-buf over PCIe"
	}
	return "dma-buf"
}

// MemGetDMABuf makes a dma-buf descriptor for a range of device memory, which
// the caller closes (cuMemGetHandleForAddressRange,
// CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD). p and size must be multiples of the
// host's page size.
func (t *Thread) MemGetDMABuf(p DevicePtr, size int64, flags DMABufFlags) (fd int, err error) {
	const dmaBufFD = 1
	if r := t.call(cuMemGetHandleForAddressRange, uintptr(unsafe.Pointer(&t.mem.fd)), uintptr(p), uintptr(size), dmaBufFD, uintptr(flags), 0); r != Success {
		return -1, t.fail(cuMemGetHandleForAddressRange, r, p.String(), sizeText(size), flags.String())
	}
	return int(t.mem.fd), nil
}

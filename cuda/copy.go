package cuda

import (
	"fmt"
	"unsafe"
)

// MemcpyHtoD copies host memory to the device and returns when src may be
// changed again (cuMemcpyHtoD_v2). From pageable memory the last part may still
// be on its way: synchronise the stream or context before another process looks.
func (t *Thread) MemcpyHtoD(dst DevicePtr, src []byte) error {
	if r := t.call(cuMemcpyHtoD, uintptr(dst), uintptr(unsafe.Pointer(unsafe.SliceData(src))), uintptr(len(src)), 0, 0, 0); r != Success {
		return t.fail(cuMemcpyHtoD, r, "to "+dst.String(), hostText(src))
	}
	return nil
}

// MemcpyDtoH copies device memory to the host and returns when it is there
// (cuMemcpyDtoH_v2).
func (t *Thread) MemcpyDtoH(dst []byte, src DevicePtr) error {
	if r := t.call(cuMemcpyDtoH, uintptr(unsafe.Pointer(unsafe.SliceData(dst))), uintptr(src), uintptr(len(dst)), 0, 0, 0); r != Success {
		return t.fail(cuMemcpyDtoH, r, hostText(dst), "from "+src.String())
	}
	return nil
}

// MemcpyHtoDAsync queues a copy from the host (cuMemcpyHtoDAsync_v2). src must
// be pinned for the copy to be asynchronous, and stay as it is until the stream
// got there; memory of the Go heap must be kept alive as long.
func (t *Thread) MemcpyHtoDAsync(dst DevicePtr, src []byte, s Stream) error {
	if r := t.call(cuMemcpyHtoDAsync, uintptr(dst), uintptr(unsafe.Pointer(unsafe.SliceData(src))), uintptr(len(src)), uintptr(s), 0, 0); r != Success {
		return t.fail(cuMemcpyHtoDAsync, r, "to "+dst.String(), hostText(src))
	}
	return nil
}

// MemcpyDtoHAsync queues a copy to the host (cuMemcpyDtoHAsync_v2); what
// MemcpyHtoDAsync says of src holds for dst.
func (t *Thread) MemcpyDtoHAsync(dst []byte, src DevicePtr, s Stream) error {
	if r := t.call(cuMemcpyDtoHAsync, uintptr(unsafe.Pointer(unsafe.SliceData(dst))), uintptr(src), uintptr(len(dst)), uintptr(s), 0, 0); r != Success {
		return t.fail(cuMemcpyDtoHAsync, r, hostText(dst), "from "+src.String())
	}
	return nil
}

// MemcpyDtoDAsync queues a copy between addresses of the current context, which
// may be of different devices (cuMemcpyDtoDAsync_v2).
func (t *Thread) MemcpyDtoDAsync(dst, src DevicePtr, size int64, s Stream) error {
	if r := t.call(cuMemcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(size), uintptr(s), 0, 0); r != Success {
		return t.fail(cuMemcpyDtoDAsync, r, "to "+dst.String(), "from "+src.String(), sizeText(size))
	}
	return nil
}

// MemcpyPeerAsync queues a copy between the memories of two contexts
// (cuMemcpyPeerAsync). It works without peer access, through the host.
func (t *Thread) MemcpyPeerAsync(dst DevicePtr, dstCtx Context, src DevicePtr, srcCtx Context, size int64, s Stream) error {
	if r := t.call(cuMemcpyPeerAsync, uintptr(dst), uintptr(dstCtx), uintptr(src), uintptr(srcCtx), uintptr(size), uintptr(s)); r != Success {
		return t.fail(cuMemcpyPeerAsync, r, "to "+dst.String(), dstCtx.String(), "from "+src.String(), srcCtx.String(), sizeText(size))
	}
	return nil
}

// MemsetD8Async queues filling size bytes with a value (cuMemsetD8Async).
func (t *Thread) MemsetD8Async(dst DevicePtr, value uint8, size int64, s Stream) error {
	if r := t.call(cuMemsetD8Async, uintptr(dst), uintptr(value), uintptr(size), uintptr(s), 0, 0); r != Success {
		return t.fail(cuMemsetD8Async, r, dst.String(), fmt.Sprintf("value %#x", value), sizeText(size))
	}
	return nil
}

// MemsetD32Async queues filling count 32-bit words with a value
// (cuMemsetD32Async). dst must be a multiple of 4.
func (t *Thread) MemsetD32Async(dst DevicePtr, value uint32, count int64, s Stream) error {
	if r := t.call(cuMemsetD32Async, uintptr(dst), uintptr(value), uintptr(count), uintptr(s), 0, 0); r != Success {
		return t.fail(cuMemsetD32Async, r, dst.String(), fmt.Sprintf("value %#x", value), sizeText(4*count))
	}
	return nil
}

package main

import (
	"syscall"
	"unsafe"
)

// Requests of include/uapi/drm/drm.h, linux/dma-buf.h, linux/udmabuf.h and
// linux/dma-heap.h.
const (
	drmVersion         = 0xC0406400
	drmGemClose        = 0x40086409
	drmPrimeHandleToFD = 0xC00C642D
	drmModeCreateDumb  = 0xC02064B2
	drmModeMapDumb     = 0xC01064B3
	drmModeDestroyDumb = 0xC00464B4
	dmaBufSync         = 0x40086200
	udmabufCreate      = 0x40187542
	dmaHeapAlloc       = 0xC0184800

	syncRead, syncWrite = 1, 2
	syncStart, syncEnd  = 0, 4
)

type version struct {
	major, minor, patch int32
	nameLen             uint64
	name                *byte
	dateLen             uint64
	date                *byte
	descLen             uint64
	desc                *byte
}

type createDumb struct {
	height, width, bpp, flags, handle, pitch uint32
	size                                     uint64
}

type mapDumb struct {
	handle, _ uint32
	offset    uint64
}

type primeHandle struct {
	handle, flags uint32
	fd            int32
}

type udmabufRange struct {
	memfd, flags uint32
	offset, size uint64
}

type heapAllocation struct {
	size        uint64
	fd, fdFlags uint32
	heapFlags   uint64
}

func ioctl(fd, request uintptr, arg unsafe.Pointer) error {
	_, err := ioctlResult(fd, request, arg)
	return err
}

// ioctlResult also returns what the request returned: UDMABUF_CREATE's is a descriptor.
func ioctlResult(fd, request uintptr, arg unsafe.Pointer) (int, error) {
	for {
		r, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg))
		switch errno {
		case 0:
			return int(r), nil
		case syscall.EINTR, syscall.EAGAIN:
		default:
			return 0, errno
		}
	}
}

package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

const bytesWanted = 1 << 20

// drm exports a dumb buffer.
func drm() error {
	card, err := os.OpenFile("/dev/dri/card0", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer card.Close()
	name := make([]byte, 32)
	v := version{nameLen: uint64(len(name)), name: &name[0]}
	if err := ioctl(card.Fd(), drmVersion, unsafe.Pointer(&v)); err != nil {
		return fmt.Errorf("DRM_IOCTL_VERSION: %w", err)
	}
	say("drm: driver %s %d.%d.%d", name[:v.nameLen], v.major, v.minor, v.patch)

	d := createDumb{width: 4096, height: bytesWanted / 4096, bpp: 8}
	if err := ioctl(card.Fd(), drmModeCreateDumb, unsafe.Pointer(&d)); err != nil {
		return fmt.Errorf("DRM_IOCTL_MODE_CREATE_DUMB: %w", err)
	}
	say("drm: dumb buffer handle %d pitch %d size %d", d.handle, d.pitch, d.size)

	m := mapDumb{handle: d.handle}
	if err := ioctl(card.Fd(), drmModeMapDumb, unsafe.Pointer(&m)); err != nil {
		return fmt.Errorf("DRM_IOCTL_MODE_MAP_DUMB: %w", err)
	}
	own, err := syscall.Mmap(int(card.Fd()), int64(m.offset), int(d.size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap of %s: %w", card.Name(), err)
	}
	p := primeHandle{handle: d.handle, flags: syscall.O_CLOEXEC | syscall.O_RDWR, fd: -1}
	if err := ioctl(card.Fd(), drmPrimeHandleToFD, unsafe.Pointer(&p)); err != nil {
		return fmt.Errorf("DRM_IOCTL_PRIME_HANDLE_TO_FD: %w", err)
	}
	if err := inspect("drm", int(p.fd), own); err != nil {
		return err
	}
	if err := syscall.Munmap(own); err != nil {
		return err
	}
	if err := ioctl(card.Fd(), drmModeDestroyDumb, unsafe.Pointer(&d.handle)); err != nil {
		return fmt.Errorf("DRM_IOCTL_MODE_DESTROY_DUMB: %w", err)
	}
	return nil
}

// sealedMemfd returns a memfd that cannot shrink, as udmabuf demands.
func sealedMemfd(size int64) (int, error) {
	const (
		memfdCreate  = 319 // on x86-64
		allowSealing = 2
		addSeals     = 1033
		sealShrink   = 2
	)
	name := []byte("probe\x00")
	fd, _, errno := syscall.Syscall(memfdCreate, uintptr(unsafe.Pointer(&name[0])), allowSealing, 0)
	if errno != 0 {
		return 0, fmt.Errorf("memfd_create: %w", errno)
	}
	if err := syscall.Ftruncate(int(fd), size); err != nil {
		return 0, fmt.Errorf("ftruncate: %w", err)
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, addSeals, sealShrink); errno != 0 {
		return 0, fmt.Errorf("F_ADD_SEALS: %w", errno)
	}
	return int(fd), nil
}

// udmabuf turns pages of a memfd into a dma-buf.
func udmabuf() error {
	dev, err := os.OpenFile("/dev/udmabuf", os.O_RDWR, 0)
	if err != nil {
		say("udmabuf: %v", err)
		return nil
	}
	defer dev.Close()
	for _, name := range []string{"size_limit_mb", "list_limit"} {
		text, err := os.ReadFile("/sys/module/udmabuf/parameters/" + name)
		say("udmabuf: %s %s %v", name, strings.TrimSpace(string(text)), err)
	}
	memfd, err := sealedMemfd(bytesWanted)
	if err != nil {
		return err
	}
	own, err := syscall.Mmap(memfd, 0, bytesWanted, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap of memfd: %w", err)
	}
	r := udmabufRange{memfd: uint32(memfd), flags: 1, size: bytesWanted} // UDMABUF_FLAGS_CLOEXEC
	fd, err := ioctlResult(dev.Fd(), udmabufCreate, unsafe.Pointer(&r))
	if err != nil {
		return fmt.Errorf("UDMABUF_CREATE: %w", err)
	}
	if err := inspect("udmabuf", fd, own); err != nil {
		return err
	}
	large, err := sealedMemfd(128 << 20)
	if err != nil {
		return err
	}
	r = udmabufRange{memfd: uint32(large), flags: 1, size: 128 << 20}
	fd, err = ioctlResult(dev.Fd(), udmabufCreate, unsafe.Pointer(&r))
	say("udmabuf: of 128 MiB: fd > 0 %v, %v", fd > 0, err)
	r = udmabufRange{memfd: uint32(memfd), flags: 1, size: 100}
	_, err = ioctlResult(dev.Fd(), udmabufCreate, unsafe.Pointer(&r))
	say("udmabuf: of 100 bytes: %v", err)
	return nil
}

// heap takes a dma-buf from the system heap.
func heap() error {
	dev, err := os.OpenFile("/dev/dma_heap/system", os.O_RDWR, 0)
	if err != nil {
		say("heap: %v", err)
		return nil
	}
	defer dev.Close()
	names, err := os.ReadDir("/dev/dma_heap")
	say("heap: /dev/dma_heap has %v %v", names, err)
	a := heapAllocation{size: bytesWanted, fdFlags: syscall.O_RDWR | syscall.O_CLOEXEC}
	if err := ioctl(dev.Fd(), dmaHeapAlloc, unsafe.Pointer(&a)); err != nil {
		return fmt.Errorf("DMA_HEAP_IOCTL_ALLOC: %w", err)
	}
	if err := inspect("heap", int(a.fd), nil); err != nil {
		return err
	}
	a = heapAllocation{size: 100, fdFlags: syscall.O_RDWR | syscall.O_CLOEXEC}
	err = ioctl(dev.Fd(), dmaHeapAlloc, unsafe.Pointer(&a))
	size, _ := syscall.Seek(int(a.fd), 0, 2)
	say("heap: of 100 bytes: %v, lseek %d", err, size)
	return nil
}

// refusals asks for what the kernel is expected to refuse.
func refusals() error {
	card, err := os.OpenFile("/dev/dri/card0", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer card.Close()
	unknown := [2]uint32{99}
	say("refused: GEM_CLOSE of an unknown handle: %v", ioctl(card.Fd(), drmGemClose, unsafe.Pointer(&unknown)))
	for _, d := range []createDumb{{width: 4096, height: 1 << 20, bpp: 8}, {width: 0, height: 1, bpp: 8}} {
		say("refused: CREATE_DUMB %dx%d: %v", d.width, d.height, ioctl(card.Fd(), drmModeCreateDumb, unsafe.Pointer(&d)))
	}
	render, err := os.OpenFile("/dev/dri/renderD128", os.O_RDWR, 0)
	if err != nil {
		say("render node: %v", err)
		return nil
	}
	defer render.Close()
	d := createDumb{width: 4096, height: 1, bpp: 8}
	say("render node: CREATE_DUMB: %v", ioctl(render.Fd(), drmModeCreateDumb, unsafe.Pointer(&d)))
	return nil
}

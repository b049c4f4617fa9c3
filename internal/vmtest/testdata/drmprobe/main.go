// Command drmprobe walks through the life of a DRM dumb buffer that is shared as
// a dma-buf: create, export, map, bracket CPU access, read back through a second
// mapping, destroy. It prints what the kernel answered, one fact a line, and
// leaves the same in /tmp/out/facts.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"gpushare-bench/internal/dl"
)

// Requests of include/uapi/drm/drm.h and include/uapi/linux/dma-buf.h.
const (
	drmVersion         = 0xC0406400
	drmGemClose        = 0x40086409
	drmPrimeHandleToFD = 0xC00C642D
	drmModeCreateDumb  = 0xC02064B2
	drmModeMapDumb     = 0xC01064B3
	drmModeDestroyDumb = 0xC00464B4
	dmaBufSync         = 0x40086200

	syncRead, syncWrite = 1, 2
	syncStart, syncEnd  = 0, 4
)

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

type version struct {
	major, minor, patch int32
	nameLen             uint64
	name                *byte
	dateLen             uint64
	date                *byte
	descLen             uint64
	desc                *byte
}

var facts bytes.Buffer

func say(format string, args ...any) {
	fmt.Fprintf(&facts, format+"\n", args...)
	fmt.Printf(format+"\n", args...)
}

func main() {
	err := probe("/dev/dri/card0")
	if err == nil {
		err = errors()
	}
	if err == nil {
		err = os.MkdirAll("/tmp/out", 0o755)
	}
	if err == nil {
		err = os.WriteFile("/tmp/out/facts", facts.Bytes(), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "drmprobe:", err)
		os.Exit(1)
	}
}

func probe(card string) error {
	libc, err := dl.Libc() // shows that a program linked to libc without cgo starts here
	if err != nil {
		return err
	}
	getpid, err := libc.Symbol("getpid")
	if err != nil {
		return err
	}
	say("libc: getpid agrees: %v", int32(dl.Call(getpid)) == int32(os.Getpid()))

	f, err := os.OpenFile(card, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	name := make([]byte, 32)
	v := version{nameLen: uint64(len(name)), name: &name[0]}
	if err := ioctl(f.Fd(), drmVersion, unsafe.Pointer(&v)); err != nil {
		return fmt.Errorf("DRM_IOCTL_VERSION: %w", err)
	}
	say("driver: %s %d.%d.%d", name[:v.nameLen], v.major, v.minor, v.patch)

	const bytesWanted = 1 << 20
	d := createDumb{width: 4096, height: bytesWanted / 4096, bpp: 8}
	if err := ioctl(f.Fd(), drmModeCreateDumb, unsafe.Pointer(&d)); err != nil {
		return fmt.Errorf("DRM_IOCTL_MODE_CREATE_DUMB: %w", err)
	}
	say("dumb: handle %d pitch %d size %d", d.handle, d.pitch, d.size)

	m := mapDumb{handle: d.handle}
	if err := ioctl(f.Fd(), drmModeMapDumb, unsafe.Pointer(&m)); err != nil {
		return fmt.Errorf("DRM_IOCTL_MODE_MAP_DUMB: %w", err)
	}
	own, err := syscall.Mmap(int(f.Fd()), int64(m.offset), int(d.size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap of %s: %w", card, err)
	}

	p := primeHandle{handle: d.handle, flags: syscall.O_CLOEXEC | syscall.O_RDWR, fd: -1}
	if err := ioctl(f.Fd(), drmPrimeHandleToFD, unsafe.Pointer(&p)); err != nil {
		return fmt.Errorf("DRM_IOCTL_PRIME_HANDLE_TO_FD: %w", err)
	}
	fd := int(p.fd)
	size, err := syscall.Seek(fd, 0, 2)
	if err != nil {
		return fmt.Errorf("lseek of dma-buf: %w", err)
	}
	say("dma-buf: lseek %d", size)
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return err
	}
	say("dma-buf: link %s", link)
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(info)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		say("fdinfo: %s=%s", key, strings.TrimSpace(value))
	}

	shared, err := syscall.Mmap(fd, 0, int(d.size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap of dma-buf: %w", err)
	}
	if err := sync(fd, syncStart|syncWrite); err != nil {
		return err
	}
	for i := range shared {
		shared[i] = byte(i * 7)
	}
	if err := sync(fd, syncEnd|syncWrite); err != nil {
		return err
	}
	if err := sync(fd, syncStart|syncRead); err != nil {
		return err
	}
	say("bytes: both mappings agree: %v", bytes.Equal(own, shared) && own[1] == 7)
	if err := sync(fd, syncEnd|syncRead); err != nil {
		return err
	}
	if err := syscall.Munmap(shared); err != nil {
		return err
	}
	if err := syscall.Munmap(own); err != nil {
		return err
	}
	if err := syscall.Close(fd); err != nil {
		return err
	}
	if err := ioctl(f.Fd(), drmModeDestroyDumb, unsafe.Pointer(&d.handle)); err != nil {
		return fmt.Errorf("DRM_IOCTL_MODE_DESTROY_DUMB: %w", err)
	}
	return nil
}

// errors asks for what the kernel is expected to refuse.
func errors() error {
	var unknown [2]uint32
	unknown[0] = 99
	card, err := os.OpenFile("/dev/dri/card0", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer card.Close()
	say("refused: GEM_CLOSE of an unknown handle: %v", ioctl(card.Fd(), drmGemClose, unsafe.Pointer(&unknown)))
	for _, d := range []createDumb{{width: 4096, height: 1 << 20, bpp: 8}, {width: 0, height: 1, bpp: 8}} {
		say("refused: CREATE_DUMB %dx%d: %v", d.width, d.height, ioctl(card.Fd(), drmModeCreateDumb, unsafe.Pointer(&d)))
	}
	odd := createDumb{width: 5000, height: 1, bpp: 8}
	say("odd: CREATE_DUMB 5000x1: %v pitch %d size %d", ioctl(card.Fd(), drmModeCreateDumb, unsafe.Pointer(&odd)), odd.pitch, odd.size)
	gem := [2]uint32{odd.handle}
	say("odd: GEM_CLOSE of it: %v", ioctl(card.Fd(), drmGemClose, unsafe.Pointer(&gem)))

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

func sync(fd int, flags uint64) error {
	if err := ioctl(uintptr(fd), dmaBufSync, unsafe.Pointer(&flags)); err != nil {
		return fmt.Errorf("DMA_BUF_IOCTL_SYNC flags %d: %w", flags, err)
	}
	return nil
}

func ioctl(fd, request uintptr, arg unsafe.Pointer) error {
	for {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(arg))
		switch errno {
		case 0:
			return nil
		case syscall.EINTR, syscall.EAGAIN:
		default:
			return errno
		}
	}
}

package host

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
	"gpushare-bench/sysinfo"
)

// Requests, the same numbers on amd64 and arm64. Sources: include/uapi/linux/dma-buf.h, udmabuf.h, dma-heap.h,
// include/uapi/drm/drm.h.
const (
	dmaBufSync       = 0x40086200 // DMA_BUF_IOCTL_SYNC
	udmabufCreate    = 0x40187542 // UDMABUF_CREATE
	dmaHeapAlloc     = 0xC0184800 // DMA_HEAP_IOCTL_ALLOC
	drmDropMaster    = 0x0000641F // DRM_IOCTL_DROP_MASTER
	drmCreateDumb    = 0xC02064B2 // DRM_IOCTL_MODE_CREATE_DUMB
	drmMapDumb       = 0xC01064B3 // DRM_IOCTL_MODE_MAP_DUMB
	drmDestroyDumb   = 0xC00464B4 // DRM_IOCTL_MODE_DESTROY_DUMB
	drmPrimeHandleFD = 0xC00C642D // DRM_IOCTL_PRIME_HANDLE_TO_FD
)

// ioctlArgs are the structures that the requests take. They live in the device, so that an ioctl allocates nothing.
type ioctlArgs struct {
	sync    struct{ flags uint64 }
	udmabuf struct {
		memfd, flags uint32
		offset, size uint64
	}
	heap struct {
		len         uint64
		fd, fdFlags uint32
		heapFlags   uint64
	}
	create struct {
		height, width, bpp, flags uint32
		handle, pitch             uint32 // answers
		size                      uint64 // answer: bytes
	}
	mapDumb struct {
		handle, pad uint32
		offset      uint64 // answer: what to mmap of the device
	}
	destroy struct{ handle uint32 }
	prime   struct {
		handle, flags uint32
		fd            int32 // answer
	}
}

// ioctl makes a request whose argument is at arg, recorded under name.
func (c *calls) ioctl(t *share.Tape, name string, fd int, request uintptr, arg unsafe.Pointer) error {
	_, err := c.int(t, name, c.ioctlFn, uintptr(fd), request, uintptr(arg), 0)
	return err
}

// quietIOCTL makes a request that is in no phase.
func quietIOCTL(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// nodes are the device nodes that allocators opened; -1 while they did not.
type nodes struct{ udmabuf, heap, card int }

var noNodes = nodes{-1, -1, -1}

func (n *nodes) close() error {
	var err error
	for _, fd := range []*int{&n.udmabuf, &n.heap, &n.card} {
		if *fd >= 0 {
			err = errors.Join(err, unix.Close(*fd))
			*fd = -1
		}
	}
	return err
}

func (d *device) udmabufNode() (_ int, err error) {
	if d.nodes.udmabuf < 0 {
		d.nodes.udmabuf, err = openNode(d.root, "/dev/udmabuf", unix.O_RDWR,
			"the kernel has CONFIG_UDMABUF off or the module is not loaded (modprobe udmabuf)")
	}
	return d.nodes.udmabuf, err
}

func (d *device) heapNode() (_ int, err error) {
	if d.nodes.heap < 0 {
		d.nodes.heap, err = openNode(d.root, "/dev/dma_heap/system", unix.O_RDONLY,
			"the kernel has CONFIG_DMABUF_HEAPS or CONFIG_DMABUF_HEAPS_SYSTEM off")
	}
	return d.nodes.heap, err
}

// cardNode opens the first display device that has dumb buffers. Render nodes refuse them.
func (d *device) cardNode() (int, error) {
	if d.nodes.card >= 0 {
		return d.nodes.card, nil
	}
	found, _ := filepath.Glob(d.root + "/dev/dri/card[0-9]*")
	slices.SortFunc(found, func(a, b string) int {
		if n := len(a) - len(b); n != 0 {
			return n // card2 before card10
		}
		return strings.Compare(a, b)
	})
	if len(found) == 0 {
		return -1, &share.Unsupported{Op: "/dev/dri/card*", Answer: unix.ENOENT, Hint: "no display driver is loaded (modprobe vgem makes a virtual device)"}
	}
	var first error
	for _, name := range found {
		path := strings.TrimPrefix(name, d.root)
		fd, err := openNode(d.root, path, unix.O_RDWR, "the device has gone")
		if err == nil {
			// Who opens a card first becomes its master, which a display server must be able to be.
			_ = quietIOCTL(fd, drmDropMaster, nil)
			if err = d.tryDumb(fd, path); err == nil {
				d.nodes.card = fd
				return fd, nil
			}
			_ = unix.Close(fd)
		}
		if first == nil {
			first = err
		}
	}
	return -1, first
}

// tryDumb makes the smallest dumb buffer there is and gives it back: whether a device has any is known by trying. (The
// answer to DRM_CAP_DUMB_BUFFER is EOPNOTSUPP for drivers without a screen, such as vgem, which have them all the same.)
func (d *device) tryDumb(fd int, path string) error {
	c := &d.args.create
	c.height, c.width, c.bpp, c.flags, c.handle, c.size = 1, dumbRow, 8, 0, 0, 0
	if err := quietIOCTL(fd, drmCreateDumb, unsafe.Pointer(c)); err != nil {
		return refused(path+": ioctl(DRM_IOCTL_MODE_CREATE_DUMB)", err, "this display driver has no dumb buffers")
	}
	d.args.destroy.handle = c.handle
	return quietIOCTL(fd, drmDestroyDumb, unsafe.Pointer(&d.args.destroy))
}

// udmabufHint explains why /dev/udmabuf refuses a size.
func udmabufHint(d *device, bytes int64) string {
	u := sysinfo.ReadUdmabuf(d.fsys)
	if u == nil || u.MaxSize == nil || bytes <= int64(*u.MaxSize) {
		return ""
	}
	return fmt.Sprintf("the limit is %s: echo %d > /sys/module/udmabuf/parameters/size_limit_mb",
		share.FormatSize(int64(*u.MaxSize)), (bytes+1<<20-1)>>20)
}

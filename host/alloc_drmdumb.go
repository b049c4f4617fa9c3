package host

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
)

// dumbRow is the width in bytes of the rows of a dumb buffer that is used as plain memory. The kernel computes sizes in 32
// bits (drivers/gpu/drm/drm_dumb_buffers.c), whatever the shape.
const dumbRow = 4096

// dumbBuffer is a dumb buffer of a display device: memory that any driver with a screen can give. The producer fills it
// through the device; export makes a dma-buf of it.
type dumbBuffer struct {
	extent
	origin
	gem uint32 // GEM handle
}

func allocDumb(t *share.Tape, d *device, r share.Request) (_ *dumbBuffer, err error) {
	card, err := d.cardNode()
	if err != nil {
		return nil, err
	}
	bytes, err := roundUp(r, max(dumbRow, d.pageSize))
	if err != nil {
		return nil, err
	}
	if bytes >= 1<<32 {
		return nil, &share.Unsupported{Op: "dumb buffer of " + share.FormatSize(bytes), Hint: "DRM limits dumb buffers to less than 4 GiB"}
	}
	b, c := &dumbBuffer{extent: extent{dev: d, req: r}}, d.calls
	a := &d.args.create
	a.height, a.width, a.bpp, a.flags, a.handle, a.size = uint32(bytes/dumbRow), dumbRow, 8, 0, 0, 0
	if err := c.ioctl(t, "ioctl(DRM_IOCTL_MODE_CREATE_DUMB)", card, drmCreateDumb, unsafe.Pointer(a)); err != nil {
		return nil, refused("ioctl(DRM_IOCTL_MODE_CREATE_DUMB) of "+share.FormatSize(bytes), err, memoryHint(d.fsys, err, bytes))
	}
	b.gem = a.handle
	defer func() {
		if err != nil {
			discard(b.mem)
			_ = quietIOCTL(card, drmDestroyDumb, unsafe.Pointer(b.destroyArg()))
		}
	}()
	if int64(a.size) < bytes || a.size >= 1<<40 {
		return nil, fmt.Errorf("ioctl(DRM_IOCTL_MODE_CREATE_DUMB): asked for %d bytes, got %d", bytes, a.size)
	}
	bytes = int64(a.size) // drivers round rows up
	m := &d.args.mapDumb
	m.handle, m.pad, m.offset = b.gem, 0, 0
	if err := c.ioctl(t, "ioctl(DRM_IOCTL_MODE_MAP_DUMB)", card, drmMapDumb, unsafe.Pointer(m)); err != nil {
		return nil, refused("ioctl(DRM_IOCTL_MODE_MAP_DUMB)", err, "")
	}
	if b.mem, err = c.mapShared(t, card, int64(m.offset), bytes); err != nil {
		return nil, refused("mmap of a dumb buffer of "+share.FormatSize(bytes), err, addressHint(d.fsys, err, bytes))
	}
	return b, nil
}

// destroyArg is the argument of DRM_IOCTL_MODE_DESTROY_DUMB.
func (b *dumbBuffer) destroyArg() *struct{ handle uint32 } {
	a := &b.dev.args.destroy
	a.handle = b.gem
	return a
}

func (b *dumbBuffer) export(t *share.Tape) (int, error) {
	a := &b.dev.args.prime
	a.handle, a.flags, a.fd = b.gem, unix.O_RDWR|unix.O_CLOEXEC, -1
	if err := b.dev.calls.ioctl(t, "ioctl(DRM_IOCTL_PRIME_HANDLE_TO_FD)", b.dev.nodes.card, drmPrimeHandleFD, unsafe.Pointer(a)); err != nil {
		return -1, refused("ioctl(DRM_IOCTL_PRIME_HANDLE_TO_FD)", err, descriptorHint(err))
	}
	return int(a.fd), nil
}

// Release unmaps and destroys the buffer. Its memory lives on as long as a dma-buf of it does.
func (b *dumbBuffer) Release(t *share.Tape) error {
	err := b.dev.calls.unmap(t, &b.mem)
	if e := b.dev.calls.ioctl(t, "ioctl(DRM_IOCTL_MODE_DESTROY_DUMB)", b.dev.nodes.card, drmDestroyDumb, unsafe.Pointer(b.destroyArg())); e != nil {
		err = errors.Join(err, fmt.Errorf("ioctl(DRM_IOCTL_MODE_DESTROY_DUMB): %w", e))
	}
	return err
}

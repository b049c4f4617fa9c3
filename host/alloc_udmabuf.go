package host

import (
	"unsafe"

	"gpushare-bench/share"
)

// udmabuf is a memfd that /dev/udmabuf turns into a dma-buf when it is exported (drivers/dma-buf/udmabuf.c). The producer
// fills it through the memfd: the pages are the same.
type udmabuf struct {
	memfdBuffer
	origin
}

func allocUdmabuf(t *share.Tape, d *device, r share.Request) (*udmabuf, error) {
	if _, err := d.udmabufNode(); err != nil {
		return nil, err
	}
	b, err := newMemfd(t, d, r, 0, d.pageSize)
	if err != nil {
		return nil, err
	}
	b.fromStart = true
	return &udmabuf{memfdBuffer: *b}, nil
}

// export makes a dma-buf of all pages of the memfd.
func (b *udmabuf) export(t *share.Tape) (int, error) {
	const cloexec = 1 // UDMABUF_FLAGS_CLOEXEC
	c, a := b.dev.calls, &b.dev.args.udmabuf
	a.memfd, a.flags, a.offset, a.size = uint32(b.fd), cloexec, 0, uint64(b.mem.bytes)
	fd, err := c.int(t, "ioctl(UDMABUF_CREATE)", c.ioctlFn, uintptr(b.dev.nodes.udmabuf), udmabufCreate, uintptr(unsafe.Pointer(a)), 0)
	if err != nil {
		return -1, refused("ioctl(UDMABUF_CREATE) of "+share.FormatSize(b.mem.bytes), err, udmabufHint(b.dev, b.mem.bytes))
	}
	return fd, nil
}

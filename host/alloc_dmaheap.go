package host

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
)

// heapBuffer is a dma-buf of the system heap (drivers/dma-buf/heaps/system_heap.c).
type heapBuffer struct {
	extent
	access
	origin
}

// allocDMAHeap takes a buffer from /dev/dma_heap/system. It is a dma-buf from the start.
func allocDMAHeap(t *share.Tape, d *device, r share.Request) (_ *heapBuffer, err error) {
	node, err := d.heapNode()
	if err != nil {
		return nil, err
	}
	bytes, err := roundUp(r, d.pageSize)
	if err != nil {
		return nil, err
	}
	b, c, a := &heapBuffer{extent: extent{dev: d, req: r, unit: d.pageSize, fromStart: true}}, d.calls, &d.args.heap
	a.len, a.fd, a.fdFlags, a.heapFlags = uint64(bytes), 0, unix.O_RDWR|unix.O_CLOEXEC, 0
	if err := c.ioctl(t, "ioctl(DMA_HEAP_IOCTL_ALLOC)", node, dmaHeapAlloc, unsafe.Pointer(a)); err != nil {
		return nil, refused("ioctl(DMA_HEAP_IOCTL_ALLOC) of "+share.FormatSize(bytes), err, memoryHint(d.fsys, err, bytes))
	}
	b.access = access{d.calls, &d.args, int(a.fd)}
	if b.mem, err = c.mapShared(t, b.fd, 0, bytes); err != nil {
		discard(span{}, b.fd)
		return nil, refused("mmap of a dma-heap's buffer of "+share.FormatSize(bytes), err, addressHint(d.fsys, err, bytes))
	}
	return b, nil
}

func (b *heapBuffer) export(t *share.Tape) (int, error) { return b.dev.calls.duplicate(t, b.fd) }

// Release unmaps and closes the buffer.
func (b *heapBuffer) Release(t *share.Tape) error {
	return errors.Join(b.dev.calls.unmap(t, &b.mem), b.dev.calls.closeFD(t, b.fd))
}

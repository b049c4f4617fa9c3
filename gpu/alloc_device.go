package gpu

import (
	"errors"

	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// allocDevice is the classic allocation, cuMemAlloc.
var allocDevice = allocator{
	name: "device", summary: "device memory (cuMemAlloc)",
	alloc: func(t *share.Tape, d *device, r share.Request) (*buffer, error) {
		p, err := d.th.MemAlloc(wholePages(r))
		if err != nil {
			return nil, err
		}
		return d.plain(r, p, func(*share.Tape) error { return d.th.MemFree(p) })
	},
}

// allocPinned is page-locked host memory, cuMemAllocHost.
var allocPinned = allocator{
	name: "pinned", summary: "pinned host memory (cuMemAllocHost)",
	alloc: func(t *share.Tape, d *device, r share.Request) (*buffer, error) {
		mem, err := d.th.MemAllocHost(wholePages(r))
		if err != nil {
			return nil, err
		}
		p, err := d.quiet.MemHostDevicePtr(mem)
		if err != nil {
			return nil, errors.Join(err, d.quiet.MemFreeHost(mem))
		}
		return d.plain(r, p, func(*share.Tape) error { return d.th.MemFreeHost(mem) })
	},
}

// allocAsync is the stream-ordered allocation, cuMemAllocAsync. It comes from the device's own pool, which can't be
// shared; the memory itself can, where the driver grants it.
var allocAsync = allocator{
	name: "async", summary: "stream-ordered device memory (cuMemAllocAsync)",
	needs: []string{"cuMemAllocAsync", "cuMemFreeAsync"},
	alloc: func(t *share.Tape, d *device, r share.Request) (*buffer, error) {
		p, err := d.th.MemAllocAsync(wholePages(r), d.stream)
		if err != nil {
			return nil, err
		}
		free := func(*share.Tape) error {
			return errors.Join(d.th.MemFreeAsync(p, d.stream), d.th.StreamSynchronize(d.stream))
		}
		if err := d.th.StreamSynchronize(d.stream); err != nil {
			return nil, errors.Join(err, free(t))
		}
		return d.plain(r, p, free)
	},
}

// allocManaged is unified memory, cuMemAllocManaged.
var allocManaged = allocator{
	name: "managed", summary: "managed memory (cuMemAllocManaged)",
	alloc: func(t *share.Tape, d *device, r share.Request) (*buffer, error) {
		p, err := d.th.MemAllocManaged(wholePages(r))
		if err != nil {
			return nil, err
		}
		return d.plain(r, p, func(*share.Tape) error { return d.th.MemFree(p) })
	},
}

// wholePages is the size to allocate where the driver rounds as it likes: whole host pages, so that the dma-buf of a small
// buffer, which consists of such pages, shares nothing else.
func wholePages(r share.Request) int64 { return roundUp(r.Offset+r.Bytes, pageSize) }

// plain makes the buffer of an allocation that needs no handle. The driver knows how much it really took.
func (d *device) plain(r share.Request, p cuda.DevicePtr, free func(*share.Tape) error) (*buffer, error) {
	b := &buffer{d: d, ptr: p, bytes: r.Bytes, offset: r.Offset, allocated: wholePages(r), free: free}
	if _, size, err := d.quiet.MemGetAddressRange(p); err == nil {
		b.allocated = max(b.allocated, size)
	}
	return b, nil
}

package host

import (
	"cmp"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
)

// extent is what every buffer has: an allocation mapped into this process, and which part of it is asked for and shared.
type extent struct {
	dev *device
	mem span // the whole allocation, rounded up to its granularity
	req share.Request
	// unit is what sizes and offsets are rounded to, in bytes; 0 where the allocator has another rule.
	unit      int64
	fromStart bool // the consumer maps it from its start up to the end of the range
}

// Rounded says what is mapped in place of a range that is not made of whole pages.
func (e *extent) Rounded() string {
	if e.unit == 0 || e.req.Offset%e.unit == 0 && e.req.Bytes%e.unit == 0 {
		return ""
	}
	first, end := e.req.Offset/e.unit*e.unit, (e.req.Offset+e.req.Bytes+e.unit-1)/e.unit*e.unit
	if e.fromStart {
		first = 0
	}
	asked := share.FormatExactly(e.req.Bytes)
	if e.req.Offset != 0 {
		asked += " at offset " + share.FormatExactly(e.req.Offset)
	}
	return fmt.Sprintf("%s are mapped for %s: whole pages of %s", share.FormatExactly(end-first), asked, share.FormatExactly(e.unit))
}

// Whole is the allocation as requested, offset included.
func (e *extent) Whole() share.Region {
	return share.Region{Addr: e.mem.addr, Bytes: e.req.Offset + e.req.Bytes}
}

// Region is the range that is shared.
func (e *extent) Region() share.Region {
	return share.Region{Addr: e.mem.addr + uintptr(e.req.Offset), Bytes: e.req.Bytes, First: uint64(e.req.Offset / 8)}
}

// Allocated is the number of bytes really taken.
func (e *extent) Allocated() int64 { return e.mem.bytes }

// handle describes the shared range with the given descriptor.
func (e *extent) handle(fd int) share.Handle {
	return share.Handle{FD: fd, Bytes: e.req.Bytes, Offset: e.req.Offset, Allocated: e.mem.bytes}
}

// roundUp rounds a request up to the granularity, in bytes. The shared range must start at a whole word of the pattern.
func roundUp(r share.Request, granularity int64) (int64, error) {
	if r.Bytes < 1 || r.Bytes > share.MaxSize || r.Offset < 0 || r.Offset > share.MaxSize || r.Offset%8 != 0 {
		return 0, fmt.Errorf("request of %d bytes at offset %d: the size must be 1 to %d, the offset a multiple of 8", r.Bytes, r.Offset, int64(share.MaxSize))
	}
	return (r.Offset + r.Bytes + granularity - 1) / granularity * granularity, nil
}

// memfdBuffer is a memfd that is mapped into the producer.
type memfdBuffer struct {
	extent
	fd int
}

// allocMemfd makes a memfd of base pages.
func allocMemfd(t *share.Tape, d *device, r share.Request) (*memfdBuffer, error) {
	return newMemfd(t, d, r, 0, d.pageSize)
}

// allocMemfdHuge makes a memfd of huge pages of the machine's default size. Huge pages come from a pool that is empty
// unless an administrator fills it; mmap reserves them there and says so when there are too few.
func allocMemfdHuge(t *share.Tape, d *device, r share.Request) (*memfdBuffer, error) {
	if d.hugePage == 0 {
		return nil, &share.Unsupported{Op: "memfd_create(MFD_HUGETLB)", Hint: hugePageHint(d.fsys, r.Bytes)}
	}
	return newMemfd(t, d, r, unix.MFD_HUGETLB, d.hugePage)
}

// newMemfd makes, sizes, seals and maps a memfd. F_SEAL_SHRINK lets an importer trust the size that it has read, and
// udmabuf asks for it (drivers/dma-buf/udmabuf.c).
func newMemfd(t *share.Tape, d *device, r share.Request, flags uintptr, granularity int64) (_ *memfdBuffer, err error) {
	bytes, err := roundUp(r, granularity)
	if err != nil {
		return nil, err
	}
	b, c := &memfdBuffer{extent: extent{dev: d, req: r, unit: granularity}, fd: -1}, d.calls
	defer func() {
		if err != nil {
			discard(b.mem, b.fd)
		}
	}()
	hint := func(err error) string {
		if h := addressHint(d.fsys, err, bytes); h != "" {
			return h
		}
		if flags&unix.MFD_HUGETLB != 0 {
			return hugePageHint(d.fsys, bytes)
		}
		return memoryHint(d.fsys, err, bytes)
	}
	b.fd, err = c.int(t, "memfd_create", c.memfdCreate, uintptr(unsafe.Pointer(d.memfdName)), unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|flags, 0, 0)
	if err != nil {
		return nil, refused("memfd_create", err, cmp.Or(descriptorHint(err), hint(err)))
	}
	if _, err = c.int(t, "ftruncate", c.ftruncate, uintptr(b.fd), uintptr(bytes), 0, 0); err != nil {
		return nil, refused("ftruncate of a memfd to "+share.FormatSize(bytes), err, hint(err))
	}
	if _, err = c.int(t, "fcntl(F_ADD_SEALS)", c.fcntl, uintptr(b.fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK, 0); err != nil {
		return nil, refused("fcntl(F_ADD_SEALS, F_SEAL_SHRINK)", err, "")
	}
	if b.mem, err = c.mapShared(t, b.fd, 0, bytes); err != nil {
		return nil, refused("mmap of a memfd of "+share.FormatSize(bytes), err, hint(err))
	}
	return b, nil
}

// Release unmaps and closes the memfd.
func (b *memfdBuffer) Release(t *share.Tape) error {
	return errors.Join(b.dev.calls.unmap(t, &b.mem), b.dev.calls.closeFD(t, b.fd))
}

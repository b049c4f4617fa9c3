package gpu

import (
	"errors"
	"fmt"
	"os"

	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// buffer is the producer's memory.
type buffer struct {
	d         *device
	allocator string
	ptr       cuda.DevicePtr // base of the allocation; 0 while a vmm-unmapped buffer has no address
	bytes     int64          // shared
	offset    int64          // of the shared range in the allocation
	allocated int64          // taken, rounded up to the granularity
	handle    cuda.MemHandle // of VMM allocations
	pool      cuda.MemPool   // of pool allocations
	unit      int64          // VMM allocations have a multiple of it, in bytes
	shared    int64          // bytes that the handle opens in place of those asked for; 0 for just those
	rule      string         // why
	unmapped  bool           // has an address only between BeginAccess and EndAccess
	free      func(*share.Tape) error
}

func (b *buffer) Allocated() int64 { return b.allocated }

func (b *buffer) Whole() share.Region {
	return share.Region{Addr: uintptr(b.ptr), Bytes: b.offset + b.bytes}
}

func (b *buffer) Region() share.Region {
	return share.Region{Addr: uintptr(b.ptr) + uintptr(b.offset), Bytes: b.bytes, First: uint64(b.offset / 8)}
}

// BeginAccess gives a buffer that is exported unmapped an address for as long as its bytes are written or checked. It is
// not part of what is measured.
func (b *buffer) BeginAccess(*share.Tape) (err error) {
	if !b.unmapped {
		return nil
	}
	d, size := b.d, b.allocated
	if b.ptr, err = d.quiet.MemAddressReserve(size, 0); err != nil {
		return err
	}
	if err = d.quiet.MemMap(b.ptr, size, b.handle); err != nil {
		p := b.ptr
		b.ptr = 0
		return errors.Join(err, d.quiet.MemAddressFree(p, size))
	}
	if err = d.quiet.MemSetAccess(b.ptr, size, cuda.AccessReadWrite, cuda.AtDevice(d.dev)); err != nil {
		return errors.Join(err, b.EndAccess(nil))
	}
	return nil
}

// EndAccess undoes BeginAccess.
func (b *buffer) EndAccess(*share.Tape) error {
	if !b.unmapped {
		return nil
	}
	p := b.ptr
	b.ptr = 0
	return unmapRange(b.d.quiet, p, b.allocated)
}

// Release frees the buffer under the phase that the tape is in.
func (b *buffer) Release(t *share.Tape) error {
	b.d.record(t)
	return b.free(t)
}

// Rounded says what the last export shared in place of the range.
func (b *buffer) Rounded() string {
	if b.shared == 0 {
		return ""
	}
	asked := share.FormatExactly(b.bytes)
	if b.offset != 0 {
		asked += " at offset " + share.FormatExactly(b.offset)
	}
	unit := b.unit
	if b.rule == pageRule {
		unit = pageSize
	}
	return fmt.Sprintf("%s are shared and mapped for %s: %s %s", share.FormatExactly(b.shared), asked, b.rule, share.FormatExactly(unit))
}

// What is shared and mapped in place of a range that does not begin and end as it should.
const (
	pageRule = "a dma-buf consists of whole host pages of"
	unitRule = "a handle opens a whole allocation, and the granularity of those is"
)

// wholeAllocation notes that the handle opens more than a range which is not made of whole units.
func (b *buffer) wholeAllocation() {
	if b.offset%b.unit != 0 || b.bytes%b.unit != 0 {
		b.shared, b.rule = b.allocated, unitRule
	}
}

// start is the address where the shared range begins.
func (b *buffer) start() cuda.DevicePtr { return b.ptr + cuda.DevicePtr(b.offset) }

// mapping is the consumer's view of a shared buffer.
type mapping struct {
	d     *device
	ptr   cuda.DevicePtr // where the shared range begins
	bytes int64
	first uint64 // index, in the pattern, of its first word
	unmap func(*share.Tape) error
}

func (m *mapping) Region() share.Region {
	return share.Region{Addr: uintptr(m.ptr), Bytes: m.bytes, First: m.first}
}

// Unmap gives everything up under the phase that the tape is in.
func (m *mapping) Unmap(t *share.Tape) error {
	m.d.record(t)
	return m.unmap(t)
}

// roundUp rounds n up to a multiple of unit.
func roundUp(n, unit int64) int64 { return (n + unit - 1) / unit * unit }

// pageSize is the host's page: what dma-buf ranges are aligned to.
var pageSize = int64(os.Getpagesize())

// mapVMM gives an allocation an address that the device can use: reserve, map, set access. It undoes itself on error.
func (d *device) mapVMM(h cuda.MemHandle, size int64) (p cuda.DevicePtr, err error) {
	if p, err = d.th.MemAddressReserve(size, 0); err != nil {
		return 0, err
	}
	if err = d.th.MemMap(p, size, h); err != nil {
		return 0, errors.Join(err, d.quiet.MemAddressFree(p, size))
	}
	if err = d.th.MemSetAccess(p, size, cuda.AccessReadWrite, cuda.AtDevice(d.dev)); err != nil {
		return 0, errors.Join(err, unmapRange(d.quiet, p, size))
	}
	return p, nil
}

// unmapVMM is mapVMM's counterpart.
func (d *device) unmapVMM(p cuda.DevicePtr, size int64) error { return unmapRange(d.th, p, size) }

// unmapRange gives up a mapping and its address. What can't be unmapped keeps its address: nothing else may come to lie
// there.
func unmapRange(th *cuda.Thread, p cuda.DevicePtr, size int64) error {
	if err := th.MemUnmap(p, size); err != nil {
		return err
	}
	return th.MemAddressFree(p, size)
}

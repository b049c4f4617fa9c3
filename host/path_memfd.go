package host

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
)

// memfd shares an anonymous file in memory (memfd_create(2)): the descriptor travels, each process maps it.
var memfd = share.Path{Name: "memfd", Carrier: share.FD, Summary: "anonymous file in memory; the consumer maps its descriptor"}

var memfdExporter = share.ExporterOf(memfd, []string{"memfd", "memfd-huge"}, 0, func(t *share.Tape, b *memfdBuffer) (share.Handle, error) {
	fd, err := b.dev.calls.duplicate(t, b.fd)
	if err != nil {
		return share.NoHandle(), err
	}
	return b.handle(fd), nil
})

var memfdImporter = share.ImporterOf(memfd, func(t *share.Tape, d *device, h share.Handle) (*mapping, error) {
	m, err := importFD(t, d, h, pageOf(h.FD), false, nil)
	if err != nil {
		return nil, fmt.Errorf("import memfd: %w", err)
	}
	return m, nil
})

// mapping is the consumer's view of a descriptor.
type mapping struct {
	dev    *device
	fd     int
	mem    span
	region share.Region
}

// importFD takes over the handle's descriptor: size check under Import, mmap under Map. What is mapped are the whole
// pages, of the given size in bytes, that hold the shared range; with fromStart all pages up to there as well.
// mmapHint may be nil; it explains a refused mmap.
func importFD(t *share.Tape, d *device, h share.Handle, page int64, fromStart bool, mmapHint func(fd int) string) (_ *mapping, err error) {
	m := &mapping{dev: d, fd: h.FD}
	defer func() {
		if err != nil {
			discard(m.mem, m.fd)
		}
	}()
	if h.FD < 0 || h.Bytes < 1 || h.Bytes > share.MaxSize || h.Offset < 0 || h.Offset > share.MaxSize || h.Offset%8 != 0 {
		return nil, fmt.Errorf("handle with descriptor %d, %d bytes at offset %d: not one that this path makes", h.FD, h.Bytes, h.Offset)
	}
	t.Enter(share.Import)
	size, err := d.calls.size(t, h.FD)
	if err != nil {
		return nil, err
	}
	if size < h.Offset+h.Bytes {
		return nil, fmt.Errorf("the object has %d bytes, too few for the %d bytes at offset %d that the handle promises", size, h.Bytes, h.Offset)
	}
	t.Enter(share.Map)
	first := h.Offset / page * page
	if fromStart {
		first = 0
	}
	end := (h.Offset + h.Bytes + page - 1) / page * page
	if m.mem, err = d.calls.mapShared(t, h.FD, first, end-first); err != nil {
		hint := addressHint(d.fsys, err, end-first)
		if hint == "" && mmapHint != nil {
			hint = mmapHint(h.FD)
		}
		return nil, refused("mmap of "+share.FormatSize(end-first), err, hint)
	}
	m.region = share.Region{Addr: m.mem.addr + uintptr(h.Offset-first), Bytes: h.Bytes, First: h.First()}
	return m, nil
}

// Region is the shared range.
func (m *mapping) Region() share.Region { return m.region }

// Unmap gives up the mapping and the descriptor.
func (m *mapping) Unmap(t *share.Tape) error {
	return errors.Join(m.dev.calls.unmap(t, &m.mem), m.dev.calls.closeFD(t, m.fd))
}

// pageOf is the size in bytes of the pages that a memfd is made of: mmap of huge pages wants multiples of theirs.
func pageOf(fd int) int64 {
	var st unix.Statfs_t
	if err := unix.Fstatfs(fd, &st); err == nil && st.Type == unix.HUGETLBFS_MAGIC && st.Bsize > 0 {
		return st.Bsize
	}
	return int64(os.Getpagesize())
}

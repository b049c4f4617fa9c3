package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"gpushare-bench/cuda"
	"gpushare-bench/share"
)

// staged is the baseline without sharing: the producer copies the buffer to pinned host memory that both processes have
// mapped, the consumer copies it from there to memory of its own. The host memory is made and pinned once and kept for
// later buffers that are no larger, outside the timed regions, as a program that stages does; export and map are the two
// copies.
var staged = path{
	Path:       share.Path{Name: "staged", Carrier: share.FD, Copies: true, Summary: "no sharing: copy to pinned shared host memory, copy from it (the baseline)"},
	allocators: anyAllocators,
	handles:    0,
	export: func(t *share.Tape, b *buffer) (share.Handle, error) {
		h := share.NoHandle()
		s, err := b.d.stagingFor(b.bytes)
		if err != nil {
			return h, err
		}
		if err := b.d.th.MemcpyDtoH(s.mem[:b.bytes], b.start()); err != nil {
			return h, err
		}
		if h.FD, err = syscall.Dup(s.fd); err != nil {
			return share.NoHandle(), fmt.Errorf("dup the staging memory's descriptor: %w", err)
		}
		syscall.CloseOnExec(h.FD)
		h.Start = b.offset // the copy begins with the shared range
		return h, nil
	},
	imp: func(t *share.Tape, d *device, h share.Handle) (*mapping, error) {
		s, err := d.stagingOf(h.FD, h.Bytes)
		if err != nil {
			return nil, err
		}
		t.Enter(share.Map)
		p, err := d.th.MemAlloc(h.Bytes)
		if err != nil {
			return nil, err
		}
		if err := d.th.MemcpyHtoD(p, s.mem[:h.Bytes]); err != nil {
			return nil, errors.Join(err, d.quiet.MemFree(p))
		}
		return &mapping{d: d, ptr: p, bytes: h.Bytes, first: h.First(), unmap: func(*share.Tape) error { return d.th.MemFree(p) }}, nil
	},
}

// staging is shared host memory, pinned in this process.
type staging struct {
	fd    int // of the memory; -1 in the consumer
	inode uint64
	mem   []byte
}

// close unpins and unmaps the memory. A nil staging has none.
func (s *staging) close(q *cuda.Thread) error {
	if s == nil {
		return nil
	}
	err := errors.Join(q.MemHostUnregister(s.mem), syscall.Munmap(s.mem))
	closeFD(s.fd)
	return err
}

// memfdCreate is the number of memfd_create(2), which package syscall lacks.
var memfdCreate = map[string]uintptr{"amd64": 319, "arm64": 279}[runtime.GOARCH]

// Flags of memfd_create(2) and fcntl(2), which package syscall lacks.
const (
	mfdCloexec      = 1
	mfdAllowSealing = 2
	fAddSeals       = 1033
	fSealSeal       = 1
	fSealShrink     = 2
	fSealGrow       = 4
)

// stagingFor is the producer's shared memory for a buffer of n bytes. It can't be shrunk, so that no end loses pages that
// it has mapped.
func (d *device) stagingFor(n int64) (*staging, error) {
	if d.stagingOut != nil && int64(len(d.stagingOut.mem)) >= n {
		return d.stagingOut, nil
	}
	err := d.stagingOut.close(d.quiet)
	d.stagingOut = nil
	if err != nil {
		return nil, err
	}
	size := roundUp(n, pageSize)
	name := []byte("gpushare-staging\x00")
	r, _, errno := syscall.Syscall(memfdCreate, uintptr(unsafe.Pointer(&name[0])), mfdCloexec|mfdAllowSealing, 0)
	if errno != 0 {
		return nil, fmt.Errorf("memfd_create for the staging memory: %w", errno)
	}
	fd := int(r)
	if err := syscall.Ftruncate(fd, size); err != nil {
		closeFD(fd)
		return nil, fmt.Errorf("ftruncate the staging memory to %s: %w", share.FormatSize(size), err)
	}
	if _, _, errno := syscall.Syscall(syscall.SYS_FCNTL, r, fAddSeals, fSealShrink|fSealGrow|fSealSeal); errno != 0 {
		closeFD(fd)
		return nil, fmt.Errorf("seal the staging memory: %w", errno)
	}
	s, err := d.pin(fd, size)
	if err != nil {
		closeFD(fd)
		return nil, err
	}
	s.fd = fd
	d.stagingOut = s
	return s, nil
}

// stagingOf is the consumer's view of the producer's shared memory, which must have at least n bytes. It owns the
// descriptor.
func (d *device) stagingOf(fd int, n int64) (*staging, error) {
	defer closeFD(fd)
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("fstat the staging memory: %w", err)
	}
	if n < 1 || st.Size < n {
		return nil, fmt.Errorf("the staging memory has %d bytes, too few for the %d that the handle promises", st.Size, n)
	}
	if d.stagingIn != nil && d.stagingIn.inode == st.Ino {
		return d.stagingIn, nil
	}
	err := d.stagingIn.close(d.quiet)
	d.stagingIn = nil
	if err != nil {
		return nil, err
	}
	d.stagingIn, err = d.pin(fd, st.Size)
	return d.stagingIn, err
}

// pin maps and registers size bytes of the memory of fd.
func (d *device) pin(fd int, size int64) (*staging, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, fmt.Errorf("fstat the staging memory: %w", err)
	}
	mem, err := syscall.Mmap(fd, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap %s of staging memory: %w", share.FormatSize(size), err)
	}
	if err := d.quiet.MemHostRegister(mem, cuda.HostPortable|cuda.HostDeviceMap); err != nil {
		return nil, errors.Join(err, syscall.Munmap(mem))
	}
	return &staging{fd: -1, inode: st.Ino, mem: mem}, nil
}

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
// mapped, the consumer copies it from there to memory of its own. The host memory is made and pinned once for each size,
// outside the timed regions, as a program that stages keeps it; export and map are the two copies.
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
		h.FD, err = syscall.Dup(s.fd)
		syscall.CloseOnExec(h.FD)
		h.Offset = b.offset
		return h, err
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
		return &mapping{d: d, ptr: p, bytes: h.Bytes, first: h.Offset, unmap: func(*share.Tape) error { return d.th.MemFree(p) }}, nil
	},
}

// staging is shared host memory, pinned in this process.
type staging struct {
	fd  int // of the memory; -1 in the consumer
	mem []byte
}

// close unpins and unmaps the memory.
func (s *staging) close(q *cuda.Thread) error {
	err := errors.Join(q.MemHostUnregister(s.mem), syscall.Munmap(s.mem))
	if s.fd >= 0 {
		err = errors.Join(err, syscall.Close(s.fd))
	}
	return err
}

// memfdCreate is the number of memfd_create(2), which package syscall lacks.
var memfdCreate = map[string]uintptr{"amd64": 319, "arm64": 279}[runtime.GOARCH]

// mfdCloexec is MFD_CLOEXEC.
const mfdCloexec = 1

// stagingFor is the producer's shared memory for buffers of n bytes.
func (d *device) stagingFor(n int64) (*staging, error) {
	for _, s := range d.staging {
		if s.fd >= 0 && int64(len(s.mem)) == roundUp(n, pageSize) {
			return s, nil
		}
	}
	name := []byte("gpushare-staging\x00")
	fd, _, errno := syscall.Syscall(memfdCreate, uintptr(unsafe.Pointer(&name[0])), mfdCloexec, 0)
	if errno != 0 {
		return nil, fmt.Errorf("memfd_create: %w", errno)
	}
	if err := syscall.Ftruncate(int(fd), roundUp(n, pageSize)); err != nil {
		closeFD(int(fd))
		return nil, fmt.Errorf("ftruncate the staging memory to %s: %w", share.FormatSize(n), err)
	}
	return d.pin(int(fd), true, n)
}

// stagingOf is the consumer's view of the producer's shared memory. It owns the descriptor.
func (d *device) stagingOf(fd int, n int64) (*staging, error) {
	inode, err := inodeOf(fd)
	if err != nil {
		closeFD(fd)
		return nil, err
	}
	if s := d.staging[inode]; s != nil && s.fd < 0 {
		closeFD(fd)
		return s, nil
	}
	s, err := d.pin(fd, false, n)
	if err == nil {
		closeFD(fd)
	}
	return s, err
}

// pin maps and registers the memory of fd, which is closed on error; the producer keeps it.
func (d *device) pin(fd int, keep bool, n int64) (s *staging, err error) {
	defer func() {
		if err != nil {
			closeFD(fd)
		}
	}()
	inode, err := inodeOf(fd)
	if err != nil {
		return nil, err
	}
	mem, err := syscall.Mmap(fd, 0, int(roundUp(n, pageSize)), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap %s of staging memory: %w", share.FormatSize(n), err)
	}
	if err := d.quiet.MemHostRegister(mem, cuda.HostPortable|cuda.HostDeviceMap); err != nil {
		return nil, errors.Join(err, syscall.Munmap(mem))
	}
	s = &staging{fd: -1, mem: mem}
	if keep {
		s.fd = fd
	}
	d.staging[inode] = s
	return s, nil
}

func inodeOf(fd int) (uint64, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return 0, fmt.Errorf("fstat the staging memory: %w", err)
	}
	return st.Ino, nil
}

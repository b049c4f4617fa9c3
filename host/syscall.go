package host

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"gpushare-bench/internal/dl"
	"gpushare-bench/share"
)

// calls makes the system calls that are measured, through the C library's functions and stamped on the C side.
type calls struct {
	timed *dl.Timed

	memfdCreate, ftruncate, fcntl, ioctlFn, lseek, mmap, munmap, close, memcpy uintptr // the functions' addresses
}

func newCalls() (*calls, error) {
	timed, err := dl.NewTimed()
	if err != nil {
		return nil, err
	}
	libc, err := dl.Libc()
	if err != nil {
		return nil, err
	}
	c := &calls{timed: timed}
	for _, f := range []struct {
		name string
		addr *uintptr
	}{
		{"memfd_create", &c.memfdCreate}, {"ftruncate", &c.ftruncate}, {"fcntl", &c.fcntl}, {"ioctl", &c.ioctlFn},
		{"lseek", &c.lseek}, {"mmap", &c.mmap}, {"munmap", &c.munmap}, {"close", &c.close},
		{"memcpy", &c.memcpy},
	} {
		if *f.addr, err = libc.Symbol(f.name); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// int makes a call whose result is a C int, negative for a failure, and records it as name.
//
//go:uintptrescapes
func (c *calls) int(t *share.Tape, name string, fn, a0, a1, a2, a3 uintptr) (int, error) {
	t.Starting(name)
	r := int32(c.timed.Call(fn, a0, a1, a2, a3, 0, 0))
	t.Record(name, c.timed.Start(), c.timed.End(), r >= 0)
	if r < 0 {
		return -1, c.timed.Errno()
	}
	return int(r), nil
}

// size is lseek(fd, 0, SEEK_END): the size of a memfd or dma-buf in bytes (Documentation/driver-api/dma-buf.rst).
func (c *calls) size(t *share.Tape, fd int) (int64, error) {
	t.Starting("lseek")
	r := int64(c.timed.Call(c.lseek, uintptr(fd), 0, unix.SEEK_END, 0, 0, 0))
	t.Record("lseek", c.timed.Start(), c.timed.End(), r >= 0)
	if r < 0 {
		return 0, fmt.Errorf("lseek(SEEK_END): %w", c.timed.Errno())
	}
	return r, nil
}

// span is a range of mapped memory, outside the Go heap.
type span struct {
	addr  uintptr
	bytes int64
}

// mapShared maps bytes of fd from offset, which must be a multiple of the page size, for reading and writing.
func (c *calls) mapShared(t *share.Tape, fd int, offset, bytes int64) (span, error) {
	t.Starting("mmap")
	addr := c.timed.Call(c.mmap, 0, uintptr(bytes), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED, uintptr(fd), uintptr(offset))
	ok := addr != ^uintptr(0) // MAP_FAILED
	t.Record("mmap", c.timed.Start(), c.timed.End(), ok)
	if !ok {
		return span{}, c.timed.Errno()
	}
	return span{addr, bytes}, nil
}

// unmap gives up a mapping. An empty span has none.
func (c *calls) unmap(t *share.Tape, s *span) error {
	if s.bytes == 0 {
		return nil
	}
	if _, err := c.int(t, "munmap", c.munmap, s.addr, uintptr(s.bytes), 0, 0); err != nil {
		return fmt.Errorf("munmap of %s: %w", share.FormatSize(s.bytes), err)
	}
	*s = span{}
	return nil
}

// closeFD closes a descriptor.
func (c *calls) closeFD(t *share.Tape, fd int) error {
	if _, err := c.int(t, "close", c.close, uintptr(fd), 0, 0, 0); err != nil {
		return fmt.Errorf("close descriptor %d: %w", fd, err)
	}
	return nil
}

// duplicate gives a second descriptor of the same object.
func (c *calls) duplicate(t *share.Tape, fd int) (int, error) {
	dup, err := c.int(t, "fcntl(F_DUPFD_CLOEXEC)", c.fcntl, uintptr(fd), unix.F_DUPFD_CLOEXEC, 0, 0)
	if err != nil {
		return -1, refused("fcntl(F_DUPFD_CLOEXEC)", err, descriptorHint(err))
	}
	return dup, nil
}

// discard gives up, unrecorded, what a failed call leaves behind.
func discard(s span, fds ...int) {
	if s.bytes != 0 {
		_, _, _ = syscall.Syscall(syscall.SYS_MUNMAP, s.addr, uintptr(s.bytes), 0)
	}
	for _, fd := range fds {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// bytesAt is memory that was mapped outside the Go heap. The indirection keeps vet's rule about uintptr, which is for
// memory of the Go heap, out of it.
func bytesAt(addr uintptr, n int64) []byte {
	return unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), n)
}

// wordsAt is n 8-byte words from addr on.
func wordsAt(addr uintptr, n int64) []uint64 {
	return unsafe.Slice((*uint64)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), n)
}

// ErrFault is matched by errors about memory that is mapped and yet can't be accessed (SIGBUS, SIGSEGV).
var ErrFault = errors.New("memory fault")

// catchFault turns the panic of a memory fault into an error that matches ErrFault; other panics go on. The goroutine
// must have called debug.SetPanicOnFault(true).
func catchFault(err *error) {
	switch r := recover().(type) {
	case nil:
	case interface {
		error
		Addr() uintptr // of runtime.Error for faults, since debug.SetPanicOnFault
	}:
		*err = fmt.Errorf("%w at address %#x: the object has shrunk, or its pages can't be had (a control group's limit): %w", ErrFault, r.Addr(), r)
	default:
		panic(r)
	}
}

package fdpass

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"gpushare-bench/internal/dl"

	"golang.org/x/sys/unix"
)

const (
	// MaxPayload is the most bytes that a message carries beside its descriptors.
	MaxPayload = 512
	// MaxFDs is the most descriptors that a message carries.
	MaxFDs = 8
)

// ErrInterrupted is matched by the error of a Send or Recv that [Conn.Interrupt] ended.
var ErrInterrupted = errors.New("interrupted")

// Trace, when not nil, is told of every descriptor that this package makes, with the call that made it. Only tests set
// it, before anything else is done with the package; it is never called inside a timed region.
var Trace func(fd int, call string)

func trace(fd int, call string) {
	if Trace != nil {
		Trace(fd, call)
	}
}

// A Span is a time between two readings of CLOCK_MONOTONIC, in nanoseconds.
type Span struct{ Start, End int64 }

// A Conn is one end of a socket pair between two processes. It is used by one goroutine; only Interrupt may be called
// from others. Sending and receiving allocate nothing.
type Conn struct {
	fd      int
	timeout int64 // nanoseconds; 0 for none
	peer    int32 // the only process that messages may come from; 0 for any
	timed   *dl.Timed

	sendmsg, recvmsg, closefd uintptr

	out, in       unix.Msghdr
	outVec, inVec unix.Iovec
	outBuf, inBuf [MaxPayload]byte
	outCtl, inCtl [(controlSize + 7) / 8]uint64 // aligned as struct cmsghdr must be
	fds           [scmMaxFD]int

	interrupted atomic.Bool
	mu          sync.Mutex // closing against interrupting
	closed      bool
}

// Pair makes a socket pair for two processes yet to be started: each gets one end (os/exec's ExtraFiles) and hands it to
// [FromFD]. The sockets have no names, so nobody else can connect to them, and are close-on-exec.
func Pair() (a, b *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair(AF_UNIX, SOCK_SEQPACKET): %w", err)
	}
	trace(fds[0], "socketpair")
	trace(fds[1], "socketpair")
	return os.NewFile(uintptr(fds[0]), "fdpass"), os.NewFile(uintptr(fds[1]), "fdpass"), nil
}

// FromFD makes a Conn of an inherited end of a socket pair and owns fd from then on; after an error fd is still the
// caller's. The descriptor is made blocking and close-on-exec, and the sender's process is sent with every message.
func FromFD(fd int) (*Conn, error) {
	for _, want := range []struct {
		option, value int
		what          string
	}{
		{unix.SO_DOMAIN, unix.AF_UNIX, "AF_UNIX"},
		{unix.SO_TYPE, unix.SOCK_SEQPACKET, "SOCK_SEQPACKET"},
	} {
		got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, want.option)
		if err != nil {
			return nil, fmt.Errorf("descriptor %d as a message socket: getsockopt: %w", fd, err)
		}
		if got != want.value {
			return nil, fmt.Errorf("descriptor %d as a message socket: not an %s socket", fd, want.what)
		}
	}
	unix.CloseOnExec(fd)
	if err := unix.SetNonblock(fd, false); err != nil {
		return nil, fmt.Errorf("make descriptor %d blocking: %w", fd, err)
	}
	// The sender's credentials are attached when either end has asked by then: so each end asks before it sends.
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		return nil, fmt.Errorf("ask for the sender's credentials on descriptor %d: setsockopt(SO_PASSCRED): %w", fd, err)
	}
	c := &Conn{fd: fd}
	if err := c.resolve(); err != nil {
		return nil, err
	}
	c.outVec.Base, c.inVec.Base = &c.outBuf[0], &c.inBuf[0]
	c.out.Iov, c.in.Iov = &c.outVec, &c.inVec
	c.out.SetIovlen(1)
	c.in.SetIovlen(1)
	return c, nil
}

// resolve finds the C functions that are called timed.
func (c *Conn) resolve() error {
	libc, err := dl.Libc()
	if err != nil {
		return err
	}
	if c.timed, err = dl.NewTimed(); err != nil {
		return err
	}
	for name, addr := range map[string]*uintptr{"sendmsg": &c.sendmsg, "recvmsg": &c.recvmsg, "close": &c.closefd} {
		if *addr, err = libc.Symbol(name); err != nil {
			return err
		}
	}
	return nil
}

// ExpectPeer makes Recv refuse messages that do not come from process pid; 0, the state of a new Conn, accepts any.
func (c *Conn) ExpectPeer(pid int) { c.peer = int32(pid) }

// SetTimeout limits how long a Send or a Recv waits; 0, the state of a new Conn, is without limit. A Recv that polls
// compares the reading after each poll; one that blocks is woken by the kernel (SO_RCVTIMEO), a clock tick late at
// most. The error then matches os.ErrDeadlineExceeded, and the Conn can be used on.
func (c *Conn) SetTimeout(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("timeout of a message socket: %v is negative", d)
	}
	tv := unix.NsecToTimeval(int64((d + time.Microsecond - 1) / time.Microsecond * time.Microsecond))
	for _, option := range []int{unix.SO_RCVTIMEO, unix.SO_SNDTIMEO} {
		if err := unix.SetsockoptTimeval(c.fd, unix.SOL_SOCKET, option, &tv); err != nil {
			return fmt.Errorf("timeout of a message socket: setsockopt(descriptor %d, %v): %w", c.fd, d, err)
		}
	}
	c.timeout = int64(d)
	return nil
}

// Interrupt ends a Send or Recv in progress, and all later ones, with an error that matches ErrInterrupted; the other
// end sees the end of the connection. It may be called from any goroutine:
//
//	stop := context.AfterFunc(ctx, conn.Interrupt)
func (c *Conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupted.Store(true)
	if !c.closed {
		_ = unix.Shutdown(c.fd, unix.SHUT_RDWR) // fails only when the other end is gone, which ends the waiting too
	}
}

// Close closes the socket. The other end sees io.EOF once it has read what is under way.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	c.closed = true
	fd := c.fd
	c.fd = -1
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("close message socket: %w", err)
	}
	return nil
}

// CloseFD closes a descriptor, timed: close(2) and, when it was the last reference, giving up what it stands for.
func (c *Conn) CloseFD(fd int) (Span, error) {
	r := int32(c.timed.Call(c.closefd, uintptr(fd), 0, 0, 0, 0, 0))
	span := Span{c.timed.Start(), c.timed.End()}
	if r != 0 {
		return span, fmt.Errorf("close(%d): %w", fd, c.timed.Errno())
	}
	return span, nil
}

// Overhead makes n empty timed calls and returns the median, the 99th percentile and the minimum of their spans in
// nanoseconds: what every span of this Conn contains beside the system call.
func (c *Conn) Overhead(n int) (median, p99, min int64) { return c.timed.Overhead(n) }

// control returns an ancillary buffer as bytes.
func control(words *[(controlSize + 7) / 8]uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(words)), len(words)*8)
}

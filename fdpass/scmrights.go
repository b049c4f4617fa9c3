package fdpass

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Mode is how a Recv waits.
type Mode uint8

const (
	// Polling asks again and again without sleeping: the shortest transfer, at the price of a core.
	Polling Mode = iota
	// Blocked sleeps in the kernel until the message comes: the transfer contains a wake-up.
	Blocked
)

func (m Mode) String() string {
	switch m {
	case Polling:
		return "polling"
	case Blocked:
		return "blocked"
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

var (
	// ErrPayloadTruncated is matched when a message is longer than the buffer of Recv.
	ErrPayloadTruncated = errors.New("message longer than the buffer")
	// ErrControlTruncated is matched when the kernel dropped descriptors of a message.
	ErrControlTruncated = errors.New("descriptors were dropped on receipt")
	// ErrDescriptors is matched when a message brings more descriptors than Recv was to take.
	ErrDescriptors = errors.New("too many descriptors")
	// ErrSender is matched when a message does not come from the process that ExpectPeer named.
	ErrSender = errors.New("message from another process")
)

// Send sends one message: payload, 1 to MaxPayload bytes, and fds, at most MaxFDs, which stay the caller's. It waits
// while the other end has not read what is queued (about ten messages or more; net.core.wmem_default decides). The span
// is that of sendmsg(2). The error matches io.EOF when the other end is gone.
func (c *Conn) Send(payload []byte, fds ...int) (Span, error) {
	if len(payload) == 0 || len(payload) > MaxPayload {
		return Span{}, fmt.Errorf("send %d bytes: a message has 1 to %d", len(payload), MaxPayload)
	}
	if len(fds) > MaxFDs {
		return Span{}, fmt.Errorf("send %d descriptors: a message has at most %d", len(fds), MaxFDs)
	}
	c.outVec.SetLen(copy(c.outBuf[:], payload))
	c.out.Control = nil
	c.out.SetControllen(0)
	if len(fds) > 0 {
		buf := control(&c.outCtl)
		c.out.Control = &buf[0]
		c.out.SetControllen(putRights(buf, fds))
	}
	var span Span
	for first := true; ; first = false {
		n := int(c.timed.Call(c.sendmsg, uintptr(c.fd), uintptr(unsafe.Pointer(&c.out)), unix.MSG_NOSIGNAL, 0, 0, 0))
		if first {
			span.Start = c.timed.Start()
		}
		span.End = c.timed.End()
		if n == len(payload) {
			return span, nil
		}
		if n >= 0 {
			return span, fmt.Errorf("sendmsg(descriptor %d): %d of %d bytes sent", c.fd, n, len(payload))
		}
		errno := c.timed.Errno()
		if errno == unix.EINTR && !c.interrupted.Load() && !c.expired(span) {
			continue
		}
		return span, fmt.Errorf("sendmsg(descriptor %d, %d bytes, %d descriptors): %w", c.fd, len(payload), len(fds), c.failure(errno))
	}
}

// Recv receives one message: its payload into buf, and at most maxFDs descriptors, which are the caller's from then on
// and close-on-exec; the slice fds is valid until the next Recv. A message may bring fewer: the caller compares. The
// span reaches from before the first recvmsg(2), when the waiting begins, to after the one that got the message.
//
// On an error there are no descriptors: those that came are closed. The error matches io.EOF when the other end is
// gone, os.ErrDeadlineExceeded after the time of SetTimeout, ErrInterrupted after Interrupt, and for a message that was
// received but is refused ErrPayloadTruncated, ErrControlTruncated (and unix.EMFILE where the limit on open files is
// the reason), ErrDescriptors, ErrSender or ErrMalformed.
func (c *Conn) Recv(buf []byte, maxFDs int, mode Mode) (n int, fds []int, span Span, err error) {
	if maxFDs < 0 || maxFDs > MaxFDs {
		return 0, nil, Span{}, fmt.Errorf("receive up to %d descriptors: a message has at most %d", maxFDs, MaxFDs)
	}
	if len(buf) == 0 {
		return 0, nil, Span{}, errors.New("receive into an empty buffer")
	}
	flags := uintptr(unix.MSG_CMSG_CLOEXEC)
	if mode == Polling {
		flags |= unix.MSG_DONTWAIT
	}
	ctl := control(&c.inCtl)
	c.in.Control = &ctl[0]
	c.inVec.SetLen(min(len(buf), MaxPayload))
	for first := true; ; first = false {
		c.in.SetControllen(len(ctl))
		c.in.Flags = 0
		n = int(c.timed.Call(c.recvmsg, uintptr(c.fd), uintptr(unsafe.Pointer(&c.in)), flags, 0, 0, 0))
		if first {
			span.Start = c.timed.Start()
		}
		span.End = c.timed.End()
		if n >= 0 {
			break
		}
		errno := c.timed.Errno()
		again := errno == unix.EINTR || errno == unix.EAGAIN && mode == Polling
		if again && !c.interrupted.Load() && !c.expired(span) {
			continue
		}
		return 0, nil, span, fmt.Errorf("recvmsg(descriptor %d, %v): %w", c.fd, mode, c.failure(errno))
	}
	fds, err = c.accept(n, ctl[:c.in.Controllen], maxFDs)
	if err != nil {
		return 0, nil, span, fmt.Errorf("recvmsg(descriptor %d, %v): %w", c.fd, mode, err)
	}
	copy(buf, c.inBuf[:n])
	return n, fds, span, nil
}

// accept decides whether the received message is taken; if not, it closes its descriptors.
func (c *Conn) accept(n int, control []byte, maxFDs int) (_ []int, err error) {
	a, err := parse(control, c.fds[:0])
	for _, fd := range a.fds {
		trace(fd, "recvmsg")
	}
	if err == nil {
		err = c.check(n, len(control), &a, maxFDs)
	}
	if c.in.Flags&unix.MSG_CTRUNC != 0 {
		// Before anything is closed: it would hide that the limit is reached.
		err = errors.Join(ErrControlTruncated, atFileLimit())
	}
	if err != nil {
		for _, fd := range a.fds {
			_ = unix.Close(fd)
		}
		return nil, err
	}
	return a.fds, nil
}

func (c *Conn) check(n, controlLen int, a *ancillary, maxFDs int) error {
	switch {
	case n == 0 && controlLen == 0:
		// Every message brings its sender's credentials, so this is none.
		if c.interrupted.Load() {
			return ErrInterrupted
		}
		return fmt.Errorf("the other end closed the connection: %w", io.EOF)
	case n == 0:
		return fmt.Errorf("%w: no payload", ErrMalformed)
	case c.in.Flags&unix.MSG_TRUNC != 0:
		return fmt.Errorf("%w of %d bytes", ErrPayloadTruncated, c.inVec.Len)
	case !a.haveCreds:
		return fmt.Errorf("%w: no credentials", ErrMalformed)
	case c.peer != 0 && a.pid != c.peer:
		return fmt.Errorf("%w: process %d instead of %d", ErrSender, a.pid, c.peer)
	case len(a.fds) > maxFDs:
		return fmt.Errorf("%w: %d instead of at most %d", ErrDescriptors, len(a.fds), maxFDs)
	}
	return nil
}

// atFileLimit explains a dropped descriptor: the limit on open files, or nil where that is not the reason.
func atFileLimit() error {
	fd, err := unix.Open("/", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
		return nil
	}
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return err
	}
	return fmt.Errorf("%w: this process may have %d open (ulimit -n)", err, limit.Cur)
}

// expired says whether a call that has lasted for span has used up the timeout.
func (c *Conn) expired(span Span) bool { return c.timeout > 0 && span.End-span.Start >= c.timeout }

// failure turns the errno of a call that is not tried again into an error.
func (c *Conn) failure(errno unix.Errno) error {
	switch {
	case c.interrupted.Load():
		return ErrInterrupted
	case c.timeout > 0 && (errno == unix.EAGAIN || errno == unix.EINTR):
		return fmt.Errorf("nothing happened for %v: %w", time.Duration(c.timeout), os.ErrDeadlineExceeded)
	case errno == unix.EPIPE, errno == unix.ECONNRESET, errno == unix.ENOTCONN:
		return fmt.Errorf("the other end closed the connection: %w (%w)", io.EOF, errno)
	case errno == unix.ETOOMANYREFS:
		return fmt.Errorf("%w: more descriptors are under way than this user may have open; the other end does not receive them", errno)
	}
	return errno
}

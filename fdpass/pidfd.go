package fdpass

import (
	"errors"
	"fmt"
	"os"

	"gpushare-bench/internal/dl"

	"golang.org/x/sys/unix"
)

// ErrRefused is matched when the system does not let this process take descriptors out of the other one: a property of
// the machine, which the text names as far as it can be known, not a fault of this run.
var ErrRefused = errors.New("refused by the system")

// A Process is another process from which descriptors are taken. It is used by one goroutine.
type Process struct {
	pid     int
	pidfd   int
	timed   *dl.Timed
	syscall uintptr // syscall(2) of the C library: glibc has wrappers for the pidfd calls only since 2.36
}

// OpenProcess opens process pid, a number of this process's PID namespace, with pidfd_open(2) (Linux 5.3). The span is
// that of the call. An error that matches ErrRefused means that the machine does not allow it.
func OpenProcess(pid int) (*Process, Span, error) {
	libc, err := dl.Libc()
	if err != nil {
		return nil, Span{}, err
	}
	p := &Process{pid: pid, pidfd: -1}
	if p.syscall, err = libc.Symbol("syscall"); err != nil {
		return nil, Span{}, err
	}
	if p.timed, err = dl.NewTimed(); err != nil {
		return nil, Span{}, err
	}
	fd := int(p.timed.Call(p.syscall, unix.SYS_PIDFD_OPEN, uintptr(pid), 0, 0, 0, 0))
	span := Span{p.timed.Start(), p.timed.End()}
	if fd < 0 {
		return nil, span, refusal("pidfd_open", fmt.Sprintf("process %d", pid), p.timed.Errno(), readGates(pid))
	}
	trace(fd, "pidfd_open")
	p.pidfd = fd
	return p, span, nil
}

// Fetch duplicates descriptor fd of the other process into this one with pidfd_getfd(2) (Linux 5.6). The new descriptor
// is the caller's and close-on-exec. The span is that of the call. An error that matches ErrRefused means that the
// machine does not allow it; see AllowFetch.
func (p *Process) Fetch(fd int) (int, Span, error) {
	got := int(p.timed.Call(p.syscall, unix.SYS_PIDFD_GETFD, uintptr(p.pidfd), uintptr(fd), 0, 0, 0))
	span := Span{p.timed.Start(), p.timed.End()}
	if got < 0 {
		return -1, span, refusal("pidfd_getfd", fmt.Sprintf("process %d, descriptor %d", p.pid, fd), p.timed.Errno(), readGates(p.pid))
	}
	trace(got, "pidfd_getfd")
	return got, span, nil
}

// Close closes the pidfd. Descriptors that were fetched stay open.
func (p *Process) Close() error {
	if p.pidfd < 0 {
		return nil
	}
	fd := p.pidfd
	p.pidfd = -1
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("close pidfd of process %d: %w", p.pid, err)
	}
	return nil
}

// AllowFetch lets process pid take descriptors out of this one where the Yama security module restricts that to
// descendants, which is the default of several distributions (prctl(2), PR_SET_PTRACER). It gives pid the right to
// trace this process until this process ends or calls AllowFetch again; 0 takes it back. Without Yama nothing needs to
// be allowed, and nothing is done.
func AllowFetch(pid int) error {
	err := unix.Prctl(unix.PR_SET_PTRACER, uintptr(pid), 0, 0, 0)
	if errors.Is(err, unix.EINVAL) {
		if _, statErr := os.Stat(yamaScope); errors.Is(statErr, os.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("prctl(PR_SET_PTRACER, %d): %w: there is no such process in this PID namespace", pid, err)
	}
	if err != nil {
		return fmt.Errorf("prctl(PR_SET_PTRACER, %d): %w", pid, err)
	}
	return nil
}

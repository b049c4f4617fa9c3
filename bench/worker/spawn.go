package worker

import (
	"fmt"
	"os"
	"syscall"

	"gpushare-bench/fdpass"
	"gpushare-bench/share"
)

// NewControl makes the control socket: ours for the runner, with deadlines, and theirs for the worker, blocking.
func NewControl() (ours, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("control socket: socketpair: %w", err)
	}
	if err := syscall.SetNonblock(fds[0], true); err != nil {
		_ = syscall.Close(fds[0])
		_ = syscall.Close(fds[1])
		return nil, nil, fmt.Errorf("control socket: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control of the worker"), nil
}

// NewPeerSockets makes the two ends of the socket between producer and consumer.
func NewPeerSockets() (producer, consumer *os.File, err error) { return fdpass.Pair() }

// WhereMap is the runner's view of a worker's progress word.
type WhereMap struct {
	*share.Where
	mem []byte
}

// NewWhere makes the shared memory of a progress word. The file is for the worker; the runner closes it after the start.
func NewWhere() (*WhereMap, *os.File, error) {
	f, err := fdpass.Memory("gpushare-where", share.WhereSize)
	if err != nil {
		return nil, nil, fmt.Errorf("progress word: %w", err)
	}
	mem, err := syscall.Mmap(int(f.Fd()), 0, share.WhereSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("progress word: mmap: %w", err)
	}
	return &WhereMap{Where: share.NewWhere(mem), mem: mem}, f, nil
}

// Close gives up the memory. A nil WhereMap has none.
func (w *WhereMap) Close() {
	if w != nil && w.mem != nil {
		_ = syscall.Munmap(w.mem)
		w.mem, w.Where = nil, nil
	}
}

package worker

import (
	"errors"
	"fmt"

	"gpushare-bench/fdpass"
	"gpushare-bench/share"
)

// peerProcess is the other worker as a process, which transport pidfd takes descriptors out of.
type peerProcess struct {
	pid     int // 0: not known in this process's PID namespace
	process *fdpass.Process
}

// fetch takes descriptor fd out of the other process and says when it had it. The process is opened at the first use, so
// the first cycle has that call in its transfer and the others don't.
func (p *peerProcess) fetch(t *share.Tape, fd int) (got int, end int64, err error) {
	if p.pid == 0 {
		return -1, 0, &share.Unsupported{Op: "pidfd_open", Hint: "the other process is in another PID namespace and has no number here"}
	}
	if p.process == nil {
		t.Starting("pidfd_open")
		if p.process, _, err = fdpass.OpenProcess(p.pid); err != nil {
			return -1, 0, refusedFetch("pidfd_open", err)
		}
	}
	t.Starting("pidfd_getfd")
	got, span, err := p.process.Fetch(fd)
	if err != nil {
		return -1, 0, refusedFetch("pidfd_getfd", err)
	}
	return got, span.End, nil
}

// refusedFetch makes a refusal of an error that is the machine's answer.
func refusedFetch(call string, err error) error {
	if errors.Is(err, fdpass.ErrRefused) {
		return &share.Unsupported{Op: call, Answer: err}
	}
	return fmt.Errorf("%s: %w", call, err)
}

func (p *peerProcess) close() error {
	if p.process == nil {
		return nil
	}
	return p.process.Close()
}

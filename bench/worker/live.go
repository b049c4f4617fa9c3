package worker

import (
	"errors"
	"fmt"
	"slices"
	"syscall"

	"gpushare-bench/share"
)

// liveError says that not all of the mappings came about that a case keeps alive.
type liveError struct {
	reached, of int
	err         error
}

func (l *liveError) Error() string {
	return fmt.Sprintf("%d of %d live mappings reached: %v", l.reached, l.of, l.err)
}

func (l *liveError) Unwrap() error { return l.err }

// exhausted are the system's answers when there is no more of something: memory or address space, descriptors of the
// process, of the system, and room.
var exhausted = []error{syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ENOSPC}

// declined reports whether an error is a finding about the machine: the system refuses, or there is no more of something.
func declined(err error) bool {
	return errors.Is(err, share.ErrUnsupported) || slices.ContainsFunc(exhausted, func(e error) bool { return errors.Is(err, e) })
}

// keepLive makes the mappings or buffers that a case keeps alive beside the one that is measured, once a case, and gives
// up those of the case before it. Both ends keep the same number at all times.
func (e *end) keepLive(b *Batch, cycle cycleFunc) error {
	if e.keptFor == b.Case {
		return nil
	}
	// Not by what is kept: an end that failed half way may have one less than the other.
	if e.keptFor.Live > 0 {
		if err := e.dropTogether(); err != nil {
			return e.giveUp(b.First, err)
		}
	}
	e.keptFor = b.Case
	scratch := Cycle{}
	for i := range b.Case.Live {
		scratch.Kernels = scratch.Kernels[:0]
		if err := cycle(b, -1-i, &scratch, &e.kept); err != nil {
			return &liveError{reached: i, of: b.Case.Live, err: err}
		}
	}
	return nil
}

// dropTogether gives up what is kept, the consumer first: no importer may outlive its exporter.
func (e *end) dropTogether() error {
	if e.role == RoleConsumer {
		return errors.Join(e.drop(), e.send(kindDone, 0))
	}
	if err := e.expect(kindDone, 0); err != nil {
		return err
	}
	return e.drop()
}

// drop gives up what is kept, the last first.
func (e *end) drop() error {
	var err error
	for _, release := range slices.Backward(e.kept) {
		err = errors.Join(err, release())
	}
	e.kept, e.keptFor = nil, share.Case{}
	return err
}

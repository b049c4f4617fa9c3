package worker

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gpushare-bench/fdpass"
	"gpushare-bench/share"
)

// errPeer says that the other end gave up; why is in its own reply to the runner.
var errPeer = errors.New("the other end gave up")

// end is one of the two ends of a cycle: the process's device, its tape and its connection to the other end. It is used
// by one locked goroutine.
type end struct {
	role    string
	backend share.Backend
	dev     share.Device
	conn    *fdpass.Conn
	tape    *share.Tape
	peer    peerProcess

	buf     [frameSize]byte
	oneFD   [1]int
	frame   frame
	origin  string         // exporter's name of the last buffer or mapping that knows it
	rounded string         // what the first buffer of the batch says that was rounded
	taken   int64          // bytes that the last buffer really took
	kept    []func() error // gives up what Case.Live keeps, in order of making
	keptFor share.Case
	mesh    *mesh    // nil where no peers take part
	calls   []string // names that spans refer to, by index
}

// runBatch runs the cycles of a batch and reports what this end saw. Garbage is collected before and not during it.
func (e *end) runBatch(b *Batch) *Result {
	res := &Result{Cycles: make([]Cycle, 0, b.Cycles)}
	cycle, err := e.cycleOf(b)
	if err != nil {
		err = e.giveUp(b.First, err)
	} else {
		err = e.keepLive(b, cycle)
	}
	res.Live = len(e.kept)
	e.origin, e.rounded = "", "" // of this case's memory, not of the one before
	store := make([]Cycle, b.Cycles)
	for i := range store {
		store[i].Spans = make([]int64, 0, 5*share.TapeCapacity)
		store[i].Kernels = make([]Sample, 0, len(b.Kernels))
	}
	resume := stopCollecting()
	res.Before = e.dev.State()
	var full error
	for i := 0; i < b.Cycles && err == nil; i++ {
		rec := &store[i]
		err = cycle(b, b.First+i, rec, nil)
		full = errors.Join(full, e.tape.Err())
		e.unroll(rec)
		if err == nil {
			res.Cycles = append(res.Cycles, *rec)
		} else {
			res.Partial = rec
		}
	}
	if err == nil {
		err = full
	}
	res.After = e.dev.State()
	resume()
	res.Calls, res.Allocated, res.Exporter, res.Rounded = slices.Clone(e.calls), e.taken, e.origin, e.rounded
	res.Problem, res.Mismatch = e.problem(err)
	return res
}

// cycleFunc is one end's half of a cycle. With keep, what would be given up at its end is appended there instead.
type cycleFunc func(b *Batch, number int, rec *Cycle, keep *[]func() error) error

// cycleOf finds this end's rows for the case and returns its half of the cycle.
func (e *end) cycleOf(b *Batch) (cycleFunc, error) {
	if e.role == RoleConsumer {
		imp, err := e.importer(b.Case.Path)
		return func(b *Batch, n int, rec *Cycle, keep *[]func() error) error {
			return e.consume(b, imp, n, rec, keep)
		}, err
	}
	alloc, exp, err := e.exporter(b.Case)
	return func(b *Batch, n int, rec *Cycle, keep *[]func() error) error {
		return e.produce(b, alloc, exp, n, rec, keep)
	}, err
}

// importer finds the row that imports a path.
func (e *end) importer(path string) (share.Importer, error) {
	for _, imp := range e.backend.Importers() {
		if imp.Path.Name == path {
			return imp, nil
		}
	}
	return share.Importer{}, fmt.Errorf("backend %s has no importer for path %q", e.backend.Name(), path)
}

// exporter finds the rows that allocate and export for a case.
func (e *end) exporter(c share.Case) (share.Allocator, share.Exporter, error) {
	i := slices.IndexFunc(e.backend.Allocators(), func(a share.Allocator) bool { return a.Name == c.Allocator })
	j := slices.IndexFunc(e.backend.Exporters(), func(x share.Exporter) bool {
		return x.Path.Name == c.Path && slices.Contains(x.Allocators, c.Allocator)
	})
	if i < 0 || j < 0 {
		return share.Allocator{}, share.Exporter{}, fmt.Errorf("backend %s has no exporter for path %q and allocator %q", e.backend.Name(), c.Path, c.Allocator)
	}
	return e.backend.Allocators()[i], e.backend.Exporters()[j], nil
}

// unroll copies the tape to the record of the cycle.
func (e *end) unroll(rec *Cycle) {
	for _, s := range e.tape.Spans() {
		if s.Phase == share.NoPhase {
			continue
		}
		id := slices.Index(e.calls, s.Call)
		if id < 0 {
			id = len(e.calls)
			e.calls = append(e.calls, s.Call)
		}
		ok := int64(0)
		if s.OK {
			ok = 1
		}
		rec.Spans = append(rec.Spans, int64(s.Phase), int64(id), s.Start, s.End, ok)
	}
}

// problem turns an error of this end into what is sent to the runner.
func (e *end) problem(err error) (*Problem, *share.Mismatch) {
	if err == nil {
		return nil, nil
	}
	p := &Problem{Text: strings.ReplaceAll(err.Error(), "\n", "; "), Refused: errors.Is(err, share.ErrUnsupported), Phase: e.tape.Phase().String()}
	p.Peer = errors.Is(err, errPeer) || errors.Is(err, io.EOF)
	var live *liveError
	p.Limit = errors.As(err, &live) && declined(live.err)
	var c *corruptError
	if errors.As(err, &c) {
		p.Corrupt = true
		return p, &c.mismatch
	}
	return p, nil
}

// send sends a frame without a descriptor.
func (e *end) send(k kind, cycle int) error {
	e.frame = frame{kind: k, cycle: int32(cycle), remote: -1, handle: share.NoHandle()}
	e.frame.encode(e.buf[:])
	if _, err := e.conn.Send(e.buf[:]); err != nil {
		return fmt.Errorf("send to the other end: %w", err)
	}
	return nil
}

// giveUp tells the other end, in place of the message that it waits for, and returns why, for the runner.
func (e *end) giveUp(cycle int, why error) error {
	return errors.Join(why, e.send(kindAbort, cycle))
}

// expect receives a frame, which must be of kind want and of the cycle, or an abort. A descriptor is refused.
func (e *end) expect(want kind, cycle int) error {
	n, _, _, err := e.conn.Recv(e.buf[:], 0, fdpass.Blocked)
	if err != nil {
		return fmt.Errorf("wait for the other end: %w", err)
	}
	if err := e.frame.decode(e.buf[:n]); err != nil {
		return err
	}
	switch {
	case e.frame.kind == kindAbort:
		return errPeer
	case e.frame.kind != want || e.frame.cycle != int32(cycle):
		return fmt.Errorf("%w: kind %d of cycle %d instead of kind %d of cycle %d", ErrFrame, e.frame.kind, e.frame.cycle, want, cycle)
	}
	return nil
}

// close gives up everything.
func (e *end) close() error {
	var err error
	if e.mesh != nil {
		err = e.mesh.unmap(e.tape)
	}
	err = errors.Join(err, e.drop())
	if e.mesh != nil {
		err = errors.Join(err, e.mesh.release(e.tape))
	}
	if e.dev != nil {
		err = errors.Join(err, e.dev.Close())
	}
	return errors.Join(err, e.peer.close())
}

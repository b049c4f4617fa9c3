package worker

import (
	"errors"
	"fmt"
	"syscall"

	"gpushare-bench/fdpass"
	"gpushare-bench/share"
)

// produce is the producer's half of one cycle: allocate, fill, export, send, wait, verify, release.
func (e *end) produce(b *Batch, alloc share.Allocator, exp share.Exporter, number int, rec *Cycle, keep *[]func() error) (err error) {
	t := e.tape
	t.Reset(number)
	seed := share.CycleSeed(b.RunSeed, b.CaseIndex, number, false)

	t.Enter(share.Allocate)
	buf, err := alloc.Alloc(t, e.dev, share.Request{Bytes: b.Case.Size, Offset: b.Case.Offset, Handles: exp.Handles})
	if err != nil {
		return e.giveUp(number, err)
	}
	e.taken = buf.Allocated()
	released := false
	release := func() error {
		released = true
		t.Enter(share.Release)
		return buf.Release(t)
	}
	defer func() {
		if !released {
			at := t.Phase()
			err = errors.Join(err, release())
			t.Enter(at)
		}
	}()

	t.Enter(share.NoPhase)
	if b.Verify {
		t.Starting("fill")
		if err := access(t, buf, func() error { return e.dev.Fill(buf.Whole(), seed) }); err != nil {
			return e.giveUp(number, fmt.Errorf("fill the buffer: %w", err))
		}
	}
	if err := e.send(kindPrepare, number); err != nil {
		return err
	}

	if b.Before {
		earlier, err := exp.Export(t, buf)
		if err != nil {
			return e.refuseReady(number, err)
		}
		if earlier.FD >= 0 {
			// Kept open until the cycle has ended: closing the last descriptor would undo what the export did.
			defer syscall.Close(earlier.FD)
		}
	}
	t.Enter(share.Export)
	h, err := exp.Export(t, buf)
	if err != nil {
		return e.refuseReady(number, err)
	}
	e.noteOrigin(buf)
	if r, ok := buf.(share.Rounder); ok && number == b.First {
		e.rounded = r.Rounded()
	}
	t.Enter(share.Transfer)
	err = e.sendHandle(b, number, &h, rec)
	if err == nil {
		err = e.expect(kindDone, number)
	}
	t.Enter(share.Release)
	if closed := e.closeFD(h.FD); closed != nil && err == nil {
		return e.refuseNext(b, number, closed)
	}
	if err != nil {
		return err
	}

	if b.Verify && !b.ExportOnly {
		t.Enter(share.NoPhase)
		t.Starting("verify")
		want, who := share.CycleSeed(b.RunSeed, b.CaseIndex, number, true), "producer, after the consumer wrote back"
		if exp.Path.Copies {
			want, who = seed, "producer, its own bytes after the consumer copied them"
		}
		err := access(t, buf, func() error { return e.verify(buf.Region(), want, seed, b, number, who) })
		if err != nil {
			return e.refuseNext(b, number, err)
		}
	}
	if keep != nil {
		released = true
		*keep = append(*keep, release)
		return nil
	}
	if err := release(); err != nil {
		return e.refuseNext(b, number, err)
	}
	return nil
}

// sendHandle waits until the consumer is ready and sends it the handle.
func (e *end) sendHandle(b *Batch, number int, h *share.Handle, rec *Cycle) error {
	if err := e.expect(kindReady, number); err != nil {
		return err
	}
	span, err := e.putHandle(b, number, h)
	rec.Sent = span.Start
	return err
}

// putHandle sends the handle, whose descriptor goes with it or is fetched later, as the transport has it.
func (e *end) putHandle(b *Batch, number int, h *share.Handle) (fdpass.Span, error) {
	e.frame = frame{kind: kindHandle, cycle: int32(number), remote: -1, handle: *h}
	if b.Case.Transport == share.TransportPidfd {
		e.frame.remote = int32(h.FD)
	}
	e.frame.encode(e.buf[:])
	span, err := e.conn.Send(e.buf[:], e.fds(b, h)...)
	if err != nil {
		return fdpass.Span{}, e.giveUp(number, fmt.Errorf("send the handle: %w", err))
	}
	return span, nil
}

// fds is the list of descriptors that travel with the frame: at most one, and none for transports that carry none.
func (e *end) fds(b *Batch, h *share.Handle) []int {
	if b.Case.Transport != share.TransportSCMRights || h.FD < 0 {
		return nil
	}
	e.oneFD[0] = h.FD
	return e.oneFD[:]
}

// refuseReady answers the consumer's ready with an abort and returns why.
func (e *end) refuseReady(number int, why error) error {
	if err := e.expect(kindReady, number); err != nil {
		return errors.Join(why, err)
	}
	return errors.Join(why, e.send(kindAbort, number))
}

// refuseNext ends the batch after the consumer has finished with the cycle: unless it was the last one, the consumer is
// getting ready for the next and must be told.
func (e *end) refuseNext(b *Batch, number int, why error) error {
	if number == b.First+b.Cycles-1 {
		return why
	}
	return e.giveUp(number, why)
}

// closeFD closes the exported descriptor, timed under the current phase.
func (e *end) closeFD(fd int) error {
	if fd < 0 {
		return nil
	}
	e.tape.Starting("close")
	span, err := e.conn.CloseFD(fd)
	e.tape.Record("close", span.Start, span.End, err == nil)
	if err != nil {
		return fmt.Errorf("close the exported descriptor: %w", err)
	}
	return nil
}

// verify checks a region and, when it is wrong, finds out how.
func (e *end) verify(r share.Region, seed, other uint64, b *Batch, number int, who string) error {
	m, err := e.dev.Verify(r, seed)
	if err != nil {
		return fmt.Errorf("%s: verify: %w", who, err)
	}
	if m.Bytes == 0 {
		return nil
	}
	c := &corruptError{who: who, mismatch: m, bytes: r.Bytes, kind: share.CorruptRandom}
	seen := make([]byte, min(4096, (r.Bytes-m.First)&^7))
	if err := e.dev.Peek(r, m.First, seen); err != nil {
		return errors.Join(c, fmt.Errorf("read the wrong bytes: %w", err))
	}
	earlier := []uint64{other}
	for n := number - 1; n >= 0 && n >= number-8; n-- {
		earlier = append(earlier, share.CycleSeed(b.RunSeed, b.CaseIndex, n, true), share.CycleSeed(b.RunSeed, b.CaseIndex, n, false))
	}
	c.kind, c.detail = share.Classify(seen, seed, r.First+uint64(m.First/8), earlier)
	if c.kind == share.CorruptStale {
		c.detail /= 2 // two patterns a cycle; 0: the other side's pattern of this one
	}
	return c
}

// access brackets CPU accesses where the memory asks for it.
func access(t *share.Tape, what any, f func() error) error {
	a, ok := what.(share.Accessor)
	if !ok {
		return f()
	}
	if err := a.BeginAccess(t); err != nil {
		return err
	}
	return errors.Join(f(), a.EndAccess(t))
}

// noteOrigin keeps the exporter's name of a buffer or mapping that knows it.
func (e *end) noteOrigin(what any) {
	if o, ok := what.(share.Origin); ok && e.origin == "" {
		e.origin = o.ExporterName()
	}
}

package worker

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"syscall"

	"gpushare-bench/fdpass"
	"gpushare-bench/share"
)

// consume is the consumer's half of one cycle: receive, import, map, touch, verify, run kernels, write back, unmap.
func (e *end) consume(b *Batch, imp share.Importer, number int, rec *Cycle, keep *[]func() error) (err error) {
	t := e.tape
	t.Reset(number)
	t.Enter(share.Transfer)
	h, err := e.receiveHandle(b, number, rec)
	if err != nil {
		return err
	}
	if b.ExportOnly {
		if h.FD >= 0 {
			err = syscall.Close(h.FD)
		}
		return errors.Join(err, e.send(kindDone, number))
	}

	t.Enter(share.Import)
	m, err := imp.Import(t, e.dev, h)
	if err != nil {
		return e.giveUp(number, err)
	}
	e.noteOrigin(m)
	unmapped := false
	unmap := func() error {
		unmapped = true
		t.Enter(share.Unmap)
		return m.Unmap(t)
	}
	defer func() {
		if !unmapped {
			at := t.Phase()
			err = e.giveUp(number, errors.Join(err, unmap()))
			t.Enter(at)
		}
	}()

	if err := e.use(b, m, number, rec, keep == nil); err != nil {
		return err
	}
	if keep != nil {
		unmapped = true
		*keep = append(*keep, unmap)
	} else if err := unmap(); err != nil {
		return e.giveUp(number, err)
	}
	return e.send(kindDone, number)
}

// use does the consumer's work on the mapping: touch, verify, kernels, write back.
func (e *end) use(b *Batch, m share.Mapping, number int, rec *Cycle, kernels bool) (err error) {
	t, r := e.tape, m.Region()
	t.Enter(share.FirstTouch)
	if a, ok := m.(share.Accessor); ok {
		if err := a.BeginAccess(t); err != nil {
			return err
		}
		defer func() {
			t.Enter(share.Unmap)
			err = errors.Join(err, a.EndAccess(t))
		}()
	}
	if err := e.dev.Touch(t, r); err != nil {
		return fmt.Errorf("touch the mapping: %w", err)
	}
	t.Enter(share.NoPhase)
	seed := share.CycleSeed(b.RunSeed, b.CaseIndex, number, false)
	back := share.CycleSeed(b.RunSeed, b.CaseIndex, number, true)
	if b.Verify {
		t.Starting("verify")
		if err := e.verify(r, seed, back, b, number, "consumer"); err != nil {
			return err
		}
	}
	if kernels {
		for _, k := range b.Kernels {
			if !slices.Contains(e.dev.Kernels(), k) {
				continue
			}
			t.Starting(string(k))
			elapsed, err := e.dev.RunKernel(k, r)
			if err != nil {
				return fmt.Errorf("kernel %s: %w", k, err)
			}
			rec.Kernels = append(rec.Kernels, Sample{Kernel: k, Elapsed: elapsed})
		}
	}
	if b.Verify {
		t.Starting("write back")
		if err := e.dev.Fill(r, back); err != nil {
			return fmt.Errorf("write back: %w", err)
		}
	}
	return nil
}

// receiveHandle waits until the handle is about to come, says that it is ready, waits for the handle and fetches its
// descriptor.
func (e *end) receiveHandle(b *Batch, number int, rec *Cycle) (share.Handle, error) {
	if err := e.expect(kindPrepare, number); err != nil {
		return share.NoHandle(), err
	}
	if err := e.send(kindReady, number); err != nil {
		return share.NoHandle(), err
	}
	mode := fdpass.Polling
	if b.Case.Receiver == share.ReceiverBlocked {
		mode = fdpass.Blocked
	}
	h, span, err := e.awaitHandle(b, number, mode)
	if err != nil {
		return h, err
	}
	rec.Waiting, rec.Received = span.Start, span.End
	if b.Case.Transport == share.TransportPidfd {
		if h.FD, rec.Received, err = e.peer.fetch(e.tape, int(e.frame.remote)); err != nil {
			return share.NoHandle(), e.giveUp(number, err)
		}
	}
	return h, nil
}

// awaitHandle receives the handle, with its descriptor if that travels with it.
func (e *end) awaitHandle(b *Batch, number int, mode fdpass.Mode) (share.Handle, fdpass.Span, error) {
	want := 0
	if b.Case.Transport == share.TransportSCMRights {
		want = 1
	}
	n, fds, span, err := e.conn.Recv(e.buf[:], 1, mode)
	if err != nil {
		err = fmt.Errorf("receive the handle: %w", err)
		if errors.Is(err, io.EOF) {
			return share.NoHandle(), span, err
		}
		return share.NoHandle(), span, e.giveUp(number, err) // the message came and was refused: the other end waits for an answer
	}
	if err := e.frame.decode(e.buf[:n]); err != nil {
		closeAll(fds)
		return share.NoHandle(), span, e.giveUp(number, err)
	}
	if e.frame.kind == kindAbort {
		closeAll(fds)
		return share.NoHandle(), span, errPeer
	}
	if e.frame.kind != kindHandle || e.frame.cycle != int32(number) || len(fds) != want {
		closeAll(fds)
		return share.NoHandle(), span, e.giveUp(number, fmt.Errorf("%w: kind %d of cycle %d with %d descriptors, want the handle of cycle %d with %d",
			ErrFrame, e.frame.kind, e.frame.cycle, len(fds), number, want))
	}
	h := e.frame.handle
	if want > 0 {
		h.FD = fds[0]
	}
	return h, span, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		_ = syscall.Close(fd)
	}
}

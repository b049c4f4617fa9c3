package worker

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"gpushare-bench/fdpass"
	"gpushare-bench/share"
)

// MeshCycle is the number that stands for a cycle in frames and in the progress word while a mesh is made and given up:
// below those of what Case.Live keeps. The pattern of member n's buffer is that of cycle MeshCycle-n.
const MeshCycle = -1 << 30

// Steps of a mesh. The runner has each done by all members that take part in it before it asks for the next.
const (
	MeshAllocate = "allocate" // every member obtains its buffer and fills it
	MeshJoin     = "join"     // the joining member and each of those before it map each other's buffers
	MeshVerify   = "verify"   // every member checks the bytes of all others
	MeshUnmap    = "unmap"    // every member gives up its mappings
	MeshRelease  = "release"  // every member gives up its buffer
)

// Mesh asks for one step of the mesh of a case.
type Mesh struct {
	Step    string `json:"step"`
	Joining int    `json:"joining"` // of MeshJoin: which member, from 1
	Batch   Batch  `json:"batch"`   // of the case; its cycles are not run
}

// Meshed is the answer to Mesh. Times are nanoseconds, of MeshJoin only.
type Meshed struct {
	Problem  *Problem        `json:"problem,omitempty"`
	Mismatch *share.Mismatch `json:"mismatch,omitempty"`
	Wall     int64           `json:"wall_ns"`   // of the joining member: from the first exchange to the end of the last
	Export   int64           `json:"export_ns"` // sums of this member's timed calls by phase
	Import   int64           `json:"import_ns"`
	Map      int64           `json:"map_ns"`
}

// MemberName is what a member of a mesh is called: number 0 is the producer, 1 the consumer, and the peers follow.
func MemberName(n int) string {
	switch n {
	case 0:
		return RoleProducer
	case 1:
		return RoleConsumer
	}
	return fmt.Sprintf("%s %d", RolePeer, n-1)
}

// mesh is one member's part of a mesh: its buffer and its mappings of the others'.
type mesh struct {
	number int
	conns  []*fdpass.Conn  // to each member; nil to itself
	buf    share.Buffer    // nil: none
	from   []share.Mapping // of each member's buffer; nil: none
}

// meshStep does one step of a mesh and reports what this member saw.
func (e *end) meshStep(q *Mesh) *Meshed {
	res := &Meshed{}
	b := &q.Batch
	if b.Case.Transport == share.TransportPidfd {
		// A process lets one other fetch its descriptors (PR_SET_PTRACER), and these handles are not what is measured.
		b.Case.Transport = share.TransportSCMRights
	}
	e.tape.Reset(MeshCycle)
	var err error
	switch q.Step {
	case MeshAllocate:
		err = e.meshAllocate(b)
	case MeshJoin:
		err = e.meshJoin(b, q.Joining, res)
	case MeshVerify:
		err = e.meshVerify(b)
	case MeshUnmap:
		err = e.mesh.unmap(e.tape)
	case MeshRelease:
		err = e.mesh.release(e.tape)
	default:
		err = fmt.Errorf("%w: step %q of a mesh", ErrMessage, q.Step)
	}
	res.Problem, res.Mismatch = e.problem(err)
	if err != nil {
		res.Problem.Limit = declined(err)
	}
	return res
}

// meshSeed is the seed of the pattern in a member's buffer.
func meshSeed(b *Batch, member int) uint64 {
	return share.CycleSeed(b.RunSeed, b.CaseIndex, MeshCycle-member, false)
}

func (e *end) meshAllocate(b *Batch) error {
	alloc, exp, err := e.exporter(b.Case)
	if err != nil {
		return err
	}
	e.tape.Enter(share.Allocate)
	buf, err := alloc.Alloc(e.tape, e.dev, share.Request{Bytes: b.Case.Size, Offset: b.Case.Offset, Handles: exp.Handles})
	if err != nil {
		return err
	}
	e.mesh.buf = buf
	e.tape.Enter(share.NoPhase)
	if !b.Verify {
		return nil
	}
	e.tape.Starting("fill")
	err = access(e.tape, buf, func() error { return e.dev.Fill(buf.Whole(), meshSeed(b, e.mesh.number)) })
	if err != nil {
		return fmt.Errorf("fill the buffer: %w", err)
	}
	return nil
}

// meshJoin exchanges buffers between the joining member and each of those before it, one after the other: prepare → ready,
// ready → handle, handle → handle, handle → done, and abort in place of any answer.
func (e *end) meshJoin(b *Batch, joining int, res *Meshed) error {
	_, exp, err := e.exporter(b.Case)
	if err != nil {
		return err
	}
	imp, err := e.importer(b.Case.Path)
	if err != nil {
		return err
	}
	defer func(c *fdpass.Conn) { e.conn = c }(e.conn)
	if joining != e.mesh.number {
		e.conn = e.mesh.conns[joining]
		err := e.admit(b, exp, imp, joining)
		res.add(e.tape)
		return err
	}
	for member := range joining {
		e.conn = e.mesh.conns[member]
		err = errors.Join(err, e.expect(kindPrepare, MeshCycle))
	}
	start := time.Now()
	for member := range joining {
		e.conn = e.mesh.conns[member]
		if err != nil {
			_ = e.send(kindAbort, MeshCycle) // it waits; if it is dead, the runner sees that
			continue
		}
		e.tape.Reset(MeshCycle)
		err = e.enter(b, exp, imp, member)
		res.add(e.tape)
	}
	res.Wall = time.Since(start).Nanoseconds()
	return err
}

// enter is the joining member's half of an exchange.
func (e *end) enter(b *Batch, exp share.Exporter, imp share.Importer, member int) error {
	if err := e.send(kindReady, MeshCycle); err != nil {
		return err
	}
	if err := e.take(b, imp, member); err != nil {
		return err
	}
	fd, err := e.give(b, exp)
	if err == nil {
		err = e.expect(kindDone, MeshCycle)
	}
	return errors.Join(err, closeNow(fd))
}

// admit is the half of a member that was there before.
func (e *end) admit(b *Batch, exp share.Exporter, imp share.Importer, joining int) error {
	if err := e.send(kindPrepare, MeshCycle); err != nil {
		return err
	}
	if err := e.expect(kindReady, MeshCycle); err != nil {
		return err
	}
	fd, err := e.give(b, exp)
	if err == nil {
		err = e.take(b, imp, joining)
	}
	if err == nil {
		err = e.send(kindDone, MeshCycle)
	}
	return errors.Join(err, closeNow(fd))
}

// give exports this member's buffer and sends the handle. The descriptor, -1 for none, is to be closed once the other has
// answered.
func (e *end) give(b *Batch, exp share.Exporter) (fd int, err error) {
	e.tape.Enter(share.Export)
	h, err := exp.Export(e.tape, e.mesh.buf)
	if err != nil {
		return -1, e.giveUp(MeshCycle, err)
	}
	e.tape.Enter(share.Transfer)
	_, err = e.putHandle(b, MeshCycle, &h)
	return h.FD, err
}

// take receives the handle of another member's buffer and maps it.
func (e *end) take(b *Batch, imp share.Importer, member int) error {
	e.tape.Enter(share.Transfer)
	h, _, err := e.awaitHandle(b, MeshCycle, fdpass.Blocked)
	if err != nil {
		return err
	}
	e.tape.Enter(share.Import)
	m, err := imp.Import(e.tape, e.dev, h)
	if err != nil {
		return e.giveUp(MeshCycle, err)
	}
	e.mesh.from[member] = m
	return nil
}

func closeNow(fd int) error {
	if fd < 0 {
		return nil
	}
	return syscall.Close(fd)
}

// add adds up the calls on a tape that succeeded.
func (m *Meshed) add(t *share.Tape) {
	for _, s := range t.Spans() {
		if !s.OK {
			continue
		}
		switch s.Phase {
		case share.Export:
			m.Export += s.End - s.Start
		case share.Import:
			m.Import += s.End - s.Start
		case share.Map:
			m.Map += s.End - s.Start
		}
	}
}

func (e *end) meshVerify(b *Batch) error {
	for member, m := range e.mesh.from {
		if m == nil {
			continue
		}
		e.tape.Reset(MeshCycle)
		e.tape.Starting("verify")
		who := "buffer of " + MemberName(member)
		err := access(e.tape, m, func() error {
			return e.verify(m.Region(), meshSeed(b, member), meshSeed(b, e.mesh.number), b, MeshCycle, who)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// unmap gives up the mappings, the last first.
func (m *mesh) unmap(t *share.Tape) error {
	var err error
	t.Enter(share.Unmap)
	for i, held := range slices.Backward(m.from) {
		if held != nil {
			m.from[i] = nil
			err = errors.Join(err, held.Unmap(t))
		}
	}
	return err
}

// release gives up the buffer, which nobody may have mapped any more.
func (m *mesh) release(t *share.Tape) error {
	if m.buf == nil {
		return nil
	}
	t.Enter(share.Release)
	buf := m.buf
	m.buf = nil
	return buf.Release(t)
}

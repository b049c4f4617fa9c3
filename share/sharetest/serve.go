package sharetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"syscall"

	"gpushare-bench/share"
)

// serveFD is the descriptor on which a process that runs Serve finds its socket.
const serveFD = 3

// request is one order to an end of the contract. ID names the buffer or mapping that it makes or uses.
type request struct {
	Do        string // open, allocate, export, verify, release, import, use, unmap, state, close
	Device    string
	Path      string
	Allocator string
	ID        int
	Want      share.Request
	Seed      uint64
	Back      uint64       // use: what is written back
	Handle    share.Handle // import; its descriptor travels beside it
	Has       bool         // a descriptor travels
	Copies    bool
}

// reply is the answer to a request.
type reply struct {
	Error    string `json:",omitempty"` // "" for success
	Refused  bool   `json:",omitempty"` // the error matches share.ErrUnsupported
	Op       string `json:",omitempty"` // of the share.Unsupported
	Answer   string `json:",omitempty"`
	Hint     string `json:",omitempty"`
	Spans    []share.Span
	Handle   share.Handle // export
	Region   share.Region // allocate, import
	Mismatch share.Mismatch
	FDs      []string // state
	Free     int64    // state; bytes, 0 not known
	Taken    int64    // allocate: bytes really taken
}

// Serve makes this process one end of a [Contract]: it does with the backend's rows what the test orders, until the test
// closes the socket. A test binary calls it in TestMain when it finds itself started by Contract.Command.
func Serve(b share.Backend) error {
	runtime.LockOSThread()
	s := &rowServer{b: b, tape: share.NewTape(nil), buffers: map[int]share.Buffer{}, mappings: map[int]share.Mapping{}}
	buf, oob := make([]byte, maxOrder), make([]byte, 64)
	for {
		n, oobn, _, _, err := syscall.Recvmsg(serveFD, buf, oob, syscall.MSG_CMSG_CLOEXEC)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return errors.Join(err, s.close())
		}
		var q request
		if err := json.Unmarshal(buf[:n], &q); err != nil {
			return err
		}
		if q.Handle.FD = -1; q.Has {
			if q.Handle.FD, err = descriptor(oob[:oobn]); err != nil {
				return err
			}
		}
		if err := s.answer(&q); err != nil {
			return err
		}
	}
}

// maxOrder bounds a request and a reply, in bytes.
const maxOrder = 64 << 10

// descriptor takes the one descriptor out of a control message.
func descriptor(oob []byte) (int, error) {
	ms, err := syscall.ParseSocketControlMessage(oob)
	if err != nil || len(ms) != 1 {
		return -1, errors.Join(err, fmt.Errorf("%d control messages, want 1", len(ms)))
	}
	fds, err := syscall.ParseUnixRights(&ms[0])
	if err != nil || len(fds) != 1 {
		return -1, errors.Join(err, fmt.Errorf("%d descriptors, want 1", len(fds)))
	}
	return fds[0], nil
}

type rowServer struct {
	b        share.Backend
	dev      share.Device
	tape     *share.Tape
	buffers  map[int]share.Buffer
	mappings map[int]share.Mapping
}

// answer does what was ordered and sends the reply. A descriptor that was exported is closed once it is sent.
func (s *rowServer) answer(q *request) error {
	s.tape.Reset(0)
	p := reply{Handle: share.NoHandle()}
	if err := s.do(q, &p); err != nil {
		p.Error, p.Refused = err.Error(), errors.Is(err, share.ErrUnsupported)
		var u *share.Unsupported
		if errors.As(err, &u) {
			p.Op, p.Hint = u.Op, u.Hint
			if u.Answer != nil {
				p.Answer = u.Answer.Error()
			}
		}
	}
	if err := s.tape.Err(); err != nil {
		return err
	}
	p.Spans = s.tape.Spans()
	body, err := json.Marshal(&p)
	if err != nil {
		return err
	}
	var rights []byte
	if p.Handle.FD >= 0 {
		rights = syscall.UnixRights(p.Handle.FD)
		defer syscall.Close(p.Handle.FD)
	}
	return syscall.Sendmsg(serveFD, body, rights, nil, 0)
}

func (s *rowServer) do(q *request, p *reply) (err error) {
	t := s.tape
	switch q.Do {
	case "open":
		s.dev, err = s.b.Open(context.Background(), q.Device, share.Options{})
		return err
	case "allocate":
		t.Enter(share.Allocate)
		b, err := s.allocator(q.Allocator).Alloc(t, s.dev, q.Want)
		if err != nil {
			return err
		}
		s.buffers[q.ID], p.Taken = b, b.Allocated()
		t.Enter(share.NoPhase)
		err = accessing(t, b, func() error { return s.dev.Fill(b.Whole(), q.Seed) })
		p.Region = b.Region()
		return err
	case "export":
		t.Enter(share.Export)
		p.Handle, err = s.exporter(q.Path).Export(t, s.buffers[q.ID])
		return err
	case "verify":
		return s.verify(q, p)
	case "release":
		b := s.buffers[q.ID]
		delete(s.buffers, q.ID)
		t.Enter(share.Release)
		return b.Release(t)
	case "import":
		t.Enter(share.Import)
		m, err := s.importer(q.Path).Import(t, s.dev, q.Handle)
		if err == nil {
			s.mappings[q.ID], p.Region = m, m.Region()
		}
		return err
	case "use":
		return s.use(q, p)
	case "unmap":
		m := s.mappings[q.ID]
		delete(s.mappings, q.ID)
		t.Enter(share.Unmap)
		return m.Unmap(t)
	case "state":
		if free := s.dev.State().FreeBytes; free != nil {
			p.Free = *free
		}
		p.FDs, err = OpenFDs()
		return err
	case "close":
		return s.close()
	}
	return fmt.Errorf("unknown order %q", q.Do)
}

// verify checks the shared range for Back, or for Seed where the consumer worked on a copy, and what is before it for Seed.
func (s *rowServer) verify(q *request, p *reply) error {
	b := s.buffers[q.ID]
	return accessing(s.tape, b, func() (err error) {
		want := q.Back
		if q.Copies {
			want = q.Seed
		}
		if p.Mismatch, err = s.dev.Verify(b.Region(), want); err != nil || p.Mismatch.Bytes > 0 {
			return err
		}
		before := b.Whole()
		if before.Bytes -= b.Region().Bytes; before.Bytes == 0 {
			return nil
		}
		p.Mismatch, err = s.dev.Verify(before, q.Seed)
		return err
	})
}

// use does the consumer's work: touch, verify, kernels, write back.
func (s *rowServer) use(q *request, p *reply) error {
	m := s.mappings[q.ID]
	s.tape.Enter(share.FirstTouch)
	return accessing(s.tape, m, func() (err error) {
		r := m.Region()
		if err := s.dev.Touch(s.tape, r); err != nil {
			return fmt.Errorf("touch: %w", err)
		}
		s.tape.Enter(share.NoPhase)
		if p.Mismatch, err = s.dev.Verify(r, q.Seed); err != nil || p.Mismatch.Bytes > 0 {
			return err
		}
		// The words are where they belong, seen by a plain copy as well.
		seen := make([]byte, min(r.Bytes, 8))
		if err := s.dev.Peek(r, 0, seen); err != nil {
			return err
		}
		for i, b := range seen {
			if b != byte(share.Word(q.Seed, r.First)>>(8*i)) {
				return fmt.Errorf("peek: byte %d is %#x", i, b)
			}
		}
		for _, k := range s.dev.Kernels() {
			e, err := s.dev.RunKernel(k, r)
			if err != nil {
				return fmt.Errorf("kernel %s: %w", k, err)
			}
			if e.Bytes < 0 || e.Nanoseconds < 0 || e.Bytes > 0 && e.Launches < 1 || e.Bytes%max(1, int64(e.Launches)) != 0 ||
				e.Bytes > r.Bytes*int64(max(1, e.Launches)) {
				return fmt.Errorf("kernel %s: %+v of %d bytes", k, e, r.Bytes)
			}
		}
		return s.dev.Fill(r, q.Back)
	})
}

func accessing(t *share.Tape, what any, f func() error) error {
	a, ok := what.(share.Accessor)
	if !ok {
		return f()
	}
	if err := a.BeginAccess(t); err != nil {
		return err
	}
	return errors.Join(f(), a.EndAccess(t))
}

func (s *rowServer) allocator(name string) share.Allocator {
	rows := s.b.Allocators()
	return rows[slices.IndexFunc(rows, func(a share.Allocator) bool { return a.Name == name })]
}

func (s *rowServer) exporter(path string) share.Exporter {
	rows := s.b.Exporters()
	return rows[slices.IndexFunc(rows, func(x share.Exporter) bool { return x.Path.Name == path })]
}

func (s *rowServer) importer(path string) share.Importer {
	rows := s.b.Importers()
	return rows[slices.IndexFunc(rows, func(m share.Importer) bool { return m.Path.Name == path })]
}

func (s *rowServer) close() error {
	if s.dev == nil {
		return nil
	}
	err := s.dev.Close()
	s.dev = nil
	return err
}

// ServeMain is Serve for TestMain: it does not return.
func ServeMain(b share.Backend) {
	if err := Serve(b); err != nil && !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"

	"gpushare-bench/fdpass"
	"gpushare-bench/share"
)

// Descriptors that the runner gives a worker. A second end in the same process has its three after those of the first.
const (
	controlFD = 3 // stream socket to the runner
	peerFD    = 4 // SOCK_SEQPACKET socket to the other end, of a peer to the producer; absent for a probe
	whereFD   = 5 // share.WhereSize bytes of shared memory; absent for a probe
	fdsPerEnd = 3
	meshFD    = 6 // the first of the sockets to the other members of a mesh, in their order, that peerFD is not
)

// EndsVariable is the environment variable that says how many ends a worker process serves: "2" for both ends of a pair,
// otherwise one.
const EndsVariable = "GPUSHARE_ENDS"

// Main serves the runner on the inherited descriptors until it closes its sockets, with the given backends. Each end has
// a thread of its own for good; the first takes the calling goroutine's.
func Main(ctx context.Context, backends []share.Backend) error {
	startPoller()
	nameProcess()
	if os.Getenv(EndsVariable) != "2" {
		return serveEnd(ctx, backends, 0)
	}
	other := make(chan error, 1)
	go func() { other <- serveEnd(ctx, backends, 1) }()
	return errors.Join(serveEnd(ctx, backends, 0), <-other)
}

// serveEnd serves one end, the n-th of this process.
func serveEnd(ctx context.Context, backends []share.Backend, n int) error {
	runtime.LockOSThread()
	fd := controlFD + n*fdsPerEnd
	if _, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_TYPE); err != nil {
		return fmt.Errorf("descriptor %d is no socket to a runner (%w): this command is started by sweep, not by hand", fd, err)
	}
	control := os.NewFile(uintptr(fd), "control")
	s := &server{backends: backends, number: n}
	err := s.serve(ctx, control)
	if s.end != nil {
		err = errors.Join(err, s.end.close())
	}
	return err
}

// server answers the runner's requests.
type server struct {
	backends []share.Backend
	number   int // which end of this process
	end      *end
}

func (s *server) serve(ctx context.Context, control io.ReadWriter) error {
	for {
		var req Request
		switch err := ReadMessage(control, &req); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("read from the runner: %w", err)
		}
		rep := s.answer(ctx, &req)
		rep.Version = ProtocolVersion
		if err := WriteMessage(control, rep); err != nil {
			return fmt.Errorf("write to the runner: %w", err)
		}
	}
}

func (s *server) answer(ctx context.Context, req *Request) *Reply {
	var rep Reply
	var err error
	switch {
	case req.Describe != nil:
		var b share.Backend
		if b, err = s.backend(req.Describe.Backend); err == nil {
			var inv share.Inventory
			inv, err = b.Describe(ctx)
			rep.Inventory = &inv
		}
		if err == nil {
			rep.Overhead, err = overhead()
		}
	case req.Open != nil:
		rep.Opened, err = s.open(ctx, req.Open)
	case req.Batch != nil && s.end != nil:
		rep.Result = s.end.runBatch(req.Batch)
	case req.Mesh != nil && s.end != nil && s.end.mesh != nil:
		rep.Meshed = s.end.meshStep(req.Mesh)
	default:
		err = fmt.Errorf("%w: nothing that this worker can do now", ErrMessage)
	}
	if err != nil {
		rep.Error = &Problem{Text: err.Error(), Refused: errors.Is(err, share.ErrUnsupported)}
	}
	return &rep
}

func (s *server) backend(name string) (share.Backend, error) {
	for _, b := range s.backends {
		if b.Name() == name {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%w: no backend %q", ErrMessage, name)
}

// overheadSamples is how many empty timed calls the overhead is taken from.
const overheadSamples = 2001

func (s *server) open(ctx context.Context, o *Open) (*Opened, error) {
	if s.end != nil {
		return nil, fmt.Errorf("%w: a device is open already", ErrMessage)
	}
	b, err := s.backend(o.Backend)
	if err != nil {
		return nil, err
	}
	pin(o.CPUs, o.Role)
	where, err := mapWhere(whereFD + s.number*fdsPerEnd)
	if err != nil {
		return nil, err
	}
	conn, err := fdpass.FromFD(peerFD + s.number*fdsPerEnd)
	if err != nil {
		return nil, fmt.Errorf("peer socket: %w", err)
	}
	tape := share.NewTape(where)
	o.Options.Tape = tape
	dev, err := b.Open(ctx, o.Device, o.Options)
	if err != nil {
		return nil, fmt.Errorf("open device %s: %w", o.Device, err)
	}
	tape.Reset(0)
	conn.ExpectPeer(o.PeerPID)
	s.end = &end{role: o.Role, backend: b, dev: dev, conn: conn, tape: tape, peer: peerProcess{pid: o.PeerPID}}
	if len(o.Members) > 0 {
		if s.end.mesh, err = openMesh(o, conn); err != nil {
			return nil, err
		}
	}
	if o.Role == RoleProducer && o.PeerPID != 0 {
		if err := fdpass.AllowFetch(o.PeerPID); err != nil {
			return nil, fmt.Errorf("let the consumer fetch descriptors: %w", err)
		}
	}
	spareThreads()
	opened := &Opened{}
	if v, ok := dev.(share.Viewer); ok && o.Options.Peer != "" {
		if err := v.Sees(o.Options.Peer); err != nil {
			opened.Blind = err.Error()
		}
	}
	return opened, nil
}

// openMesh connects a member of a mesh to the others; first is its connection to the first of them.
func openMesh(o *Open, first *fdpass.Conn) (*mesh, error) {
	m := &mesh{number: o.Number, conns: make([]*fdpass.Conn, len(o.Members)), from: make([]share.Mapping, len(o.Members))}
	fd := meshFD
	for i, pid := range o.Members {
		switch {
		case i == o.Number:
			continue
		case first != nil:
			m.conns[i], first = first, nil
			continue
		}
		conn, err := fdpass.FromFD(fd)
		if err != nil {
			return nil, fmt.Errorf("socket to the %s: %w", MemberName(i), err)
		}
		conn.ExpectPeer(pid)
		m.conns[i] = conn
		fd++
	}
	return m, nil
}

// overhead measures what an empty timed call reads in a process like those that measure.
func overhead() (*Overhead, error) {
	a, b, err := fdpass.Pair()
	if err != nil {
		return nil, err
	}
	defer b.Close()
	fd, err := syscall.Dup(int(a.Fd()))
	a.Close()
	if err != nil {
		return nil, err
	}
	conn, err := fdpass.FromFD(fd)
	if err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	o := &Overhead{Samples: overheadSamples}
	o.Median, o.P99, o.Min = conn.Overhead(overheadSamples)
	return o, conn.Close()
}

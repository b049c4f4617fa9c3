package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"gpushare-bench/bench/worker"
	"gpushare-bench/share"
)

// ErrNoAnswer is matched when a worker did not answer in time.
var ErrNoAnswer = errors.New("no answer")

// startTimeout bounds the start of a worker: loading a driver and making a context takes up to seconds.
const startTimeout = 60 * time.Second

// stderrKept bounds how much of a worker's last words is kept.
const stderrKept = 4096

// ownBinary is the file that this process runs, whatever has become of its name: built anew, replaced or removed. The child
// resolves it before it executes, when the file that it runs is its parent's.
const ownBinary = "/proc/self/exe"

// Launcher starts worker processes. Parent-death signals follow the thread that forked (golang/go#27505), so all starts
// happen on one goroutine that keeps its thread for the run's life.
type Launcher struct {
	Exe     string   // argv[0] of workers, which are this process's own binary
	Args    []string // that make it a worker
	Isolate []string // namespaces of its own for each worker
	// ProbeTimeout is how long Probe waits for an answer; 0: a minute.
	ProbeTimeout time.Duration

	starts chan func()
	once   sync.Once
}

// fork runs cmd.Start on the launcher's thread.
func (l *Launcher) fork(cmd *exec.Cmd) error {
	l.once.Do(func() {
		keepDescriptors()
		l.starts = make(chan func())
		go func() {
			lockThread()
			for f := range l.starts {
				f()
			}
		}()
	})
	done := make(chan error, 1)
	l.starts <- func() { done <- cmd.Start() }
	return <-done
}

// Close ends the launcher's thread. Workers that are still alive die with it.
func (l *Launcher) Close() {
	if l.starts != nil {
		close(l.starts)
	}
}

// child is a process that the runner started.
type child struct {
	cmd    *exec.Cmd
	stderr *lastWords
	exited chan struct{}
	exit   error // valid once exited is closed
}

// process is one worker as seen by the runner. Both ends may be served by one child.
type process struct {
	*child
	role    string
	control *os.File
	where   *worker.WhereMap // nil for a probe
}

// role is an end to be served by a child: its name, its end of the socket to the other one, nil for a probe, and its ends
// of those to further members of a mesh.
type role struct {
	name string
	on   string // where a peer is
	peer *os.File
	mesh []*os.File
}

// start starts a child that serves the roles.
func (l *Launcher) start(env []string, roles ...role) (ps []*process, err error) {
	var theirs []*os.File
	defer func() {
		for _, f := range theirs {
			f.Close()
		}
		for _, p := range ps {
			if err != nil {
				p.release()
			}
		}
	}()
	c := &child{stderr: new(lastWords), exited: make(chan struct{})}
	var extra []*os.File
	for _, r := range roles {
		control, their, err := worker.NewControl()
		if err != nil {
			return ps, err
		}
		p := &process{child: c, role: r.name + r.on, control: control}
		ps, theirs, extra = append(ps, p), append(theirs, their), append(extra, their)
		if r.peer == nil {
			continue
		}
		where, mem, err := worker.NewWhere()
		if err != nil {
			return ps, err
		}
		p.where = where
		theirs, extra = append(theirs, mem), append(extra, r.peer, mem)
		extra = append(extra, r.mesh...)
	}
	c.cmd = exec.Command(ownBinary, l.Args...)
	c.cmd.Args[0] = l.Exe
	c.cmd.Env = append(workerEnv(os.Environ()), fmt.Sprintf("%s=%d", worker.EndsVariable, len(roles)), "GPUSHARE_ROLE="+strings.ReplaceAll(roles[0].name, " ", ""))
	c.cmd.Env = append(c.cmd.Env, env...)
	c.cmd.Stderr, c.cmd.ExtraFiles, c.cmd.SysProcAttr = c.stderr, extra, sysProcAttr(l.Isolate)
	c.cmd.WaitDelay = time.Second // a grandchild that keeps standard error open does not keep the run
	if err := l.fork(c.cmd); err != nil {
		hint := ""
		if len(l.Isolate) > 0 {
			hint = fmt.Sprintf(" (--isolate %s needs the right to make namespaces: run as root, or add user to the list)", strings.Join(l.Isolate, ","))
		}
		what := "the " + roles[0].name
		if roles[0].on != "" {
			what = roles[0].name + roles[0].on
		}
		return ps, fmt.Errorf("start %s: %w%s", what, err, hint)
	}
	go func() {
		c.exit = c.cmd.Wait()
		close(c.exited)
	}()
	return ps, nil
}

// ask sends a request and waits for the reply so long. The caller moves the deadline when ctx is cancelled.
func (p *process) ask(ctx context.Context, req *worker.Request, timeout time.Duration) (*worker.Reply, error) {
	socket := &patient{ctx: ctx, control: p.control, part: timeout / parts, left: timeout}
	var rep worker.Reply
	err := worker.WriteMessage(socket, req)
	if err == nil {
		err = worker.ReadMessage(socket, &rep)
	}
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, ErrNoAnswer
	case err != nil:
		return nil, fmt.Errorf("%s: %w", p.role, err)
	case rep.Version != worker.ProtocolVersion:
		return nil, fmt.Errorf("%s speaks protocol %d, this runner %d: it is no worker of this binary", p.role, rep.Version, worker.ProtocolVersion)
	}
	return &rep, nil
}

// killGrace bounds the wait for a killed process. One that sleeps in the kernel, in a driver that does not come back, dies
// only when that does; the run goes on without it.
const killGrace = 10 * time.Second

// quitGrace is the time for a worker to give up what it holds; drivers and busy machines take their time.
const quitGrace = 10 * time.Second

// kill ends the process and waits for it.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	p.await(killGrace)
	p.release()
}

// await reports whether the process ends in time.
func (p *process) await(d time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(d):
		return false
	}
}

// quit closes the control socket, which asks the process to end in order, and kills it if it does not within the grace.
func (p *process) quit(grace time.Duration) {
	p.control.Close()
	if !p.await(grace) {
		_ = p.cmd.Process.Kill()
		p.await(killGrace)
	}
	p.release()
}

func (p *process) release() {
	p.control.Close()
	p.where.Close()
}

// place says where the process is or was: "import/cuImportExternalMemory, cycle 12". "" if it is
// in no phase and made no call that has a name.
func (p *process) place() string {
	if p.where == nil || p.where.Where == nil {
		return ""
	}
	phase, cycle, call := p.where.Load()
	s := phase.String()
	switch {
	case s == "" && call == "":
		return ""
	case s == "":
		s = call
	case call != "":
		s += "/" + call
	}
	if int32(cycle) == worker.MeshCycle {
		return fmt.Sprintf("%s of %s, mapping each other's buffers", s, p.role)
	}
	return fmt.Sprintf("%s of the %s, cycle %d", s, p.role, int32(cycle)) // those kept alive have negative numbers
}

// call is the call that the process makes or made last, "" if none has a name.
func (p *process) call() string {
	if p.where == nil || p.where.Where == nil {
		return ""
	}
	_, _, call := p.where.Load()
	return call
}

// died says how the process ended, or "" if it is alive.
func (p *process) died() string {
	if !p.await(200 * time.Millisecond) { // its socket may close a moment before it can be waited for
		return ""
	}
	s := fmt.Sprintf("%s exited", p.role)
	var ee *exec.ExitError
	if errors.As(p.exit, &ee) {
		if ws, ok := ee.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			s = fmt.Sprintf("%s was killed by signal %d (%v)", p.role, int(ws.Signal()), ws.Signal())
		} else {
			s = fmt.Sprintf("%s exited with status %d", p.role, ee.ExitCode())
		}
	}
	if words := p.stderr.String(); words != "" {
		s += ": " + words
	}
	return s
}

// workerEnv keeps what a worker needs: the loader's, CUDA's and our own variables.
func workerEnv(env []string) []string {
	var kept []string
	order := false
	for _, kv := range env {
		k, _, _ := strings.Cut(kv, "=")
		switch {
		case k == "PATH", k == "HOME", k == "TMPDIR", k == "LD_LIBRARY_PATH", k == "LANG", k == "GOTRACEBACK", k == "GOCOVERDIR", k == "GORACE",
			strings.HasPrefix(k, "CUDA_"), strings.HasPrefix(k, "NVIDIA_"), strings.HasPrefix(k, "GPUSHARE_"):
			kept = append(kept, kv)
		}
		order = order || k == "CUDA_DEVICE_ORDER"
	}
	if !order {
		kept = append(kept, "CUDA_DEVICE_ORDER=PCI_BUS_ID")
	}
	return kept
}

// Probe asks a short-lived worker what a backend finds on this machine, so that a driver that hangs or crashes takes
// nothing with it. An error that matches share.ErrUnsupported says why the backend can't be used, one that matches
// ErrNoAnswer that the driver hangs.
func (l *Launcher) Probe(ctx context.Context, backend string) (share.Inventory, worker.Overhead, error) {
	var none share.Inventory
	var overhead worker.Overhead
	ps, err := l.start(nil, role{name: worker.RoleProbe})
	if err != nil {
		return none, overhead, err
	}
	p := ps[0]
	defer p.kill()
	stop := context.AfterFunc(ctx, func() { _ = p.control.SetDeadline(time.Now()) })
	defer stop()
	timeout := cmp.Or(l.ProbeTimeout, startTimeout)
	rep, err := p.ask(ctx, &worker.Request{Describe: &worker.Describe{Backend: backend}}, timeout)
	switch {
	case ctx.Err() != nil:
		return none, overhead, ctx.Err()
	case errors.Is(err, ErrNoAnswer):
		return none, overhead, fmt.Errorf("look for %s devices: %w within %s", backend, ErrNoAnswer, timeout)
	case err != nil:
		if d := p.died(); d != "" {
			err = errors.New(d)
		}
		return none, overhead, fmt.Errorf("look for %s devices: %w", backend, err)
	case rep.Error != nil:
		return none, overhead, rep.Error
	case rep.Inventory == nil:
		return none, overhead, fmt.Errorf("look for %s devices: %w", backend, io.ErrUnexpectedEOF)
	}
	if rep.Overhead != nil {
		overhead = *rep.Overhead
	}
	return *rep.Inventory, overhead, nil
}

// lastWords keeps the beginning and the end of what a process wrote to standard error: a crash names its cause first.
type lastWords struct {
	mu         sync.Mutex
	head, tail []byte
}

func (l *lastWords) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(b), stderrKept/2-len(l.head))
	l.head = append(l.head, b[:n]...)
	l.tail = append(l.tail, b[n:]...)
	if cut := len(l.tail) - stderrKept/2; cut > 0 {
		l.tail = append(l.tail[:0], l.tail[cut:]...)
	}
	return len(b), nil
}

// String is what was kept, as one line. Of a crash of Go code it is the cause without the stacks.
func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	cause, _, crash := strings.Cut(string(l.head), "\n\ngoroutine ")
	if !crash {
		cause += string(l.tail)
	}
	return strings.Join(strings.Fields(cause), " ")
}

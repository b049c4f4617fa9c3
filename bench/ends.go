package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"gpushare-bench/bench/worker"
	"gpushare-bench/share"
)

// ends is the pair of worker processes that measures the cases of one group, and the peers that take part.
type ends struct {
	producer, consumer *process
	peers              []*process
	devices            []share.DeviceInfo // of all members
	opened             []worker.Opened    // the same
}

// members lists all ends by their number in a mesh: producer, consumer, peers.
func (e *ends) members() []*process {
	var all []*process
	for _, p := range append([]*process{e.producer, e.consumer}, e.peers...) {
		if p != nil { // all but when they could not all be started
			all = append(all, p)
		}
	}
	return all
}

// openEnds starts the processes of a group and has them open their devices within the limit. An error that matches
// ErrNoAnswer says which of them hang and where.
func (l *Launcher) openEnds(ctx context.Context, g Group, c *Config, limit bound) (*ends, error) {
	e, err := l.startEnds(c, g.Peers)
	if err != nil {
		return nil, err
	}
	e.devices = append([]share.DeviceInfo{g.Producer, g.Consumer}, g.Peers...)
	var pids []int
	for _, p := range e.members() {
		pid := p.cmd.Process.Pid
		if slices.Contains(l.Isolate, "pid") {
			pid = 0 // it has no number in the others' namespaces
		}
		pids = append(pids, pid)
	}
	var reqs []*worker.Request
	for i, d := range e.devices {
		other := 0 // the first of the others
		if i == 0 {
			other = 1
		}
		o := &worker.Open{Role: worker.RolePeer, Backend: d.Backend, Device: d.ID, PeerPID: pids[other], Number: i}
		if i < 2 {
			o.Role, o.CPUs = worker.MemberName(i), d.CPUs
			// Only the consumer runs kernels, and only before kernels is the cache emptied, for which a GPU holds much memory.
			o.Options = share.Options{Cold: g.Cache == share.CacheCold && i == 1 && len(c.Kernels) > 0, Threads: c.Threads}
		}
		if len(g.Peers) > 0 {
			o.Members = pids
		}
		if o.Role == worker.RolePeer {
			o.Options.Peer = elsewhere(d, e.devices)
		} else if e.devices[other].Backend == d.Backend {
			o.Options.Peer = e.devices[other].ID
		}
		reqs = append(reqs, &worker.Request{Open: o})
	}
	e.opened = make([]worker.Opened, len(reqs))
	reps, errs := e.ask(ctx, limit.time, reqs...)
	for i, p := range e.members() {
		switch {
		case errors.Is(errs[i], ErrNoAnswer):
			err = errors.Join(err, fmt.Errorf("open of %s: %w within %s (%s)%s", memberText(i, p), ErrNoAnswer, limit.time, limit.flag, in(p.call())))
		case errs[i] != nil:
			err = errors.Join(err, e.explain(p, errs[i]))
		case reps[i].Error != nil:
			err = errors.Join(err, fmt.Errorf("%s: %w", p.role, reps[i].Error))
		case reps[i].Opened == nil:
			err = errors.Join(err, fmt.Errorf("%s: %w: no answer to open", p.role, worker.ErrMessage))
		default:
			e.opened[i] = *reps[i].Opened
		}
	}
	if err != nil {
		e.kill()
		return nil, err
	}
	return e, nil
}

// memberText names a member in a sentence: "the consumer", "peer 1 on GPU 3".
func memberText(number int, p *process) string {
	if number < 2 {
		return "the " + p.role
	}
	return p.role
}

// startEnds starts producer, consumer and peers, or one process that serves both ends. Every two have a socket pair.
func (l *Launcher) startEnds(c *Config, peers []share.DeviceInfo) (e *ends, err error) {
	e = &ends{}
	sockets := make([][]*os.File, 2+len(peers)) // of each member that is not started yet, to the others in their order
	defer func() {
		for _, fs := range sockets {
			for _, f := range fs {
				f.Close()
			}
		}
		if err != nil {
			e.kill()
			e = nil
		}
	}()
	connect := func(i int) error {
		for j := i + 1; j < len(sockets); j++ {
			a, b, err := worker.NewPeerSockets()
			if err != nil {
				return err
			}
			sockets[i], sockets[j] = append(sockets[i], a), append(sockets[j], b)
		}
		return nil
	}
	if c.SameProcess {
		if err := connect(0); err != nil {
			return e, err
		}
		ps, err := l.start(c.ProducerEnv, role{name: worker.RoleProducer, peer: sockets[0][0]}, role{name: worker.RoleConsumer, peer: sockets[1][0]})
		if err != nil {
			return e, err
		}
		e.producer, e.consumer = ps[0], ps[1]
		return e, nil
	}
	for i := range sockets {
		if err := connect(i); err != nil {
			return e, err
		}
		r := role{name: worker.MemberName(i), peer: sockets[i][0], mesh: sockets[i][1:]}
		var env []string
		switch i {
		case 0:
			env = c.ProducerEnv
		case 1:
			env = c.ConsumerEnv
		default:
			r.on = " on " + placeOf(peers[i-2])
		}
		ps, err := l.start(env, r)
		if err != nil {
			return e, err
		}
		switch i {
		case 0:
			e.producer = ps[0]
		case 1:
			e.consumer = ps[0]
		default:
			e.peers = append(e.peers, ps[0])
		}
		for _, f := range sockets[i] {
			f.Close()
		}
		sockets[i] = nil
	}
	return e, nil
}

// blind says that the consumer can't see the producer's device, which importing may need; "" if it can.
func (e *ends) blind() string {
	if why := e.opened[1].Blind; why != "" {
		return "the consumer does not see the producer's device: " + why
	}
	return ""
}

// pids are the numbers of the processes, of which so many are on the device: one may serve both ends.
func (e *ends) pids(device string) (pids []int, there int) {
	for i, p := range e.members() {
		if p == e.producer && p.child == e.consumer.child {
			continue
		}
		pids = append(pids, p.cmd.Process.Pid)
		if e.devices[i].ID == device {
			there++
		}
	}
	return pids, there
}

// explain adds how a process died to an error of its socket.
func (e *ends) explain(p *process, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	if d := p.died(); d != "" {
		return errors.New(d)
	}
	return err
}

// ask sends a request to each of the first members and waits for all replies. When ctx is cancelled it returns at once with
// ctx's error in place of the replies that are missing; the processes can't be used afterwards.
func (e *ends) ask(ctx context.Context, timeout time.Duration, reqs ...*worker.Request) (reps []*worker.Reply, errs []error) {
	ps := e.members()[:len(reqs)]
	reps, errs = make([]*worker.Reply, len(ps)), make([]error, len(ps))
	stop := context.AfterFunc(ctx, func() {
		for _, p := range ps {
			_ = p.control.SetDeadline(time.Now())
		}
	})
	defer stop()
	var wg sync.WaitGroup
	for i, p := range ps {
		wg.Go(func() {
			reps[i], errs[i] = p.ask(ctx, reqs[i], timeout)
			if errors.Is(errs[i], ErrNoAnswer) && ctx.Err() != nil {
				errs[i] = ctx.Err()
			}
		})
	}
	wg.Wait()
	return reps, errs
}

// batch runs one batch on both ends. The error is ctx's; everything else is in the outcome.
func (e *ends) batch(ctx context.Context, b *worker.Batch, limit bound) (prod, cons *worker.Result, o outcome, err error) {
	req := &worker.Request{Batch: b}
	reps, errs := e.ask(ctx, limit.time, req, req)
	if ctx.Err() != nil && (errs[0] != nil || errs[1] != nil) {
		return nil, nil, o, ctx.Err()
	}
	results := [2]*worker.Result{}
	problems := [2]*worker.Problem{}
	for i, p := range []*process{e.producer, e.consumer} {
		switch {
		case errs[i] != nil:
			o.lost(p, errs[i], limit)
		case reps[i].Error != nil:
			problems[i] = reps[i].Error
		case reps[i].Result == nil:
			problems[i] = &worker.Problem{Text: "no result in the reply"}
		default:
			results[i] = reps[i].Result
			problems[i] = reps[i].Result.Problem
		}
	}
	o.producer, o.consumer = problems[0], problems[1]
	return results[0], results[1], o, nil
}

// elsewhere is the first of the devices that is another one, or the device itself: what a peer fails at may lie between the
// two.
func elsewhere(d share.DeviceInfo, devices []share.DeviceInfo) string {
	for _, other := range devices {
		if other.ID != d.ID {
			return other.ID
		}
	}
	return d.ID
}

// lost notes that an end gave no answer within the limit, or can't any more.
func (o *outcome) lost(p *process, err error, limit bound) {
	if errors.Is(err, ErrNoAnswer) {
		o.timedOut, o.bound = true, limit
		// The end that waits for the other's message is not the one that hangs.
		if place := p.place(); place != "" && (o.where == "" || strings.HasPrefix(o.where, share.Transfer.String())) {
			o.where = place
		}
		return
	}
	o.died = p.died()
	if o.died == "" {
		o.died = err.Error()
	}
	o.where = p.place()
}

// quit ends the processes in order, the producer last: no importer may outlive its exporter.
func (e *ends) quit() {
	for _, p := range e.peers {
		p.control.Close()
	}
	for _, p := range e.peers {
		p.quit(quitGrace)
	}
	if e.consumer.child == e.producer.child {
		e.consumer.control.Close()
	} else {
		e.consumer.quit(quitGrace)
	}
	e.producer.quit(quitGrace)
	e.consumer.release()
}

// kill ends all processes at once.
func (e *ends) kill() {
	ps := e.members()
	for _, p := range ps {
		_ = p.cmd.Process.Kill()
	}
	for _, p := range slices.Backward(ps) {
		p.kill()
	}
}

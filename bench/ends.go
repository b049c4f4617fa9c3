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

// ends is the pair of worker processes that measures the cases of one group.
type ends struct {
	producer, consumer *process
	opened             [2]worker.Opened // of producer and consumer
}

// openEnds starts both processes and has them open their devices.
func (l *Launcher) openEnds(ctx context.Context, g Group, c *Config) (*ends, error) {
	a, b, err := worker.NewPeerSockets()
	if err != nil {
		return nil, err
	}
	defer a.Close()
	defer b.Close()
	e, err := l.startEnds(c, a, b)
	if err != nil {
		return nil, err
	}
	open := func(p, other *process, d, peer share.DeviceInfo) *worker.Request {
		pid := other.cmd.Process.Pid
		if slices.Contains(l.Isolate, "pid") {
			pid = 0 // it has no number in the other's namespace
		}
		// Only the consumer runs kernels, and only before kernels is the cache emptied, for which a GPU holds much memory.
		options := share.Options{Cold: g.Cache == share.CacheCold && p == e.consumer && len(c.Kernels) > 0, Threads: c.Threads}
		o := &worker.Open{Role: p.role, Backend: d.Backend, Device: d.ID, Options: options, CPUs: d.CPUs, PeerPID: pid}
		if peer.Backend == d.Backend {
			o.Options.Peer = peer.ID
		}
		return &worker.Request{Open: o}
	}
	reps, errs := e.both(ctx, open(e.producer, e.consumer, g.Producer, g.Consumer), open(e.consumer, e.producer, g.Consumer, g.Producer), startTimeout)
	for i, p := range []*process{e.producer, e.consumer} {
		switch {
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

// startEnds starts two processes, or one that serves both ends.
func (l *Launcher) startEnds(c *Config, a, b *os.File) (*ends, error) {
	producer, consumer := role{worker.RoleProducer, a}, role{worker.RoleConsumer, b}
	if c.SameProcess {
		ps, err := l.start(c.ProducerEnv, producer, consumer)
		if err != nil {
			return nil, err
		}
		return &ends{producer: ps[0], consumer: ps[1]}, nil
	}
	ps, err := l.start(c.ProducerEnv, producer)
	if err != nil {
		return nil, err
	}
	cs, err := l.start(c.ConsumerEnv, consumer)
	if err != nil {
		ps[0].kill()
		return nil, err
	}
	return &ends{producer: ps[0], consumer: cs[0]}, nil
}

// blind says that the consumer can't see the producer's device, which importing may need; "" if it can.
func (e *ends) blind() string {
	if why := e.opened[1].Blind; why != "" {
		return "the consumer does not see the producer's device: " + why
	}
	return ""
}

// pids are the numbers of the processes: two, or one that serves both ends.
func (e *ends) pids() []int {
	if e.producer.child == e.consumer.child {
		return []int{e.consumer.cmd.Process.Pid}
	}
	return []int{e.producer.cmd.Process.Pid, e.consumer.cmd.Process.Pid}
}

// explain adds how a process died to an error of its socket.
func (e *ends) explain(p *process, err error) error {
	if errors.Is(err, errTimeout) || errors.Is(err, context.Canceled) {
		return err
	}
	if d := p.died(); d != "" {
		return errors.New(d)
	}
	return err
}

// both sends a request to each end and waits for both replies. When ctx is cancelled it returns at once with ctx's error
// in place of the replies that are missing; the processes can't be used afterwards.
func (e *ends) both(ctx context.Context, producer, consumer *worker.Request, timeout time.Duration) (reps [2]*worker.Reply, errs [2]error) {
	deadline := time.Now().Add(timeout)
	stop := context.AfterFunc(ctx, func() {
		_ = e.producer.control.SetDeadline(time.Now())
		_ = e.consumer.control.SetDeadline(time.Now())
	})
	defer stop()
	var wg sync.WaitGroup
	for i, x := range []struct {
		p   *process
		req *worker.Request
	}{{e.producer, producer}, {e.consumer, consumer}} {
		wg.Go(func() {
			reps[i], errs[i] = x.p.ask(ctx, x.req, deadline)
			if errors.Is(errs[i], errTimeout) && ctx.Err() != nil {
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
	reps, errs := e.both(ctx, req, req, limit.time)
	if ctx.Err() != nil && (errs[0] != nil || errs[1] != nil) {
		return nil, nil, o, ctx.Err()
	}
	results := [2]*worker.Result{}
	problems := [2]*worker.Problem{}
	for i, p := range []*process{e.producer, e.consumer} {
		switch {
		case errors.Is(errs[i], errTimeout):
			o.timedOut, o.bound = true, limit
			// The end that waits for the other's message is not the one that hangs.
			if place := p.place(); place != "" && (o.where == "" || strings.HasPrefix(o.where, share.Transfer.String())) {
				o.where = place
			}
		case errs[i] != nil:
			if d := p.died(); d != "" {
				o.died = d
			} else {
				o.died = errs[i].Error()
			}
			o.where = p.place()
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

// quit ends both processes in order, the consumer first: no importer may outlive its exporter.
func (e *ends) quit() {
	if e.consumer.child == e.producer.child {
		e.consumer.control.Close()
	} else {
		e.consumer.quit(quitGrace)
	}
	e.producer.quit(quitGrace)
	e.consumer.release()
}

// kill ends both processes at once.
func (e *ends) kill() {
	if e.producer != nil {
		_ = e.producer.cmd.Process.Kill()
	}
	if e.consumer != nil {
		e.consumer.kill()
	}
	if e.producer != nil {
		e.producer.kill()
	}
}

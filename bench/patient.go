package bench

import (
	"context"
	"errors"
	"os"
	"time"
)

// parts is in how many parts the time of a wait is waited for.
const parts = 4

// late is how much longer than it should a part takes in which this process did not run for a while.
const late = 200 * time.Millisecond

// patient is a worker's control socket that is waited for for a limited time. Parts of it in which this process did not run
// do not count: who was stopped, by Ctrl-Z, by a debugger or with the whole machine, finds all deadlines passed when it goes
// on, while the answer may be there already, or the worker was stopped as long.
type patient struct {
	ctx     context.Context // its cancelling moves the deadline
	control *os.File
	part    time.Duration
	left    time.Duration
}

// Read reads what there is, as soon as there is something.
func (p *patient) Read(b []byte) (n int, err error) {
	err = p.try(func() (err error) {
		n, err = p.control.Read(b)
		return err
	})
	return n, err
}

// Write writes everything.
func (p *patient) Write(b []byte) (n int, err error) {
	err = p.try(func() error {
		m, err := p.control.Write(b[n:])
		n += m
		return err
	})
	return n, err
}

// try calls f until the time is over or it does not fail for want of time.
func (p *patient) try(f func() error) error {
	for {
		began := time.Now()
		if err := p.control.SetDeadline(began.Add(p.part)); err != nil {
			return err
		}
		if p.ctx.Err() != nil { // the deadline may have been moved before it was set
			_ = p.control.SetDeadline(time.Now())
		}
		err := f()
		if took := time.Since(began); took <= p.part+late {
			p.left -= took
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || p.left <= 0 || p.ctx.Err() != nil {
			return err
		}
	}
}

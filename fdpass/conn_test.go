package fdpass

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMessageArrivesWhole(t *testing.T) {
	for _, mode := range []Mode{Polling, Blocked} {
		for _, count := range []int{0, 1, MaxFDs} {
			t.Run(fmt.Sprintf("%v/%d descriptors", mode, count), func(t *testing.T) {
				a, b := pair(t)
				var send []int
				for i := range count {
					send = append(send, memfd(t, fmt.Sprint("memory ", i)))
				}
				payload := []byte(strings.Repeat("p", MaxPayload-1) + "q")
				sent, err := a.Send(payload, send...)
				if err != nil {
					t.Fatal(err)
				}
				buf := make([]byte, MaxPayload)
				n, fds, got, err := b.Recv(buf, count, mode)
				if err != nil {
					t.Fatal(err)
				}
				if string(buf[:n]) != string(payload) {
					t.Errorf("payload: got %q", buf[:n])
				}
				if len(fds) != count {
					t.Fatalf("%d descriptors, want %d", len(fds), count)
				}
				for i, fd := range fds {
					if s, want := readFD(t, fd, 8), fmt.Sprint("memory ", i); s != want {
						t.Errorf("descriptor %d holds %q, want %q", i, s, want)
					}
					if !closeOnExec(t, fd) {
						t.Errorf("descriptor %d is not close-on-exec", i)
					}
					if _, err := b.CloseFD(fd); err != nil {
						t.Error(err)
					}
				}
				if sent.Start == 0 || sent.Start > sent.End || sent.End > got.Start || got.Start > got.End {
					t.Errorf("send %+v and receive %+v are not in order", sent, got)
				}
			})
		}
	}
}

// The receiver waits before the sender starts: its span begins with the waiting and ends after the send began.
func TestSpanCoversTheWait(t *testing.T) {
	for _, mode := range []Mode{Polling, Blocked} {
		t.Run(mode.String(), func(t *testing.T) {
			a, b := pair(t)
			sent := make(chan Span, 1)
			go func() {
				time.Sleep(5 * time.Millisecond)
				span, err := a.Send([]byte("x"))
				if err != nil {
					t.Error(err)
				}
				sent <- span
			}()
			_, _, got, err := b.Recv(make([]byte, 8), 0, mode)
			if err != nil {
				t.Fatal(err)
			}
			if s := <-sent; got.Start > s.Start || s.Start > got.End {
				t.Errorf("receive %+v does not cover the start of send %+v", got, s)
			}
		})
	}
}

func TestEndOfConnection(t *testing.T) {
	for _, mode := range []Mode{Polling, Blocked} {
		t.Run(mode.String(), func(t *testing.T) {
			a, b := pair(t)
			if _, err := a.Send([]byte("last"), memfd(t, "x")); err != nil {
				t.Fatal(err)
			}
			if _, err := b.Send([]byte("never read")); err != nil {
				t.Fatal(err)
			}
			a.Close()
			if _, fds, _, err := b.Recv(make([]byte, 8), 1, mode); err != nil {
				// Linux reports the unread message first.
				if !errors.Is(err, io.EOF) || !errors.Is(err, unix.ECONNRESET) {
					t.Fatalf("with an unread message: %v", err)
				}
				if _, fds, _, err = b.Recv(make([]byte, 8), 1, mode); err != nil {
					t.Fatal(err)
				}
				unix.Close(fds[0])
			} else {
				unix.Close(fds[0])
			}
			if _, _, _, err := b.Recv(make([]byte, 8), 0, mode); !errors.Is(err, io.EOF) {
				t.Errorf("Recv: got %v, want io.EOF", err)
			}
			if _, err := b.Send([]byte("x")); !errors.Is(err, io.EOF) {
				t.Errorf("Send: got %v, want io.EOF", err)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	for _, mode := range []Mode{Polling, Blocked} {
		t.Run(mode.String(), func(t *testing.T) {
			a, b := pair(t)
			if err := b.SetTimeout(3 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
			_, _, span, err := b.Recv(make([]byte, 8), 0, mode)
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatalf("got %v, want os.ErrDeadlineExceeded", err)
			}
			if span.End-span.Start < int64(3*time.Millisecond) {
				t.Errorf("gave up after %d ns, before its time", span.End-span.Start)
			}
			if err := b.SetTimeout(0); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Send([]byte("x")); err != nil {
				t.Fatal(err)
			}
			if _, _, _, err := b.Recv(make([]byte, 8), 0, mode); err != nil {
				t.Errorf("after the timeout: %v", err)
			}
		})
	}
	t.Run("send", func(t *testing.T) {
		a, _ := pair(t)
		if err := a.SetTimeout(time.Millisecond); err != nil {
			t.Fatal(err)
		}
		if err := fill(a); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("got %v, want os.ErrDeadlineExceeded", err)
		}
		if err := a.SetTimeout(-1); err == nil {
			t.Error("a negative timeout is accepted")
		}
	})
}

// fill sends until it fails: nobody reads.
func fill(c *Conn) error {
	for {
		if _, err := c.Send(make([]byte, MaxPayload)); err != nil {
			return err
		}
	}
}

func TestInterrupt(t *testing.T) {
	for name, wait := range map[string]func(*Conn) error{
		"polling": func(c *Conn) error { _, _, _, err := c.Recv(make([]byte, 8), 0, Polling); return err },
		"blocked": func(c *Conn) error { _, _, _, err := c.Recv(make([]byte, 8), 0, Blocked); return err },
		"send":    fill,
	} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			done := make(chan error)
			go func() { done <- wait(a) }()
			time.Sleep(5 * time.Millisecond)
			a.Interrupt()
			if err := <-done; !errors.Is(err, ErrInterrupted) {
				t.Errorf("got %v, want ErrInterrupted", err)
			}
			if err := wait(a); !errors.Is(err, ErrInterrupted) {
				t.Errorf("afterwards: got %v, want ErrInterrupted", err)
			}
			for {
				_, _, _, err := b.Recv(make([]byte, MaxPayload), 0, Blocked)
				if err == nil {
					continue // what was sent before
				}
				if !errors.Is(err, io.EOF) {
					t.Errorf("the other end: got %v, want io.EOF", err)
				}
				break
			}
		})
	}
	t.Run("after Close", func(t *testing.T) {
		a, _ := pair(t)
		a.Close()
		a.Interrupt()
	})
}

// A wait with a time limit is not restarted by the kernel after a signal, and Go sends itself signals.
func TestSignalDoesNotEndTheWait(t *testing.T) {
	a, b := pair(t)
	if err := b.SetTimeout(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	tid, done := make(chan int), make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		tid <- unix.Gettid()
		_, _, _, err := b.Recv(make([]byte, 8), 0, Blocked)
		done <- err
	}()
	thread := <-tid
	for range 5 {
		time.Sleep(2 * time.Millisecond)
		if err := unix.Tgkill(os.Getpid(), thread, unix.SIGURG); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := a.Send([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestFromFDRefusesOtherDescriptors(t *testing.T) {
	stream, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(stream[0])
	defer unix.Close(stream[1])
	udp, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(udp)
	for fd, want := range map[int]string{
		stream[0]: "not an SOCK_SEQPACKET socket", udp: "not an AF_UNIX socket",
		memfd(t, "x"): "socket operation on non-socket", -1: "bad file descriptor",
	} {
		if _, err := FromFD(fd); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
}

func TestWrongArguments(t *testing.T) {
	a, b := pair(t)
	for name, call := range map[string]func() error{
		"no payload":            func() error { _, err := a.Send(nil); return err },
		"payload too long":      func() error { _, err := a.Send(make([]byte, MaxPayload+1)); return err },
		"too many descriptors":  func() error { _, err := a.Send([]byte("x"), make([]int, MaxFDs+1)...); return err },
		"a closed descriptor":   func() error { _, err := a.Send([]byte("x"), 1<<20); return err },
		"no buffer":             func() error { _, _, _, err := b.Recv(nil, 0, Polling); return err },
		"negative count":        func() error { _, _, _, err := b.Recv(make([]byte, 1), -1, Polling); return err },
		"count above the limit": func() error { _, _, _, err := b.Recv(make([]byte, 1), MaxFDs+1, Polling); return err },
		"close of nothing":      func() error { _, err := a.CloseFD(1 << 20); return err },
	} {
		if err := call(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	a, b := pair(t)
	b.ExpectPeer(os.Getpid())
	fds, buf := []int{memfd(t, "x")}, make([]byte, 256)
	for _, mode := range []Mode{Polling, Blocked} {
		allocs := testing.AllocsPerRun(500, func() {
			if _, err := a.Send(buf, fds...); err != nil {
				t.Fatal(err)
			}
			_, got, _, err := b.Recv(buf, 1, mode)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := b.CloseFD(got[0]); err != nil {
				t.Fatal(err)
			}
		})
		if allocs != 0 {
			t.Errorf("%v: %v allocations per transfer, want 0", mode, allocs)
		}
	}
}

func TestTraceHearsOfEveryDescriptor(t *testing.T) {
	made := map[string]int{}
	Trace = func(fd int, call string) { made[call]++ }
	defer func() { Trace = nil }()
	a, b := pair(t)
	if _, err := a.Send([]byte("x"), memfd(t, "x"), memfd(t, "y")); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := b.Recv(make([]byte, 1), 0, Blocked); !errors.Is(err, ErrDescriptors) {
		t.Fatal(err)
	}
	x, y, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	x.Close()
	y.Close()
	if made["memfd_create"] != 2 || made["recvmsg"] != 2 || made["socketpair"] != 2 {
		t.Errorf("heard of %v", made)
	}
}

func TestMemoryIsSealed(t *testing.T) {
	f, err := Memory("sealed", 4096)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Size() != 4096 {
		t.Errorf("size %v, %v", st.Size(), err)
	}
	for _, size := range []int64{0, 8192} {
		if err := f.Truncate(size); !errors.Is(err, unix.EPERM) {
			t.Errorf("truncate to %d: got %v, want EPERM", size, err)
		}
	}
	if !closeOnExec(t, int(f.Fd())) {
		t.Error("not close-on-exec")
	}
	if _, err := Memory("negative", -1); err == nil {
		t.Error("a negative size is accepted")
	}
}

package fdpass

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("FDPASS_TEST_CHILD"); role != "" {
		if err := child(role); err != nil {
			fmt.Fprintln(os.Stderr, "child:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// pair returns two connected ends, both in this process, and checks at the end that the test left as many open
// descriptors as it found.
func pair(t testing.TB) (a, b *Conn) {
	t.Helper()
	before := openFDs(t)
	t.Cleanup(func() {
		if after := openFDs(t); after != before {
			t.Errorf("open descriptors after the test:\n%s\nbefore:\n%s", after, before)
		}
	})
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	conns := make([]*Conn, 2)
	for i, fd := range fds {
		if conns[i], err = FromFD(fd); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := conns[i].Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return conns[0], conns[1]
}

// openFDs lists this process's descriptors with what they are, without Go's own poller and without the one that reads
// the list.
func openFDs(t testing.TB) string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		target, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err != nil || strings.HasPrefix(target, "anon_inode:[event") || strings.HasPrefix(target, "/proc/") {
			continue
		}
		list = append(list, e.Name()+" "+target)
	}
	return strings.Join(list, "\n")
}

// memfd returns a descriptor of memory that says s.
func memfd(t testing.TB, s string) int {
	t.Helper()
	f, err := Memory("fdpass-test", int64(len(s)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.WriteAt([]byte(s), 0); err != nil {
		t.Fatal(err)
	}
	return int(f.Fd())
}

func readFD(t testing.TB, fd, n int) string {
	t.Helper()
	buf := make([]byte, n)
	if _, err := unix.Pread(fd, buf, 0); err != nil {
		t.Fatal(err)
	}
	return string(buf)
}

func closeOnExec(t testing.TB, fd int) bool {
	t.Helper()
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil {
		t.Fatal(err)
	}
	return flags&unix.FD_CLOEXEC != 0
}

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

func TestRefusedMessages(t *testing.T) {
	rights := func(t *testing.T, n int) []byte {
		fd := memfd(t, "x")
		fds := make([]int, n)
		for i := range fds {
			fds[i] = fd
		}
		return unix.UnixRights(fds...)
	}
	tests := []struct {
		name    string
		payload string
		control func(*testing.T) []byte
		expect  func(*Conn)
		want    error
	}{
		{name: "a descriptor where none is taken", payload: "x",
			control: func(t *testing.T) []byte { return rights(t, 1) }, want: ErrDescriptors},
		{name: "as many descriptors as the kernel sends", payload: "x",
			control: func(t *testing.T) []byte { return rights(t, scmMaxFD) }, want: ErrDescriptors},
		{name: "payload too long", payload: strings.Repeat("x", 100),
			control: func(t *testing.T) []byte { return rights(t, 2) }, want: ErrPayloadTruncated},
		{name: "no payload", payload: "",
			control: func(t *testing.T) []byte { return rights(t, 1) }, want: ErrMalformed},
		{name: "no payload and no descriptor", payload: "",
			control: func(*testing.T) []byte { return nil }, want: ErrMalformed},
		{name: "another process", payload: "x",
			control: func(t *testing.T) []byte { return rights(t, 1) },
			expect:  func(c *Conn) { c.ExpectPeer(os.Getpid() + 1) }, want: ErrSender},
	}
	for _, test := range tests {
		for _, mode := range []Mode{Polling, Blocked} {
			t.Run(test.name+"/"+mode.String(), func(t *testing.T) {
				a, b := pair(t)
				if test.expect != nil {
					test.expect(b)
				}
				sendRaw(t, a.fd, []byte(test.payload), test.control(t))
				n, fds, _, err := b.Recv(make([]byte, 10), 0, mode)
				if !errors.Is(err, test.want) || n != 0 || fds != nil {
					t.Fatalf("got %d bytes, %d descriptors, %v; want %v", n, len(fds), err, test.want)
				}
				// The connection is still in step.
				b.ExpectPeer(os.Getpid())
				if _, err := a.Send([]byte("next")); err != nil {
					t.Fatal(err)
				}
				buf := make([]byte, 10)
				if n, _, _, err := b.Recv(buf, 0, mode); err != nil || string(buf[:n]) != "next" {
					t.Errorf("after the refusal: %q, %v", buf[:n], err)
				}
			})
		}
	}
}

// sendRaw sends what Send would not; unix.Sendmsg adds a byte to an empty payload.
func sendRaw(t *testing.T, fd int, payload, control []byte) {
	t.Helper()
	vec := unix.Iovec{Base: unsafe.SliceData(payload)}
	vec.SetLen(len(payload))
	hdr := unix.Msghdr{Iov: &vec, Control: unsafe.SliceData(control)}
	hdr.SetIovlen(1)
	hdr.SetControllen(len(control))
	if _, _, errno := unix.Syscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&hdr)), 0); errno != 0 {
		t.Fatal(errno)
	}
}

func TestDescriptorLimitIsNamed(t *testing.T) {
	a, b := pair(t)
	x := memfd(t, "x")
	if _, err := a.Send([]byte("two"), x, x); err != nil {
		t.Fatal(err)
	}
	free, err := unix.Dup(x)
	if err != nil {
		t.Fatal(err)
	}
	unix.Close(free)
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	low := limit
	low.Cur = uint64(free + 1) // room for the first of two
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &low); err != nil {
		t.Fatal(err)
	}
	_, _, _, err = b.Recv(make([]byte, 8), 2, Blocked)
	if err2 := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err2 != nil {
		t.Fatal(err2)
	}
	if !errors.Is(err, ErrControlTruncated) || !errors.Is(err, unix.EMFILE) {
		t.Errorf("got %v, want ErrControlTruncated and EMFILE", err)
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

// start runs this test binary again as a child with one end of a pair, and returns the other end.
func start(t *testing.T, role string, env ...string) (*Conn, int) {
	t.Helper()
	ours, theirs, err := Pair()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "FDPASS_TEST_CHILD="+role), env...)
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	fd, err := unix.FcntlInt(ours.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours.Close()
	conn, err := FromFD(fd)
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetTimeout(20 * time.Second); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		conn.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("child %s: %v", role, err)
		}
	})
	return conn, cmd.Process.Pid
}

// child is a second process. It serves its parent on descriptor 3.
func child(role string) error {
	conn, err := FromFD(3)
	if err != nil {
		return err
	}
	defer conn.Close()
	buf := make([]byte, MaxPayload)
	switch role {
	case "echo": // send every descriptor back
		for {
			n, fds, _, err := conn.Recv(buf, MaxFDs, Blocked)
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			if _, err := conn.Send(buf[:n], fds...); err != nil {
				return err
			}
			for _, fd := range fds {
				unix.Close(fd)
			}
		}
	case "producer": // name a descriptor, allow the process that the parent names to take it, wait for the end
		f, err := Memory("producer", 8)
		if err != nil {
			return err
		}
		if _, err := f.WriteAt([]byte("produced"), 0); err != nil {
			return err
		}
		n, _, _, err := conn.Recv(buf, 0, Blocked)
		if err != nil {
			return err
		}
		if consumer, err := strconv.Atoi(string(buf[:n])); err != nil {
			return err
		} else if err := AllowFetch(consumer); err != nil {
			return err
		}
		if _, err := conn.Send(strconv.AppendInt(nil, int64(f.Fd()), 10)); err != nil {
			return err
		}
		_, _, _, err = conn.Recv(buf, 0, Blocked)
		runtime.KeepAlive(f)
		if !errors.Is(err, io.EOF) {
			return err
		}
		return nil
	case "consumer": // take the descriptor that the parent names and send what it says
		n, _, _, err := conn.Recv(buf, 0, Blocked)
		if err != nil {
			return err
		}
		var pid, remote int
		if _, err := fmt.Sscanf(string(buf[:n]), "%d %d", &pid, &remote); err != nil {
			return err
		}
		reply, err := fetch(pid, remote)
		if err != nil {
			reply = err.Error()
		}
		_, err = conn.Send([]byte(reply))
		return err
	}
	return fmt.Errorf("no role %q", role)
}

func fetch(pid, remote int) (string, error) {
	p, _, err := OpenProcess(pid)
	if err != nil {
		return "", err
	}
	defer p.Close()
	fd, _, err := p.Fetch(remote)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	buf := make([]byte, 8)
	_, err = unix.Pread(fd, buf, 0)
	return string(buf), err
}

func TestBetweenProcesses(t *testing.T) {
	conn, pid := start(t, "echo")
	conn.ExpectPeer(pid)
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	x := memfd(t, "shared memory")
	before := openFDs(t)
	buf := make([]byte, 16)
	for i := range rounds {
		sent, err := conn.Send([]byte("there and back"), x)
		if err != nil {
			t.Fatal(err)
		}
		n, fds, got, err := conn.Recv(buf, 1, Mode(i%2))
		if err != nil {
			t.Fatal(err)
		}
		if string(buf[:n]) != "there and back" || len(fds) != 1 {
			t.Fatalf("got %q with %d descriptors", buf[:n], len(fds))
		}
		if s := readFD(t, fds[0], 13); s != "shared memory" {
			t.Fatalf("the descriptor holds %q", s)
		}
		unix.Close(fds[0])
		if sent.End > got.End {
			t.Fatalf("sent %+v, received %+v", sent, got)
		}
	}
	if after := openFDs(t); after != before {
		t.Errorf("open descriptors:\n%s\nbefore:\n%s", after, before)
	}
	conn.ExpectPeer(os.Getpid())
	if _, err := conn.Send([]byte("x"), x); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := conn.Recv(buf, 1, Blocked); !errors.Is(err, ErrSender) {
		t.Errorf("a message of another process: got %v, want ErrSender", err)
	}
}

func BenchmarkTransferPolling(b *testing.B) { benchmarkTransfer(b, Polling, 0) }
func BenchmarkTransferBlocked(b *testing.B) { benchmarkTransfer(b, Blocked, 0) }
func BenchmarkTransferChecked(b *testing.B) { benchmarkTransfer(b, Polling, os.Getpid()) }

// benchmarkTransfer sends and receives a descriptor in one thread: the cost of the calls without a wake-up.
func benchmarkTransfer(b *testing.B, mode Mode, peer int) {
	x, y := pair(b)
	y.ExpectPeer(peer)
	fd, buf := memfd(b, "x"), make([]byte, 256)
	var send, recv, closed int64
	b.ReportAllocs()
	for b.Loop() {
		sent, err := x.Send(buf, fd)
		if err != nil {
			b.Fatal(err)
		}
		_, fds, got, err := y.Recv(buf, 1, mode)
		if err != nil {
			b.Fatal(err)
		}
		c, err := y.CloseFD(fds[0])
		if err != nil {
			b.Fatal(err)
		}
		send, recv, closed = send+sent.End-sent.Start, recv+got.End-got.Start, closed+c.End-c.Start
	}
	b.ReportMetric(float64(send)/float64(b.N), "sendmsg-ns")
	b.ReportMetric(float64(recv)/float64(b.N), "recvmsg-ns")
	b.ReportMetric(float64(closed)/float64(b.N), "close-ns")
}

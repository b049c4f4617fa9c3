package fdpass

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"
	"time"

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

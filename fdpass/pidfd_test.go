package fdpass

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFetchFromOneself(t *testing.T) {
	p, span, err := OpenProcess(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	x := memfd(t, "mine")
	fd, got, err := p.Fetch(x)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if fd == x || readFD(t, fd, 4) != "mine" {
		t.Errorf("descriptor %d of %d holds %q", fd, x, readFD(t, fd, 4))
	}
	if !closeOnExec(t, fd) || !closeOnExec(t, p.pidfd) {
		t.Error("a descriptor is not close-on-exec")
	}
	if span.Start == 0 || span.Start > span.End || span.End > got.Start || got.Start > got.End {
		t.Errorf("open %+v and fetch %+v are not in order", span, got)
	}
	if _, _, err := p.Fetch(1 << 20); !errors.Is(err, unix.EBADF) || errors.Is(err, ErrRefused) {
		t.Errorf("a descriptor that is not open: got %v, want EBADF and no refusal", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if err := p.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// Two children of one parent, as producer and consumer are: neither descends from the other.
func TestFetchBetweenSiblings(t *testing.T) {
	producer, producerPID := start(t, "producer")
	consumer, consumerPID := start(t, "consumer")
	buf := make([]byte, MaxPayload)
	ask := func(c *Conn, request string) string {
		t.Helper()
		if _, err := c.Send([]byte(request)); err != nil {
			t.Fatal(err)
		}
		n, _, _, err := c.Recv(buf, 0, Blocked)
		if err != nil {
			t.Fatal(err)
		}
		return string(buf[:n])
	}
	remote := ask(producer, strconv.Itoa(consumerPID))
	if got := ask(consumer, fmt.Sprintf("%d %s", producerPID, remote)); got != "produced" {
		if strings.Contains(got, ErrRefused.Error()) {
			t.Skipf("this machine refuses: %s", got)
		}
		t.Errorf("got %q, want %q", got, "produced")
	}
}

func TestOpenProcessThatIsNotThere(t *testing.T) {
	_, _, err := OpenProcess(1 << 22) // above the largest number Linux gives
	if !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EINVAL) {
		t.Errorf("got %v, want ESRCH", err)
	}
	if err != nil && !strings.HasPrefix(err.Error(), "pidfd_open(process 4194304)") {
		t.Errorf("%q does not name the call", err)
	}
}

func TestAllowFetch(t *testing.T) {
	if err := AllowFetch(os.Getppid()); err != nil {
		t.Error(err)
	}
	if err := AllowFetch(0); err != nil {
		t.Error(err)
	}
	_, err := os.Stat(yamaScope)
	yama := err == nil
	if err := AllowFetch(1 << 22); (err != nil) != yama {
		t.Errorf("a process that is not there: got %v, with Yama: %t", err, yama)
	}
}

func TestReadGatesOfOneself(t *testing.T) {
	g := readGates(os.Getpid())
	if g.namespace != "same" || g.otherUser {
		t.Errorf("got %+v", g)
	}
	if readGates(1<<22).namespace != "" {
		t.Error("the namespace of a process that is not there is known")
	}
}

func TestRefusalNamesTheGate(t *testing.T) {
	tests := []struct {
		call    string
		errno   unix.Errno
		gates   gates
		want    string
		refused bool
	}{
		{"pidfd_open", unix.ENOSYS, gates{scope: -1}, "older than Linux 5.3", true},
		{"pidfd_getfd", unix.ENOSYS, gates{scope: -1}, "older than Linux 5.6", true},
		{"pidfd_getfd", unix.ENOSYS, gates{scope: -1, filtered: true}, "seccomp", true},
		{"pidfd_getfd", unix.EPERM, gates{scope: 1}, "ptrace_scope is 1", true},
		{"pidfd_getfd", unix.EPERM, gates{scope: 2}, "CAP_SYS_PTRACE", true},
		{"pidfd_getfd", unix.EPERM, gates{scope: 3}, "ptrace_scope is 3", true},
		{"pidfd_getfd", unix.EPERM, gates{scope: 0}, "not dumpable", true},
		{"pidfd_getfd", unix.EPERM, gates{scope: 1, filtered: true}, "ptrace_scope is 1 and the other process has not allowed this one (PR_SET_PTRACER); this container's seccomp", true},
		{"pidfd_getfd", unix.EPERM, gates{scope: 0, otherUser: true}, "another user", true},
		{"pidfd_getfd", unix.EPERM, gates{scope: 0, namespace: "other"}, "another PID namespace", true},
		{"pidfd_open", unix.EPERM, gates{scope: 1, filtered: true}, "seccomp", true},
		{"pidfd_open", unix.ESRCH, gates{}, "has ended", false},
		{"pidfd_getfd", unix.EBADF, gates{}, "no such descriptor", false},
		{"pidfd_getfd", unix.EMFILE, gates{}, "ulimit -n", false},
		{"pidfd_getfd", unix.EINVAL, gates{}, "invalid argument", false},
	}
	for _, test := range tests {
		err := refusal(test.call, "process 7", test.errno, test.gates)
		if !errors.Is(err, test.errno) || errors.Is(err, ErrRefused) != test.refused {
			t.Errorf("%v: want errno %v, refused %t", err, test.errno, test.refused)
		}
		if !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), test.call+"(process 7): ") {
			t.Errorf("%q does not say %q", err, test.want)
		}
	}
}

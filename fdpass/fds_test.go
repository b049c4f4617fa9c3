package fdpass

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

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

package fdpass

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

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

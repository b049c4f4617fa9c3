package worker

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"gpushare-bench/fdpass"
	"gpushare-bench/share"
)

// endpoints is one end of a cycle and the socket of a peer that sends what it likes.
func endpoints(t *testing.T, role string) (*end, int) {
	t.Helper()
	a, b, err := fdpass.Pair()
	if err != nil {
		t.Fatal(err)
	}
	fds := [2]int{}
	for i, f := range []*os.File{a, b} {
		if fds[i], err = syscall.Dup(int(f.Fd())); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	conn, err := fdpass.FromFD(fds[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetTimeout(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); syscall.Close(fds[1]) })
	return &end{role: role, conn: conn, tape: share.NewTape(nil)}, fds[1]
}

// openFDs is how many descriptors this process has.
func openFDs(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func encoded(k kind, size int) []byte { return encodedOf(k, 1, size) }

func encodedOf(k kind, cycle int32, size int) []byte {
	buf := make([]byte, max(size, frameSize))
	f := frame{kind: k, cycle: cycle, remote: -1, handle: share.Handle{FD: -1, Bytes: 4096, Allocated: 4096}}
	f.encode(buf)
	return buf[:size]
}

// Whatever a peer sends in place of the handle is refused, and no descriptor that came along stays open.
func TestHostileProducer(t *testing.T) {
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	fd := int(null.Fd())
	for _, c := range []struct {
		name      string
		transport string
		bytes     []byte
		fds       []int
		want      error
	}{
		{"no descriptor", share.TransportSCMRights, encoded(kindHandle, frameSize), nil, ErrFrame},
		{"two descriptors", share.TransportSCMRights, encoded(kindHandle, frameSize), []int{fd, fd}, fdpass.ErrDescriptors},
		{"descriptor with bytes", share.TransportBytes, encoded(kindHandle, frameSize), []int{fd}, ErrFrame},
		{"descriptor beside its number", share.TransportPidfd, encoded(kindHandle, frameSize), []int{fd}, ErrFrame},
		{"another kind", share.TransportSCMRights, encoded(kindDone, frameSize), []int{fd}, ErrFrame},
		{"handle of another cycle", share.TransportSCMRights, encodedOf(kindHandle, 2, frameSize), []int{fd}, ErrFrame},
		{"handle of what is kept", share.TransportSCMRights, encodedOf(kindHandle, -1, frameSize), []int{fd}, ErrFrame},
		{"abort of another cycle", share.TransportSCMRights, encodedOf(kindAbort, 9, frameSize), nil, errPeer},
		{"abort with a descriptor", share.TransportSCMRights, encoded(kindAbort, frameSize), []int{fd}, errPeer},
		{"short frame", share.TransportSCMRights, encoded(kindHandle, frameSize-1), []int{fd}, ErrFrame},
		{"long frame", share.TransportSCMRights, encoded(kindHandle, frameSize+1), []int{fd}, fdpass.ErrPayloadTruncated},
		{"rubbish", share.TransportSCMRights, make([]byte, frameSize), []int{fd}, ErrFrame},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, peer := endpoints(t, RoleConsumer)
			before := openFDs(t)
			for _, m := range []struct {
				bytes []byte
				fds   []int
			}{{encoded(kindPrepare, frameSize), nil}, {c.bytes, c.fds}} {
				var oob []byte
				if len(m.fds) > 0 {
					oob = syscall.UnixRights(m.fds...)
				}
				if err := syscall.Sendmsg(peer, m.bytes, oob, nil, 0); err != nil {
					t.Fatal(err)
				}
			}
			b := &Batch{Case: share.Case{Transport: c.transport, Receiver: share.ReceiverBlocked}}
			h, err := e.receiveHandle(b, 1, &Cycle{})
			if !errors.Is(err, c.want) || h.FD != -1 {
				t.Errorf("%+v, %v, want %v", h, err, c.want)
			}
			if after := openFDs(t); after != before {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
		})
	}
}

// Neither do messages that carry no handle bring descriptors into the process.
func TestHostileConsumer(t *testing.T) {
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	for _, c := range []struct {
		name  string
		bytes []byte
		fds   int
		want  error
	}{
		{"done with a descriptor", encoded(kindDone, frameSize), 1, fdpass.ErrDescriptors},
		{"done with three", encoded(kindDone, frameSize), 3, fdpass.ErrDescriptors},
		{"ready", encoded(kindReady, frameSize), 0, ErrFrame},
		{"done of another cycle", encodedOf(kindDone, 0, frameSize), 0, ErrFrame},
		{"abort of another cycle", encodedOf(kindAbort, -3, frameSize), 0, errPeer},
		{"abort", encoded(kindAbort, frameSize), 0, errPeer},
		{"short", encoded(kindDone, 3), 0, ErrFrame},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, peer := endpoints(t, RoleProducer)
			before := openFDs(t)
			var oob []byte
			if c.fds > 0 {
				fds := []int{int(null.Fd()), int(null.Fd()), int(null.Fd())}
				oob = syscall.UnixRights(fds[:c.fds]...)
			}
			if err := syscall.Sendmsg(peer, c.bytes, oob, nil, 0); err != nil {
				t.Fatal(err)
			}
			if err := e.expect(kindDone, 1); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if after := openFDs(t); after != before {
				t.Errorf("%d descriptors before, %d after", before, after)
			}
		})
	}
}

// A peer that goes away ends the waiting.
func TestPeerGone(t *testing.T) {
	e, peer := endpoints(t, RoleConsumer)
	if err := syscall.Shutdown(peer, syscall.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	_, err := e.receiveHandle(&Batch{Case: share.Case{Transport: share.TransportSCMRights, Receiver: share.ReceiverPolling}}, 1, &Cycle{})
	p, _ := e.problem(err)
	if err == nil || !p.Peer {
		t.Errorf("%v is not the other end's doing", err)
	}
}

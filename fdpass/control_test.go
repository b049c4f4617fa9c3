package fdpass

import (
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// message builds a control message with any header.
func message(length uint64, level, kind int32, data ...byte) []byte {
	b := binary.NativeEndian.AppendUint64(nil, length)
	b = binary.NativeEndian.AppendUint32(b, uint32(level))
	b = binary.NativeEndian.AppendUint32(b, uint32(kind))
	return append(b, data...)
}

func credentials(pid int32) []byte {
	return unix.UnixCredentials(&unix.Ucred{Pid: pid, Uid: 1000, Gid: 1000})
}

func TestParse(t *testing.T) {
	tests := []struct {
		name    string
		control []byte
		fds     []int
		pid     int32
		bad     bool
	}{
		{name: "nothing"},
		{name: "credentials", control: credentials(7), pid: 7},
		{name: "descriptors", control: unix.UnixRights(3, 4, 5), fds: []int{3, 4, 5}},
		{name: "both", control: slices.Concat(credentials(7), unix.UnixRights(3)), fds: []int{3}, pid: 7},
		{name: "both, the other way round", control: slices.Concat(unix.UnixRights(3), credentials(7)), fds: []int{3}, pid: 7},
		{name: "last one without padding", control: unix.UnixRights(3)[:20], fds: []int{3}},
		{name: "two lists", control: slices.Concat(unix.UnixRights(3), unix.UnixRights(4)), fds: []int{3, 4}, bad: true},
		{name: "twice credentials", control: slices.Concat(credentials(7), credentials(8)), pid: 7, bad: true},
		{name: "descriptors after a bad part", control: slices.Concat(message(24, unix.SOL_SOCKET, 99, make([]byte, 8)...), unix.UnixRights(3)), fds: []int{3}, bad: true},
		{name: "other level", control: message(16, unix.SOL_IP, unix.SCM_RIGHTS), bad: true},
		{name: "empty list", control: message(16, unix.SOL_SOCKET, unix.SCM_RIGHTS), bad: true},
		{name: "a descriptor and a half", control: message(22, unix.SOL_SOCKET, unix.SCM_RIGHTS, 3, 0, 0, 0, 0, 0), fds: []int{3}, bad: true},
		{name: "short credentials", control: message(20, unix.SOL_SOCKET, unix.SCM_CREDENTIALS, 7, 0, 0, 0), bad: true},
		{name: "cut header", control: make([]byte, 15), bad: true},
		{name: "length below the header's", control: message(15, unix.SOL_SOCKET, unix.SCM_RIGHTS, 3, 0, 0, 0), bad: true},
		{name: "length zero", control: message(0, unix.SOL_SOCKET, unix.SCM_RIGHTS, 3, 0, 0, 0), bad: true},
		{name: "length beyond the buffer", control: message(24, unix.SOL_SOCKET, unix.SCM_RIGHTS, 3, 0, 0, 0), bad: true},
		{name: "length that wraps", control: message(1<<64-1, unix.SOL_SOCKET, unix.SCM_RIGHTS, 3, 0, 0, 0), bad: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, err := parse(test.control, nil)
			if errors.Is(err, ErrMalformed) != test.bad || (err != nil) != test.bad {
				t.Errorf("error %v, want one: %t", err, test.bad)
			}
			if !slices.Equal(a.fds, test.fds) || a.pid != test.pid || a.haveCreds != (test.pid != 0) {
				t.Errorf("got %+v, want descriptors %v, process %d", a, test.fds, test.pid)
			}
		})
	}
}

func TestPutRightsIsWhatTheKernelReads(t *testing.T) {
	for n := 1; n <= MaxFDs; n++ {
		fds := make([]int, n)
		for i := range fds {
			fds[i] = 100 + i
		}
		buf := make([]byte, controlSize)
		if got := buf[:putRights(buf, fds)]; !slices.Equal(got, unix.UnixRights(fds...)) {
			t.Errorf("%d descriptors: got % x", n, got)
		}
	}
}

// FuzzParse holds parse against the reader of golang.org/x/sys: what that one takes, parse takes or refuses, but finds
// the same descriptors, so that none stays open.
func FuzzParse(f *testing.F) {
	f.Add([]byte{})
	f.Add(credentials(7))
	f.Add(unix.UnixRights(3, 4, 5))
	f.Add(slices.Concat(credentials(7), unix.UnixRights(3)))
	f.Add(slices.Concat(unix.UnixRights(3), message(16, 0, 0), unix.UnixRights(4)))
	f.Add(message(1<<64-1, unix.SOL_SOCKET, unix.SCM_RIGHTS, 3, 0, 0, 0))
	f.Add(message(22, unix.SOL_SOCKET, unix.SCM_RIGHTS, 3, 0, 0, 0, 0, 0))
	f.Fuzz(func(t *testing.T, control []byte) {
		var store [controlSize / 4]int
		a, err := parse(control, store[:0])
		if err != nil && !errors.Is(err, ErrMalformed) {
			t.Errorf("untyped error %v", err)
		}
		if len(a.fds) > len(control)/4 {
			t.Errorf("%d descriptors in %d bytes", len(a.fds), len(control))
		}
		messages, theirs := unix.ParseSocketControlMessage(control)
		if theirs != nil {
			return
		}
		var want []int
		for _, m := range messages {
			if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_RIGHTS {
				for data := m.Data; len(data) >= 4; data = data[4:] {
					want = append(want, int(int32(binary.NativeEndian.Uint32(data))))
				}
			}
		}
		if !slices.Equal(a.fds, want) {
			t.Errorf("found descriptors %v, want %v", a.fds, want)
		}
	})
}

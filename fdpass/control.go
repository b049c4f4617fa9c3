package fdpass

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ErrMalformed is matched by errors about a message whose form no sender of this package produces.
var ErrMalformed = errors.New("malformed message")

const (
	// scmMaxFD is the most descriptors that the kernel puts in one message (SCM_MAX_FD in include/net/scm.h).
	scmMaxFD = 253

	// controlSize holds the largest ancillary part that a message can have here: credentials and all descriptors. So a
	// cut ancillary part never means that the buffer was too small, only that descriptors could not be installed.
	controlSize = unix.SizeofCmsghdr + unix.SizeofUcred + 4 + unix.SizeofCmsghdr + 4*scmMaxFD + 4
)

// ancillary is what came beside a message's payload.
type ancillary struct {
	fds       []int // all descriptors found, also those in a part that is refused
	pid       int32 // of the sender, in this process's PID namespace; 0 when it is not visible there
	haveCreds bool
}

// parse reads the ancillary part of a message. fds is where descriptors are appended. It keeps going after an error, so
// that whatever the kernel installed is in fds, for the caller to close.
func parse(control []byte, fds []int) (ancillary, error) {
	a := ancillary{fds: fds}
	var first error
	refuse := func(format string, args ...any) {
		if first == nil {
			first = fmt.Errorf("%w: "+format, append([]any{ErrMalformed}, args...)...)
		}
	}
	haveRights := false
	for len(control) > 0 {
		if len(control) < unix.SizeofCmsghdr {
			refuse("%d bytes after the last control message", len(control))
			break
		}
		var h unix.Cmsghdr
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&h)), unix.SizeofCmsghdr), control)
		if h.Len < unix.SizeofCmsghdr || h.Len > uint64(len(control)) {
			refuse("control message of %d bytes in a buffer with %d", h.Len, len(control))
			break
		}
		data := control[unix.SizeofCmsghdr:h.Len]
		control = control[min(unix.CmsgSpace(len(data)), len(control)):]
		switch {
		case h.Level != unix.SOL_SOCKET:
			refuse("control message of level %d", h.Level)
		case h.Type == unix.SCM_RIGHTS:
			if haveRights {
				refuse("two lists of descriptors")
			}
			haveRights = true
			if len(data) == 0 || len(data)%4 != 0 {
				refuse("list of descriptors with %d bytes", len(data))
			}
			for ; len(data) >= 4; data = data[4:] {
				a.fds = append(a.fds, int(int32(binary.NativeEndian.Uint32(data))))
			}
		case h.Type == unix.SCM_CREDENTIALS:
			if a.haveCreds || len(data) != unix.SizeofUcred {
				refuse("credentials with %d bytes, given before: %t", len(data), a.haveCreds)
				break
			}
			a.pid, a.haveCreds = int32(binary.NativeEndian.Uint32(data)), true
		default:
			refuse("control message of type %d", h.Type)
		}
	}
	return a, first
}

// putRights writes the ancillary part that carries fds, at least one, and returns its length.
func putRights(control []byte, fds []int) int {
	h := unix.Cmsghdr{Level: unix.SOL_SOCKET, Type: unix.SCM_RIGHTS}
	h.SetLen(unix.CmsgLen(4 * len(fds)))
	copy(control, unsafe.Slice((*byte)(unsafe.Pointer(&h)), unix.SizeofCmsghdr))
	for i, fd := range fds {
		binary.NativeEndian.PutUint32(control[unix.SizeofCmsghdr+4*i:], uint32(fd))
	}
	return unix.CmsgSpace(4 * len(fds))
}

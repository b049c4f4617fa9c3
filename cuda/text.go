package cuda

import (
	"bytes"
	"fmt"
	"strings"
	"unsafe"
)

// sizeText gives a size as people write it, exactly: "2 MiB", "4097 bytes".
func sizeText(n int64) string {
	units := [...]struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}}
	for _, u := range units {
		if n > 0 && n%u.bytes == 0 {
			return fmt.Sprintf("%d %s", n/u.bytes, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// hostText names host memory: "4 KiB of host memory at 0x7f…".
func hostText(b []byte) string {
	return fmt.Sprintf("%s of host memory at %p", sizeText(int64(len(b))), unsafe.SliceData(b))
}

// cString returns the bytes before the first NUL.
func cString(b []byte) string {
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(b)
}

// hostBytes is memory of n bytes that the driver owns, as a slice.
func hostBytes(addr uint64, n int64) []byte {
	// The indirection keeps vet's rule about uintptr, which is for memory of the
	// Go heap, out of it.
	p := *(*unsafe.Pointer)(unsafe.Pointer(&addr))
	return unsafe.Slice((*byte)(p), n)
}

// naming is an argument of a call in whose text devices stand, by whatever name.
type naming interface {
	text(name func(Device) string) string
}

func (d Device) text(name func(Device) string) string { return name(d) }

// peerDevice is the second of two devices.
type peerDevice Device

func (p peerDevice) text(name func(Device) string) string { return "peer " + name(Device(p)) }

// accessors are those to whom access is given.
type accessors []Location

func (by accessors) text(name func(Device) string) string {
	text := make([]string, len(by))
	for i, l := range by {
		text[i] = l.text(name)
	}
	return "by " + strings.Join(text, ", ")
}

// argText is the text of a call's argument, a string or a naming. Its devices
// have names that mean the same in every process: the beginning of a UUID.
func (l *Lib) argText(arg any) string {
	if n, ok := arg.(naming); ok {
		return n.text(l.shortID)
	}
	return fmt.Sprint(arg)
}

// shortID gives "GPU-4be0a5a3", and "unknown device" where the driver does not
// tell the UUID. It makes no errors, because it is called to make one.
func (l *Lib) shortID(d Device) string {
	var u UUID
	if l.call(cuDeviceGetUuid, uintptr(unsafe.Pointer(&u)), uintptr(d)) != Success {
		return "unknown device"
	}
	var name [256]byte
	if l.call(cuDeviceGetName, uintptr(unsafe.Pointer(&name)), uintptr(len(name)), uintptr(d)) != Success {
		return fmt.Sprintf("GPU-%x", u[:4])
	}
	kind := "GPU"
	if isInstance(cString(name[:])) {
		kind = "MIG"
	}
	return fmt.Sprintf("%s-%x", kind, u[:4])
}

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

// locationsText gives "by device 0, device 1".
func locationsText(by []Location) string {
	text := make([]string, len(by))
	for i, l := range by {
		text[i] = l.String()
	}
	return "by " + strings.Join(text, ", ")
}

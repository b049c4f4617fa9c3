// Command dmabufprobe walks through the life of a dma-buf from each maker that
// a machine without devices can have: a DRM dumb buffer, /dev/udmabuf and the
// system dma-heap. It makes one, maps it, brackets CPU access, compares with
// another view of the same memory where there is one, and frees it. It prints
// what the kernel answered, one fact a line, and leaves the same in
// /tmp/out/facts.
package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"gpushare-bench/internal/dl"
)

var facts bytes.Buffer

func say(format string, args ...any) {
	fmt.Fprintf(&facts, format+"\n", args...)
	fmt.Printf(format+"\n", args...)
}

func main() {
	for _, step := range []func() error{libc, drm, udmabuf, heap, refusals, leave} {
		if err := step(); err != nil {
			fmt.Fprintln(os.Stderr, "dmabufprobe:", err)
			os.Exit(1)
		}
	}
}

// libc shows that a program linked to libc without cgo runs here.
func libc() error {
	lib, err := dl.Libc()
	if err != nil {
		return err
	}
	getpid, err := lib.Symbol("getpid")
	if err != nil {
		return err
	}
	say("libc: getpid agrees: %v", int32(dl.Call(getpid)) == int32(os.Getpid()))
	return nil
}

// inspect says what can be seen of a dma-buf, fills it through a mapping of its
// own and compares with the other view, unless that is nil.
func inspect(maker string, fd int, other []byte) error {
	size, err := syscall.Seek(fd, 0, 2)
	if err != nil {
		return fmt.Errorf("lseek of dma-buf: %w", err)
	}
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return err
	}
	say("%s: lseek %d link %s", maker, size, link)
	info, err := os.ReadFile(fmt.Sprintf("/proc/self/fdinfo/%d", fd))
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(info)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		say("%s: fdinfo %s=%s", maker, key, strings.TrimSpace(value))
	}
	shared, err := syscall.Mmap(fd, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap of dma-buf: %w", err)
	}
	if err := access(fd, syncStart|syncWrite); err != nil {
		return err
	}
	for i := range shared {
		shared[i] = byte(i*7 + i>>12) // no two pages alike
	}
	if err := access(fd, syncEnd|syncWrite); err != nil {
		return err
	}
	if err := access(fd, syncStart|syncRead); err != nil {
		return err
	}
	if other != nil {
		say("%s: both views agree: %v", maker, bytes.Equal(other, shared) && other[1] == 7)
	}
	const page = 4096
	second, err := syscall.Mmap(fd, page, page, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap of dma-buf at %d: %w", page, err)
	}
	say("%s: mmap at %d shows the page there: %v", maker, page, bytes.Equal(second, shared[page:2*page]))
	if err := syscall.Munmap(second); err != nil {
		return fmt.Errorf("munmap of dma-buf: %w", err)
	}
	if err := access(fd, syncEnd|syncRead); err != nil {
		return err
	}
	if err := syscall.Munmap(shared); err != nil {
		return fmt.Errorf("munmap of dma-buf: %w", err)
	}
	if err := syscall.Close(fd); err != nil {
		return fmt.Errorf("close dma-buf: %w", err)
	}
	return nil
}

func access(fd int, flags uint64) error {
	if err := ioctl(uintptr(fd), dmaBufSync, unsafe.Pointer(&flags)); err != nil {
		return fmt.Errorf("DMA_BUF_IOCTL_SYNC flags %d: %w", flags, err)
	}
	return nil
}

// leave writes the file that comes back.
func leave() error {
	if err := os.MkdirAll("/tmp/out", 0o755); err != nil {
		return err
	}
	return os.WriteFile("/tmp/out/facts", facts.Bytes(), 0o644)
}

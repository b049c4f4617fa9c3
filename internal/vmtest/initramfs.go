package vmtest

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

// An archive is an initramfs: a cpio archive in the "newc" format
// (Documentation/driver-api/early-userspace/buffer-format.rst of the kernel).
type archive struct {
	w     *bufio.Writer
	n     int             // bytes written so far; everything is aligned to 4
	inode int             // equal numbers would make hard links
	dirs  map[string]bool // already in the archive
	err   error           // the first that writing gave
}

// modes of cpio entries: file type and permissions as in stat(2).
const (
	modeDir     = 0o040755
	modeProgram = 0o100755
)

func newArchive(w io.Writer) *archive {
	return &archive{w: bufio.NewWriter(w), dirs: map[string]bool{"/": true}}
}

// file adds a file that everybody may read and execute, and the directories above it.
func (a *archive) file(name string, content []byte) {
	a.dir(path.Dir(name))
	a.entry(name, modeProgram, content)
}

// dir adds a directory and those above it, unless they are there.
func (a *archive) dir(name string) {
	var above []string
	for d := name; !a.dirs[d]; d = path.Dir(d) {
		above = append(above, d)
		a.dirs[d] = true
	}
	for _, d := range slices.Backward(above) {
		a.entry(d, modeDir, nil)
	}
}

func (a *archive) entry(name string, mode int, content []byte) {
	a.inode++
	name = strings.TrimPrefix(name, "/")
	// magic, ino, mode, uid, gid, nlink, mtime, filesize, devmajor, devminor, rdevmajor, rdevminor, namesize, check
	a.write(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		a.inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name)+1, 0, name))
	a.write(content)
}

// write pads to the next multiple of 4, as the format does after each header and content.
func (a *archive) write(b []byte) {
	if a.err != nil {
		return
	}
	if _, a.err = a.w.Write(b); a.err != nil {
		return
	}
	a.n += len(b)
	for ; a.n%4 != 0; a.n++ {
		a.w.WriteByte(0)
	}
}

// close ends the archive. Nothing may be added afterwards.
func (a *archive) close() error {
	a.entry("TRAILER!!!", 0, nil)
	if a.err != nil {
		return fmt.Errorf("write initramfs: %w", a.err)
	}
	if err := a.w.Flush(); err != nil {
		return fmt.Errorf("write initramfs: %w", err)
	}
	return nil
}

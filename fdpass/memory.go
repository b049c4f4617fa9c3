package fdpass

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Memory makes anonymous shared memory of size bytes, zeroed, to be mapped by processes that inherit or receive the
// file. It is close-on-exec and sealed against changes of its size (memfd_create(2), F_ADD_SEALS), so that no process
// can make the others' accesses fail by truncating it. The name shows up in /proc/PID/maps only.
func Memory(name string, size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("memfd_create(%q): %w", name, err)
	}
	trace(fd, "memfd_create")
	f := os.NewFile(uintptr(fd), "memfd:"+name)
	if err := unix.Ftruncate(fd, size); err != nil {
		f.Close()
		return nil, fmt.Errorf("ftruncate(memfd %q, %d): %w", name, size, err)
	}
	const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		f.Close()
		return nil, fmt.Errorf("fcntl(memfd %q, F_ADD_SEALS): %w", name, err)
	}
	return f, nil
}

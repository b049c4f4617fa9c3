package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
	"gpushare-bench/sysinfo"
)

// enotsupp is the kernel's internal ENOTSUPP, which some drivers let through to callers; the C library has no word for it.
const enotsupp = syscall.Errno(524)

// declines are the answers that mean "not here" or "not as much". Any other answer is a failure.
var declines = []syscall.Errno{
	unix.EACCES, unix.EPERM, unix.ENOENT, unix.ENXIO, unix.ENODEV, unix.ENOTTY, unix.ENOSYS, unix.EOPNOTSUPP, unix.EINVAL,
	unix.ENOMEM, unix.ENOSPC, unix.EFBIG, unix.E2BIG, unix.EDQUOT, enotsupp,
}

// refused makes an error of what the system answered to op: share.Unsupported where the answer declines, else a failure.
func refused(op string, err error, hint string) error {
	var errno syscall.Errno
	if !errors.As(err, &errno) || !slices.Contains(declines, errno) {
		if hint != "" {
			return fmt.Errorf("%s: %w; %s", op, err, hint)
		}
		return fmt.Errorf("%s: %w", op, err)
	}
	if errno == enotsupp {
		err = fmt.Errorf("operation not supported by the exporter (ENOTSUPP, %w)", errno)
	}
	return &share.Unsupported{Op: op, Answer: err, Hint: hint}
}

// descriptorHint says what to do about a lack of descriptors.
func descriptorHint(err error) string {
	if errors.Is(err, unix.EMFILE) {
		return "raise the limit on open files (ulimit -n)"
	}
	return ""
}

// openNode opens a device node. path is absolute on a machine whose root directory is root; missing says what brings the
// node into being.
func openNode(root, path string, flags int, missing string) (int, error) {
	fd, err := unix.Open(root+path, flags|unix.O_CLOEXEC, 0)
	if err == nil {
		return fd, nil
	}
	hint := descriptorHint(err)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		hint = missing
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		hint = permissionHint(hostFS(root), path)
	}
	return -1, refused(path, err, hint)
}

// permissionHint says what would give this process the right to open a node.
func permissionHint(fsys fs.FS, path string) string {
	node, err := sysinfo.ReadDeviceNode(fsys, path[1:])
	if err != nil {
		return ""
	}
	p, err := sysinfo.ReadProcess(fsys)
	if err != nil || p.Credentials == nil {
		p, err = sysinfo.ReadProcess(sysinfo.Host())
	}
	if err != nil || p.Credentials == nil {
		return ""
	}
	return node.PermissionAdvice(*p.Credentials)
}

// hugePageHint says how the pool of huge pages stands and what would make it large enough for bytes more.
func hugePageHint(fsys fs.FS, bytes int64) string {
	m, err := sysinfo.ReadMemory(fsys)
	if err != nil || m.DefaultHugePage == nil || *m.DefaultHugePage == 0 {
		return "the kernel has no huge pages (CONFIG_HUGETLBFS)"
	}
	size := *m.DefaultHugePage
	need := (uint64(bytes) + size - 1) / size
	i := slices.IndexFunc(m.HugePages, func(p sysinfo.HugePool) bool { return p.Size == size })
	if i < 0 || m.HugePages[i].Obtainable() == nil {
		return "the pool of huge pages is not shown in /sys/kernel/mm/hugepages"
	}
	pool := m.HugePages[i]
	want := max(64, 2*need)
	if pool.Pages != nil {
		want = max(64, *pool.Pages+2*need)
	}
	return fmt.Sprintf("%d huge pages of %s free, %d needed: echo %d > /proc/sys/vm/nr_hugepages",
		*pool.Obtainable(), share.FormatSize(int64(size)), need, want)
}

// mappingsNear is how far below the limit the number of mappings may be when the limit is what refused one more: a call
// that fails may have given up some that it had made.
const mappingsNear = 16

// addressHint says which limit on addresses, rather than memory, is in the way of bytes more; "" if none is.
func addressHint(fsys fs.FS, err error, bytes int64) string {
	if !errors.Is(err, unix.ENOMEM) {
		return ""
	}
	limits, lerr := sysinfo.ReadLimits(fsys)
	if lerr != nil {
		return ""
	}
	use := sysinfo.ReadUse(fsys, uint64(os.Getpagesize()))
	if l := limits.AddressSpace; l != nil && l.Soft != sysinfo.Unlimited && use.AddressSpace != nil && *use.AddressSpace+uint64(bytes) > uint64(l.Soft) {
		return fmt.Sprintf("the limit on the address space is used up, not the memory: %s of %s (ulimit -v)",
			share.FormatSize(int64(*use.AddressSpace)), share.FormatSize(int64(l.Soft)))
	}
	if n := limits.Mappings; n != nil && use.Mappings != nil && *use.Mappings+mappingsNear >= *n {
		return fmt.Sprintf("the limit on mappings of a process is used up, not the memory: %d of %d (sysctl vm.max_map_count)", *use.Mappings, *n)
	}
	return ""
}

// memoryHint says what is in the way of bytes more: a limit on addresses, or else how much memory this process can still
// take.
func memoryHint(fsys fs.FS, err error, bytes int64) string {
	if !errors.Is(err, unix.ENOMEM) && !errors.Is(err, unix.ENOSPC) {
		return ""
	}
	if hint := addressHint(fsys, err, bytes); hint != "" {
		return hint
	}
	usable, uerr := sysinfo.UsableMemory(fsys)
	if uerr != nil {
		return ""
	}
	return fmt.Sprintf("%s of memory are usable here", share.FormatSize(int64(usable)))
}

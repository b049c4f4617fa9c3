package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"gpushare-bench/internal/dl"
	"gpushare-bench/share"
	"gpushare-bench/sysinfo"
)

// device is the CPU, with what the allocators need.
type device struct {
	calls     *calls
	root      string // directory that stands for /
	fsys      fs.FS
	pageSize  int64
	hugePage  int64 // default size of huge pages; 0: the kernel has none
	memfdName *byte // C string

	nodes nodes
	args  ioctlArgs

	team      *team
	cold      bool
	lastLevel int64   // bytes of last-level cache; 0: not known
	local     span    // consumer's own memory, where copies go
	order     []int32 // in which chase visits the parts of a region
	sink      uint64  // keeps loads from being optimised away
}

func openDevice(root string, o share.Options) (*device, error) {
	c, err := newCalls()
	if err != nil {
		return nil, err
	}
	d := &device{calls: c, root: root, fsys: hostFS(root), pageSize: int64(os.Getpagesize()), memfdName: dl.CString("gpushare"), cold: o.Cold, nodes: noNodes}
	if m, err := sysinfo.ReadMemory(d.fsys); err == nil && m.DefaultHugePage != nil && *m.DefaultHugePage <= share.MaxSize {
		d.hugePage = int64(*m.DefaultHugePage)
	}
	if cpu, err := sysinfo.ReadCPU(d.fsys); err == nil && cpu.LastLevelCache != nil {
		d.lastLevel = int64(cpu.LastLevelCache.Total())
	}
	local, rest, _ := localCPUs(d.fsys)
	threads := o.Threads
	if threads == 0 {
		threads = defaultThreads(d.fsys, local)
	}
	cpus := append(local, rest...)
	if threads < 0 || threads > len(cpus) {
		return nil, fmt.Errorf("%d threads asked for: this process may use %d cores", threads, len(cpus))
	}
	if d.team, err = newTeam(cpus[:threads]); err != nil {
		return nil, err
	}
	return d, nil
}

// Fill writes the pattern over the region. Each thread writes its part, so that memory that is touched for the first time
// comes from the threads' NUMA node.
func (d *device) Fill(r share.Region, seed uint64) error {
	_, err := d.team.do(job{work: fillPart, region: r, seed: seed})
	return err
}

// Verify compares the region with the pattern.
func (d *device) Verify(r share.Region, seed uint64) (share.Mismatch, error) {
	var m share.Mismatch
	_, err := d.team.do(job{work: verifyPart, region: r, seed: seed})
	for i := range d.team.parts[:d.team.active] {
		m = join(m, d.team.parts[i].mismatch)
	}
	return m, err
}

// Peek copies bytes at offset of the region to dst.
func (d *device) Peek(r share.Region, offset int64, dst []byte) error {
	return d.at(r, offset, len(dst), func(b []byte) { copy(dst, b) })
}

// Poke overwrites bytes at offset of the region.
func (d *device) Poke(r share.Region, offset int64, src []byte) error {
	return d.at(r, offset, len(src), func(b []byte) { copy(b, src) })
}

func (d *device) at(r share.Region, offset int64, n int, f func([]byte)) (err error) {
	if offset < 0 || int64(n) > r.Bytes || offset > r.Bytes-int64(n) {
		return fmt.Errorf("%d bytes at offset %d are outside of a region of %d bytes", n, offset, r.Bytes)
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer catchFault(&err)
	f(bytesAt(r.Addr+uintptr(offset), int64(n)))
	return nil
}

// Touch loads one byte of every page of the region, between two readings of the clock that the timed calls use.
func (d *device) Touch(t *share.Tape, r share.Region) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer catchFault(&err)
	mem := bytesAt(r.Addr, r.Bytes)
	step, first := int(d.pageSize), int(d.pageSize-int64(r.Addr)%d.pageSize)
	t.Starting("touch")
	start := dl.Monotonic()
	sum := mem[0]
	for i := first; i < len(mem); i += step {
		sum += mem[i]
	}
	end := dl.Monotonic()
	d.sink += uint64(sum)
	t.Record("touch", start, end, true)
	return nil
}

// State has nothing to tell: clocks and throttling of CPUs are not read.
func (d *device) State() share.DeviceState { return share.DeviceState{} }

// Close ends the threads and gives up device nodes and memory.
func (d *device) Close() error {
	d.team.close()
	err := d.nodes.close()
	if d.local.bytes != 0 {
		err = errors.Join(err, munmap(&d.local))
	}
	return err
}

// localMemory is at least bytes of the consumer's own memory, in its caches or not but present: every page was written by
// the thread that will copy to it.
func (d *device) localMemory(bytes int64) (uintptr, error) {
	if d.local.bytes >= bytes {
		return d.local.addr, nil
	}
	if err := munmap(&d.local); err != nil {
		return 0, err
	}
	rounded := (bytes + d.pageSize - 1) / d.pageSize * d.pageSize
	addr, err := unix.MmapPtr(-1, 0, nil, uintptr(rounded), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return 0, refused("mmap of "+share.FormatSize(rounded)+" to copy to", err, memoryHint(d.fsys, err, rounded))
	}
	d.local = span{uintptr(addr), rounded}
	return d.local.addr, d.Fill(share.Region{Addr: d.local.addr, Bytes: bytes}, 0)
}

func munmap(s *span) error {
	if s.bytes == 0 {
		return nil
	}
	if _, _, errno := unix.Syscall(unix.SYS_MUNMAP, s.addr, uintptr(s.bytes), 0); errno != 0 {
		return fmt.Errorf("munmap: %w", errno)
	}
	*s = span{}
	return nil
}

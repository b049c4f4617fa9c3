package sharetest

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"gpushare-bench/share"
)

// ScriptVariable is the environment variable that scripts the backend in worker processes: faults separated by spaces,
// each [ROLE:]POINT[@CYCLE]=WHAT. ROLE is producer, consumer or peer1, peer2, … (GPUSHARE_ROLE); POINT is open, allocate, fill, export, import,
// map, touch, verify, read, unmap or release; CYCLE is counted from 0 at the worker's start, any without it. WHAT is
// refuse, fail, hang, kill, segv, flip (one byte of the buffer), bus (the buffer's file is truncated behind the mapping, which
// is then read: SIGBUS) or exit.
const ScriptVariable = "GPUSHARE_TEST_SCRIPT"

// HungVariable is the environment variable that names a file to be made by the worker in which a scripted hang begins.
const HungVariable = "GPUSHARE_TEST_HUNG"

// Nanoseconds that scripted calls take, by phase: distinct, so that a phase under another's name is seen.
var phaseTime = map[share.Phase]int64{share.Allocate: 1000, share.Export: 2000, share.Import: 3000, share.Map: 4000,
	share.FirstTouch: 5000, share.Unmap: 6000, share.Release: 7000}

// PhaseTime is what a scripted call in the phase takes in a cycle, in nanoseconds: the first cycle takes ten times as long,
// and the others vary by a few nanoseconds.
func PhaseTime(p share.Phase, cycle int) int64 {
	if cycle == 0 {
		return 10 * phaseTime[p]
	}
	return phaseTime[p] + int64(cycle%3)
}

// ErrScripted is the cause of scripted failures.
var ErrScripted = errors.New("scripted")

// Backend is named "host" and has one device "cpu". Its memory is files, shared really between processes; its path
// "fake" carries a descriptor, its path "fake-key" the file's name, and allocators are "file" and "none" (refused).
type Backend struct{}

type fault struct {
	role, point, what string
	cycle             int // -1: any
}

type device struct {
	faults []fault
	cycles map[string]int // calls of each point so far
	now    int64          // scripted time
}

type buffer struct {
	d   *device
	f   *os.File
	mem []byte
	off int64
}

type mapping struct {
	d   *device
	mem []byte
	off int64
}

// Paths of the backend.
var (
	fakePath = share.Path{Name: "fake", Carrier: share.FD, Summary: "a file's descriptor"}
	keyPath  = share.Path{Name: "fake-key", Carrier: share.Key, Summary: "a file's name"}
)

// Name returns "host".
func (Backend) Name() string { return "host" }

// Describe returns the one device.
func (Backend) Describe(context.Context) (share.Inventory, error) {
	return share.Inventory{Devices: []share.DeviceInfo{{ID: "cpu", Backend: "host", Name: "scripted", FreeBytes: 1 << 30}}}, nil
}

// Allocators returns "file" and "none".
func (Backend) Allocators() []share.Allocator {
	return []share.Allocator{
		share.AllocatorOf("file", "a file", allocFile),
		share.AllocatorOf("none", "refused", func(*share.Tape, *device, share.Request) (*buffer, error) {
			return nil, &share.Unsupported{Op: "allocate nothing", Answer: syscall.ENOSYS, Hint: "use file"}
		}),
	}
}

// Exporters returns the two paths' exporters.
func (Backend) Exporters() []share.Exporter {
	export := func(key bool) func(*share.Tape, *buffer) (share.Handle, error) {
		return func(t *share.Tape, b *buffer) (share.Handle, error) {
			h := share.NoHandle()
			if err := b.d.call(t, share.Export, "fakeExport", "export", b.mem); err != nil {
				return h, err
			}
			h.Bytes, h.Offset, h.Allocated = int64(len(b.mem))-b.off, b.off, int64(len(b.mem))
			if key {
				h.SetKey([]byte(b.f.Name()))
				return h, nil
			}
			fd, err := syscall.Dup(int(b.f.Fd()))
			h.FD = fd
			return h, err
		}
	}
	return []share.Exporter{
		share.ExporterOf(fakePath, []string{"file", "none"}, 0, export(false)),
		share.ExporterOf(keyPath, []string{"file"}, 0, export(true)),
	}
}

// Importers returns the two paths' importers.
func (Backend) Importers() []share.Importer {
	return []share.Importer{
		share.ImporterOf(fakePath, func(t *share.Tape, d *device, h share.Handle) (*mapping, error) {
			defer syscall.Close(h.FD)
			return d.mapFile(t, h.FD, h)
		}),
		share.ImporterOf(keyPath, func(t *share.Tape, d *device, h share.Handle) (*mapping, error) {
			f, err := os.OpenFile(string(h.KeyBytes()), os.O_RDWR, 0)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return d.mapFile(t, int(f.Fd()), h)
		}),
	}
}

// Open opens the device and reads the script.
func (Backend) Open(_ context.Context, id string, o share.Options) (share.Device, error) {
	if id != "cpu" {
		return nil, fmt.Errorf("no device %q", id)
	}
	d := &device{cycles: map[string]int{}, now: 1_000_000}
	for word := range strings.FieldsSeq(os.Getenv(ScriptVariable)) {
		where, what, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("script %q: want [ROLE:]POINT[@CYCLE]=WHAT", word)
		}
		f := fault{what: what, cycle: -1}
		if role, rest, ok := strings.Cut(where, ":"); ok {
			f.role, where = role, rest
		}
		if point, cycle, ok := strings.Cut(where, "@"); ok {
			n, err := strconv.Atoi(cycle)
			if err != nil {
				return nil, fmt.Errorf("script %q: %w", word, err)
			}
			where, f.cycle = point, n
		}
		f.point = where
		if f.role == "" || f.role == os.Getenv("GPUSHARE_ROLE") {
			d.faults = append(d.faults, f)
		}
	}
	if o.Tape != nil {
		o.Tape.Starting("fakeOpen")
	}
	_, err := d.fault("open", nil)
	return d, err
}

// call makes a scripted timed call, or the fault that the script has for it.
func (d *device) call(t *share.Tape, p share.Phase, call, point string, mem []byte) error {
	t.Enter(p)
	t.Starting(call)
	cycle, err := d.fault(point, mem)
	start := d.now
	d.now += PhaseTime(p, cycle)
	t.Record(call, start, d.now, err == nil)
	return err
}

// fault does what the script says about a point, and returns how often the point was reached before.
func (d *device) fault(point string, mem []byte) (int, error) {
	cycle := d.cycles[point]
	d.cycles[point]++
	for _, f := range d.faults {
		if f.point != point || f.cycle >= 0 && f.cycle != cycle {
			continue
		}
		switch f.what {
		case "refuse":
			return cycle, &share.Unsupported{Op: point, Answer: ErrScripted, Hint: "a test wants it so"}
		case "fail":
			return cycle, fmt.Errorf("%s: %w", point, ErrScripted)
		case "hang":
			if path := os.Getenv(HungVariable); path != "" {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					return cycle, err
				}
			}
			time.Sleep(time.Hour)
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			time.Sleep(time.Hour)
		case "segv":
			_ = syscall.Kill(os.Getpid(), syscall.SIGSEGV)
			time.Sleep(time.Hour)
		case "bus":
			truncate(mem)
		case "exit":
			os.Exit(7)
		case "flip":
			mem[len(mem)/2] ^= 0x10
		}
	}
	return cycle, nil
}

// truncate takes the file behind a mapping away and reads the mapping.
func truncate(mem []byte) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		panic(err)
	}
	address := fmt.Sprintf("%x-", uintptr(unsafe.Pointer(&mem[0])))
	for line := range strings.Lines(string(maps)) {
		if f := strings.Fields(line); strings.HasPrefix(line, address) && len(f) > 5 {
			if err := os.Truncate(f[5], 0); err != nil {
				panic(err)
			}
			os.Exit(int(mem[0]) & 1)
		}
	}
	panic("no mapping at " + address)
}

func allocFile(t *share.Tape, d *device, r share.Request) (*buffer, error) {
	if err := d.call(t, share.Allocate, "fakeAlloc", "allocate", nil); err != nil {
		return nil, err
	}
	f, err := os.CreateTemp("", "sharetest-*")
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(r.Offset + r.Bytes); err != nil {
		return nil, err
	}
	mem, err := syscall.Mmap(int(f.Fd()), 0, int(r.Offset+r.Bytes), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	return &buffer{d: d, f: f, mem: mem, off: r.Offset}, err
}

func region(mem []byte, first int64) share.Region {
	return share.Region{Addr: uintptr(unsafe.Pointer(&mem[0])), Bytes: int64(len(mem)), First: uint64(first / 8)}
}

func (b *buffer) Whole() share.Region  { return region(b.mem, 0) }
func (b *buffer) Region() share.Region { return region(b.mem[b.off:], b.off) }
func (b *buffer) Allocated() int64     { return int64(len(b.mem)+4095) &^ 4095 }
func (b *buffer) Release(t *share.Tape) error {
	err := b.d.call(t, share.Release, "fakeFree", "release", b.mem)
	return errors.Join(err, syscall.Munmap(b.mem), b.f.Close(), os.Remove(b.f.Name()))
}

func (d *device) mapFile(t *share.Tape, fd int, h share.Handle) (*mapping, error) {
	if err := d.call(t, share.Import, "fakeImport", "import", nil); err != nil {
		return nil, err
	}
	if err := d.call(t, share.Map, "fakeMap", "map", nil); err != nil {
		return nil, err
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Size < h.Offset+h.Bytes {
		return nil, fmt.Errorf("the file has %d bytes, the handle says %d at %d", st.Size, h.Bytes, h.Offset)
	}
	mem, err := syscall.Mmap(fd, 0, int(h.Offset+h.Bytes), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return &mapping{d, mem, h.Offset}, nil
}

func (m *mapping) Region() share.Region { return region(m.mem[m.off:], m.off) }
func (m *mapping) Unmap(t *share.Tape) error {
	return errors.Join(m.d.call(t, share.Unmap, "fakeUnmap", "unmap", m.mem), syscall.Munmap(m.mem))
}

func bytesOf(r share.Region) []byte {
	// The regions of this backend are mappings, which do not move.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&r.Addr)), r.Bytes)
}

func (d *device) Fill(r share.Region, seed uint64) error {
	mem := bytesOf(r)
	var w [8]byte
	for i := 0; i < len(mem); i += 8 {
		binary.LittleEndian.PutUint64(w[:], share.Word(seed, r.First+uint64(i/8)))
		copy(mem[i:], w[:])
	}
	_, err := d.fault("fill", mem)
	return err
}

func (d *device) Verify(r share.Region, seed uint64) (share.Mismatch, error) {
	mem := bytesOf(r)
	if _, err := d.fault("verify", mem); err != nil {
		return share.Mismatch{}, err
	}
	var m share.Mismatch
	var w [8]byte
	for i := 0; i < len(mem); i += 8 {
		binary.LittleEndian.PutUint64(w[:], share.Word(seed, r.First+uint64(i/8)))
		n := min(8, len(mem)-i)
		if string(w[:n]) != string(mem[i:i+n]) {
			if m.Bytes == 0 {
				m.First = int64(i)
			}
			m.Bytes += int64(n)
			m.Last = int64(i)
		}
	}
	return m, nil
}

func (d *device) Peek(r share.Region, offset int64, dst []byte) error {
	copy(dst, bytesOf(r)[offset:])
	return nil
}

func (d *device) Poke(r share.Region, offset int64, src []byte) error {
	copy(bytesOf(r)[offset:], src)
	return nil
}

func (d *device) Touch(t *share.Tape, r share.Region) error {
	return d.call(t, share.FirstTouch, "touch", "touch", bytesOf(r))
}

func (d *device) Kernels() []share.Kernel { return []share.Kernel{share.KernelRead, share.KernelChase} }

func (d *device) RunKernel(k share.Kernel, r share.Region) (share.Elapsed, error) {
	cycle, err := d.fault(string(k), bytesOf(r))
	if err != nil {
		return share.Elapsed{}, err
	}
	if k == share.KernelChase {
		return share.Elapsed{Nanoseconds: float64(100 + cycle%2), Loads: 10, Launches: 1}, nil
	}
	return share.Elapsed{Nanoseconds: float64(r.Bytes) / 2, Bytes: r.Bytes, Launches: 1}, nil
}

func (d *device) State() share.DeviceState { return share.DeviceState{} }
func (d *device) Close() error             { return nil }

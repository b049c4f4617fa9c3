package gpu

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"gpushare-bench/cuda"
	"gpushare-bench/kernels"
	"gpushare-bench/share"
)

const (
	// sampleBytes is how many bytes a warm sample should move, so that the event clock (0.5 microseconds) doesn't matter.
	sampleBytes = 256 << 20
	// maxBehindGate bounds the launches queued behind a gate: a full launch queue would block before the gate is opened.
	maxBehindGate = eventPairs
	// defaultGateLimit is how long a gate waits for the host before it gives up.
	defaultGateLimit = 2 * time.Second
	// chaseLoads is how many dependent loads a chase sample makes: some milliseconds at a microsecond each.
	chaseLoads = 2048
	// sink is where, in device.result, kernels write what keeps their loads from being left out, and chase where it ended.
	sink = 512
	// writeValue is what the write kernel stores.
	writeValue = 0x5a5a5a5a
)

// ErrGate says that work was not queued before the gate's limit: the sample is void.
var ErrGate = errors.New("the gate kernel reached its time limit before the work was queued")

// Kernels lists what a GPU can run.
func (d *device) Kernels() []share.Kernel { return share.Kernels() }

// vectors is the part of a region that consists of whole 16-byte vectors, which is what most kernels work on: an offset
// is a multiple of 8 only, and a size of nothing.
func vectors(r share.Region) (at uintptr, n uint64) {
	at = (r.Addr + 15) &^ 15
	if skip := int64(at - r.Addr); skip < r.Bytes {
		n = uint64(r.Bytes-skip) / 16
	}
	return at, n
}

// Touch reads the region once with a kernel: the first access through the new mapping, from launch to completion. A
// region that is too small for the kernel is copied to the host.
func (d *device) Touch(t *share.Tape, r share.Region) error {
	d.record(t)
	at, n := vectors(r)
	if n == 0 {
		var seen [32]byte
		return d.th.MemcpyDtoH(seen[:r.Bytes], cuda.DevicePtr(r.Addr))
	}
	if err := d.launch(d.th, kernels.Read, n, uint64(at), n, uint64(d.result)+sink); err != nil {
		return err
	}
	return d.th.StreamSynchronize(d.stream)
}

// warmUp runs every kernel once, so that no first launch falls into a measurement, and without a gate before it, so that
// none waits behind one: a kernel that the driver loads when it is first launched may wait for all queued work.
func (d *device) warmUp() error {
	p, err := d.localBuffer(1 << 20)
	if err != nil {
		return err
	}
	r := share.Region{Addr: uintptr(p) + 1<<19, Bytes: 1 << 19}
	out := uint64(d.result) + sink
	slots, stride, mul, inc := kernels.ChaseParams(uint64(r.Bytes), 1)
	for _, first := range []struct {
		kernel string
		n      uint64
		params []uint64
	}{
		{kernels.Read, 1, []uint64{uint64(r.Addr), 1, out}},
		{kernels.Write, 1, []uint64{uint64(r.Addr), 1, writeValue}},
		{kernels.Copy, 1, []uint64{uint64(r.Addr), uint64(p), 1}},
		{kernels.Evict, 1, []uint64{uint64(r.Addr), 1, out}},
		{kernels.ChaseInit, slots, []uint64{uint64(r.Addr), slots, stride, mul, inc}},
		{kernels.Chase, 1, []uint64{uint64(r.Addr), 1, out}},
	} {
		if err := d.launch(d.quiet, first.kernel, first.n, first.params...); err != nil {
			return fmt.Errorf("first launch of kernel %s: %w", first.kernel, err)
		}
	}
	if err := d.copying(share.KernelMemcpyBoth, cuda.DevicePtr(r.Addr), p, uint64(r.Bytes)/16)(1); err != nil {
		return fmt.Errorf("first copies: %w", err)
	}
	if err := d.sync(); err != nil {
		return fmt.Errorf("first launches: %w", err)
	}
	if err := d.Fill(r, 1); err != nil {
		return err
	}
	if m, err := d.Verify(r, 1); err != nil || m.Bytes != 0 {
		return errors.Join(err, checkSelf(m))
	}
	for _, k := range d.Kernels() {
		if _, err := d.RunKernel(k, r); err != nil {
			return fmt.Errorf("first run of kernel %s: %w", k, err)
		}
	}
	return nil
}

// checkSelf is the error of a GPU that can't read back its own pattern.
func checkSelf(m share.Mismatch) error {
	if m.Bytes == 0 {
		return nil
	}
	return fmt.Errorf("self-test: %d bytes of this GPU's own memory read back wrong, first at offset %d", m.Bytes, m.First)
}

// RunKernel does one sample: launches queued behind a gate, each between two events.
func (d *device) RunKernel(k share.Kernel, r share.Region) (share.Elapsed, error) {
	at, n := vectors(r)
	e := share.Elapsed{Bytes: int64(n) * 16, Launches: 1}
	var w work
	switch k {
	case share.KernelRead:
		w = repeated(func() error { return d.launch(d.quiet, kernels.Read, n, uint64(at), n, uint64(d.result)+sink) })
	case share.KernelWrite:
		w = repeated(func() error { return d.launch(d.quiet, kernels.Write, n, uint64(at), n, writeValue) })
	case share.KernelCopy, share.KernelCopyTo, share.KernelMemcpy, share.KernelMemcpyTo, share.KernelMemcpyBoth:
		local, err := d.localBuffer(r.Bytes)
		if err != nil {
			return e, err
		}
		e.Traffic = 2 * e.Bytes
		w = d.copying(k, cuda.DevicePtr(at), local, n)
	case share.KernelChase:
		return d.chase(r)
	default:
		return e, fmt.Errorf("no kernel %q", k)
	}
	if n == 0 || n == 1 && k == share.KernelMemcpyBoth {
		return share.Elapsed{}, nil // nothing to move, or nothing to halve
	}
	ns, launches, err := d.timed(e.Bytes, w)
	e.Nanoseconds, e.Launches = ns, launches
	e.Bytes *= int64(launches)
	e.Traffic *= int64(launches)
	return e, err
}

// work queues something to be timed as often as it is told. What it queues has ended when the device's stream has.
type work func(times int) error

// repeated is the work of one launch.
func repeated(launch func() error) work {
	return func(times int) error {
		for range times {
			if err := launch(); err != nil {
				return err
			}
		}
		return nil
	}
}

// timed runs work behind a gate and adds up what the events say: cold, every launch by itself after the cache was
// emptied; warm, all launches between one pair of events.
func (d *device) timed(bytes int64, w work) (ns float64, launches int, err error) {
	launches = int(min(max(1, sampleBytes/max(1, bytes)), maxBehindGate))
	pairs := 1
	if d.options.Cold {
		launches = min(launches, 4)
		pairs = launches
	}
	if err := d.closeGate(); err != nil {
		return 0, 0, err
	}
	// Whatever goes wrong, the gate is opened: a stream that waits for it would hold everything up until its limit.
	queued := d.queue(launches, pairs, w)
	d.openGate()
	if queued != nil {
		// The stream may not wait for the way back.
		queued = errors.Join(queued, d.quiet.StreamSynchronize(d.back))
	}
	if err := errors.Join(queued, d.sync()); err != nil {
		return 0, 0, err
	}
	if d.gateExpired() {
		return 0, 0, ErrGate
	}
	for i := range pairs {
		v, err := d.quiet.EventElapsed(d.events[2*i], d.events[2*i+1])
		if err != nil {
			return 0, 0, err
		}
		ns += v
	}
	return ns, launches, nil
}

// queue puts the launches and their events into the stream.
func (d *device) queue(launches, pairs int, w work) error {
	for i := range pairs {
		if d.options.Cold {
			if err := d.evict(); err != nil {
				return err
			}
		}
		if err := d.quiet.EventRecord(d.events[2*i], d.stream); err != nil {
			return err
		}
		if err := w(launches / pairs); err != nil {
			return err
		}
		if err := d.quiet.EventRecord(d.events[2*i+1], d.stream); err != nil {
			return err
		}
	}
	return nil
}

// evict reads scratch memory larger than the last-level cache.
func (d *device) evict() error {
	n := uint64(d.evictBytes() / 16)
	return d.launch(d.quiet, kernels.Evict, n, uint64(d.scratch), n, uint64(d.result)+sink)
}

// The gate's two words in pinned memory: the flag it waits for and where it says that its limit has passed.
func (d *device) gateWord(i int) *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&d.gate[64*i]))
}

// closeGate queues the gate kernel: what is queued after it waits for openGate.
func (d *device) closeGate() error {
	d.gateWord(0).Store(0)
	d.gateWord(1).Store(0)
	limit := d.options.GateLimit
	if limit == 0 {
		limit = defaultGateLimit.Nanoseconds()
	}
	flag, err := d.quiet.MemHostDevicePtr(d.gate)
	if err != nil {
		return err
	}
	return d.launch(d.quiet, kernels.Gate, 1, uint64(flag), uint64(limit), uint64(flag)+64)
}

func (d *device) openGate()         { d.gateWord(0).Store(1) }
func (d *device) gateExpired() bool { return d.gateWord(1).Load() != 0 }

// chase makes dependent loads along one random cycle through the region's cache lines. It overwrites the region.
func (d *device) chase(r share.Region) (share.Elapsed, error) {
	slots, stride, mul, inc := kernels.ChaseParams(uint64(r.Bytes), uint64(r.Bytes))
	if slots == 0 {
		return share.Elapsed{}, nil
	}
	if err := d.launch(d.quiet, kernels.ChaseInit, slots, uint64(r.Addr), slots, stride, mul, inc); err != nil {
		return share.Elapsed{}, err
	}
	e := share.Elapsed{Loads: chaseLoads, Launches: 1}
	if err := d.closeGate(); err != nil {
		return e, err
	}
	queued := d.queue(1, 1, repeated(func() error {
		return d.launch(d.quiet, kernels.Chase, 1, uint64(r.Addr), chaseLoads, uint64(d.result)+sink)
	}))
	d.openGate()
	if err := errors.Join(queued, d.sync()); err != nil {
		return e, err
	}
	if d.gateExpired() {
		return e, ErrGate
	}
	var at [8]byte
	if err := d.quiet.MemcpyDtoH(at[:], d.result+sink); err != nil {
		return e, err
	}
	if want := chaseEnd(slots, stride, mul, inc, chaseLoads); binary.LittleEndian.Uint64(at[:]) != want {
		return e, fmt.Errorf("chase ended at byte %d, not at %d: the chain was not read as it was written", binary.LittleEndian.Uint64(at[:]), want)
	}
	var err error
	e.Nanoseconds, err = d.quiet.EventElapsed(d.events[0], d.events[1])
	return e, err
}

// chaseEnd is the byte offset at which a chase of n loads ends, by the same generator as the kernel's.
func chaseEnd(slots, stride, mul, inc uint64, n int) uint64 {
	at := uint64(0)
	for range n {
		at = (at*mul + inc) & (slots - 1)
	}
	return at * stride * 8
}

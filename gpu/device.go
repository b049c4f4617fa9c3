package gpu

import (
	"errors"
	"fmt"
	"syscall"

	"gpushare-bench/cuda"
	"gpushare-bench/kernels"
	"gpushare-bench/nvml"
	"gpushare-bench/share"
)

// device is an opened GPU in a worker. All its calls are made on the worker's locked thread.
type device struct {
	lib   *cuda.Lib
	dev   cuda.Device
	id    string
	th    *cuda.Thread // records on the current tape
	quiet *cuda.Thread // records nothing
	// stream carries everything that a device does; back, the other way of a copy that goes both ways, which meets the
	// stream in an event before and after.
	stream    cuda.Stream
	back      cuda.Stream
	meet      cuda.Event
	module    cuda.Module
	functions map[string]cuda.Function
	nvml      *nvml.Device // nil without NVML
	options   share.Options
	l2        int64

	result  cuda.DevicePtr // 64 bytes for verify, the kernels' sinks and chase
	gate    []byte         // pinned words that the gate kernel waits on and reports in
	events  []cuda.Event
	scratch cuda.DevicePtr // read before each cold sample
	local   cuda.DevicePtr // the consumer's own memory, destination of copies
	localN  int64
	// Pinned shared memory of path staged: what this end exports through and what it imports from. nil at first.
	stagingOut, stagingIn *staging
}

// opening tells the tape, if there is one, of the calls that are made while a device is opened, in case one hangs. It
// records none.
type opening struct{ tape *share.Tape }

func (o opening) Starting(call string) {
	if o.tape != nil {
		o.tape.Starting(call)
	}
}

func (opening) Record(string, int64, int64, bool) {}

// newDevice makes a context on the device, loads the kernels and runs each once, so that no first launch falls into a
// measurement.
func newDevice(lib *cuda.Lib, dev cuda.Device, id string, o share.Options) (d *device, err error) {
	d = &device{lib: lib, dev: dev, id: id, options: o, functions: map[string]cuda.Function{}}
	if d.th, err = cuda.NewThread(lib); err != nil {
		return nil, err
	}
	if d.quiet, err = cuda.NewThread(lib); err != nil {
		return nil, err
	}
	told := opening{o.Tape}
	quiet := d.quiet
	quiet.Recorder = told
	defer func() { quiet.Recorder = nil }()
	told.Starting("cuDevicePrimaryCtxRetain")
	ctx, err := lib.DevicePrimaryCtxRetain(dev)
	if err != nil {
		return nil, explainContext(lib, dev, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if err = d.quiet.CtxSetCurrent(ctx); err != nil {
		return d, err
	}
	if d.stream, err = d.quiet.StreamCreate(); err != nil {
		return d, err
	}
	if d.back, err = d.quiet.StreamCreate(); err != nil {
		return d, err
	}
	if d.meet, err = d.quiet.EventCreate(cuda.EventDisableTiming); err != nil {
		return d, err
	}
	if d.module, err = d.quiet.ModuleLoad([]byte(kernels.PTX)); err != nil {
		return d, err
	}
	for _, name := range kernels.Names() {
		if d.functions[name], err = d.quiet.ModuleGetFunction(d.module, name); err != nil {
			return d, err
		}
	}
	if err = d.prepareScratch(); err != nil {
		return d, err
	}
	if m := openNVML(lib); m != nil {
		d.nvml, _ = m.DeviceByUUID(id) // its readings are absent where NVML does not know the device
	}
	return d, d.warmUp()
}

// eventPairs is how many (start, stop) pairs of events a device keeps: the most launches of one kernel sample.
const eventPairs = 16

// prepareScratch takes the memory that kernels need beside the buffers.
func (d *device) prepareScratch() (err error) {
	if d.result, err = d.quiet.MemAlloc(4096); err != nil {
		return err
	}
	if d.gate, err = d.quiet.MemHostAlloc(4096, cuda.HostDeviceMap|cuda.HostPortable); err != nil {
		return err
	}
	for range 2 * eventPairs {
		e, err := d.quiet.EventCreate(cuda.EventDefault)
		if err != nil {
			return err
		}
		d.events = append(d.events, e)
	}
	l2, err := d.lib.DeviceAttribute(cuda.AttributeL2CacheSize, d.dev)
	if err != nil || !d.options.Cold {
		return err
	}
	d.l2 = int64(l2)
	if d.scratch, err = d.quiet.MemAlloc(d.evictBytes()); err != nil {
		return err
	}
	return d.quiet.MemsetD8Async(d.scratch, 0, d.evictBytes(), d.stream)
}

func (d *device) evictBytes() int64 { return int64(max(kernels.EvictBytes(uint64(d.l2)), 1<<20)) }

// record makes the recording thread write to t.
func (d *device) record(t *share.Tape) {
	if d.th.Recorder != cuda.Recorder(t) {
		d.th.Recorder = t
	}
}

// Close gives up what the device holds. Errors of a context that is beyond use are not reported: the process ends.
func (d *device) Close() error {
	q := d.quiet
	var err error
	for _, s := range []cuda.Stream{d.stream, d.back} {
		if s != 0 {
			err = errors.Join(err, q.StreamSynchronize(s))
		}
	}
	err = errors.Join(err, d.stagingOut.close(q), d.stagingIn.close(q))
	for _, p := range []cuda.DevicePtr{d.result, d.scratch, d.local} {
		if p != 0 {
			err = errors.Join(err, q.MemFree(p))
		}
	}
	if d.gate != nil {
		err = errors.Join(err, q.MemFreeHost(d.gate))
	}
	for _, e := range append(d.events, d.meet) {
		if e != 0 {
			err = errors.Join(err, q.EventDestroy(e))
		}
	}
	if d.module != 0 {
		err = errors.Join(err, q.ModuleUnload(d.module))
	}
	for _, s := range []cuda.Stream{d.back, d.stream} {
		if s != 0 {
			err = errors.Join(err, q.StreamDestroy(s))
		}
	}
	if err = errors.Join(err, d.lib.DevicePrimaryCtxRelease(d.dev)); err != nil {
		return fmt.Errorf("close GPU %s: %w", d.id, err)
	}
	return nil
}

// localBuffer is the consumer's own memory of at least n bytes.
func (d *device) localBuffer(n int64) (cuda.DevicePtr, error) {
	if n <= d.localN {
		return d.local, nil
	}
	if d.local != 0 {
		if err := d.quiet.MemFree(d.local); err != nil {
			return 0, err
		}
		d.local, d.localN = 0, 0
	}
	p, err := d.quiet.MemAlloc(n)
	if err != nil {
		return 0, fmt.Errorf("the consumer's local buffer: %w", err)
	}
	d.local, d.localN = p, n
	return p, nil
}

// State reads clocks, temperature, power and throttle reasons through NVML, and free memory from the driver.
func (d *device) State() share.DeviceState {
	var s share.DeviceState
	if free, _, err := d.quiet.MemInfo(); err == nil {
		s.FreeBytes = &free
	}
	if d.nvml != nil {
		readNVML(d.nvml, &s)
	}
	return s
}

// Sees looks for another GPU among those that this process can see.
func (d *device) Sees(id string) error {
	_, err := ordinalOf(d.lib, id)
	return err
}

// closeFD closes a descriptor that nobody else will; -1 is none. The kernel releases it whatever it answers.
func closeFD(fd int) {
	if fd >= 0 {
		_ = syscall.Close(fd)
	}
}

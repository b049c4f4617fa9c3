package gpu

import (
	"errors"

	"gpushare-bench/cuda"
	"gpushare-bench/kernels"
	"gpushare-bench/share"
)

// copying is the work of a kernel that copies n vectors of 16 bytes between the shared buffer and local memory.
func (d *device) copying(k share.Kernel, shared, local cuda.DevicePtr, n uint64) work {
	bytes := int64(n) * 16
	switch k {
	case share.KernelCopy:
		return repeated(func() error { return d.launch(d.quiet, kernels.Copy, n, uint64(shared), uint64(local), n) })
	case share.KernelCopyTo:
		return repeated(func() error { return d.launch(d.quiet, kernels.Copy, n, uint64(local), uint64(shared), n) })
	case share.KernelMemcpy:
		return repeated(func() error { return d.quiet.MemcpyDtoDAsync(local, shared, bytes, d.stream) })
	case share.KernelMemcpyTo:
		return repeated(func() error { return d.quiet.MemcpyDtoDAsync(shared, local, bytes, d.stream) })
	}
	half := bytes / 32 * 16
	return d.bothWays(
		func() error { return d.quiet.MemcpyDtoDAsync(local, shared, half, d.stream) },
		func() error {
			at := cuda.DevicePtr(half)
			return d.quiet.MemcpyDtoDAsync(shared+at, local+at, bytes-half, d.back)
		})
}

// bothWays queues one launch into the device's stream and the other into the stream for the way back, so that both run at
// the same time: the way back begins when the stream gets here, and the stream goes on when the way back has ended.
func (d *device) bothWays(there, back func() error) work {
	after := func(s, other cuda.Stream) error {
		if err := d.quiet.EventRecord(d.meet, other); err != nil {
			return err
		}
		return d.quiet.StreamWaitEvent(s, d.meet)
	}
	return func(times int) error {
		if err := after(d.back, d.stream); err != nil {
			return err
		}
		err := repeated(func() error {
			if err := there(); err != nil {
				return err
			}
			return back()
		})(times)
		// Also after an error: what the way back has got by then is waited for all the same.
		return errors.Join(err, after(d.stream, d.back))
	}
}

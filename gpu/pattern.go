package gpu

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"

	"gpushare-bench/cuda"
	"gpushare-bench/kernels"
	"gpushare-bench/share"
)

// launch starts a kernel over n of its items on the device's stream.
func (d *device) launch(th *cuda.Thread, kernel string, n uint64, params ...uint64) error {
	grid, block := kernels.Shape(kernel, n)
	return th.LaunchKernel(d.functions[kernel], cuda.Dim{X: grid}, cuda.Dim{X: block}, 0, d.stream, params...)
}

func (d *device) sync() error { return d.quiet.StreamSynchronize(d.stream) }

// tail is what is left of a region after its last whole word: where it starts and how many bytes.
func tail(r share.Region) (offset int64, n int) { return r.Bytes &^ 7, int(r.Bytes & 7) }

// tailBytes are the bytes of the pattern that belong into a region's tail.
func tailBytes(r share.Region, seed uint64) []byte {
	offset, n := tail(r)
	var w [8]byte
	binary.LittleEndian.PutUint64(w[:], share.Word(seed, r.First+uint64(offset/8)))
	return w[:n]
}

// Fill writes the pattern with a kernel.
func (d *device) Fill(r share.Region, seed uint64) error {
	words := uint64(r.Bytes / 8)
	if words > 0 {
		if err := d.launch(d.quiet, kernels.Fill, words, uint64(r.Addr), words, share.SeedAt(seed, r.First)); err != nil {
			return err
		}
	}
	if offset, n := tail(r); n > 0 {
		return d.put(cuda.DevicePtr(r.Addr+uintptr(offset)), tailBytes(r, seed))
	}
	return d.sync()
}

// put copies host memory to the device behind the stream's other work and waits for it. A plain cuMemcpyHtoD returns while
// the last bytes from pageable memory are still on their way, and orders itself with no other stream.
func (d *device) put(dst cuda.DevicePtr, src []byte) error {
	err := d.quiet.MemcpyHtoDAsync(dst, src, d.stream)
	if err == nil {
		err = d.sync()
	}
	runtime.KeepAlive(src)
	return err
}

// verdict is what the verify kernel leaves: mismatching words, the index of the first and of the last.
type verdict [3]uint64

func (v *verdict) bytes() []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// Verify compares every word with a kernel, and the tail and a few words spread over the region by host copies, so that
// the kernel's own view of the memory is not the only witness.
func (d *device) Verify(r share.Region, seed uint64) (share.Mismatch, error) {
	var m share.Mismatch
	words := uint64(r.Bytes / 8)
	if words > 0 {
		v := verdict{0, ^uint64(0), 0}
		if err := d.put(d.result, v.bytes()); err != nil {
			return m, err
		}
		if err := d.launch(d.quiet, kernels.Verify, words, uint64(r.Addr), words, share.SeedAt(seed, r.First), uint64(d.result)); err != nil {
			return m, err
		}
		if err := d.sync(); err != nil {
			return m, err
		}
		if err := d.quiet.MemcpyDtoH(v.bytes(), d.result); err != nil {
			return m, err
		}
		if v[0] > 0 {
			m = share.Mismatch{Bytes: 8 * int64(v[0]), First: 8 * int64(v[1]), Last: 8 * int64(v[2])}
		}
	}
	if m.Bytes == 0 {
		if err := d.witness(r, seed, words, &m); err != nil {
			return m, err
		}
	}
	offset, n := tail(r)
	if n == 0 {
		return m, nil
	}
	seen := make([]byte, n)
	if err := d.Peek(r, offset, seen); err != nil {
		return m, err
	}
	if string(seen) != string(tailBytes(r, seed)) {
		if m.Bytes == 0 {
			m.First = offset
		}
		m.Bytes += int64(n)
		m.Last = offset
	}
	return m, nil
}

// witnesses is how many words of a region are checked by host copy.
const witnesses = 4

// witness reads a few words by host copy.
func (d *device) witness(r share.Region, seed, words uint64, m *share.Mismatch) error {
	var w [8]byte
	n := min(witnesses, words)
	for i := range n {
		at := i * (words - 1) / max(1, n-1)
		if err := d.Peek(r, int64(8*at), w[:]); err != nil {
			return fmt.Errorf("host copy of word %d: %w", at, err)
		}
		if binary.LittleEndian.Uint64(w[:]) != share.Word(seed, r.First+at) {
			if m.Bytes == 0 {
				m.First = int64(8 * at)
			}
			m.Bytes += 8
			m.Last = int64(8 * at)
		}
	}
	return nil
}

// Peek copies bytes of the region to the host.
func (d *device) Peek(r share.Region, offset int64, dst []byte) error {
	return d.quiet.MemcpyDtoH(dst, cuda.DevicePtr(r.Addr+uintptr(offset)))
}

// Poke copies bytes of the host into the region.
func (d *device) Poke(r share.Region, offset int64, src []byte) error {
	return d.put(cuda.DevicePtr(r.Addr+uintptr(offset)), src)
}

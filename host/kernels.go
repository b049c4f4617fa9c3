package host

import (
	"errors"
	"fmt"

	"gpushare-bench/share"
)

// minSampleBytes is how much a warm sample moves at least, in bytes.
const minSampleBytes = 4 << 20

// maxPasses is how many passes a warm sample of a tiny buffer has at most.
const maxPasses = 1 << 14

// maxRounds is how many passes a cold sample of a small buffer has at most.
const maxRounds = 16

// Kernels lists what the CPU can run.
func (d *device) Kernels() []share.Kernel { return share.DefaultKernels() }

// RunKernel does one sample of work on the region. chase on a region of less than minChaseBytes has nothing to measure and
// returns an empty Elapsed.
func (d *device) RunKernel(k share.Kernel, r share.Region) (share.Elapsed, error) {
	e, err := d.runKernel(k, r)
	if err != nil {
		return share.Elapsed{}, fmt.Errorf("kernel %s on %s: %w", k, share.FormatSize(r.Bytes), err)
	}
	return e, nil
}

func (d *device) runKernel(k share.Kernel, r share.Region) (share.Elapsed, error) {
	j := job{region: r, warm: !d.cold, evict: d.cold, rounds: 1, passes: 1}
	repeat := int(max(1, minSampleBytes/r.Bytes))
	if d.cold {
		j.rounds = min(repeat, maxRounds)
	} else {
		j.passes = min(repeat, maxPasses)
	}
	j.stream = d.lastLevel == 0 || r.Bytes > d.lastLevel/2
	switch k {
	case share.KernelRead:
		j.work = readPart
	case share.KernelWrite:
		j.work = writePart
	case share.KernelCopy, share.KernelMemcpy:
		local, err := d.localMemory(r.Bytes)
		if err != nil {
			return share.Elapsed{}, err
		}
		j.work, j.dst = copyPart, local
	case share.KernelChase:
		return d.chase(r)
	default:
		return share.Elapsed{}, errors.New("the CPU has no such kernel")
	}
	var ns int64
	var err error
	if k == share.KernelMemcpy {
		ns, err = d.memcpy(&j)
	} else {
		ns, err = d.team.do(j)
	}
	n := j.rounds * j.passes
	e := share.Elapsed{Nanoseconds: float64(ns), Bytes: r.Bytes * int64(n), Launches: n}
	if j.dst != 0 {
		e.Traffic = 2 * e.Bytes
	}
	return e, err
}

// repeatCode holds the address of the assembly routine repeat, which has the C calling convention.
var repeatCode uintptr

// memcpy copies the job's region to its destination with the C library's memcpy on the calling thread.
func (d *device) memcpy(j *job) (ns int64, err error) {
	c, n := d.calls, j.region.Bytes
	if j.warm {
		c.timed.Call(repeatCode, c.memcpy, j.dst, j.region.Addr, uintptr(n), 1, 0)
	}
	for range j.rounds {
		if j.evict {
			d.team.evict(*j)
		}
		c.timed.Call(repeatCode, c.memcpy, j.dst, j.region.Addr, uintptr(n), uintptr(j.passes), 0)
		ns += c.timed.End() - c.timed.Start()
	}
	return ns, nil
}

// readPart loads every byte of the part.
func readPart(j *job, p *part) {
	addr := j.region.Addr + uintptr(p.offset)
	blocks := p.bytes / blockBytes * blockBytes
	if blocks > 0 {
		p.sum += readBlocks(addr, blocks)
	}
	for _, b := range bytesAt(addr+uintptr(blocks), p.bytes-blocks) {
		p.sum += uint64(b)
	}
}

// written is the word that the kernel write stores.
const written = 0x5555555555555555

// writePart stores every byte of the part.
func writePart(j *job, p *part) {
	addr, n := j.region.Addr+uintptr(p.offset), p.bytes
	head := min(n, int64(-addr%streamAlign))
	blocks := (n - head) / blockBytes * blockBytes
	fillBytes(bytesAt(addr, head))
	if blocks > 0 {
		storeBlocks(addr+uintptr(head), blocks, written, j.stream)
	}
	fillBytes(bytesAt(addr+uintptr(head+blocks), n-head-blocks))
}

func fillBytes(b []byte) {
	for i := range b {
		b[i] = written & 0xff
	}
}

// copyPart copies the part to the same place of local memory, whose parts are aligned.
func copyPart(j *job, p *part) {
	dst, src := j.dst+uintptr(p.offset), j.region.Addr+uintptr(p.offset)
	blocks := p.bytes / blockBytes * blockBytes
	if blocks > 0 {
		copyBlocks(dst, src, blocks, j.stream)
	}
	copy(bytesAt(dst+uintptr(blocks), p.bytes-blocks), bytesAt(src+uintptr(blocks), p.bytes-blocks))
}

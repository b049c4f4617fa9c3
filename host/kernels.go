package host

import (
	"fmt"

	"gpushare-bench/share"
)

// minSampleBytes is how much a warm sample moves at least, in bytes.
const minSampleBytes = 4 << 20

// maxRounds is how many passes a cold sample of a small buffer has at most.
const maxRounds = 16

// Kernels lists what the CPU can run.
func (d *device) Kernels() []share.Kernel {
	return []share.Kernel{share.KernelRead, share.KernelWrite, share.KernelCopy}
}

// RunKernel does one sample of work on the region.
func (d *device) RunKernel(k share.Kernel, r share.Region) (share.Elapsed, error) {
	j := job{region: r, warm: !d.cold, evict: d.cold, rounds: 1, passes: 1}
	repeat := max(1, minSampleBytes/r.Bytes)
	if d.cold {
		j.rounds = int(min(repeat, maxRounds))
	} else {
		j.passes = int(repeat)
	}
	j.stream = d.lastLevel == 0 || r.Bytes > d.lastLevel/2
	copies := false
	switch k {
	case share.KernelRead:
		j.work = readPart
	case share.KernelWrite:
		j.work = writePart
	case share.KernelCopy:
		local, err := d.localMemory(r.Bytes)
		if err != nil {
			return share.Elapsed{}, err
		}
		j.work, j.dst, copies = copyPart, local, true
	default:
		return share.Elapsed{}, fmt.Errorf("the CPU has no kernel %q", k)
	}
	ns, err := d.team.do(j)
	if err != nil {
		return share.Elapsed{}, fmt.Errorf("kernel %s: %w", k, err)
	}
	n := j.rounds * j.passes
	e := share.Elapsed{Nanoseconds: float64(ns), Bytes: r.Bytes * int64(n), Launches: n}
	if copies {
		e.Traffic = 2 * e.Bytes
	}
	return e, nil
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

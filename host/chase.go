package host

import (
	"math/rand/v2"
	"runtime/debug"

	"gpushare-bench/internal/dl"
	"gpushare-bench/share"
)

const (
	// chaseLine is how far apart lines are that chase takes for different cache lines, in bytes: no processor of the two
	// architectures has shorter ones. Those with lines of 128 bytes find two pointers in some of them when every line is
	// visited, that is, in buffers below chaseLine·maxChaseLines.
	chaseLine = 64
	// minChaseBytes is the smallest region that chase measures.
	minChaseBytes = 4096
	// maxChaseLines is how many lines a cold sample visits at most, each once.
	maxChaseLines = 1 << 16
	// maxWarmLines is how many lines a warm sample visits at most before it starts anew: 64 MiB of them.
	maxWarmLines = 1 << 20
	// minChaseLoads is how many loads a cold sample makes at least, in several rounds in small regions.
	minChaseLoads = 1 << 10
)

// chase measures dependent loads. The cycle of pointers goes through one line, chosen at random, of each of n equal parts
// of the region, in random order; it is laid before the timed part and overwrites what the region held there.
//
// Cold, each line is visited once a round, after all of them were evicted. Warm, the whole cycle is walked once before the
// timed loads: what the caches keep of it is what they keep of a region of that size, up to 64 MiB.
func (d *device) chase(r share.Region) (e share.Elapsed, err error) {
	if r.Bytes < minChaseBytes {
		return share.Elapsed{}, nil
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer catchFault(&err)
	lines := int((r.Bytes-8)/chaseLine) + 1
	if !d.cold {
		n := min(lines, maxWarmLines)
		at := chase(d.layCycle(r, lines, n), int64(n))
		return d.timeChase(e, at, maxChaseLines), nil
	}
	n := min(lines, maxChaseLines)
	start := d.layCycle(r, lines, n)
	for range (minChaseLoads + n - 1) / n {
		d.evictCycle(r, start, lines, n)
		e = d.timeChase(e, start, n)
	}
	return e, nil
}

// timeChase adds a span of loads to e.
func (d *device) timeChase(e share.Elapsed, start uintptr, loads int) share.Elapsed {
	began := dl.Monotonic()
	end := chase(start, int64(loads))
	e.Nanoseconds += float64(dl.Monotonic() - began)
	d.sink += uint64(end)
	e.Loads += int64(loads)
	e.Launches++
	return e
}

// layCycle writes a cycle of pointers through n of the region's lines and returns its first address.
func (d *device) layCycle(r share.Region, lines, n int) uintptr {
	if len(d.order) != n {
		d.order = make([]int32, n)
		for i := range d.order {
			d.order[i] = int32(i)
		}
		rand.New(rand.NewPCG(1, uint64(n))).Shuffle(n, func(i, j int) { d.order[i], d.order[j] = d.order[j], d.order[i] })
	}
	// at is the address of the line that stands for part i.
	at := func(i int32) uintptr {
		low, high := int(i)*lines/n, (int(i)+1)*lines/n
		pick := finish(uint64(i)) % uint64(high-low)
		return r.Addr + chaseLine*uintptr(low+int(pick))
	}
	start := at(d.order[0])
	here := start
	for _, i := range d.order[1:] {
		next := at(i)
		wordsAt(here, 1)[0] = uint64(next)
		here = next
	}
	wordsAt(here, 1)[0] = uint64(start)
	return start
}

// evictCycle drops the n lines of a cycle from all caches. It follows the pointers of a sparse cycle only: loads would let
// the prefetcher bring back neighbours that were evicted before.
func (d *device) evictCycle(r share.Region, start uintptr, lines, n int) {
	if n == lines {
		flushLines(r.Addr, r.Bytes)
		fence()
		return
	}
	for range n {
		next := uintptr(wordsAt(start, 1)[0])
		flushLines(start, 8)
		start = next
	}
	fence()
}

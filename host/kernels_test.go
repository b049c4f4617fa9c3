package host

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
)

// memory maps bytes for a test, with guard pages around: a kernel that goes beyond its region faults.
func memory(t testing.TB, n int64) (mem []byte) {
	t.Helper()
	page := int64(unix.Getpagesize())
	rounded := (n + page - 1) / page * page
	all, err := unix.Mmap(-1, 0, int(rounded+2*page), unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	must(t, err)
	t.Cleanup(func() { _ = unix.Munmap(all) })
	must(t, unix.Mprotect(all[page:page+rounded], unix.PROT_READ|unix.PROT_WRITE))
	return all[page : page+rounded : page+rounded]
}

// regionAt is n bytes of mem from offset on.
func regionAt(mem []byte, offset, n int64) share.Region {
	return share.Region{Addr: uintptr(unsafe.Pointer(&mem[offset])), Bytes: n, First: uint64(offset / 8)}
}

// shapes are sizes and offsets around every boundary that the kernels know.
func shapes() (out [][2]int64) {
	for _, n := range []int64{1, 7, 8, 9, 63, 64, 65, 255, 256, 257, 511, 4095, 4096, 4097, 8191, 8192, 12288, 65536 + 13, 128<<10 + 1} {
		for _, offset := range []int64{0, 8, 24, 4096 - 8} {
			out = append(out, [2]int64{n, offset})
		}
	}
	return out
}

func TestKernelsAgainstGo(t *testing.T) {
	mem := memory(t, 256<<10)
	random := make([]byte, len(mem))
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(rng.Uint32())
	}
	for _, o := range []share.Options{{}, {Cold: true}, {Threads: 1}} {
		d := open(t, o)
		for _, s := range shapes() {
			n, offset := s[0], s[1]
			// At the end of the mapping, so that the guard page follows.
			r := regionAt(mem, int64(len(mem))-(n+7)/8*8-offset, n)
			name := fmt.Sprintf("%+v %d bytes, %d before the end", o, n, offset)
			copy(mem, random)
			before := random
			at := int64(r.Addr - uintptr(unsafe.Pointer(&mem[0])))

			e, err := d.RunKernel(share.KernelRead, r)
			must(t, err)
			checkElapsed(t, name+" read", e, n, 0)
			for _, stream := range []bool{false, true} {
				local, err := d.localMemory(n)
				must(t, err)
				dst := bytesAt(local, n)
				clear(dst)
				_, err = d.team.do(job{work: copyPart, region: r, dst: local, stream: stream, rounds: 1, passes: 1})
				must(t, err)
				if !bytes.Equal(dst, before[at:at+n]) {
					t.Fatalf("%s: copy with stream %v differs", name, stream)
				}
			}
			for _, k := range []share.Kernel{share.KernelCopy, share.KernelMemcpy} {
				local, err := d.localMemory(n)
				must(t, err)
				dst := bytesAt(local, n)
				clear(dst)
				e, err := d.RunKernel(k, r)
				must(t, err)
				checkElapsed(t, name+" "+string(k), e, n, 2)
				if !bytes.Equal(dst, before[at:at+n]) {
					t.Fatalf("%s: %s differs", name, k)
				}
			}
			if !bytes.Equal(mem, before) {
				t.Fatalf("%s: reading changed the memory", name)
			}
			for _, stream := range []bool{false, true} {
				copy(mem, before)
				_, err := d.team.do(job{work: writePart, region: r, stream: stream, rounds: 1, passes: 1})
				must(t, err)
				want := bytes.Clone(before)
				copy(want[at:], bytes.Repeat([]byte{written & 0xff}, int(n)))
				if !bytes.Equal(mem, want) {
					t.Fatalf("%s: write with stream %v left other bytes", name, stream)
				}
			}
			e, err = d.RunKernel(share.KernelWrite, r)
			must(t, err)
			checkElapsed(t, name+" write", e, n, 0)
		}
	}
}

func checkElapsed(t *testing.T, name string, e share.Elapsed, n, traffic int64) {
	t.Helper()
	if e.Nanoseconds <= 0 || e.Launches < 1 || e.Bytes != n*int64(e.Launches) || e.Traffic != traffic*e.Bytes || e.Loads != 0 {
		t.Errorf("%s of %d bytes: %+v", name, n, e)
	}
}

// TestReadBlocks holds the result of the reading loop to plain Go: a loop that skips loads would be fast and wrong.
func TestReadBlocks(t *testing.T) {
	mem := memory(t, 64<<10)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range mem {
		mem[i] = byte(rng.Uint32())
	}
	for _, n := range []int64{256, 512, 4096, 64 << 10} {
		addr := uintptr(unsafe.Pointer(&mem[int64(len(mem))-n]))
		var want uint64
		for _, w := range wordsAt(addr, n/8) {
			want ^= w
		}
		for _, read := range readers() {
			if got := read(addr, n); got != want {
				t.Errorf("%d bytes: %#x, want %#x", n, got, want)
			}
		}
	}
}

func TestChase(t *testing.T) {
	for _, cold := range []bool{false, true} {
		d := open(t, share.Options{Cold: cold})
		mem := memory(t, 8<<20)
		for _, n := range []int64{minChaseBytes, minChaseBytes + 1, 12345, 1 << 20, 8 << 20} {
			e, err := d.RunKernel(share.KernelChase, regionAt(mem, int64(len(mem))-(n+7)/8*8, n))
			must(t, err)
			if e.Loads < minChaseLoads || e.Nanoseconds <= 0 || e.Bytes != 0 {
				t.Errorf("cold %v, %d bytes: %+v", cold, n, e)
			}
		}
		if e, err := d.RunKernel(share.KernelChase, regionAt(mem, 0, minChaseBytes-1)); err != nil || e != (share.Elapsed{}) {
			t.Errorf("a region too small for chase: %+v, %v", e, err)
		}
	}
}

// TestLayCycle walks the cycle and wants to see every line once, then the start again.
func TestLayCycle(t *testing.T) {
	d := open(t, share.Options{})
	mem := memory(t, 1<<20)
	for _, c := range []struct {
		bytes int64
		n     int
	}{{4096, 64}, {4096, 7}, {1 << 20, 1 << 14}, {1 << 20, 1000}, {1<<20 - 56, 1 << 14}} {
		r := regionAt(mem, 0, c.bytes)
		lines := int((c.bytes-8)/chaseLine) + 1
		start := d.layCycle(r, lines, c.n)
		seen := map[uintptr]bool{}
		for at := start; !seen[at]; at = uintptr(wordsAt(at, 1)[0]) {
			if at < r.Addr || at+8 > r.Addr+uintptr(r.Bytes) || (at-r.Addr)%chaseLine != 0 {
				t.Fatalf("%+v: pointer to offset %d", c, at-r.Addr)
			}
			seen[at] = true
		}
		if len(seen) != c.n || chase(start, int64(c.n)) != start {
			t.Errorf("%+v: a cycle of %d lines", c, len(seen))
		}
	}
}

func TestUnknownKernel(t *testing.T) {
	d := open(t, share.Options{})
	if _, err := d.RunKernel("dance", regionAt(memory(t, 4096), 0, 4096)); err == nil {
		t.Error("no error")
	}
}

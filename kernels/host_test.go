package kernels

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"
)

// The kernels' bodies run on the CPU here, built by a host C++ compiler from
// the same .cu files; testdata/host_shim.h is their machine.

var hostBinary struct {
	once sync.Once
	dir  string
	path string
	skip string
	err  error
}

// hostRun runs a kernel on the CPU and returns what testdata/host_main.cc says
// it gives.
func hostRun(t *testing.T, kernel string, grid, block uint32, buffer []byte, args ...uint64) []byte {
	t.Helper()
	hostBinary.once.Do(func() {
		cxx, err := exec.LookPath("g++")
		if err != nil {
			hostBinary.skip = "the kernels' bodies are tested with a host compiler: " + err.Error()
			return
		}
		hostBinary.path = filepath.Join(hostBinary.dir, "host_main")
		out, err := exec.Command(cxx, "-std=c++14", "-O1", "-Wall", "-Wextra", "-Werror",
			"-o", hostBinary.path, "-x", "c++", "testdata/host_main.cc").CombinedOutput()
		if err != nil {
			hostBinary.err = fmt.Errorf("%s testdata/host_main.cc: %w\n%s", cxx, err, out)
		}
	})
	if hostBinary.skip != "" {
		t.Skip(hostBinary.skip)
	}
	if hostBinary.err != nil {
		t.Fatal(hostBinary.err)
	}
	argv := []string{kernel, strconv.FormatUint(uint64(grid), 10), strconv.FormatUint(uint64(block), 10)}
	for _, a := range args {
		argv = append(argv, strconv.FormatUint(a, 10))
	}
	cmd := exec.Command(hostBinary.path, argv...)
	cmd.Stdin = bytes.NewReader(buffer)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, stderr.Bytes())
	}
	return out
}

// refWord is the pattern, written down a second time.
func refWord(seed, i uint64) uint64 {
	z := seed + i*0x9E3779B97F4A7C15
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// launches of work of n items: the shape the tool uses, and others that make
// the kernels' loops go round or leave threads idle.
func launches(kernel string, n uint64) [][2]uint32 {
	grid, block := Shape(kernel, n)
	return [][2]uint32{{grid, block}, {1, 32}, {3, 64}, {7, 256}}
}

func words(b []byte) []uint64 {
	w := make([]uint64, len(b)/8)
	for i := range w {
		w[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	return w
}

func pattern(seed uint64, n int) []byte {
	var b []byte
	for i := range n {
		b = binary.LittleEndian.AppendUint64(b, refWord(seed, uint64(i)))
	}
	return b
}

// guard is what lies behind the part of a buffer that a kernel may touch.
var guard = bytes.Repeat([]byte{0xA5}, 64)

func TestFillIsSplitMix64(t *testing.T) {
	// SplitMix64 of seed 1234567, as published with the generator: its outputs
	// begin with word 1, because it adds before it mixes.
	want := []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821}
	got := words(hostRun(t, Fill, 1, 32, make([]byte, 48), 6, 1234567))
	if !slices.Equal(got[1:], want) {
		t.Errorf("fill(seed 1234567)[1:6] = %v, want %v", got[1:], want)
	}
}

func TestFill(t *testing.T) {
	for _, n := range []int{0, 2, 512, 514, 4096} {
		for _, l := range launches(Fill, uint64(n)) {
			const seed = 0xFEDCBA9876543210
			got := hostRun(t, Fill, l[0], l[1], append(make([]byte, 8*n), guard...), uint64(n), seed)
			if want := append(pattern(seed, n), guard...); !bytes.Equal(got, want) {
				t.Errorf("fill of %d words by %v is not the pattern", n, l)
			}
		}
	}
}

func TestVerify(t *testing.T) {
	const n, seed = 2048, 77
	tests := []struct {
		name             string
		broken           []int
		seed             uint64
		count, low, high uint64
	}{
		{"intact", nil, seed, 0, ^uint64(0), 0},
		{"first word", []int{0}, seed, 1, 0, 0},
		{"last word", []int{n - 1}, seed, 1, n - 1, n - 1},
		{"three words", []int{1999, 5, 700}, seed, 3, 5, 1999},
		{"beyond the end", []int{n, n + 1}, seed, 0, ^uint64(0), 0},
		{"another seed", nil, seed + 1, n, 0, n - 1},
	}
	for _, tt := range tests {
		buf := append(pattern(seed, n), guard...)
		for i, w := range tt.broken {
			buf[8*w+i] ^= 1 << i // one bit, in another byte each time
		}
		for _, l := range launches(Verify, n) {
			got := words(hostRun(t, Verify, l[0], l[1], buf, n, tt.seed))
			if want := []uint64{tt.count, tt.low, tt.high}; !slices.Equal(got, want) {
				t.Errorf("%s: verify by %v = %d, want %d", tt.name, l, got, want)
			}
		}
	}
}

// Sizes around the multiples of a warp, a block, and a block of four vectors a
// thread.
var vectorCounts = []int{0, 1, 31, 255, 256, 257, 1023, 1024, 1025, 4097}

func TestReadLoadsEachVectorOnce(t *testing.T) {
	for _, kernel := range []string{Read, Evict} {
		for _, n := range vectorCounts {
			for _, l := range launches(kernel, uint64(n)) {
				got := hostRun(t, kernel, l[0], l[1], append(make([]byte, 16*n), guard...), uint64(n))
				want := append(bytes.Repeat([]byte{1}, n), make([]byte, len(guard)/16)...)
				if len(got) != len(want) {
					t.Fatalf("%s of %d vectors by %v: %d counts, want %d", kernel, n, l, len(got), len(want))
				}
				for i := range want {
					if got[i] != want[i] {
						t.Errorf("%s of %d vectors by %v: vector %d is loaded %d times, want %d", kernel, n, l, i, got[i], want[i])
						break
					}
				}
			}
		}
	}
}

func TestWrite(t *testing.T) {
	for _, n := range vectorCounts {
		for _, l := range launches(Write, uint64(n)) {
			got := hostRun(t, Write, l[0], l[1], append(make([]byte, 16*n), guard...), uint64(n), 0x04030201)
			if want := append(bytes.Repeat([]byte{1, 2, 3, 4}, 4*n), guard...); !bytes.Equal(got, want) {
				t.Errorf("write of %d vectors by %v is wrong", n, l)
			}
		}
	}
}

func TestCopy(t *testing.T) {
	for _, n := range vectorCounts {
		for _, l := range launches(Copy, uint64(n)) {
			src := pattern(3, 2*n)
			got := hostRun(t, Copy, l[0], l[1], append(slices.Clone(src), guard...), uint64(n))
			if want := append(src, make([]byte, len(guard))...); !bytes.Equal(got, want) {
				t.Errorf("copy of %d vectors by %v is wrong", n, l)
			}
		}
	}
}

func TestChaseIsOneCycle(t *testing.T) {
	for _, size := range []uint64{256, 512, 1000, 4096, 100_000, 1 << 20} {
		for _, seed := range []uint64{0, 1, 0xDEADBEEFCAFE, ^uint64(0)} {
			slots, stride, mul, inc := ChaseParams(size, seed)
			grid, block := Shape(ChaseInit, slots)
			buf := hostRun(t, ChaseInit, grid, block, make([]byte, slots*stride*8), slots, stride, mul, inc)
			next := words(buf)
			seen := make([]bool, slots)
			offset, strides := uint64(0), map[uint64]bool{}
			for step := range slots {
				if offset%(stride*8) != 0 || offset >= slots*stride*8 {
					t.Fatalf("size %d seed %d: step %d goes to offset %d, which is no slot", size, seed, step, offset)
				}
				slot := offset / (stride * 8)
				if seen[slot] {
					t.Fatalf("size %d seed %d: slot %d is met again after %d of %d steps", size, seed, slot, step, slots)
				}
				seen[slot] = true
				strides[next[offset/8]-offset] = true
				offset = next[offset/8]
			}
			if offset != 0 {
				t.Errorf("size %d seed %d: after %d steps at offset %d, want 0", size, seed, slots, offset)
			}
			if slots >= 64 && len(strides) < int(slots)/8 {
				t.Errorf("size %d seed %d: only %d distances between %d slots", size, seed, len(strides), slots)
			}
			for _, steps := range []uint64{0, 1, slots, slots + 1} {
				want := uint64(0)
				for range steps {
					want = next[want/8]
				}
				if got := words(hostRun(t, Chase, 1, 1, buf, steps)); got[0] != want {
					t.Errorf("size %d seed %d: chase of %d steps ends at %d, want %d", size, seed, steps, got[0], want)
				}
			}
		}
	}
}

func TestGate(t *testing.T) {
	tests := []struct {
		name          string
		limit, opens  uint64
		expired, flag uint32
	}{
		{"open before", 1000, 0, 0, 1},
		{"open before, no time", 0, 0, 0, 1},
		{"opened in time", 1000, 500, 0, 1},
		{"never opened", 1000, ^uint64(0), 1, 0},
		{"opened too late", 1000, 1500, 1, 0},
	}
	for _, tt := range tests {
		got := hostRun(t, Gate, 1, 1, nil, tt.limit, tt.opens)
		expired, flag := binary.LittleEndian.Uint32(got), binary.LittleEndian.Uint32(got[4:])
		if expired != tt.expired || flag != tt.flag {
			t.Errorf("%s: expired %d, flag %d; want %d, %d", tt.name, expired, flag, tt.expired, tt.flag)
		}
	}
}

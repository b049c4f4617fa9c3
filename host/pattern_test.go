package host

import (
	"encoding/binary"
	"fmt"
	"testing"

	"gpushare-bench/share"
)

// TestFill holds the pattern to share.Word.
func TestFill(t *testing.T) {
	d := open(t, share.Options{})
	mem := memory(t, 2<<20)
	for _, s := range shapes() {
		clear(mem)
		n, offset := s[0], s[1]
		r := regionAt(mem, int64(len(mem))-(n+7)/8*8-offset, n)
		must(t, d.Fill(r, 42))
		got := bytesAt(r.Addr, n)
		for i := range got {
			var w [8]byte
			binary.LittleEndian.PutUint64(w[:], share.Word(42, r.First+uint64(i/8)))
			if got[i] != w[i%8] {
				t.Fatalf("%d bytes, offset %d: byte %d is %#x, want %#x", n, offset, i, got[i], w[i%8])
			}
		}
		for i, b := range mem {
			if at := int64(i) - (int64(len(mem)) - (n+7)/8*8 - offset); b != 0 && (at < 0 || at >= n) {
				t.Fatalf("%d bytes, offset %d: wrote outside of the region, at %d", n, offset, at)
			}
		}
	}
}

// TestVerify flips single bytes at every kind of place and wants them found.
func TestVerify(t *testing.T) {
	d := open(t, share.Options{})
	mem := memory(t, 2<<20)
	for _, s := range shapes() {
		n := s[0]
		r := regionAt(mem, s[1], n)
		must(t, d.Fill(r, 7))
		if m, err := d.Verify(r, 7); err != nil || m != (share.Mismatch{}) {
			t.Fatalf("%d bytes: clean memory is %+v, %v", n, m, err)
		}
		for _, at := range []int64{0, 1, 7, 8, 15, 16, 24, 31, 32, 33, n / 2, 4095, 4096, n - 9, n - 8, n - 2, n - 1} {
			if at < 0 || at >= n {
				continue
			}
			flip(t, d, r, at)
			word := at / 8 * 8
			want := share.Mismatch{Bytes: min(8, n-word), First: word, Last: word}
			if m, err := d.Verify(r, 7); err != nil || m != want {
				t.Errorf("%d bytes, byte %d flipped: %+v, %v, want %+v", n, at, m, err, want)
			}
			flip(t, d, r, at)
		}
	}
}

func TestVerifyCounts(t *testing.T) {
	d := open(t, share.Options{})
	mem := memory(t, 1<<20)
	r := regionAt(mem, 8, 1<<20-13)
	must(t, d.Fill(r, 7))
	for _, at := range []int64{16, 17, 40, 500000, r.Bytes - 1} {
		flip(t, d, r, at)
	}
	// Four words, the tail of 3 bytes among them.
	want := share.Mismatch{Bytes: 3*8 + r.Bytes%8, First: 16, Last: r.Bytes / 8 * 8}
	if m, err := d.Verify(r, 7); err != nil || m != want {
		t.Errorf("%+v, %v, want %+v", m, err, want)
	}
	if m, err := d.Verify(r, 8); err != nil || m.Bytes != r.Bytes || m.First != 0 || m.Last != r.Bytes/8*8 {
		t.Errorf("another pattern: %+v, %v", m, err)
	}
}

// flip inverts a bit of a byte through Peek and Poke.
func flip(t *testing.T, d *device, r share.Region, at int64) {
	t.Helper()
	var b [1]byte
	must(t, d.Peek(r, at, b[:]))
	b[0] ^= 0x10
	must(t, d.Poke(r, at, b[:]))
}

func TestPeekPokeBounds(t *testing.T) {
	d := open(t, share.Options{})
	r := regionAt(memory(t, 4096), 0, 100)
	for _, c := range []struct {
		offset int64
		n      int
	}{{-1, 1}, {100, 1}, {99, 2}, {0, 101}, {1<<63 - 1, 1}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if d.Peek(r, c.offset, make([]byte, c.n)) == nil || d.Poke(r, c.offset, make([]byte, c.n)) == nil {
				t.Error("no error")
			}
		})
	}
}

package share

import (
	"encoding/binary"
	"strings"
	"testing"
)

// pattern is n words of seed from word first on.
func pattern(seed, first uint64, n int) []byte {
	b := make([]byte, 8*n)
	for i := range n {
		binary.LittleEndian.PutUint64(b[8*i:], Word(seed, first+uint64(i)))
	}
	return b
}

func TestSeedAt(t *testing.T) {
	for _, first := range []uint64{0, 1, 512, 1 << 40} {
		if SeedAt(7, first) != 7+first*wordGamma || Word(SeedAt(7, first), 3) != Word(7, first+3) {
			t.Errorf("a pattern from word %d on", first)
		}
	}
}

// Words differ at all offsets, so that no shift by a page looks right, and seeds differ between all cycles of a run.
func TestSeedsAndWordsAreUnique(t *testing.T) {
	words := map[uint64]bool{}
	for i := range uint64(1 << 16) {
		words[Word(1, i)] = true
	}
	if len(words) != 1<<16 {
		t.Errorf("%d of %d words differ", len(words), 1<<16)
	}
	seeds := map[uint64]string{}
	n := 0
	for _, run := range []uint64{0, 1, 2, 1 << 63, ^uint64(0)} {
		for c := range 100 {
			for cycle := -3; cycle < 100; cycle++ { // below 0: buffers that are kept alive
				for _, back := range []bool{false, true} {
					seeds[CycleSeed(run, c, cycle, back)] = ""
					n++
				}
			}
		}
	}
	if len(seeds) != n {
		t.Errorf("%d of %d seeds differ", len(seeds), n)
	}
}

func TestClassify(t *testing.T) {
	const seed, first, n = 42, 1000, 512
	earlier := []uint64{7, 8, 9}
	halfStale := append(pattern(8, first, n/2), make([]byte, 8*n/2)...)
	for _, c := range []struct {
		name     string
		observed []byte
		kind     Corruption
		detail   int64
		text     string
	}{
		{"zeros", make([]byte, 8*n), CorruptZeros, 0, "zeros"},
		{"constant", []byte(strings.Repeat("\xff", 8*n)), CorruptConstant, -1, "constant: every word is 0xffffffffffffffff"},
		{"one cycle back", pattern(7, first, n), CorruptStale, 1, "stale: the bytes of 1 cycle(s) earlier"},
		{"three back", pattern(9, first, n), CorruptStale, 3, "3 cycle(s)"},
		{"half of it stale", halfStale, CorruptStale, 2, "2 cycle(s)"},
		{"a page ahead", pattern(seed, first+512, n), CorruptShifted, 4096, "shifted: the right pattern, but from +4096 bytes away"},
		{"a page behind", pattern(seed, first-512, n), CorruptShifted, -4096, "-4096 bytes"},
		{"one word, from elsewhere", pattern(seed, first+5, 1), CorruptShifted, 40, ""},
		{"another run", pattern(99, first, n), CorruptRandom, 0, "random"},
		{"nothing", nil, CorruptRandom, 0, ""},
		{"less than a word", []byte("abc"), CorruptRandom, 0, ""},
	} {
		kind, detail := Classify(c.observed, seed, first, earlier)
		if kind != c.kind || detail != c.detail || !strings.Contains(kind.Describe(detail), c.text) {
			t.Errorf("%s: %s %d, %q", c.name, kind, detail, kind.Describe(detail))
		}
	}
}

// Whatever shift within the bounds is found, with its sign, also below word 0.
func FuzzClassifyShift(f *testing.F) {
	f.Add(uint64(1), uint64(0), int32(1))
	f.Add(uint64(1), uint64(3), int32(-5))
	f.Add(uint64(9), uint64(1<<40), int32(4096))
	f.Fuzz(func(t *testing.T, seed, first uint64, words int32) {
		words %= 1 << 16
		if words == 0 {
			return
		}
		kind, detail := Classify(pattern(seed, first+uint64(int64(words)), 16), seed, first, nil)
		if kind != CorruptShifted || detail != 8*int64(words) {
			t.Errorf("shift by %d words: %s %d", words, kind, detail)
		}
	})
}

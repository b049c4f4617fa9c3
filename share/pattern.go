package share

import (
	"encoding/binary"
	"fmt"
)

// wordGamma is SplitMix64's increment: the golden ratio in 64 bits.
const wordGamma = 0x9E3779B97F4A7C15

// Word is 8-byte word i of the pattern of seed: the finaliser of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) at
// counter seed + i·wordGamma. All words differ at all offsets, so that an address that is off by any amount is seen.
// Kernels of every backend compute the same.
func Word(seed, i uint64) uint64 { return mix(seed + i*wordGamma) }

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// SeedAt is the seed whose word 0 is word first of seed: what a region that starts inside the pattern is checked with.
func SeedAt(seed, first uint64) uint64 { return seed + first*wordGamma }

// CycleSeed is the seed of the pattern that the producer writes in one cycle of one case of a run. Odd turns (the
// consumer's write-back) take CycleSeed with back true. Seeds of one run never repeat in practice.
func CycleSeed(run uint64, caseIndex, cycle int, back bool) uint64 {
	z := mix(run + 1)
	z = mix(z ^ uint64(caseIndex)*wordGamma)
	z = mix(z ^ uint64(cycle)<<1)
	if back {
		z = mix(z ^ 1<<63)
	}
	return z
}

// Corruption says how the observed bytes differ from the pattern that was expected.
type Corruption string

// The kinds of corruption, in the order in which they are looked for.
const (
	CorruptZeros    Corruption = "zeros"    // nothing was written, or another page is mapped
	CorruptStale    Corruption = "stale"    // the bytes of an earlier cycle
	CorruptShifted  Corruption = "shifted"  // the right pattern at a wrong offset: base and interior confused
	CorruptConstant Corruption = "constant" // one value all over: a fill, or 0xff from a device that fell off the bus
	CorruptRandom   Corruption = "random"   // none of these
)

// shiftSearch bounds the search for a shifted pattern, in words each way: 64 MiB.
const shiftSearch = 8 << 20

// Classify looks at observed bytes whose first 8-byte word should be word first of seed, and says how they are wrong.
// earlier are the seeds of other patterns, the latest first. For CorruptShifted detail holds the shift in bytes
// (observed pattern offset minus expected), for CorruptStale the number of cycles back.
func Classify(observed []byte, seed, first uint64, earlier []uint64) (kind Corruption, detail int64) {
	n := len(observed) / 8
	if n == 0 {
		return CorruptRandom, 0
	}
	words := make([]uint64, n)
	same := true
	for i := range words {
		words[i] = binary.LittleEndian.Uint64(observed[8*i:])
		same = same && words[i] == words[0]
	}
	if same && words[0] == 0 {
		return CorruptZeros, 0
	}
	for k, old := range earlier {
		if matches(words, old, first) {
			return CorruptStale, int64(k + 1)
		}
	}
	for d := int64(1); d <= shiftSearch; d++ {
		for _, s := range [2]int64{d, -d} {
			if Word(seed, first+uint64(s)) == words[0] && matches(words, seed, first+uint64(s)) {
				return CorruptShifted, 8 * s
			}
		}
	}
	if same && n > 1 {
		return CorruptConstant, int64(words[0])
	}
	return CorruptRandom, 0
}

// matches reports whether at least half of the words are the pattern of seed from word first on.
func matches(words []uint64, seed, first uint64) bool {
	hit := 0
	for i, w := range words {
		if w == Word(seed, first+uint64(i)) {
			hit++
		}
	}
	return 2*hit >= len(words)
}

// Describe makes a sentence of a corruption: "the bytes of 1 cycle earlier (stale)".
func (c Corruption) Describe(detail int64) string {
	switch c {
	case CorruptZeros:
		return "zeros: nothing was written there, or another page is mapped"
	case CorruptStale:
		if detail == 0 {
			return "stale: the bytes that the other end wrote in this cycle"
		}
		return fmt.Sprintf("stale: the bytes of %d cycle(s) earlier", detail)
	case CorruptShifted:
		return fmt.Sprintf("shifted: the right pattern, but from %+d bytes away", detail)
	case CorruptConstant:
		return fmt.Sprintf("constant: every word is %#016x", uint64(detail))
	}
	return "random: no relation to any pattern of this run"
}

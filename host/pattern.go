package host

import (
	"encoding/binary"

	"gpushare-bench/share"
)

// gamma is the step of the pattern's counter from word to word (see share.Word).
const (
	gamma  = 0x9E3779B97F4A7C15
	gamma2 = 2 * gamma & (1<<64 - 1)
	gamma3 = 3 * gamma & (1<<64 - 1)
	gamma4 = 4 * gamma & (1<<64 - 1)
)

// finish is the finaliser of SplitMix64, as in share.Word; a test holds the two together.
func finish(z uint64) uint64 {
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// fillPart writes a part's words of the pattern.
func fillPart(j *job, p *part) {
	addr, n := j.region.Addr+uintptr(p.offset), p.bytes/8
	z := share.SeedAt(j.seed, j.region.First+uint64(p.offset/8))
	words := wordsAt(addr, n)
	for len(words) >= 4 {
		w := words[:4:4]
		w[0], w[1], w[2], w[3] = finish(z), finish(z+gamma), finish(z+gamma2), finish(z+gamma3)
		z += gamma4
		words = words[4:]
	}
	for i := range words {
		words[i] = finish(z)
		z += gamma
	}
	if tail := p.bytes % 8; tail != 0 {
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], finish(z))
		copy(bytesAt(addr+uintptr(8*n), tail), w[:])
	}
}

// verifyPart compares a part with its words of the pattern.
func verifyPart(j *job, p *part) {
	addr, n := j.region.Addr+uintptr(p.offset), p.bytes/8
	z := share.SeedAt(j.seed, j.region.First+uint64(p.offset/8))
	words := wordsAt(addr, n)
	at := p.offset
	for len(words) >= 4 {
		w := words[:4:4]
		bad := (w[0] ^ finish(z)) | (w[1] ^ finish(z+gamma)) | (w[2] ^ finish(z+gamma2)) | (w[3] ^ finish(z+gamma3))
		if bad != 0 {
			for i, word := range w {
				if word != finish(z+uint64(i)*gamma) {
					p.mismatch = join(p.mismatch, share.Mismatch{Bytes: 8, First: at + int64(8*i), Last: at + int64(8*i)})
				}
			}
		}
		z += gamma4
		at += 32
		words = words[4:]
	}
	for _, word := range words {
		if word != finish(z) {
			p.mismatch = join(p.mismatch, share.Mismatch{Bytes: 8, First: at, Last: at})
		}
		z += gamma
		at += 8
	}
	if tail := p.bytes % 8; tail != 0 {
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], finish(z))
		if string(bytesAt(addr+uintptr(8*n), tail)) != string(w[:tail]) {
			p.mismatch = join(p.mismatch, share.Mismatch{Bytes: tail, First: at, Last: at})
		}
	}
}

// join puts two findings together, b behind a in the region.
func join(a, b share.Mismatch) share.Mismatch {
	switch {
	case a.Bytes == 0:
		return b
	case b.Bytes == 0:
		return a
	}
	return share.Mismatch{Bytes: a.Bytes + b.Bytes, First: a.First, Last: b.Last}
}

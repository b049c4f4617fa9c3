package worker

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"gpushare-bench/share"
)

func TestFrameRoundTrip(t *testing.T) {
	h := share.Handle{FD: 7, Bytes: 12345, Offset: 4096, Allocated: 2 << 20, Start: -8}
	h.SetKey([]byte("a key of some bytes"))
	for k := kindPrepare; k <= kindAbort; k++ {
		f := frame{kind: k, cycle: -3, remote: 9, handle: h}
		var buf [frameSize]byte
		f.encode(buf[:])
		var got frame
		if err := got.decode(buf[:]); err != nil {
			t.Fatal(err)
		}
		f.handle.FD = -1 // descriptors travel beside the frame
		if got != f {
			t.Errorf("%+v\nwant %+v", got, f)
		}
	}
}

func TestFrameRefused(t *testing.T) {
	var good [frameSize]byte
	f := frame{kind: kindHandle, handle: share.Handle{Bytes: 4096, Allocated: 4096}}
	f.encode(good[:])
	change := func(f func(b []byte)) []byte {
		b := bytes.Clone(good[:])
		f(b)
		return b
	}
	le := binary.LittleEndian
	for name, b := range map[string][]byte{
		"empty":                nil,
		"short":                good[:frameSize-1],
		"long":                 append(bytes.Clone(good[:]), 0),
		"another magic":        change(func(b []byte) { b[0]++ }),
		"another version":      change(func(b []byte) { b[5]++ }),
		"kind 0":               change(func(b []byte) { b[4] = 0 }),
		"an unknown kind":      change(func(b []byte) { b[4] = byte(kindAbort) + 1 }),
		"a long key":           change(func(b []byte) { le.PutUint16(b[6:], share.MaxKey+1) }),
		"negative bytes":       change(func(b []byte) { le.PutUint64(b[16:], 1<<63) }),
		"too many bytes":       change(func(b []byte) { le.PutUint64(b[16:], share.MaxSize+1) }),
		"a negative offset":    change(func(b []byte) { le.PutUint64(b[24:], 1<<63) }),
		"an offset far away":   change(func(b []byte) { le.PutUint64(b[24:], share.MaxSize+1) }),
		"a negative size":      change(func(b []byte) { le.PutUint64(b[32:], 1<<63) }),
		"an allocation beyond": change(func(b []byte) { le.PutUint64(b[32:], 2*share.MaxSize+1) }),
	} {
		var f frame
		if err := f.decode(b); !errors.Is(err, ErrFrame) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Whatever arrives is refused or within bounds, and what is taken is written again as it was.
func FuzzFrame(f *testing.F) {
	var good [frameSize]byte
	fr := frame{kind: kindHandle, cycle: 1, remote: -1, handle: share.Handle{Bytes: 1}}
	fr.encode(good[:])
	f.Add(good[:])
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, frameSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		var fr frame
		if err := fr.decode(b); err != nil {
			if !errors.Is(err, ErrFrame) {
				t.Error(err)
			}
			return
		}
		h := fr.handle
		if h.FD != -1 || len(h.KeyBytes()) > share.MaxKey || h.Bytes < 0 || h.Bytes > share.MaxSize || h.Offset < 0 || h.Offset > share.MaxSize ||
			h.Allocated < 0 || h.Offset+h.Bytes < 0 || h.Offset+h.Start < 0 || h.Offset+h.Start+h.Bytes < 0 {
			t.Errorf("%+v", h)
		}
		var again [frameSize]byte
		fr.encode(again[:])
		if !bytes.Equal(again[:], b) {
			t.Errorf("read %x\nwrote %x", b, again)
		}
	})
}

func TestFrameAllocatesNothing(t *testing.T) {
	var buf [frameSize]byte
	f := frame{kind: kindHandle, handle: share.Handle{Bytes: 1}}
	if n := testing.AllocsPerRun(100, func() {
		f.encode(buf[:])
		if err := f.decode(buf[:]); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

package worker

import (
	"encoding/binary"
	"errors"
	"fmt"

	"gpushare-bench/share"
)

// kind is the kind of a frame between two workers.
type kind uint8

const (
	kindPrepare kind = 1 + iota // producer: the buffer is filled, the handle comes as soon as it is exported
	kindReady                   // consumer: waiting for the handle
	kindHandle                  // producer: here it is
	kindDone                    // consumer: finished with it
	kindAbort                   // either: giving up; the reason goes to the runner
)

// frame is one message between the two ends, of fixed size, so that neither side allocates or parses during a cycle.
type frame struct {
	kind   kind
	cycle  int32
	remote int32 // descriptor number in the sender, for transport pidfd; -1 without
	handle share.Handle
}

const (
	frameMagic = 0x67736862 // "gshb"
	frameSize  = 48 + share.MaxKey
)

// ErrFrame is matched by errors about malformed frames.
var ErrFrame = errors.New("bad frame from the other end")

// encode writes the frame to buf, frameSize bytes. The descriptor itself travels beside it.
func (f *frame) encode(buf []byte) {
	le := binary.LittleEndian
	le.PutUint32(buf[0:], frameMagic)
	buf[4], buf[5] = byte(f.kind), ProtocolVersion
	le.PutUint16(buf[6:], uint16(f.handle.KeyLen))
	le.PutUint32(buf[8:], uint32(f.cycle))
	le.PutUint32(buf[12:], uint32(f.remote))
	le.PutUint64(buf[16:], uint64(f.handle.Bytes))
	le.PutUint64(buf[24:], uint64(f.handle.Offset))
	le.PutUint64(buf[32:], uint64(f.handle.Allocated))
	le.PutUint64(buf[40:], uint64(f.handle.Start))
	copy(buf[48:], f.handle.Key[:])
}

// decode reads a frame and refuses what no worker sends. The handle's FD is -1 afterwards.
func (f *frame) decode(buf []byte) error {
	le := binary.LittleEndian
	if len(buf) != frameSize {
		return fmt.Errorf("%w: %d bytes instead of %d", ErrFrame, len(buf), frameSize)
	}
	if le.Uint32(buf) != frameMagic || buf[5] != ProtocolVersion {
		return fmt.Errorf("%w: magic %#x, version %d", ErrFrame, le.Uint32(buf), buf[5])
	}
	f.kind = kind(buf[4])
	if f.kind < kindPrepare || f.kind > kindAbort {
		return fmt.Errorf("%w: kind %d", ErrFrame, f.kind)
	}
	f.cycle = int32(le.Uint32(buf[8:]))
	f.remote = int32(le.Uint32(buf[12:]))
	h := &f.handle
	h.FD = -1
	h.KeyLen = int(le.Uint16(buf[6:]))
	h.Bytes, h.Offset, h.Allocated = int64(le.Uint64(buf[16:])), int64(le.Uint64(buf[24:])), int64(le.Uint64(buf[32:]))
	h.Start = int64(le.Uint64(buf[40:]))
	if h.KeyLen > share.MaxKey || h.Bytes < 0 || h.Offset < 0 || h.Allocated < 0 ||
		h.Bytes > share.MaxSize || h.Offset > share.MaxSize || h.Allocated > 2*share.MaxSize ||
		h.Start < -h.Offset || h.Start > share.MaxSize {
		return fmt.Errorf("%w: key of %d bytes, %d bytes at %d%+d of %d", ErrFrame, h.KeyLen, h.Bytes, h.Start, h.Offset, h.Allocated)
	}
	copy(h.Key[:], buf[48:])
	return nil
}

package cuda

import (
	"fmt"
	"unsafe"
)

// Stream is a CUstream; 0 is the context's default stream.
type Stream uintptr

// Event is a CUevent.
type Event uintptr

// EventFlags are the flags of [Thread.EventCreate].
type EventFlags uint32

// Flags of events (CU_EVENT_…). EventInterprocess needs EventDisableTiming as well.
const (
	EventDefault       EventFlags = 0
	EventBlockingSync  EventFlags = 1 // EventSynchronize sleeps instead of spinning
	EventDisableTiming EventFlags = 2
	EventInterprocess  EventFlags = 4
)

// StreamCreate makes a stream that does not wait for the default stream
// (cuStreamCreate, CU_STREAM_NON_BLOCKING).
func (t *Thread) StreamCreate() (Stream, error) {
	const nonBlocking = 1
	if r := t.call(cuStreamCreate, uintptr(unsafe.Pointer(&t.mem.word[0])), nonBlocking, 0, 0, 0, 0); r != Success {
		return 0, t.fail(cuStreamCreate, r, "non-blocking")
	}
	return Stream(t.mem.word[0]), nil
}

// StreamDestroy destroys a stream; its work is finished first, in the
// background (cuStreamDestroy_v2).
func (t *Thread) StreamDestroy(s Stream) error {
	if r := t.call(cuStreamDestroy, uintptr(s), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuStreamDestroy, r)
	}
	return nil
}

// StreamSynchronize waits for the stream's work (cuStreamSynchronize).
func (t *Thread) StreamSynchronize(s Stream) error {
	if r := t.call(cuStreamSynchronize, uintptr(s), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuStreamSynchronize, r)
	}
	return nil
}

// StreamQuery reports whether the stream's work is done (cuStreamQuery).
func (t *Thread) StreamQuery(s Stream) (done bool, err error) {
	switch r := t.call(cuStreamQuery, uintptr(s), 0, 0, 0, 0, 0); r {
	case Success:
		return true, nil
	case ErrorNotReady:
		return false, nil
	default:
		return false, t.fail(cuStreamQuery, r)
	}
}

// StreamWaitEvent makes later work of the stream wait for the event
// (cuStreamWaitEvent).
func (t *Thread) StreamWaitEvent(s Stream, e Event) error {
	if r := t.call(cuStreamWaitEvent, uintptr(s), uintptr(e), 0, 0, 0, 0); r != Success {
		return t.fail(cuStreamWaitEvent, r)
	}
	return nil
}

// EventCreate makes an event (cuEventCreate).
func (t *Thread) EventCreate(flags EventFlags) (Event, error) {
	if r := t.call(cuEventCreate, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(flags), 0, 0, 0, 0); r != Success {
		return 0, t.fail(cuEventCreate, r, fmt.Sprintf("flags %d", flags))
	}
	return Event(t.mem.word[0]), nil
}

// EventDestroy destroys an event (cuEventDestroy_v2).
func (t *Thread) EventDestroy(e Event) error {
	if r := t.call(cuEventDestroy, uintptr(e), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuEventDestroy, r)
	}
	return nil
}

// EventRecord queues the event behind the stream's work (cuEventRecord).
func (t *Thread) EventRecord(e Event, s Stream) error {
	if r := t.call(cuEventRecord, uintptr(e), uintptr(s), 0, 0, 0, 0); r != Success {
		return t.fail(cuEventRecord, r)
	}
	return nil
}

// EventSynchronize waits until the event was reached (cuEventSynchronize).
func (t *Thread) EventSynchronize(e Event) error {
	if r := t.call(cuEventSynchronize, uintptr(e), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuEventSynchronize, r)
	}
	return nil
}

// EventQuery reports whether the event was reached (cuEventQuery).
func (t *Thread) EventQuery(e Event) (done bool, err error) {
	switch r := t.call(cuEventQuery, uintptr(e), 0, 0, 0, 0, 0); r {
	case Success:
		return true, nil
	case ErrorNotReady:
		return false, nil
	default:
		return false, t.fail(cuEventQuery, r)
	}
}

// EventElapsed returns the nanoseconds between two events that were reached
// (cuEventElapsedTime_v2, or cuEventElapsedTime of older drivers). The driver
// gives milliseconds as a 32-bit float with a resolution of about 0.5
// microseconds; nothing is rounded here.
func (t *Thread) EventElapsed(start, end Event) (nanoseconds float64, err error) {
	if r := t.call(cuEventElapsedTime, uintptr(unsafe.Pointer(&t.mem.ms)), uintptr(start), uintptr(end), 0, 0, 0); r != Success {
		return 0, t.fail(cuEventElapsedTime, r)
	}
	return float64(t.mem.ms) * 1e6, nil
}

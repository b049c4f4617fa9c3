package cuda

import (
	"structs"
	"unsafe"
)

// spreadArgs is the argument block of the assembly routine spread, a function
// of the C calling convention that makes one call with more arguments than
// registers. The first registerArgs of args go into registers, the others onto
// the stack, each in 8 bytes. The routine stands between the two stamps of a
// timed call and costs it a few nanoseconds.
type spreadArgs struct {
	_    structs.HostLayout // the assembly reads it by offsets
	fn   uintptr
	args [registerArgs + stackArgs]uintptr
}

// stackArgs is the number of stack arguments that spread passes: enough for a
// 64-byte structure by value.
const stackArgs = 8

// spreadCode holds the address of the assembly routine. It is never called as a
// Go function.
var spreadCode uintptr

// callSpread makes a timed call of f with the arguments in t.mem.spread.args.
func (t *Thread) callSpread(f fn) Result {
	addr := t.lib.addr[f]
	if addr == 0 {
		return resultNoSymbol
	}
	t.mem.spread.fn = addr
	if t.Recorder != nil {
		t.Recorder.Starting(names[f])
	}
	r := Result(int32(t.timed.Call(spreadCode, uintptr(unsafe.Pointer(&t.mem.spread)), 0, 0, 0, 0, 0)))
	if t.Recorder != nil {
		t.Recorder.Record(names[f], t.timed.Start(), t.timed.End(), r == Success)
	}
	return r
}

package cuda

import "unsafe"

// registerArgs is the number of integer arguments in registers (System V AMD64).
const registerArgs = 6

// callIPCOpen calls CUresult cuIpcOpenMemHandle(CUdeviceptr *p, CUipcMemHandle
// key, unsigned int flags). The key is a 64-byte structure by value: System V
// puts it on the stack, and the flags become the second register argument.
func (t *Thread) callIPCOpen(flags uint32) Result {
	args := &t.mem.spread.args
	args[0] = uintptr(unsafe.Pointer(&t.mem.word[0]))
	args[1] = uintptr(flags)
	*(*[64]byte)(unsafe.Pointer(&args[registerArgs])) = t.mem.key
	return t.callSpread(cuIpcOpenMemHandle)
}

package cuda

import "unsafe"

// registerArgs is the number of integer arguments in registers (AAPCS64).
const registerArgs = 8

// callIPCOpen calls CUresult cuIpcOpenMemHandle(CUdeviceptr *p, CUipcMemHandle
// key, unsigned int flags). The key is a 64-byte structure by value: AAPCS64
// passes the address of a copy, which the callee may overwrite.
func (t *Thread) callIPCOpen(flags uint32) Result {
	return t.call(cuIpcOpenMemHandle, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(unsafe.Pointer(&t.mem.key)), uintptr(flags), 0, 0, 0)
}

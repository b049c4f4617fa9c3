package cuda

import "unsafe"

// IPCMemHandle is a CUipcMemHandle, made of an allocation of MemAlloc.
type IPCMemHandle [64]byte

// IPCGetMemHandle makes a handle for the allocation that p lies in
// (cuIpcGetMemHandle). It names the whole allocation: the offset of p in it,
// from MemGetAddressRange, must travel beside it.
func (t *Thread) IPCGetMemHandle(p DevicePtr) (IPCMemHandle, error) {
	if r := t.call(cuIpcGetMemHandle, uintptr(unsafe.Pointer(&t.mem.key)), uintptr(p), 0, 0, 0, 0); r != Success {
		return IPCMemHandle{}, t.fail(cuIpcGetMemHandle, r, p.String())
	}
	return t.mem.key, nil
}

// IPCOpenMemHandle maps another process's allocation (cuIpcOpenMemHandle_v2,
// CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS). A process cannot open its own handle:
// ErrorInvalidContext.
func (t *Thread) IPCOpenMemHandle(key IPCMemHandle) (DevicePtr, error) {
	const lazyEnablePeerAccess = 1
	t.mem.key = key
	if r := t.callIPCOpen(lazyEnablePeerAccess); r != Success {
		return 0, t.fail(cuIpcOpenMemHandle, r, "64-byte handle", "peer access where needed")
	}
	return DevicePtr(t.mem.word[0]), nil
}

// IPCCloseMemHandle unmaps what IPCOpenMemHandle mapped (cuIpcCloseMemHandle).
func (t *Thread) IPCCloseMemHandle(p DevicePtr) error {
	if r := t.call(cuIpcCloseMemHandle, uintptr(p), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuIpcCloseMemHandle, r, p.String())
	}
	return nil
}

package cuda

import (
	"fmt"
	"unsafe"
)

// Context is a CUcontext: what a process owns on a device.
type Context uintptr

// String gives "context 0x5581…".
func (c Context) String() string { return fmt.Sprintf("context %#x", uintptr(c)) }

// DevicePrimaryCtxRetain returns the device's primary context and creates it if
// need be, which takes some tenths of a second (cuDevicePrimaryCtxRetain). Each
// call needs its own DevicePrimaryCtxRelease.
func (l *Lib) DevicePrimaryCtxRetain(d Device) (Context, error) {
	var c Context
	if r := l.call(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&c)), uintptr(d)); r != Success {
		return 0, l.fail(cuDevicePrimaryCtxRetain, r, d)
	}
	return c, nil
}

// DevicePrimaryCtxRelease gives back one retained reference; the last one
// destroys the context and frees all that it holds (cuDevicePrimaryCtxRelease_v2).
func (l *Lib) DevicePrimaryCtxRelease(d Device) error {
	if r := l.call(cuDevicePrimaryCtxRelease, uintptr(d)); r != Success {
		return l.fail(cuDevicePrimaryCtxRelease, r, d)
	}
	return nil
}

// CtxSetCurrent binds the context to the calling OS thread; 0 unbinds
// (cuCtxSetCurrent).
func (t *Thread) CtxSetCurrent(c Context) error {
	if r := t.call(cuCtxSetCurrent, uintptr(c), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuCtxSetCurrent, r, c.String())
	}
	return nil
}

// CtxSynchronize waits for all work of the current context (cuCtxSynchronize).
// It also returns errors of earlier work, such as ErrorIllegalAddress, after
// which the context is of no more use.
func (t *Thread) CtxSynchronize() error {
	if r := t.call(cuCtxSynchronize, 0, 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuCtxSynchronize, r)
	}
	return nil
}

// CtxEnablePeerAccess lets the current context access memory that peer
// allocates (cuCtxEnablePeerAccess). ErrorPeerAccessAlreadyEnabled is harmless.
func (t *Thread) CtxEnablePeerAccess(peer Context) error {
	if r := t.call(cuCtxEnablePeerAccess, uintptr(peer), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuCtxEnablePeerAccess, r, peer.String())
	}
	return nil
}

// CtxDisablePeerAccess undoes CtxEnablePeerAccess (cuCtxDisablePeerAccess).
func (t *Thread) CtxDisablePeerAccess(peer Context) error {
	if r := t.call(cuCtxDisablePeerAccess, uintptr(peer), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuCtxDisablePeerAccess, r, peer.String())
	}
	return nil
}

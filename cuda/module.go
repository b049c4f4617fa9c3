package cuda

import (
	"fmt"
	"structs"
	"unsafe"

	"gpushare-bench/internal/dl"
)

// Module is a CUmodule: loaded GPU code.
type Module uintptr

// Function is a CUfunction: a kernel of a module.
type Function uintptr

// Dim is the size of a grid in blocks, or of a block in threads. Zero counts as 1.
type Dim struct{ X, Y, Z uint32 }

// String gives "132x1x1".
func (d Dim) String() string {
	return fmt.Sprintf("%dx%dx%d", max(d.X, 1), max(d.Y, 1), max(d.Z, 1))
}

// maxParams is the most parameters that a kernel can be launched with.
const maxParams = 16

// jitOptions are the options of cuModuleLoadDataEx with the memory they point to.
type jitOptions struct {
	_       structs.HostLayout
	options [2]uint32  // CUjit_option
	values  [2]uintptr // void *
	log     [8 << 10]byte
}

// ModuleLoad loads GPU code, PTX or a cubin (cuModuleLoadDataEx). When PTX
// cannot be compiled, the error ends in the compiler's own words.
func (t *Thread) ModuleLoad(image []byte) (Module, error) {
	const (
		errorLogBuffer          = 5 // CU_JIT_ERROR_LOG_BUFFER
		errorLogBufferSizeBytes = 6 // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
	)
	source := append(image[:len(image):len(image)], 0) // PTX must end in NUL
	jit := new(jitOptions)
	jit.options = [2]uint32{errorLogBuffer, errorLogBufferSizeBytes}
	jit.values = [2]uintptr{uintptr(unsafe.Pointer(&jit.log)), uintptr(len(jit.log))}
	r := t.call(cuModuleLoadDataEx, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(unsafe.Pointer(unsafe.SliceData(source))),
		uintptr(len(jit.options)), uintptr(unsafe.Pointer(&jit.options)), uintptr(unsafe.Pointer(&jit.values)), 0)
	if r != Success {
		err := t.fail(cuModuleLoadDataEx, r, sizeText(int64(len(image)))+" of code")
		if log := cString(jit.log[:]); log != "" {
			err = fmt.Errorf("%w: the driver's compiler says: %s", err, log)
		}
		return 0, err
	}
	return Module(t.mem.word[0]), nil
}

// ModuleUnload unloads a module (cuModuleUnload).
func (t *Thread) ModuleUnload(m Module) error {
	if r := t.call(cuModuleUnload, uintptr(m), 0, 0, 0, 0, 0); r != Success {
		return t.fail(cuModuleUnload, r)
	}
	return nil
}

// ModuleGetFunction finds a kernel by its unmangled name (cuModuleGetFunction).
func (t *Thread) ModuleGetFunction(m Module, name string) (Function, error) {
	if r := t.call(cuModuleGetFunction, uintptr(unsafe.Pointer(&t.mem.word[0])), uintptr(m), uintptr(unsafe.Pointer(dl.CString(name))), 0, 0, 0); r != Success {
		return 0, t.fail(cuModuleGetFunction, r, name)
	}
	return Function(t.mem.word[0]), nil
}

// LaunchKernel queues a kernel (cuLaunchKernel). shared is the dynamic shared
// memory in bytes. Each parameter is given as 64 bits, of which the kernel
// reads as many of the low bytes as its parameter has: a uint32 or a float32's
// bits are simply converted. More than 16 parameters are ErrorInvalidValue.
func (t *Thread) LaunchKernel(f Function, grid, block Dim, shared uint32, s Stream, params ...uint64) error {
	r := ErrorInvalidValue
	if len(params) <= maxParams {
		for i, v := range params {
			t.mem.cells[i] = v
			t.mem.params[i] = uintptr(unsafe.Pointer(&t.mem.cells[i]))
		}
		a := &t.mem.spread.args
		a[0] = uintptr(f)
		a[1], a[2], a[3] = uintptr(max(grid.X, 1)), uintptr(max(grid.Y, 1)), uintptr(max(grid.Z, 1))
		a[4], a[5], a[6] = uintptr(max(block.X, 1)), uintptr(max(block.Y, 1)), uintptr(max(block.Z, 1))
		a[7] = uintptr(shared)
		a[8] = uintptr(s)
		a[9] = uintptr(unsafe.Pointer(&t.mem.params))
		a[10] = 0 // extra
		r = t.callSpread(cuLaunchKernel)
	}
	if r != Success {
		return t.fail(cuLaunchKernel, r, "grid "+grid.String(), "block "+block.String(),
			"shared "+sizeText(int64(shared)), fmt.Sprintf("%d parameters", len(params)))
	}
	return nil
}

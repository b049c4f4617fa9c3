package cuda

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
)

func TestErrorText(t *testing.T) {
	err := fmt.Errorf("trial: %w", fmt.Errorf("allocate: %w",
		newError(cuMemCreate, ErrorNotPermitted, []string{"2 MiB", "device 0", "POSIX fd"})))
	if !errors.Is(err, ErrorNotPermitted) || errors.Is(err, ErrorNotSupported) {
		t.Errorf("errors.Is through two layers: %v", err)
	}
	var e *Error
	if !errors.As(err, &e) || e.Call != "cuMemCreate" || e.Result != 800 {
		t.Errorf("errors.As: %+v", e)
	}
	want := "trial: allocate: cuMemCreate(2 MiB, device 0, POSIX fd): CUDA_ERROR_NOT_PERMITTED (800)"
	if err.Error() != want {
		t.Errorf("%q, want %q", err, want)
	}
	if got := Result(12345).Error(); got != "unknown CUDA result (12345)" {
		t.Errorf("a number without a name: %q", got)
	}
}

// TestModuleError: the compiler's words are part of the error.
func TestModuleError(t *testing.T) {
	f := open(t)
	f.nextResult(ErrorInvalidPTX)
	_, err := f.ModuleLoad([]byte("nonsense"))
	want := "cuModuleLoadDataEx(8 bytes of code): CUDA_ERROR_INVALID_PTX (218): the driver's compiler says: ptxas fatal: bad opcode"
	if err == nil || err.Error() != want || !errors.Is(err, ErrorInvalidPTX) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestQueryNotReady(t *testing.T) {
	f := open(t)
	f.nextResult(ErrorNotReady)
	if done, err := f.EventQuery(0x23); done || err != nil {
		t.Errorf("EventQuery: %v, %v, want not done and no error", done, err)
	}
	f.nextResult(ErrorNotReady)
	if done, err := f.StreamQuery(0x22); done || err != nil {
		t.Errorf("StreamQuery: %v, %v, want not done and no error", done, err)
	}
}

// TestTooMany: arguments beyond the fixed memory of a Thread are refused, not
// written past its end.
func TestTooMany(t *testing.T) {
	f := open(t)
	if err := f.LaunchKernel(0x26, Dim{}, Dim{}, 0, 0, make([]uint64, maxParams+1)...); !errors.Is(err, ErrorInvalidValue) {
		t.Errorf("LaunchKernel with %d parameters: %v", maxParams+1, err)
	}
	if err := f.MemSetAccess(0x12, 16, AccessRead, make([]Location, maxAccess+1)...); !errors.Is(err, ErrorInvalidValue) {
		t.Errorf("MemSetAccess with %d locations: %v", maxAccess+1, err)
	}
	if err := f.LaunchKernel(0x26, Dim{}, Dim{}, 0, 0, make([]uint64, maxParams)...); err != nil {
		t.Errorf("LaunchKernel with %d parameters: %v", maxParams, err)
	}
	if seen := f.lastCall(); !strings.HasPrefix(seen, "cuLaunchKernel 0x26 1,1,1 1,1,1 ") {
		t.Errorf("zero dimensions reached the driver: %s", seen)
	}
}

// TestResultNames: each constant's name follows from CUDA's, which catches a
// name beside the wrong number, and each has a name.
func TestResultNames(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "zresult.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ast.Inspect(file, func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		number, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			return true
		}
		v, err := strconv.Atoi(number.Value)
		if err != nil {
			t.Fatal(err)
		}
		n++
		goName := spec.Names[0].Name
		cName := Result(v).Name()
		flat := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(cName, "CUDA_"), "_", ""))
		if flat != strings.ToLower(goName) {
			t.Errorf("%s = %d is named %q", goName, v, cName)
		}
		return true
	})
	if n != len(resultNames) {
		t.Errorf("%d constants, %d names", n, len(resultNames))
	}
}

// TestResultNumbers pins results that decisions depend on to the numbers of cuda.h.
func TestResultNumbers(t *testing.T) {
	for name, number := range map[string]Result{
		"CUDA_SUCCESS": 0, "CUDA_ERROR_INVALID_VALUE": 1, "CUDA_ERROR_OUT_OF_MEMORY": 2, "CUDA_ERROR_NOT_INITIALIZED": 3,
		"CUDA_ERROR_DEINITIALIZED": 4, "CUDA_ERROR_NO_DEVICE": 100, "CUDA_ERROR_INVALID_DEVICE": 101,
		"CUDA_ERROR_INVALID_CONTEXT": 201, "CUDA_ERROR_MAP_FAILED": 205, "CUDA_ERROR_ALREADY_MAPPED": 208,
		"CUDA_ERROR_NOT_MAPPED": 211, "CUDA_ERROR_ECC_UNCORRECTABLE": 214, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED": 217,
		"CUDA_ERROR_INVALID_HANDLE": 400, "CUDA_ERROR_NOT_READY": 600, "CUDA_ERROR_ILLEGAL_ADDRESS": 700,
		"CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED": 704, "CUDA_ERROR_LAUNCH_FAILED": 719, "CUDA_ERROR_NOT_PERMITTED": 800,
		"CUDA_ERROR_NOT_SUPPORTED": 801, "CUDA_ERROR_SYSTEM_NOT_READY": 802, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH": 803,
		"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE": 804, "CUDA_ERROR_MPS_CONNECTION_FAILED": 805, "CUDA_ERROR_UNKNOWN": 999,
	} {
		if got := number.Name(); got != name {
			t.Errorf("%d is named %q, want %q", int32(number), got, name)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{sizeText(0), "0 bytes"}, {sizeText(4097), "4097 bytes"}, {sizeText(3 << 10), "3 KiB"},
		{sizeText(2 << 20), "2 MiB"}, {sizeText(1<<30 + 1<<20), "1025 MiB"}, {sizeText(2 << 30), "2 GiB"},
		{HandleType(0).String(), "not shareable"}, {(HandlePosixFD | HandleFabric).String(), "POSIX fd + fabric"},
		{HandleType(2).String(), "handle types 0x2"},
		{Location{Type: LocationHost}.String(), "host"},
		{Location{Type: LocationHostNUMACurrent}.String(), "current host NUMA node"},
		{Location{Type: 7, ID: 1}.String(), "location 7/1"},
		{ComputeModeDefault.String(), "Default"}, {ComputeModeProhibited.String(), "Prohibited"},
		{ComputeModeExclusiveProcess.String(), "Exclusive_Process"}, {ComputeMode(1).String(), "compute mode 1"},
		{Access(0).String(), "access 0"}, {ExternalType(4).String(), "external type 4"},
		{Dim{132, 0, 0}.String(), "132x1x1"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

package nvml

import "fmt"

// Return is an nvmlReturn_t, the number that NVML's functions return. The ones
// other than success are errors and work with errors.Is.
type Return int32

// NVML's answers (NVML_ERROR_…).
const (
	success                   Return = 0
	ErrorUninitialized        Return = 1
	ErrorInvalidArgument      Return = 2
	ErrorNotSupported         Return = 3
	ErrorNoPermission         Return = 4
	ErrorNotFound             Return = 6
	ErrorInsufficientSize     Return = 7
	ErrorDriverNotLoaded      Return = 9
	ErrorTimeout              Return = 10
	ErrorLibraryNotFound      Return = 12
	ErrorFunctionNotFound     Return = 13 // also for a function that the library lacks
	ErrorGPUIsLost            Return = 15
	ErrorResetRequired        Return = 16
	ErrorOperatingSystem      Return = 17
	ErrorLibRMVersionMismatch Return = 18
	ErrorInUse                Return = 19
	ErrorMemory               Return = 20
	ErrorNoData               Return = 21
	ErrorUnknown              Return = 999
)

var returnNames = map[Return]string{
	success:                   "NVML_SUCCESS",
	ErrorUninitialized:        "NVML_ERROR_UNINITIALIZED",
	ErrorInvalidArgument:      "NVML_ERROR_INVALID_ARGUMENT",
	ErrorNotSupported:         "NVML_ERROR_NOT_SUPPORTED",
	ErrorNoPermission:         "NVML_ERROR_NO_PERMISSION",
	ErrorNotFound:             "NVML_ERROR_NOT_FOUND",
	ErrorInsufficientSize:     "NVML_ERROR_INSUFFICIENT_SIZE",
	ErrorDriverNotLoaded:      "NVML_ERROR_DRIVER_NOT_LOADED",
	ErrorTimeout:              "NVML_ERROR_TIMEOUT",
	ErrorLibraryNotFound:      "NVML_ERROR_LIBRARY_NOT_FOUND",
	ErrorFunctionNotFound:     "NVML_ERROR_FUNCTION_NOT_FOUND",
	ErrorGPUIsLost:            "NVML_ERROR_GPU_IS_LOST",
	ErrorResetRequired:        "NVML_ERROR_RESET_REQUIRED",
	ErrorOperatingSystem:      "NVML_ERROR_OPERATING_SYSTEM",
	ErrorLibRMVersionMismatch: "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
	ErrorInUse:                "NVML_ERROR_IN_USE",
	ErrorMemory:               "NVML_ERROR_MEMORY",
	ErrorNoData:               "NVML_ERROR_NO_DATA",
	ErrorUnknown:              "NVML_ERROR_UNKNOWN",
}

// Error gives the name and the number: "NVML_ERROR_NOT_SUPPORTED (3)".
func (r Return) Error() string {
	if name := returnNames[r]; name != "" {
		return fmt.Sprintf("%s (%d)", name, int32(r))
	}
	return fmt.Sprintf("unknown NVML result (%d)", int32(r))
}

package cuda

// The results of the driver functions: enum CUresult of the CUDA driver API, to
// version 13.3. ErrorInsufficientDriver is the runtime API's number, which some
// compatibility libraries return from cuInit.
const (
	Success                           Result = 0   // CUDA_SUCCESS
	ErrorInvalidValue                 Result = 1   // CUDA_ERROR_INVALID_VALUE
	ErrorOutOfMemory                  Result = 2   // CUDA_ERROR_OUT_OF_MEMORY
	ErrorNotInitialized               Result = 3   // CUDA_ERROR_NOT_INITIALIZED
	ErrorDeinitialized                Result = 4   // CUDA_ERROR_DEINITIALIZED
	ErrorProfilerDisabled             Result = 5   // CUDA_ERROR_PROFILER_DISABLED
	ErrorProfilerNotInitialized       Result = 6   // CUDA_ERROR_PROFILER_NOT_INITIALIZED
	ErrorProfilerAlreadyStarted       Result = 7   // CUDA_ERROR_PROFILER_ALREADY_STARTED
	ErrorProfilerAlreadyStopped       Result = 8   // CUDA_ERROR_PROFILER_ALREADY_STOPPED
	ErrorStubLibrary                  Result = 34  // CUDA_ERROR_STUB_LIBRARY
	ErrorInsufficientDriver           Result = 35  // CUDA_ERROR_INSUFFICIENT_DRIVER
	ErrorCallRequiresNewerDriver      Result = 36  // CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER
	ErrorDeviceUnavailable            Result = 46  // CUDA_ERROR_DEVICE_UNAVAILABLE
	ErrorNoDevice                     Result = 100 // CUDA_ERROR_NO_DEVICE
	ErrorInvalidDevice                Result = 101 // CUDA_ERROR_INVALID_DEVICE
	ErrorDeviceNotLicensed            Result = 102 // CUDA_ERROR_DEVICE_NOT_LICENSED
	ErrorInvalidImage                 Result = 200 // CUDA_ERROR_INVALID_IMAGE
	ErrorInvalidContext               Result = 201 // CUDA_ERROR_INVALID_CONTEXT
	ErrorContextAlreadyCurrent        Result = 202 // CUDA_ERROR_CONTEXT_ALREADY_CURRENT
	ErrorMapFailed                    Result = 205 // CUDA_ERROR_MAP_FAILED
	ErrorUnmapFailed                  Result = 206 // CUDA_ERROR_UNMAP_FAILED
	ErrorArrayIsMapped                Result = 207 // CUDA_ERROR_ARRAY_IS_MAPPED
	ErrorAlreadyMapped                Result = 208 // CUDA_ERROR_ALREADY_MAPPED
	ErrorNoBinaryForGPU               Result = 209 // CUDA_ERROR_NO_BINARY_FOR_GPU
	ErrorAlreadyAcquired              Result = 210 // CUDA_ERROR_ALREADY_ACQUIRED
	ErrorNotMapped                    Result = 211 // CUDA_ERROR_NOT_MAPPED
	ErrorNotMappedAsArray             Result = 212 // CUDA_ERROR_NOT_MAPPED_AS_ARRAY
	ErrorNotMappedAsPointer           Result = 213 // CUDA_ERROR_NOT_MAPPED_AS_POINTER
	ErrorECCUncorrectable             Result = 214 // CUDA_ERROR_ECC_UNCORRECTABLE
	ErrorUnsupportedLimit             Result = 215 // CUDA_ERROR_UNSUPPORTED_LIMIT
	ErrorContextAlreadyInUse          Result = 216 // CUDA_ERROR_CONTEXT_ALREADY_IN_USE
	ErrorPeerAccessUnsupported        Result = 217 // CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
	ErrorInvalidPTX                   Result = 218 // CUDA_ERROR_INVALID_PTX
	ErrorInvalidGraphicsContext       Result = 219 // CUDA_ERROR_INVALID_GRAPHICS_CONTEXT
	ErrorNVLinkUncorrectable          Result = 220 // CUDA_ERROR_NVLINK_UNCORRECTABLE
	ErrorJITCompilerNotFound          Result = 221 // CUDA_ERROR_JIT_COMPILER_NOT_FOUND
	ErrorUnsupportedPTXVersion        Result = 222 // CUDA_ERROR_UNSUPPORTED_PTX_VERSION
	ErrorJITCompilationDisabled       Result = 223 // CUDA_ERROR_JIT_COMPILATION_DISABLED
	ErrorUnsupportedExecAffinity      Result = 224 // CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY
	ErrorUnsupportedDevsideSync       Result = 225 // CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC
	ErrorContained                    Result = 226 // CUDA_ERROR_CONTAINED
	ErrorInvalidSource                Result = 300 // CUDA_ERROR_INVALID_SOURCE
	ErrorFileNotFound                 Result = 301 // CUDA_ERROR_FILE_NOT_FOUND
	ErrorSharedObjectSymbolNotFound   Result = 302 // CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND
	ErrorSharedObjectInitFailed       Result = 303 // CUDA_ERROR_SHARED_OBJECT_INIT_FAILED
	ErrorOperatingSystem              Result = 304 // CUDA_ERROR_OPERATING_SYSTEM
	ErrorInvalidHandle                Result = 400 // CUDA_ERROR_INVALID_HANDLE
	ErrorIllegalState                 Result = 401 // CUDA_ERROR_ILLEGAL_STATE
	ErrorLossyQuery                   Result = 402 // CUDA_ERROR_LOSSY_QUERY
	ErrorNotFound                     Result = 500 // CUDA_ERROR_NOT_FOUND
	ErrorNotReady                     Result = 600 // CUDA_ERROR_NOT_READY
	ErrorIllegalAddress               Result = 700 // CUDA_ERROR_ILLEGAL_ADDRESS
	ErrorLaunchOutOfResources         Result = 701 // CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
	ErrorLaunchTimeout                Result = 702 // CUDA_ERROR_LAUNCH_TIMEOUT
	ErrorLaunchIncompatibleTexturing  Result = 703 // CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING
	ErrorPeerAccessAlreadyEnabled     Result = 704 // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
	ErrorPeerAccessNotEnabled         Result = 705 // CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
	ErrorPrimaryContextActive         Result = 708 // CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE
	ErrorContextIsDestroyed           Result = 709 // CUDA_ERROR_CONTEXT_IS_DESTROYED
	ErrorAssert                       Result = 710 // CUDA_ERROR_ASSERT
	ErrorTooManyPeers                 Result = 711 // CUDA_ERROR_TOO_MANY_PEERS
	ErrorHostMemoryAlreadyRegistered  Result = 712 // CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
	ErrorHostMemoryNotRegistered      Result = 713 // CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
	ErrorHardwareStackError           Result = 714 // CUDA_ERROR_HARDWARE_STACK_ERROR
	ErrorIllegalInstruction           Result = 715 // CUDA_ERROR_ILLEGAL_INSTRUCTION
	ErrorMisalignedAddress            Result = 716 // CUDA_ERROR_MISALIGNED_ADDRESS
	ErrorInvalidAddressSpace          Result = 717 // CUDA_ERROR_INVALID_ADDRESS_SPACE
	ErrorInvalidPC                    Result = 718 // CUDA_ERROR_INVALID_PC
	ErrorLaunchFailed                 Result = 719 // CUDA_ERROR_LAUNCH_FAILED
	ErrorCooperativeLaunchTooLarge    Result = 720 // CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
	ErrorTensorMemoryLeak             Result = 721 // CUDA_ERROR_TENSOR_MEMORY_LEAK
	ErrorNotPermitted                 Result = 800 // CUDA_ERROR_NOT_PERMITTED
	ErrorNotSupported                 Result = 801 // CUDA_ERROR_NOT_SUPPORTED
	ErrorSystemNotReady               Result = 802 // CUDA_ERROR_SYSTEM_NOT_READY
	ErrorSystemDriverMismatch         Result = 803 // CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
	ErrorCompatNotSupportedOnDevice   Result = 804 // CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE
	ErrorMPSConnectionFailed          Result = 805 // CUDA_ERROR_MPS_CONNECTION_FAILED
	ErrorMPSRPCFailure                Result = 806 // CUDA_ERROR_MPS_RPC_FAILURE
	ErrorMPSServerNotReady            Result = 807 // CUDA_ERROR_MPS_SERVER_NOT_READY
	ErrorMPSMaxClientsReached         Result = 808 // CUDA_ERROR_MPS_MAX_CLIENTS_REACHED
	ErrorMPSMaxConnectionsReached     Result = 809 // CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED
	ErrorMPSClientTerminated          Result = 810 // CUDA_ERROR_MPS_CLIENT_TERMINATED
	ErrorCDPNotSupported              Result = 811 // CUDA_ERROR_CDP_NOT_SUPPORTED
	ErrorCDPVersionMismatch           Result = 812 // CUDA_ERROR_CDP_VERSION_MISMATCH
	ErrorStreamCaptureUnsupported     Result = 900 // CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
	ErrorStreamCaptureInvalidated     Result = 901 // CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
	ErrorStreamCaptureMerge           Result = 902 // CUDA_ERROR_STREAM_CAPTURE_MERGE
	ErrorStreamCaptureUnmatched       Result = 903 // CUDA_ERROR_STREAM_CAPTURE_UNMATCHED
	ErrorStreamCaptureUnjoined        Result = 904 // CUDA_ERROR_STREAM_CAPTURE_UNJOINED
	ErrorStreamCaptureIsolation       Result = 905 // CUDA_ERROR_STREAM_CAPTURE_ISOLATION
	ErrorStreamCaptureImplicit        Result = 906 // CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
	ErrorCapturedEvent                Result = 907 // CUDA_ERROR_CAPTURED_EVENT
	ErrorStreamCaptureWrongThread     Result = 908 // CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD
	ErrorTimeout                      Result = 909 // CUDA_ERROR_TIMEOUT
	ErrorGraphExecUpdateFailure       Result = 910 // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
	ErrorExternalDevice               Result = 911 // CUDA_ERROR_EXTERNAL_DEVICE
	ErrorInvalidClusterSize           Result = 912 // CUDA_ERROR_INVALID_CLUSTER_SIZE
	ErrorFunctionNotLoaded            Result = 913 // CUDA_ERROR_FUNCTION_NOT_LOADED
	ErrorInvalidResourceType          Result = 914 // CUDA_ERROR_INVALID_RESOURCE_TYPE
	ErrorInvalidResourceConfiguration Result = 915 // CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION
	ErrorKeyRotation                  Result = 916 // CUDA_ERROR_KEY_ROTATION
	ErrorStreamDetached               Result = 917 // CUDA_ERROR_STREAM_DETACHED
	ErrorGraphRecaptureFailure        Result = 918 // CUDA_ERROR_GRAPH_RECAPTURE_FAILURE
	ErrorUnknown                      Result = 999 // CUDA_ERROR_UNKNOWN
)

var resultNames = map[Result]string{
	Success:                           "CUDA_SUCCESS",
	ErrorInvalidValue:                 "CUDA_ERROR_INVALID_VALUE",
	ErrorOutOfMemory:                  "CUDA_ERROR_OUT_OF_MEMORY",
	ErrorNotInitialized:               "CUDA_ERROR_NOT_INITIALIZED",
	ErrorDeinitialized:                "CUDA_ERROR_DEINITIALIZED",
	ErrorProfilerDisabled:             "CUDA_ERROR_PROFILER_DISABLED",
	ErrorProfilerNotInitialized:       "CUDA_ERROR_PROFILER_NOT_INITIALIZED",
	ErrorProfilerAlreadyStarted:       "CUDA_ERROR_PROFILER_ALREADY_STARTED",
	ErrorProfilerAlreadyStopped:       "CUDA_ERROR_PROFILER_ALREADY_STOPPED",
	ErrorStubLibrary:                  "CUDA_ERROR_STUB_LIBRARY",
	ErrorInsufficientDriver:           "CUDA_ERROR_INSUFFICIENT_DRIVER",
	ErrorCallRequiresNewerDriver:      "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
	ErrorDeviceUnavailable:            "CUDA_ERROR_DEVICE_UNAVAILABLE",
	ErrorNoDevice:                     "CUDA_ERROR_NO_DEVICE",
	ErrorInvalidDevice:                "CUDA_ERROR_INVALID_DEVICE",
	ErrorDeviceNotLicensed:            "CUDA_ERROR_DEVICE_NOT_LICENSED",
	ErrorInvalidImage:                 "CUDA_ERROR_INVALID_IMAGE",
	ErrorInvalidContext:               "CUDA_ERROR_INVALID_CONTEXT",
	ErrorContextAlreadyCurrent:        "CUDA_ERROR_CONTEXT_ALREADY_CURRENT",
	ErrorMapFailed:                    "CUDA_ERROR_MAP_FAILED",
	ErrorUnmapFailed:                  "CUDA_ERROR_UNMAP_FAILED",
	ErrorArrayIsMapped:                "CUDA_ERROR_ARRAY_IS_MAPPED",
	ErrorAlreadyMapped:                "CUDA_ERROR_ALREADY_MAPPED",
	ErrorNoBinaryForGPU:               "CUDA_ERROR_NO_BINARY_FOR_GPU",
	ErrorAlreadyAcquired:              "CUDA_ERROR_ALREADY_ACQUIRED",
	ErrorNotMapped:                    "CUDA_ERROR_NOT_MAPPED",
	ErrorNotMappedAsArray:             "CUDA_ERROR_NOT_MAPPED_AS_ARRAY",
	ErrorNotMappedAsPointer:           "CUDA_ERROR_NOT_MAPPED_AS_POINTER",
	ErrorECCUncorrectable:             "CUDA_ERROR_ECC_UNCORRECTABLE",
	ErrorUnsupportedLimit:             "CUDA_ERROR_UNSUPPORTED_LIMIT",
	ErrorContextAlreadyInUse:          "CUDA_ERROR_CONTEXT_ALREADY_IN_USE",
	ErrorPeerAccessUnsupported:        "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
	ErrorInvalidPTX:                   "CUDA_ERROR_INVALID_PTX",
	ErrorInvalidGraphicsContext:       "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT",
	ErrorNVLinkUncorrectable:          "CUDA_ERROR_NVLINK_UNCORRECTABLE",
	ErrorJITCompilerNotFound:          "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
	ErrorUnsupportedPTXVersion:        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	ErrorJITCompilationDisabled:       "CUDA_ERROR_JIT_COMPILATION_DISABLED",
	ErrorUnsupportedExecAffinity:      "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY",
	ErrorUnsupportedDevsideSync:       "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC",
	ErrorContained:                    "CUDA_ERROR_CONTAINED",
	ErrorInvalidSource:                "CUDA_ERROR_INVALID_SOURCE",
	ErrorFileNotFound:                 "CUDA_ERROR_FILE_NOT_FOUND",
	ErrorSharedObjectSymbolNotFound:   "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND",
	ErrorSharedObjectInitFailed:       "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
	ErrorOperatingSystem:              "CUDA_ERROR_OPERATING_SYSTEM",
	ErrorInvalidHandle:                "CUDA_ERROR_INVALID_HANDLE",
	ErrorIllegalState:                 "CUDA_ERROR_ILLEGAL_STATE",
	ErrorLossyQuery:                   "CUDA_ERROR_LOSSY_QUERY",
	ErrorNotFound:                     "CUDA_ERROR_NOT_FOUND",
	ErrorNotReady:                     "CUDA_ERROR_NOT_READY",
	ErrorIllegalAddress:               "CUDA_ERROR_ILLEGAL_ADDRESS",
	ErrorLaunchOutOfResources:         "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
	ErrorLaunchTimeout:                "CUDA_ERROR_LAUNCH_TIMEOUT",
	ErrorLaunchIncompatibleTexturing:  "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING",
	ErrorPeerAccessAlreadyEnabled:     "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
	ErrorPeerAccessNotEnabled:         "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED",
	ErrorPrimaryContextActive:         "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
	ErrorContextIsDestroyed:           "CUDA_ERROR_CONTEXT_IS_DESTROYED",
	ErrorAssert:                       "CUDA_ERROR_ASSERT",
	ErrorTooManyPeers:                 "CUDA_ERROR_TOO_MANY_PEERS",
	ErrorHostMemoryAlreadyRegistered:  "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
	ErrorHostMemoryNotRegistered:      "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
	ErrorHardwareStackError:           "CUDA_ERROR_HARDWARE_STACK_ERROR",
	ErrorIllegalInstruction:           "CUDA_ERROR_ILLEGAL_INSTRUCTION",
	ErrorMisalignedAddress:            "CUDA_ERROR_MISALIGNED_ADDRESS",
	ErrorInvalidAddressSpace:          "CUDA_ERROR_INVALID_ADDRESS_SPACE",
	ErrorInvalidPC:                    "CUDA_ERROR_INVALID_PC",
	ErrorLaunchFailed:                 "CUDA_ERROR_LAUNCH_FAILED",
	ErrorCooperativeLaunchTooLarge:    "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
	ErrorTensorMemoryLeak:             "CUDA_ERROR_TENSOR_MEMORY_LEAK",
	ErrorNotPermitted:                 "CUDA_ERROR_NOT_PERMITTED",
	ErrorNotSupported:                 "CUDA_ERROR_NOT_SUPPORTED",
	ErrorSystemNotReady:               "CUDA_ERROR_SYSTEM_NOT_READY",
	ErrorSystemDriverMismatch:         "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	ErrorCompatNotSupportedOnDevice:   "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
	ErrorMPSConnectionFailed:          "CUDA_ERROR_MPS_CONNECTION_FAILED",
	ErrorMPSRPCFailure:                "CUDA_ERROR_MPS_RPC_FAILURE",
	ErrorMPSServerNotReady:            "CUDA_ERROR_MPS_SERVER_NOT_READY",
	ErrorMPSMaxClientsReached:         "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED",
	ErrorMPSMaxConnectionsReached:     "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED",
	ErrorMPSClientTerminated:          "CUDA_ERROR_MPS_CLIENT_TERMINATED",
	ErrorCDPNotSupported:              "CUDA_ERROR_CDP_NOT_SUPPORTED",
	ErrorCDPVersionMismatch:           "CUDA_ERROR_CDP_VERSION_MISMATCH",
	ErrorStreamCaptureUnsupported:     "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
	ErrorStreamCaptureInvalidated:     "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
	ErrorStreamCaptureMerge:           "CUDA_ERROR_STREAM_CAPTURE_MERGE",
	ErrorStreamCaptureUnmatched:       "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
	ErrorStreamCaptureUnjoined:        "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
	ErrorStreamCaptureIsolation:       "CUDA_ERROR_STREAM_CAPTURE_ISOLATION",
	ErrorStreamCaptureImplicit:        "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
	ErrorCapturedEvent:                "CUDA_ERROR_CAPTURED_EVENT",
	ErrorStreamCaptureWrongThread:     "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD",
	ErrorTimeout:                      "CUDA_ERROR_TIMEOUT",
	ErrorGraphExecUpdateFailure:       "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE",
	ErrorExternalDevice:               "CUDA_ERROR_EXTERNAL_DEVICE",
	ErrorInvalidClusterSize:           "CUDA_ERROR_INVALID_CLUSTER_SIZE",
	ErrorFunctionNotLoaded:            "CUDA_ERROR_FUNCTION_NOT_LOADED",
	ErrorInvalidResourceType:          "CUDA_ERROR_INVALID_RESOURCE_TYPE",
	ErrorInvalidResourceConfiguration: "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION",
	ErrorKeyRotation:                  "CUDA_ERROR_KEY_ROTATION",
	ErrorStreamDetached:               "CUDA_ERROR_STREAM_DETACHED",
	ErrorGraphRecaptureFailure:        "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE",
	ErrorUnknown:                      "CUDA_ERROR_UNKNOWN",
}

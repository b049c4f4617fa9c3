package cuda

import "strings"

// fn is a driver function that this package calls.
type fn int

const (
	cuInit fn = iota
	cuDriverGetVersion

	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceGetUuid
	cuDeviceTotalMem
	cuDeviceGetAttribute
	cuDeviceGetPCIBusId
	cuDeviceCanAccessPeer
	cuDeviceGetP2PAttribute
	cuDeviceGetDefaultMemPool
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease

	cuCtxSetCurrent
	cuCtxSynchronize
	cuCtxEnablePeerAccess
	cuCtxDisablePeerAccess

	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemAllocHost
	cuMemFreeHost
	cuMemHostAlloc
	cuMemHostRegister
	cuMemHostUnregister
	cuMemHostGetDevicePointer
	cuMemAllocManaged
	cuMemAllocAsync
	cuMemFreeAsync
	cuMemGetAddressRange
	cuPointerGetAttribute
	cuPointerSetAttribute

	cuMemcpyHtoD
	cuMemcpyDtoH
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuMemcpyPeerAsync
	cuMemsetD8Async
	cuMemsetD32Async

	cuMemGetAllocationGranularity
	cuMemCreate
	cuMemRelease
	cuMemExportToShareableHandle
	cuMemImportFromShareableHandle
	cuMemAddressReserve
	cuMemAddressFree
	cuMemMap
	cuMemUnmap
	cuMemSetAccess
	cuMemGetAllocationPropertiesFromHandle

	cuMemGetHandleForAddressRange

	cuImportExternalMemory
	cuExternalMemoryGetMappedBuffer
	cuDestroyExternalMemory

	cuIpcGetMemHandle
	cuIpcOpenMemHandle
	cuIpcCloseMemHandle

	cuMemPoolCreate
	cuMemPoolDestroy
	cuMemPoolSetAttribute
	cuMemPoolSetAccess
	cuMemPoolExportToShareableHandle
	cuMemPoolImportFromShareableHandle
	cuMemPoolExportPointer
	cuMemPoolImportPointer
	cuMemAllocFromPoolAsync

	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamQuery
	cuStreamWaitEvent
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventSynchronize
	cuEventQuery
	cuEventElapsedTime

	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuLaunchKernel

	fnCount
)

// exported has the symbol under which the library exports each function. The
// unsuffixed symbols of the functions with _v2 are their forms of CUDA 3, with
// 32-bit sizes and addresses: they must not be used instead.
var exported = [fnCount]string{
	cuInit:             "cuInit",
	cuDriverGetVersion: "cuDriverGetVersion",

	cuDeviceGetCount:          "cuDeviceGetCount",
	cuDeviceGet:               "cuDeviceGet",
	cuDeviceGetName:           "cuDeviceGetName",
	cuDeviceGetUuid:           "cuDeviceGetUuid_v2",
	cuDeviceTotalMem:          "cuDeviceTotalMem_v2",
	cuDeviceGetAttribute:      "cuDeviceGetAttribute",
	cuDeviceGetPCIBusId:       "cuDeviceGetPCIBusId",
	cuDeviceCanAccessPeer:     "cuDeviceCanAccessPeer",
	cuDeviceGetP2PAttribute:   "cuDeviceGetP2PAttribute",
	cuDeviceGetDefaultMemPool: "cuDeviceGetDefaultMemPool",
	cuDevicePrimaryCtxRetain:  "cuDevicePrimaryCtxRetain",
	cuDevicePrimaryCtxRelease: "cuDevicePrimaryCtxRelease_v2",

	cuCtxSetCurrent:        "cuCtxSetCurrent",
	cuCtxSynchronize:       "cuCtxSynchronize",
	cuCtxEnablePeerAccess:  "cuCtxEnablePeerAccess",
	cuCtxDisablePeerAccess: "cuCtxDisablePeerAccess",

	cuMemGetInfo:              "cuMemGetInfo_v2",
	cuMemAlloc:                "cuMemAlloc_v2",
	cuMemFree:                 "cuMemFree_v2",
	cuMemAllocHost:            "cuMemAllocHost_v2",
	cuMemFreeHost:             "cuMemFreeHost",
	cuMemHostAlloc:            "cuMemHostAlloc",
	cuMemHostRegister:         "cuMemHostRegister_v2",
	cuMemHostUnregister:       "cuMemHostUnregister",
	cuMemHostGetDevicePointer: "cuMemHostGetDevicePointer_v2",
	cuMemAllocManaged:         "cuMemAllocManaged",
	cuMemAllocAsync:           "cuMemAllocAsync",
	cuMemFreeAsync:            "cuMemFreeAsync",
	cuMemGetAddressRange:      "cuMemGetAddressRange_v2",
	cuPointerGetAttribute:     "cuPointerGetAttribute",
	cuPointerSetAttribute:     "cuPointerSetAttribute",

	cuMemcpyHtoD:      "cuMemcpyHtoD_v2",
	cuMemcpyDtoH:      "cuMemcpyDtoH_v2",
	cuMemcpyHtoDAsync: "cuMemcpyHtoDAsync_v2",
	cuMemcpyDtoHAsync: "cuMemcpyDtoHAsync_v2",
	cuMemcpyDtoDAsync: "cuMemcpyDtoDAsync_v2",
	cuMemcpyPeerAsync: "cuMemcpyPeerAsync",
	cuMemsetD8Async:   "cuMemsetD8Async",
	cuMemsetD32Async:  "cuMemsetD32Async",

	cuMemGetAllocationGranularity:          "cuMemGetAllocationGranularity",
	cuMemCreate:                            "cuMemCreate",
	cuMemRelease:                           "cuMemRelease",
	cuMemExportToShareableHandle:           "cuMemExportToShareableHandle",
	cuMemImportFromShareableHandle:         "cuMemImportFromShareableHandle",
	cuMemAddressReserve:                    "cuMemAddressReserve",
	cuMemAddressFree:                       "cuMemAddressFree",
	cuMemMap:                               "cuMemMap",
	cuMemUnmap:                             "cuMemUnmap",
	cuMemSetAccess:                         "cuMemSetAccess",
	cuMemGetAllocationPropertiesFromHandle: "cuMemGetAllocationPropertiesFromHandle",

	cuMemGetHandleForAddressRange: "cuMemGetHandleForAddressRange",

	cuImportExternalMemory:          "cuImportExternalMemory",
	cuExternalMemoryGetMappedBuffer: "cuExternalMemoryGetMappedBuffer",
	cuDestroyExternalMemory:         "cuDestroyExternalMemory",

	cuIpcGetMemHandle:   "cuIpcGetMemHandle",
	cuIpcOpenMemHandle:  "cuIpcOpenMemHandle_v2",
	cuIpcCloseMemHandle: "cuIpcCloseMemHandle",

	cuMemPoolCreate:                    "cuMemPoolCreate",
	cuMemPoolDestroy:                   "cuMemPoolDestroy",
	cuMemPoolSetAttribute:              "cuMemPoolSetAttribute",
	cuMemPoolSetAccess:                 "cuMemPoolSetAccess",
	cuMemPoolExportToShareableHandle:   "cuMemPoolExportToShareableHandle",
	cuMemPoolImportFromShareableHandle: "cuMemPoolImportFromShareableHandle",
	cuMemPoolExportPointer:             "cuMemPoolExportPointer",
	cuMemPoolImportPointer:             "cuMemPoolImportPointer",
	cuMemAllocFromPoolAsync:            "cuMemAllocFromPoolAsync",

	cuStreamCreate:      "cuStreamCreate",
	cuStreamDestroy:     "cuStreamDestroy_v2",
	cuStreamSynchronize: "cuStreamSynchronize",
	cuStreamQuery:       "cuStreamQuery",
	cuStreamWaitEvent:   "cuStreamWaitEvent",
	cuEventCreate:       "cuEventCreate",
	cuEventDestroy:      "cuEventDestroy_v2",
	cuEventRecord:       "cuEventRecord",
	cuEventSynchronize:  "cuEventSynchronize",
	cuEventQuery:        "cuEventQuery",
	cuEventElapsedTime:  "cuEventElapsedTime_v2",

	cuModuleLoadDataEx:  "cuModuleLoadDataEx",
	cuModuleUnload:      "cuModuleUnload",
	cuModuleGetFunction: "cuModuleGetFunction",
	cuLaunchKernel:      "cuLaunchKernel",
}

// names has each function's name in the driver manual: the symbol without its
// version suffix.
var names = func() (n [fnCount]string) {
	for f, symbol := range exported {
		n[f] = strings.TrimSuffix(symbol, "_v2")
	}
	return n
}()

func (f fn) String() string { return names[f] }

// older lists functions whose earlier form takes the same arguments and may be
// used where the library lacks the newer one.
var older = map[fn]string{
	cuDeviceGetUuid:    "cuDeviceGetUuid", // of a MIG instance it gives the GPU's
	cuEventElapsedTime: "cuEventElapsedTime",
}

// lookup finds a function by its name in the manual or by its symbol.
func lookup(name string) (fn, bool) {
	for f := range fnCount {
		if names[f] == name || exported[f] == name {
			return f, true
		}
	}
	return 0, false
}

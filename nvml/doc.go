// Package nvml reads what the NVIDIA management library (libnvidia-ml.so.1)
// tells about GPUs: clocks, temperature, power, modes, links. It needs neither
// cgo nor NVML's header.
//
// NVML is optional: containers often lack the library, and most GPUs, virtual
// ones above all, do not answer every question. So every reading is a pointer
// that is nil when it could not be read, never a zero that could be taken for a
// value; texts are "" and lists nil then. A nil [*Lib] and a nil [*Device] are
// valid and know nothing, which lets a caller ignore the error of [Open]:
//
//	lib, _ := nvml.Open("") // without NVML everything below is absent
//	dev, _ := lib.DeviceByPCI("0000:0F:00.0")
//	before := dev.State()
//	if before.SMClockHz != nil { … }
//
// Device order differs between NVML and CUDA. Find devices by UUID or by PCI
// address, never by index.
//
// [ParseKernelModule] reads the driver's own account of itself in
// /proc/driver/nvidia/version, which needs no library.
//
// Source: NVIDIA, NVML API reference guide (docs.nvidia.com/deploy/nvml-api);
// structures as nvml.h of CUDA 12 and 13 lays them out on 64-bit Linux.
package nvml

package nvml

// fn is an NVML function that this package calls.
type fn int

const (
	nvmlInit fn = iota
	nvmlShutdown
	nvmlSystemGetDriverVersion
	nvmlDeviceGetHandleByPciBusId
	nvmlDeviceGetHandleByUUID
	nvmlDeviceGetName
	nvmlDeviceGetUUID
	nvmlDeviceGetPciInfo
	nvmlDeviceGetClockInfo
	nvmlDeviceGetMaxClockInfo
	nvmlDeviceGetTemperature
	nvmlDeviceGetPowerUsage
	nvmlDeviceGetEnforcedPowerLimit
	nvmlDeviceGetCurrentClocksEventReasons
	nvmlDeviceGetEccMode
	nvmlDeviceGetMigMode
	nvmlDeviceGetPersistenceMode
	nvmlDeviceGetBAR1MemoryInfo
	nvmlDeviceGetCurrPcieLinkGeneration
	nvmlDeviceGetCurrPcieLinkWidth
	nvmlDeviceGetMaxPcieLinkGeneration
	nvmlDeviceGetMaxPcieLinkWidth
	nvmlDeviceGetMemoryInfo
	nvmlDeviceGetComputeMode
	nvmlDeviceGetComputeRunningProcesses
	nvmlDeviceGetCpuAffinity
	nvmlDeviceGetMemoryAffinity
	nvmlDeviceGetTopologyCommonAncestor
	nvmlDeviceGetP2PStatus
	nvmlDeviceGetNvLinkState
	nvmlDeviceGetNvLinkRemotePciInfo
	nvmlDeviceGetNvLinkRemoteDeviceType

	fnCount
)

// exported has the symbols of each function, newest first. All symbols of one
// function take the same arguments.
var exported = [fnCount][]string{
	nvmlInit:                               {"nvmlInit_v2"},
	nvmlShutdown:                           {"nvmlShutdown"},
	nvmlSystemGetDriverVersion:             {"nvmlSystemGetDriverVersion"},
	nvmlDeviceGetHandleByPciBusId:          {"nvmlDeviceGetHandleByPciBusId_v2"},
	nvmlDeviceGetHandleByUUID:              {"nvmlDeviceGetHandleByUUID"},
	nvmlDeviceGetName:                      {"nvmlDeviceGetName"},
	nvmlDeviceGetUUID:                      {"nvmlDeviceGetUUID"},
	nvmlDeviceGetPciInfo:                   {"nvmlDeviceGetPciInfo_v3"},
	nvmlDeviceGetClockInfo:                 {"nvmlDeviceGetClockInfo"},
	nvmlDeviceGetMaxClockInfo:              {"nvmlDeviceGetMaxClockInfo"},
	nvmlDeviceGetTemperature:               {"nvmlDeviceGetTemperature"},
	nvmlDeviceGetPowerUsage:                {"nvmlDeviceGetPowerUsage"},
	nvmlDeviceGetEnforcedPowerLimit:        {"nvmlDeviceGetEnforcedPowerLimit"},
	nvmlDeviceGetCurrentClocksEventReasons: {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"},
	nvmlDeviceGetEccMode:                   {"nvmlDeviceGetEccMode"},
	nvmlDeviceGetMigMode:                   {"nvmlDeviceGetMigMode"},
	nvmlDeviceGetPersistenceMode:           {"nvmlDeviceGetPersistenceMode"},
	nvmlDeviceGetBAR1MemoryInfo:            {"nvmlDeviceGetBAR1MemoryInfo"},
	nvmlDeviceGetCurrPcieLinkGeneration:    {"nvmlDeviceGetCurrPcieLinkGeneration"},
	nvmlDeviceGetCurrPcieLinkWidth:         {"nvmlDeviceGetCurrPcieLinkWidth"},
	nvmlDeviceGetMaxPcieLinkGeneration:     {"nvmlDeviceGetMaxPcieLinkGeneration"},
	nvmlDeviceGetMaxPcieLinkWidth:          {"nvmlDeviceGetMaxPcieLinkWidth"},
	nvmlDeviceGetMemoryInfo:                {"nvmlDeviceGetMemoryInfo"},
	nvmlDeviceGetComputeMode:               {"nvmlDeviceGetComputeMode"},
	nvmlDeviceGetComputeRunningProcesses:   {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"},
	nvmlDeviceGetCpuAffinity:               {"nvmlDeviceGetCpuAffinity"},
	nvmlDeviceGetMemoryAffinity:            {"nvmlDeviceGetMemoryAffinity"},
	nvmlDeviceGetTopologyCommonAncestor:    {"nvmlDeviceGetTopologyCommonAncestor"},
	nvmlDeviceGetP2PStatus:                 {"nvmlDeviceGetP2PStatus"},
	nvmlDeviceGetNvLinkState:               {"nvmlDeviceGetNvLinkState"},
	nvmlDeviceGetNvLinkRemotePciInfo:       {"nvmlDeviceGetNvLinkRemotePciInfo_v2"},
	nvmlDeviceGetNvLinkRemoteDeviceType:    {"nvmlDeviceGetNvLinkRemoteDeviceType"},
}

// String gives the newest symbol.
func (f fn) String() string { return exported[f][0] }

package nvml

import "fmt"

// ClocksEventReasons is a set of reasons why clocks are not at their highest
// (nvmlClocksEventReasons, formerly nvmlClocksThrottleReasons).
type ClocksEventReasons uint64

// Reasons. All but ReasonGPUIdle hold clocks down while there is work.
const (
	ReasonGPUIdle                   ClocksEventReasons = 0x1   // nothing runs
	ReasonApplicationsClocksSetting ClocksEventReasons = 0x2   // somebody set lower clocks
	ReasonSWPowerCap                ClocksEventReasons = 0x4   // the power limit
	ReasonHWSlowdown                ClocksEventReasons = 0x8   // temperature, power brake or too fast a rise in power
	ReasonSyncBoost                 ClocksEventReasons = 0x10  // kept at the clocks of other GPUs
	ReasonSWThermalSlowdown         ClocksEventReasons = 0x20  // temperature of die or memory, by software
	ReasonHWThermalSlowdown         ClocksEventReasons = 0x40  // temperature, by hardware
	ReasonHWPowerBrakeSlowdown      ClocksEventReasons = 0x80  // the system's power supply asked for it
	ReasonDisplayClockSetting       ClocksEventReasons = 0x100 // a display
)

var reasonNames = [...]string{
	"gpu_idle",
	"applications_clocks_setting",
	"sw_power_cap",
	"hw_slowdown",
	"sync_boost",
	"sw_thermal_slowdown",
	"hw_thermal_slowdown",
	"hw_power_brake_slowdown",
	"display_clock_setting",
}

// Names returns the reasons by the names of nvidia-smi's query
// clocks_event_reasons, in ascending order of their bits; a bit without a name
// is given as a number, "0x200". It is nil for the empty set.
func (r ClocksEventReasons) Names() []string {
	var names []string
	for bit := range 64 {
		if r>>bit&1 == 0 {
			continue
		}
		if bit < len(reasonNames) {
			names = append(names, reasonNames[bit])
		} else {
			names = append(names, fmt.Sprintf("%#x", uint64(1)<<bit))
		}
	}
	return names
}

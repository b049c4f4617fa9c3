package sysinfo

import (
	"fmt"
	"io/fs"
	"slices"
)

// Frequency is how the allowed CPUs are clocked, from
// sys/devices/system/cpu/cpu<n>/cpufreq (Documentation/admin-guide/pm/cpufreq).
// Frequencies are hertz.
type Frequency struct {
	// Driver is scaling_driver, such as intel_pstate or amd-pstate-epp.
	Driver *string `json:"driver,omitempty"`
	// Governors are the distinct values of scaling_governor, sorted.
	Governors []string `json:"governors,omitempty"`
	// Min and Max are the range that the governor may use: the lowest
	// scaling_min_freq and the highest scaling_max_freq.
	Min *uint64 `json:"min_hz,omitempty"`
	Max *uint64 `json:"max_hz,omitempty"`
	// HardwareMax is the highest cpuinfo_max_freq, boost included.
	HardwareMax *uint64 `json:"hardware_max_hz,omitempty"`
	// Current is scaling_cur_freq of the first allowed CPU at the moment of
	// reading, or cpu MHz of proc/cpuinfo, which virtual machines often keep
	// at the nominal value.
	Current *uint64 `json:"current_hz,omitempty"`
	// Boost is whether frequencies above the nominal one are allowed: boost in
	// cpufreq, or intel_pstate/no_turbo inverted.
	Boost *bool `json:"boost,omitempty"`
	// Scaling is whether the frequency changes with load: a range is allowed
	// and a governor other than performance chooses from it. Nil if not known.
	Scaling *bool `json:"scaling_active,omitempty"`
}

// readFrequency reads cpufreq of the given CPUs; nominal is used as the current
// frequency where cpufreq has none. It returns nil if nothing is known.
//
// The current frequency is read for one CPU only: on some kernels that
// interrupts the CPU, or waits 20 ms for a sample.
func readFrequency(fsys fs.FS, cpus List, nominal *uint64) *Frequency {
	f := Frequency{Current: nominal}
	for i, n := range cpus {
		dir := fmt.Sprintf(cpuDir+"/cpu%d/cpufreq/", n)
		governor := text(fsys, dir+"scaling_governor")
		if governor == nil {
			continue
		}
		lowest, highest := scaled(fsys, dir+"scaling_min_freq", 1000), scaled(fsys, dir+"scaling_max_freq", 1000)
		f.Governors = addDistinct(f.Governors, *governor)
		f.Min = least(f.Min, lowest)
		f.Max = greatest(f.Max, highest)
		f.HardwareMax = greatest(f.HardwareMax, scaled(fsys, dir+"cpuinfo_max_freq", 1000))
		scaling := *governor != "performance" && (lowest == nil || highest == nil || *lowest < *highest)
		f.Scaling = new(scaling || f.Scaling != nil && *f.Scaling)
		if i == 0 {
			f.Driver = text(fsys, dir+"scaling_driver")
			if hz := scaled(fsys, dir+"scaling_cur_freq", 1000); hz != nil {
				f.Current = hz
			}
			f.Boost = boolean(fsys, dir+"boost")
		}
	}
	slices.Sort(f.Governors)
	if on := boolean(fsys, cpuDir+"/cpufreq/boost"); on != nil {
		f.Boost = on
	} else if off := boolean(fsys, cpuDir+"/intel_pstate/no_turbo"); off != nil {
		f.Boost = new(!*off)
	}
	if f.Current == nil && f.Boost == nil && len(f.Governors) == 0 {
		return nil
	}
	return &f
}

// greatest returns the larger of two values, where nil stands for not known.
func greatest(a, b *uint64) *uint64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

package sysinfo

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// Kernel is the running kernel.
type Kernel struct {
	// Release is proc/sys/kernel/osrelease, such as 6.8.0-45-generic.
	Release string `json:"release"`
	// Version is proc/sys/kernel/version: build number, options and date.
	Version *string `json:"version,omitempty"`
	// Parameters are those of proc/cmdline that change what is measured, in
	// their order: IOMMU, PCI, huge pages, isolation, mitigations, frequency.
	// The others are left out because they can hold secrets.
	Parameters []string `json:"parameters,omitempty"`
	// BootID changes with every boot, from proc/sys/kernel/random/boot_id.
	BootID *string `json:"boot_id,omitempty"`
	// Uptime is the time since boot in nanoseconds, from proc/uptime, which
	// counts in steps of 10 ms.
	Uptime *int64 `json:"uptime_ns,omitempty"`
	// NUMABalancing is whether the kernel migrates pages to the nodes that use
	// them, from proc/sys/kernel/numa_balancing.
	NUMABalancing *bool `json:"numa_balancing,omitempty"`
}

// ReadKernel reads proc/sys/kernel, proc/cmdline and proc/uptime. It fails if
// proc/sys/kernel/osrelease does.
func ReadKernel(fsys fs.FS) (Kernel, error) {
	release, err := readText(fsys, "proc/sys/kernel/osrelease")
	if err != nil {
		return Kernel{}, err
	}
	k := Kernel{
		Release: release,
		Version: text(fsys, "proc/sys/kernel/version"),
		BootID:  text(fsys, "proc/sys/kernel/random/boot_id"),
	}
	if s := text(fsys, "proc/cmdline"); s != nil {
		k.Parameters = parameters(*s)
	}
	if s := text(fsys, "proc/uptime"); s != nil {
		if ns, err := parseUptime(*s); err == nil {
			k.Uptime = &ns
		}
	}
	if n := number(fsys, "proc/sys/kernel/numa_balancing"); n != nil {
		k.NUMABalancing = new(*n != 0)
	}
	return k, nil
}

// Hostname returns proc/sys/kernel/hostname, nil if it is unreadable.
func Hostname(fsys fs.FS) *string { return text(fsys, "proc/sys/kernel/hostname") }

// recorded are the names of kernel parameters worth recording
// (Documentation/admin-guide/kernel-parameters).
var recorded = map[string]bool{
	"iommu": true, "intel_iommu": true, "amd_iommu": true, "iommu.passthrough": true, "iommu.strict": true,
	"pci": true, "pcie_aspm": true, "hugepages": true, "hugepagesz": true, "default_hugepagesz": true,
	"transparent_hugepage": true, "isolcpus": true, "nohz_full": true, "rcu_nocbs": true, "mitigations": true,
	"nosmt": true, "numa": true, "numa_balancing": true, "intel_pstate": true, "amd_pstate": true,
	"processor.max_cstate": true, "intel_idle.max_cstate": true, "idle": true, "swiotlb": true, "clocksource": true,
	"tsc": true, "preempt": true, "mem": true, "maxcpus": true, "nr_cpus": true,
}

// parameters returns the recorded ones of a kernel command line; those after
// "--" are the init program's.
func parameters(cmdline string) []string {
	var found []string
	for word := range strings.FieldsSeq(cmdline) {
		if word == "--" {
			break
		}
		if name, _, _ := strings.Cut(word, "="); recorded[name] {
			found = append(found, word)
		}
	}
	return found
}

// parseUptime returns the first number of "564.13 1081.21", seconds, in
// nanoseconds.
func parseUptime(s string) (int64, error) {
	up, _, _ := strings.Cut(s, " ")
	seconds, err := strconv.ParseFloat(up, 64)
	if err != nil || !(seconds >= 0 && seconds < math.MaxInt64/1e9) {
		return 0, fmt.Errorf("%q is not an uptime in seconds", up)
	}
	// The file has hundredths: rounding to them keeps binary fractions out.
	return int64(math.Round(seconds*100)) * 1e7, nil
}

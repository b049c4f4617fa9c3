package sysinfo

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

const cpuDir = "sys/devices/system/cpu"

// CPU is the machine's processors.
type CPU struct {
	// Model is the name in proc/cpuinfo; on Arm, where that has none, the name
	// of the core that the identification registers stand for. Several kinds
	// of core are joined with " + ".
	Model *string `json:"model,omitempty"`
	// Logical is the number of logical CPUs that are online, from proc/cpuinfo.
	Logical int `json:"logical_cpus"`
	// Sockets and Cores are counted from proc/cpuinfo, or, where that does not
	// tell, from cpu<n>/topology in sys/devices/system/cpu.
	Sockets *int `json:"sockets,omitempty"`
	Cores   *int `json:"cores,omitempty"`
	// SMT is whether several logical CPUs of a core are online, from
	// sys/devices/system/cpu/smt/active.
	SMT *bool `json:"smt_active,omitempty"`
	// Allowed is the CPUs that this process may run on, from Cpus_allowed_list
	// of proc/self/status.
	Allowed List `json:"allowed_cpus,omitempty"`
	// Isolated is the CPUs kept from the scheduler, from
	// sys/devices/system/cpu/isolated.
	Isolated List `json:"isolated_cpus,omitempty"`
	// LastLevelCache is the largest-numbered cache level of the allowed CPUs.
	LastLevelCache *Cache `json:"last_level_cache,omitempty"`
	// CacheLine is the size of a cache line in bytes, from
	// cpu<n>/cache/index0/coherency_line_size, or clflush size of proc/cpuinfo.
	CacheLine *uint64 `json:"cache_line_bytes,omitempty"`
	// Frequency is nil where nothing is said about it, as in most virtual machines.
	Frequency *Frequency `json:"frequency,omitempty"`
	// Hypervisor is whether the processor says it runs under a hypervisor: the
	// flag in proc/cpuinfo. Nil on architectures without such a flag.
	Hypervisor *bool `json:"hypervisor,omitempty"`
}

// Cache is one level of cache, from sys/devices/system/cpu/cpu<n>/cache/index<i>.
type Cache struct {
	// Level, 1 and up.
	Level int `json:"level"`
	// Size of one instance in bytes.
	Size uint64 `json:"size_bytes"`
	// Instances that serve the allowed CPUs: processors built of several chips
	// have one each, and a buffer read by all cores can fill all of them.
	Instances int `json:"instances"`
}

// Total returns the size of all instances together, in bytes.
func (c Cache) Total() uint64 { return c.Size * uint64(c.Instances) }

// ReadCPU reads proc/cpuinfo, proc/self/status and sys/devices/system/cpu. It
// fails if proc/cpuinfo is unreadable or lists no processor.
func ReadCPU(fsys fs.FS) (CPU, error) {
	s, err := readText(fsys, "proc/cpuinfo")
	if err != nil {
		return CPU{}, err
	}
	info := parseCPUInfo(s)
	if info.logical == 0 {
		return CPU{}, fmt.Errorf("parse proc/cpuinfo: it lists no processor")
	}
	c := CPU{
		Model:      info.model(),
		Logical:    info.logical,
		SMT:        boolean(fsys, cpuDir+"/smt/active"),
		Isolated:   list(fsys, cpuDir+"/isolated"),
		Hypervisor: info.hypervisor,
	}
	if status, err := readStatus(fsys); err == nil {
		c.Allowed, _ = ParseList(status["Cpus_allowed_list"])
	}
	cpus := c.Allowed
	if len(cpus) == 0 {
		cpus = numbered(fsys, cpuDir, "cpu")
	}
	c.Sockets, c.Cores = info.topology()
	if c.Sockets == nil {
		c.Sockets, c.Cores = readTopology(fsys)
	}
	c.LastLevelCache = readLastLevelCache(fsys, cpus)
	c.CacheLine = info.line
	if len(cpus) > 0 {
		if n := number(fsys, fmt.Sprintf(cpuDir+"/cpu%d/cache/index0/coherency_line_size", cpus[0])); n != nil && *n > 0 {
			c.CacheLine = n
		}
	}
	c.Frequency = readFrequency(fsys, cpus, info.hz)
	return c, nil
}

// readTopology counts packages and cores in cpu<n>/topology.
func readTopology(fsys fs.FS) (sockets, cores *int) {
	packages, heads := make(map[string]bool), make(map[string]bool)
	for _, n := range numbered(fsys, cpuDir, "cpu") {
		dir := fmt.Sprintf(cpuDir+"/cpu%d/topology/", n)
		id := text(fsys, dir+"physical_package_id")
		siblings := text(fsys, dir+"core_cpus_list")
		if siblings == nil { // before Linux 5.3
			siblings = text(fsys, dir+"thread_siblings_list")
		}
		if id == nil || siblings == nil || *id == "-1" {
			continue // offline, or the firmware does not say
		}
		packages[*id], heads[*siblings] = true, true
	}
	if len(packages) == 0 {
		return nil, nil
	}
	return new(len(packages)), new(len(heads))
}

// readLastLevelCache finds the highest level in cpu<n>/cache and counts its
// instances by the CPUs that share each.
func readLastLevelCache(fsys fs.FS, cpus List) *Cache {
	var last *Cache
	var seen List // CPUs whose last-level cache is counted
	for _, n := range cpus {
		if seen.Contains(n) {
			continue
		}
		dir := fmt.Sprintf(cpuDir+"/cpu%d/cache", n)
		var here Cache
		shared := List{n}
		for _, i := range numbered(fsys, dir, "index") {
			index := fmt.Sprintf("%s/index%d/", dir, i)
			level, kind, size := number(fsys, index+"level"), text(fsys, index+"type"), text(fsys, index+"size")
			if level == nil || size == nil || *level > 16 || kind != nil && *kind == "Instruction" || int(*level) < here.Level {
				continue
			}
			bytes, err := parseSize(*size)
			if err != nil {
				continue
			}
			here = Cache{Level: int(*level), Size: bytes, Instances: 1}
			shared = list(fsys, index+"shared_cpu_list")
		}
		switch {
		case here.Level == 0:
		case last == nil || here.Level > last.Level:
			last = &here
		case here.Level == last.Level:
			last.Instances++
			last.Size = max(last.Size, here.Size)
		}
		seen = append(seen, shared...).sorted()
	}
	return last
}

// cpuInfo is what this package takes from proc/cpuinfo.
type cpuInfo struct {
	logical    int
	names      []string           // distinct values of "model name"
	parts      []string           // distinct Arm cores
	sockets    map[string]bool    // x86 "physical id"
	cores      map[[2]string]bool // x86 "physical id" and "core id"
	hz         *uint64            // "cpu MHz" of the first processor
	line       *uint64            // "clflush size" in bytes
	hypervisor *bool
}

func (c cpuInfo) model() *string {
	names := c.names
	if len(names) == 0 {
		names = c.parts
	}
	if len(names) == 0 {
		return nil
	}
	return new(strings.Join(names, " + "))
}

func (c cpuInfo) topology() (sockets, cores *int) {
	if len(c.sockets) == 0 || len(c.cores) == 0 {
		return nil, nil
	}
	return new(len(c.sockets)), new(len(c.cores))
}

// parseCPUInfo parses proc/cpuinfo of x86 and Arm; it takes what it knows and
// ignores the rest.
func parseCPUInfo(s string) cpuInfo {
	c := cpuInfo{sockets: make(map[string]bool), cores: make(map[[2]string]bool)}
	var socket, implementer string
	for line := range strings.Lines(s) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch key {
		case "processor":
			// Arm's 32-bit kernels also have "Processor" with a name.
			if _, err := strconv.ParseUint(value, 10, 31); err == nil {
				c.logical++
			}
		case "model name":
			c.names = addDistinct(c.names, value)
		case "physical id":
			socket = value
			c.sockets[value] = true
		case "core id":
			c.cores[[2]string{socket, value}] = true
		case "cpu MHz":
			if mhz, err := strconv.ParseFloat(value, 64); err == nil && c.hz == nil && mhz > 0 && mhz < 1e6 {
				c.hz = new(uint64(mhz*1e6 + 0.5))
			}
		case "clflush size":
			if n, err := strconv.ParseUint(value, 10, 16); err == nil && n > 0 {
				c.line = &n
			}
		case "flags":
			if c.hypervisor == nil {
				c.hypervisor = new(slices.Contains(strings.Fields(value), "hypervisor"))
			}
		case "CPU implementer":
			implementer = value
		case "CPU part":
			c.parts = addDistinct(c.parts, armCore(implementer, value))
		}
	}
	return c
}

func addDistinct(list []string, s string) []string {
	if s == "" || slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

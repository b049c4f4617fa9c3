package sysinfo

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseCPUInfo(t *testing.T) {
	info := parseCPUInfo(strings.Join([]string{
		"Processor\t: ARMv8 Processor rev 0 (v8l)", // a name, not a processor
		"processor\t: 0", "CPU implementer\t: 0x41", "CPU part\t: 0xd05",
		"processor\t: 1", "CPU implementer\t: 0x41", "CPU part\t: 0xd41",
		"processor\t: 2", "CPU implementer\t: 0x41", "CPU part\t: 0xd41",
		"processor\t: 3", "CPU implementer\t: 0x99", "CPU part\t: 0x123",
	}, "\n"))
	check(t, "processors", info.logical, 4)
	check(t, "model", info.model(), new("Arm Cortex-A55 + Arm Cortex-A78 + Arm implementer 0x99 part 0x123"))
	check(t, "hypervisor", info.hypervisor, (*bool)(nil))

	info = parseCPUInfo("processor : 0\nmodel name : AMD EPYC\nflags : fpu hypervisor lm\ncpu MHz : 2596.146\nprocessor : 1\nphysical id : 1\ncore id : 0\nphysical id : 0\ncore id : 0\ncpu MHz : 1\n")
	check(t, "frequency", info.hz, new(uint64(2596146000)))
	check(t, "hypervisor", info.hypervisor, new(true))
	sockets, cores := info.topology()
	check(t, "sockets", sockets, new(2))
	check(t, "cores", cores, new(2))
}

func TestReadCPUEmpty(t *testing.T) {
	_, err := ReadCPU(files(map[string]string{"proc/cpuinfo": "Features : fp\n"}))
	if err == nil || !strings.Contains(err.Error(), "proc/cpuinfo") {
		t.Errorf("error = %v, want one that names proc/cpuinfo", err)
	}
}

// TestLastLevelCache counts the caches of the allowed CPUs only: two of the
// three chips here.
func TestLastLevelCache(t *testing.T) {
	contents := make(map[string]string)
	for n := range 6 {
		first := n / 2 * 2
		for i, level := range []string{"1", "1", "3"} {
			dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d/cache/index%d/", n, i)
			contents[dir+"level"] = level
			contents[dir+"type"] = []string{"Data", "Instruction", "Unified"}[i]
			contents[dir+"size"] = []string{"32K", "32K", "32M"}[i]
			contents[dir+"shared_cpu_list"] = fmt.Sprintf("%d-%d", first, first+1)
		}
	}
	c := readLastLevelCache(files(contents), List{0, 1, 5})
	check(t, "cache", c, &Cache{Level: 3, Size: 32 << 20, Instances: 2})
	check(t, "total", c.Total(), uint64(64<<20))
	const dir = "sys/devices/system/cpu/cpu0/cache/"
	c = readLastLevelCache(files(map[string]string{
		dir + "index0/level": "1", dir + "index0/type": "Data", dir + "index0/size": "48K",
		dir + "index1/level": "1", dir + "index1/type": "Instruction", dir + "index1/size": "64K",
	}), List{0})
	check(t, "instructions do not count", c, &Cache{Level: 1, Size: 48 << 10, Instances: 1})
	check(t, "without files", readLastLevelCache(files(nil), List{0}), (*Cache)(nil))
}

func TestFrequencyScaling(t *testing.T) {
	const dir = "sys/devices/system/cpu/cpu0/cpufreq/"
	for _, test := range []struct {
		governor, lowest, highest string
		want                      bool
	}{
		{"performance", "400000", "4800000", false},
		{"schedutil", "400000", "4800000", true},
		{"powersave", "2000000", "2000000", false},
		{"ondemand", "", "", true},
	} {
		f := readFrequency(files(map[string]string{
			dir + "scaling_governor": test.governor,
			dir + "scaling_min_freq": test.lowest,
			dir + "scaling_max_freq": test.highest,
		}), List{0}, nil)
		check(t, test.governor+" "+test.lowest+"-"+test.highest, f.Scaling, new(test.want))
	}
	check(t, "without cpufreq", readFrequency(files(nil), List{0}, nil), (*Frequency)(nil))
	check(t, "nominal only", readFrequency(files(nil), List{0}, new(uint64(7))), &Frequency{Current: new(uint64(7))})
}

func FuzzParseCPUInfo(f *testing.F) {
	f.Add("processor\t: 0\nmodel name\t: x\nphysical id : 0\ncore id : 1\ncpu MHz : 1e3\nflags : a hypervisor\nclflush size : 64\n")
	f.Add("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n")
	f.Fuzz(func(t *testing.T, s string) {
		info := parseCPUInfo(s)
		if m := info.model(); m != nil && *m == "" {
			t.Error("the model is empty, want nil")
		}
		sockets, cores := info.topology()
		if sockets != nil && (*sockets < 1 || *cores < 1) {
			t.Errorf("%d sockets, %d cores", *sockets, *cores)
		}
	})
}

package main

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// A sweep and an info leave the machine's settings as they were.
func TestChangesNoSetting(t *testing.T) {
	read := func() map[string]string {
		settings := map[string]string{}
		for _, pattern := range []string{"/proc/sys/vm/nr_*hugepages*", "/proc/sys/vm/overcommit_*", "/proc/sys/vm/swappiness", "/proc/sys/vm/max_map_count",
			"/proc/sys/kernel/yama/*", "/proc/sys/kernel/numa_balancing", "/proc/sys/kernel/perf_event_paranoid", "/proc/sys/fs/file-max", "/proc/sys/fs/nr_open",
			"/proc/sys/net/core/wmem_*", "/proc/sys/net/core/rmem_*", "/proc/modules", "/sys/kernel/mm/transparent_hugepage/*", "/sys/devices/system/cpu/online",
			"/sys/devices/system/cpu/cpu*/cpufreq/scaling_*", "/sys/devices/system/clocksource/clocksource0/current_clocksource"} {
			files, _ := filepath.Glob(pattern)
			for _, f := range files {
				if filepath.Base(f) == "scaling_cur_freq" { // a reading
					continue
				}
				text, _ := os.ReadFile(f)
				settings[f] = string(text)
			}
		}
		return settings
	}
	before := read()
	if len(before) < 5 {
		t.Fatalf("%d settings could be read", len(before))
	}
	real := []string{scriptedBackend + "="}
	dir := t.TempDir()
	if status := startSweep(t, dir, real, "sweep", "--backend", "host", "--size", "64KiB", "--kernel", "read", "--max-time", "50ms", "--out", "run").wait(); status != exitOK {
		t.Errorf("exit status %d", status)
	}
	if status := startSweep(t, dir, real, "info", "--backend", "host").wait(); status != exitOK {
		t.Errorf("info: exit status %d", status)
	}
	if after := read(); !maps.Equal(before, after) {
		for k := range before {
			if before[k] != after[k] {
				t.Errorf("%s was %q, is %q", k, before[k], after[k])
			}
		}
	}
}

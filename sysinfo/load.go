package sysinfo

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Times is processor time since boot over all CPUs, from the first line of
// proc/stat (proc(5)), in ticks of USER_HZ. Only differences and ratios mean
// something.
type Times struct {
	// Total is all time: user, nice, system, idle, iowait, irq, softirq, steal.
	// Guest time is part of user.
	Total uint64
	// Idle is idle and iowait.
	Idle uint64
	// Steal is time in which the hypervisor ran something else while a CPU had
	// work to do.
	Steal uint64
}

// ReadTimes reads proc/stat.
func ReadTimes(fsys fs.FS) (Times, error) {
	s, err := readText(fsys, "proc/stat")
	if err != nil {
		return Times{}, err
	}
	t, err := parseTimes(s)
	if err != nil {
		return Times{}, fmt.Errorf("parse proc/stat: %w", err)
	}
	return t, nil
}

// parseTimes parses the line of proc/stat that starts with "cpu ".
func parseTimes(s string) (Times, error) {
	for line := range strings.Lines(s) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "cpu" {
			continue
		}
		var v [8]uint64 // user nice system idle iowait irq softirq steal
		if len(fields) < 1+4 {
			return Times{}, fmt.Errorf("the cpu line has %d values, want at least 4", len(fields)-1)
		}
		var t Times
		for i := range min(len(v), len(fields)-1) {
			n, err := strconv.ParseUint(fields[i+1], 10, 56) // 8 of these fit in 64 bits
			if err != nil {
				return Times{}, fmt.Errorf("%q is not a time", fields[i+1])
			}
			v[i] = n
			t.Total += n
		}
		t.Idle, t.Steal = v[3]+v[4], v[7]
		return t, nil
	}
	return Times{}, fmt.Errorf("it has no cpu line")
}

// StealShare returns the share of processor time between two readings that the
// hypervisor gave to others, 0 to 1. It is false if no tick passed or a counter
// went back, as steal does on some hosts after a migration.
func StealShare(before, after Times) (share float64, ok bool) {
	return ratio(before.Steal, after.Steal, before.Total, after.Total)
}

// BusyShare returns the share of processor time between two readings in which
// the CPUs were neither idle nor waiting for I/O, 0 to 1, steal included. It is
// false if no tick passed or a counter went back.
func BusyShare(before, after Times) (share float64, ok bool) {
	idle, ok := ratio(before.Idle, after.Idle, before.Total, after.Total)
	if !ok {
		return 0, false
	}
	return 1 - idle, true
}

// ratio returns how much of a total's growth a part of it accounts for; false
// unless the total grew and the part grew by no more.
func ratio(part0, part1, total0, total1 uint64) (float64, bool) {
	if total1 <= total0 || part1 < part0 || part1-part0 > total1-total0 {
		return 0, false
	}
	return float64(part1-part0) / float64(total1-total0), true
}

// Load is the load averages: how many threads run or wait for a CPU or a disk.
type Load struct {
	// Averages over 1, 5 and 15 minutes.
	One     float64 `json:"load_1m"`
	Five    float64 `json:"load_5m"`
	Fifteen float64 `json:"load_15m"`
	// Running threads and all threads at the moment of reading.
	Running uint64 `json:"running"`
	Threads uint64 `json:"threads"`
}

// ReadLoad reads proc/loadavg.
func ReadLoad(fsys fs.FS) (Load, error) {
	s, err := readText(fsys, "proc/loadavg")
	if err != nil {
		return Load{}, err
	}
	l, err := parseLoad(s)
	if err != nil {
		return Load{}, fmt.Errorf("parse proc/loadavg: %w", err)
	}
	return l, nil
}

// parseLoad parses "0.08 0.03 0.01 2/99 5959".
func parseLoad(s string) (Load, error) {
	var l Load
	fields := strings.Fields(s)
	if len(fields) < 4 {
		return Load{}, fmt.Errorf("%q has %d fields, want at least 4", s, len(fields))
	}
	for i, average := range []*float64{&l.One, &l.Five, &l.Fifteen} {
		f, err := strconv.ParseFloat(fields[i], 64)
		if err != nil || !(f >= 0 && f < 1e12) {
			return Load{}, fmt.Errorf("%q is not a load average", fields[i])
		}
		*average = f
	}
	running, threads, _ := strings.Cut(fields[3], "/")
	var err1, err2 error
	l.Running, err1 = strconv.ParseUint(running, 10, 64)
	l.Threads, err2 = strconv.ParseUint(threads, 10, 64)
	if err1 != nil || err2 != nil {
		return Load{}, fmt.Errorf("%q is not running/all threads", fields[3])
	}
	return l, nil
}

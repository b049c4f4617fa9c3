package sysinfo

import (
	"strings"
	"testing"
)

// TestUsableMemory has the arithmetic of each sample spelled out.
func TestUsableMemory(t *testing.T) {
	for name, want := range map[string]uint64{
		"x86-laptop":          9120444 << 10,                // MemAvailable: no limit
		"cgroup-v1":           2<<30 - (1536<<20 - 512<<20), // limit - (usage - total_inactive_file)
		"cgroup-v1-unlimited": 50000000 << 10,               // MemAvailable: both limits are the largest value
		"cgroup-v2-nested":    3<<30 - (2<<30 - 256<<20),    // the parent's memory.high is the tightest
		"container-v2":        0,                            // usage is above the limit already
	} {
		got, err := UsableMemory(sample(t, name))
		if err != nil || got != want {
			t.Errorf("%s: usable memory = %d, %v, want %d", name, got, err, want)
		}
	}
}

func TestMemoryLimit(t *testing.T) {
	c, err := ReadCgroup(sample(t, "cgroup-v2-nested"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "limit", c.MemoryLimit(), new(uint64(3<<30)))
	check(t, "no groups", Cgroup{}.MemoryLimit(), (*uint64)(nil))
	check(t, "limit without usage", MemoryGroup{Limit: new(uint64(1))}.Free(), (*uint64)(nil))
}

func TestHierarchy(t *testing.T) {
	for _, test := range []struct {
		name, cgroup, mountinfo string
		version                 int
		dirs                    string
	}{
		{"own group is the mount's root", "0::/a/b", "1 2 0:3 /a/b /sys/fs/cgroup rw - cgroup2 cgroup2 rw", 2, "sys/fs/cgroup"},
		{"below the mount's root", "0::/a/b", "1 2 0:3 /a /sys/fs/cgroup rw - cgroup2 cgroup2 rw", 2, "sys/fs/cgroup/b sys/fs/cgroup"},
		{"a sibling with the same beginning", "0::/ab", "1 2 0:3 /a /sys/fs/cgroup rw - cgroup2 cgroup2 rw", 2, "sys/fs/cgroup"},
		{"outside of the namespace", "0::/../x", "1 2 0:3 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw", 2, "sys/fs/cgroup"},
		{"version 1 has precedence", "4:memory:/m\n0::/u", "1 2 0:3 / /u rw - cgroup2 cgroup2 rw\n1 2 0:4 / /m rw - cgroup cgroup rw,memory", 1, "m/m m"},
		{"not mounted", "4:memory:/m", "1 2 0:3 / /u rw - cgroup2 cgroup2 rw", 0, ""},
		{"no groups", "", "1 2 0:3 / /u rw - cgroup2 cgroup2 rw", 0, ""},
		{"mounted at the root", "0::/a", "1 2 0:3 / / rw - cgroup2 cgroup2 rw", 2, "a ."},
	} {
		version, dirs := hierarchy(parseCgroup(test.cgroup), parseMountinfo(test.mountinfo), "memory")
		if version != test.version || strings.Join(dirs, " ") != test.dirs {
			t.Errorf("%s: version %d, %q, want %d, %q", test.name, version, dirs, test.version, test.dirs)
		}
	}
}

func TestQuota(t *testing.T) {
	for _, test := range []struct {
		max, period string
		want        *float64
	}{
		{"150000", "100000", new(1.5)},
		{"max", "100000", nil},
		{"-1", "100000", nil},
		{"1", "0", nil},
		{"1", "", nil},
	} {
		check(t, test.max+"/"+test.period, quota(&test.max, &test.period), test.want)
	}
}

func FuzzHierarchy(f *testing.F) {
	f.Add("0::/a/b", "1 2 0:3 / /sys/fs/cgroup rw shared:1 - cgroup2 cgroup2 rw")
	f.Add("4:cpu,memory:/../x\n0::/", `1 2 0:3 /..\040 /a/../.. rw - cgroup cgroup rw,memory`)
	f.Fuzz(func(t *testing.T, groups, mounts string) {
		_, dirs := hierarchy(parseCgroup(groups), parseMountinfo(mounts), "memory")
		for _, dir := range dirs {
			if strings.HasPrefix(dir, "/") || strings.HasPrefix(dir, "../") || strings.Contains(dir, "/../") {
				t.Errorf("%q leaves the root", dir)
			}
		}
	})
}

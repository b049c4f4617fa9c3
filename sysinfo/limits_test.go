package sysinfo

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
)

func TestReadLimits(t *testing.T) {
	l, err := ReadLimits(sample(t, "x86-laptop"))
	if err != nil {
		t.Fatal(err)
	}
	check(t, "open files", l.OpenFiles, &Limit{Soft: 1024, Hard: 1048576})
	check(t, "address space", l.AddressSpace, &Limit{Soft: Unlimited, Hard: Unlimited})
	check(t, "mappings", l.Mappings, new(uint64(1048576)))
}

func TestParseLimitsErrors(t *testing.T) {
	for _, line := range []string{
		"Max open files            many                 1048576              files",
		"Max open files            1                    -1                   files",
		"Max open files            1",
	} {
		if _, err := parseLimits(line); err == nil || !strings.Contains(err.Error(), "Max open files") {
			t.Errorf("%q: error %v, want one that names the limit", line, err)
		}
	}
}

func TestBoundJSON(t *testing.T) {
	b, err := json.Marshal(Limit{Soft: 7, Hard: Unlimited})
	check(t, "JSON", string(b), `{"soft":7,"hard":"unlimited"}`)
	check(t, "error", err, error(nil))
	var back Limit
	if err := json.Unmarshal(b, &back); err != nil || back != (Limit{7, Unlimited}) {
		t.Errorf("read back as %+v, %v", back, err)
	}
	if json.Unmarshal([]byte(`{"soft":"lots"}`), &back) == nil {
		t.Error("a limit of lots was accepted")
	}
}

func FuzzParseLimits(f *testing.F) {
	f.Add("Max locked memory         8388608              unlimited            bytes     \n")
	f.Fuzz(func(t *testing.T, s string) {
		limits, err := parseLimits(s)
		for name := range limits {
			if err == nil && !strings.HasPrefix(name, "Max") {
				t.Errorf("limit %q", name)
			}
		}
	})
}

func TestReadUse(t *testing.T) {
	u := ReadUse(fstest.MapFS{
		"proc/self/statm": {Data: []byte("1000 20 10 5 0 30 0\n")},
		"proc/self/maps":  {Data: []byte("1000-2000 r--p 00000000 00:00 0\n2000-3000 rw-p 00000000 00:00 0\n")},
	}, 4096)
	check(t, "address space", u.AddressSpace, new(uint64(4096000)))
	check(t, "mappings", u.Mappings, new(uint64(2)))
	for _, files := range []fstest.MapFS{{}, {"proc/self/statm": {Data: []byte("many")}}} {
		if u := ReadUse(files, 4096); u != (Use{}) {
			t.Errorf("of %v: %+v, want nothing", files, u)
		}
	}
}

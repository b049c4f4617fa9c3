package sysinfo

import (
	"errors"
	"io/fs"
	"math"
	"strings"
	"testing"
)

func TestParseMeminfo(t *testing.T) {
	info, err := parseMeminfo("MemTotal:  2 kB\nHugePages_Free:  7\nodd line\nNode 3 MemFree: 1 kB\nEmpty:\n")
	if err != nil {
		t.Fatal(err)
	}
	check(t, "meminfo", info, map[string]uint64{"MemTotal": 2048, "HugePages_Free": 7, "MemFree": 1024})
	for _, bad := range []string{"MemTotal: x kB", "MemTotal: -1 kB", "MemTotal: 18446744073709551615 kB"} {
		if _, err := parseMeminfo(bad); err == nil || !strings.Contains(err.Error(), "MemTotal") {
			t.Errorf("parseMeminfo(%q): error %v, want one that names the line", bad, err)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]uint64{"64": 64, "48K": 48 << 10, "2048k": 2 << 20, "32M": 32 << 20, "1G": 1 << 30} {
		got, err := parseSize(in)
		if err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "K", "1KK", "-1K", "1T", "99999999999999999999", "18446744073709551615K"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("parseSize(%q) = %d, want an error", in, got)
		}
	}
}

func TestSelected(t *testing.T) {
	for in, want := range map[string]*string{
		"always [madvise] never": new("madvise"),
		"[always]":               new("always"),
		"always madvise":         nil,
		"a [] b":                 nil,
		"[open":                  nil,
	} {
		check(t, in, selected(&in), want)
	}
	check(t, "absent", selected(nil), (*string)(nil))
}

func TestHugePoolObtainable(t *testing.T) {
	check(t, "free less reserved", HugePool{Free: new(uint64(3)), Reserved: new(uint64(1))}.Obtainable(), new(uint64(2)))
	check(t, "more reserved than free", HugePool{Free: new(uint64(1)), Reserved: new(uint64(2))}.Obtainable(), new(uint64(0)))
	check(t, "not known", HugePool{}.Obtainable(), (*uint64)(nil))
}

func TestReadMemoryErrors(t *testing.T) {
	if _, err := ReadMemory(files(nil)); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "proc/meminfo") {
		t.Errorf("without meminfo: %v", err)
	}
	if _, err := UsableMemory(files(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("usable memory without meminfo: %v", err)
	}
	if got, err := UsableMemory(files(map[string]string{"proc/meminfo": "MemTotal: 4 kB\n"})); err == nil {
		t.Errorf("usable memory = %d from a total alone, want an error", got)
	}
	got, err := UsableMemory(files(map[string]string{"proc/meminfo": "MemFree: 4 kB\n"}))
	if err != nil || got != 4096 {
		t.Errorf("usable memory = %d, %v, want MemFree on an old kernel", got, err)
	}
}

func FuzzParseMeminfo(f *testing.F) {
	f.Add("MemTotal:       16144328 kB\nHugePages_Total:       4\n")
	f.Add("Node 0 MemFree: 1 kB\n")
	f.Fuzz(func(t *testing.T, s string) {
		if info, err := parseMeminfo(s); err != nil && info != nil {
			t.Error("both a result and an error")
		}
	})
}

func FuzzParseSize(f *testing.F) {
	f.Add("32768K")
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := parseSize(s); err == nil && strings.HasSuffix(s, "K") && (n%1024 != 0 || n > math.MaxUint64-1023) {
			t.Errorf("parseSize(%q) = %d", s, n)
		}
	})
}

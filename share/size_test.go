package share

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"1": 1, "4096": 4096, "4K": 4096, "4k": 4096, "4KB": 4096, "4KiB": 4096, "4kib": 4096, "4 KiB": 4096, " 4KiB ": 4096, "4Ki": 4096,
		"1M": 1 << 20, "1.5GiB": 3 << 29, "0.5K": 512, "1T": 1 << 40, "1PiB": MaxSize, "1024T": MaxSize, "1125899906842624": MaxSize, "12B": 12, "1.0": 1, "00012": 12,
	} {
		if got, err := ParseSize(s); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for s, want := range map[string]string{
		"": "want a number and a unit", "K": "want a number and a unit", "3QiB": "want a number and a unit", "-1": "want a number and a unit",
		"4KiB8": "want a number and a unit", "4 4": "want a number and a unit", "0x10": "want a number and a unit", "1e3": "want a number and a unit",
		"٤K": "want a number and a unit", "0": "at least 1 byte", "0K": "at least 1 byte", "0.0": "at least 1 byte", "0.5": "at least 1 byte",
		"1.5": "not a whole number of bytes", "0.3K": "not a whole number of bytes", "1.2.3K": "no number", ".": "no number",
		"8EiB": "more than the largest size, 1 PiB", "2P": "more than the largest size", "1125899906842625": "more than the largest size",
		"99999999999999999999": "more than the largest size", "9223372036854775807T": "more than the largest size", "1.0000001P": "more than the largest size",
		"99999999999999999999.5T": "more than the largest size",
	} {
		got, err := ParseSize(s)
		if !errors.Is(err, ErrSize) || !strings.Contains(err.Error(), want) || got != 0 {
			t.Errorf("ParseSize(%q) = %d, %v, want %q", s, got, err, want)
		}
	}
}

func TestParseSizes(t *testing.T) {
	for s, want := range map[string][]int64{
		"4KiB": {4096}, "4KiB,1KiB,4K": {1024, 4096}, "1K:8K": {1024, 2048, 4096, 8192}, "1K:8K:x8": {1024, 8192}, "1K:8K:8": {1024, 8192},
		"1K:9K:x3": {1024, 3072, 9216}, "1K:10K:x3": {1024, 3072, 9216}, "4K:4K": {4096}, "1:1PiB:x1048576": {1, 1 << 20, 1 << 40},
		"512T:1P:x3": {1 << 49}, "1P:1P": {MaxSize}, "1K:2K,2K:4K": {1024, 2048, 4096}, " 4KiB : 16KiB : x4 ": {4096, 16384},
	} {
		if got, err := ParseSizes(s); err != nil || !slices.Equal(got, want) {
			t.Errorf("ParseSizes(%q) = %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", ",", "4K,", "8K:4K", "4K:8K:x1", "4K:8K:x0", "4K:8K:x-2", "4K:8K:2:2", "4K:8K:xx2", "4K:", ":4K", "4K:8K:", "4K:8K:x1.5",
		"1:1P:x99999999999"} {
		if got, err := ParseSizes(s); !errors.Is(err, ErrSize) {
			t.Errorf("ParseSizes(%q) = %d, %v", s, got, err)
		}
	}
	if _, err := ParseSizes(strings.Repeat("1:1P,", 6) + "1"); !errors.Is(err, ErrSize) {
		t.Errorf("a list beyond bounds: %v", err)
	}
}

func FuzzParseSizes(f *testing.F) {
	for _, s := range []string{"4KiB:256MiB:x4", "2MiB,1GiB", "1.5GiB", "8EiB", "0", "1:1P:2", "9223372036854775807", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sizes, err := ParseSizes(s)
		if err != nil {
			if !errors.Is(err, ErrSize) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%q: %q", s, err)
			}
			return
		}
		if len(sizes) == 0 || len(sizes) > maxSizes || !slices.IsSorted(sizes) || len(slices.Compact(slices.Clone(sizes))) != len(sizes) {
			t.Errorf("%q: %d", s, sizes)
		}
		for _, n := range sizes {
			if n < 1 || n > MaxSize {
				t.Errorf("%q: %d is out of range", s, n)
			}
		}
	})
}

func TestFormatSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1 KiB", 1025: "1025 B", 1536: "1.5 KiB", 4097: "4097 B", 1 << 20: "1 MiB", 1<<20 + 1: "1 MiB",
		3 << 29: "1.5 GiB", 1 << 40: "1 TiB", MaxSize: "1 PiB", 1 << 60: "1 EiB", -4096: "-4 KiB", math.MaxInt64: "8 EiB", math.MinInt64: "-8 EiB",
	} {
		if got := FormatSize(n); got != want {
			t.Errorf("FormatSize(%d) = %q, want %q", n, got, want)
		}
	}
}

// What is written can be read, and is the same where it is exact.
func FuzzFormatSize(f *testing.F) {
	for _, n := range []int64{1, 1023, 4097, 1 << 20, MaxSize, 3 << 29} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, n int64) {
		s := FormatSize(n)
		if n < 1 || n > MaxSize {
			return
		}
		num, unit, ok := strings.Cut(s, " ")
		if !ok || num == "" || unit == "" {
			t.Fatalf("FormatSize(%d) = %q", n, s)
		}
		got, err := ParseSize(s)
		if err != nil && !strings.Contains(err.Error(), "whole number") {
			t.Fatalf("FormatSize(%d) = %q: %v", n, s, err)
		}
		if err == nil && n < 1<<20 && got != n {
			t.Errorf("FormatSize(%d) = %q reads as %d", n, s, got)
		}
		if err == nil && math.Abs(float64(got-n)) > 0.005*float64(n)+1 {
			t.Errorf("FormatSize(%d) = %q reads as %d", n, s, got)
		}
	})
}

func TestFormatExactly(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 8: "8 B", 100_000: "100000 B", 3<<20 + 4096: "3076 KiB", 3 << 20: "3 MiB", 1 << 30: "1 GiB", 2 << 40: "2 TiB"} {
		if got := FormatExactly(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

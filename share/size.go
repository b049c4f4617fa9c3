package share

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// ErrSize is matched by all errors about a size.
var ErrSize = errors.New("bad size")

// MaxSize is the largest size that can be asked for, 1 PiB: more than any machine has, small enough that sums of a few
// sizes don't overflow.
const MaxSize = 1 << 50

var sizeUnits = map[string]int{"": 0, "b": 0, "k": 10, "kb": 10, "kib": 10, "ki": 10, "m": 20, "mb": 20, "mib": 20, "mi": 20,
	"g": 30, "gb": 30, "gib": 30, "gi": 30, "t": 40, "tb": 40, "tib": 40, "ti": 40,
	// Too large but for one value; known so that the refusal says that.
	"p": 50, "pb": 50, "pib": 50, "pi": 50, "e": 60, "eb": 60, "eib": 60, "ei": 60}

// ParseSize reads a size in bytes: "4096", "4K", "4KiB", "1.5GiB". K, M, G and T are powers of 1024 with or without
// "i" and "B", in any case. The size must be a whole number of bytes from 1 to MaxSize.
func ParseSize(s string) (int64, error) {
	text := strings.TrimSpace(s)
	i := strings.IndexFunc(text, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if i < 0 {
		i = len(text)
	}
	num, unit := text[:i], strings.ToLower(strings.TrimSpace(text[i:]))
	shift, ok := sizeUnits[unit]
	if num == "" || !ok {
		return 0, fmt.Errorf("%w %q: want a number and a unit B, KiB, MiB, GiB or TiB, such as 4KiB or 256MiB", ErrSize, s)
	}
	if !strings.Contains(num, ".") {
		v, err := strconv.ParseInt(num, 10, 64)
		if err != nil || v > MaxSize>>shift {
			return 0, fmt.Errorf("%w %q: more than the largest size, %s", ErrSize, s, FormatSize(MaxSize))
		}
		if v <= 0 {
			return 0, fmt.Errorf("%w %q: must be at least 1 byte", ErrSize, s)
		}
		return v << shift, nil
	}
	f, err := strconv.ParseFloat(num, 64)
	if err != nil {
		return 0, fmt.Errorf("%w %q: %q is no number", ErrSize, s, num)
	}
	f *= float64(int64(1) << shift)
	switch {
	case f > MaxSize:
		return 0, fmt.Errorf("%w %q: more than the largest size, %s", ErrSize, s, FormatSize(MaxSize))
	case f < 1:
		return 0, fmt.Errorf("%w %q: must be at least 1 byte", ErrSize, s)
	case f != math.Trunc(f):
		return 0, fmt.Errorf("%w %q: not a whole number of bytes", ErrSize, s)
	}
	return int64(f), nil
}

// maxSizes bounds what one range may expand to.
const maxSizes = 256

// ParseSizes reads a comma-separated list of sizes and ranges LOW:HIGH:xFACTOR ("4KiB:256MiB:x4"; the factor is a whole
// number from 2 and is 2 when left out). HIGH is included when the steps meet it. The result is sorted, without duplicates.
func ParseSizes(s string) ([]int64, error) {
	var sizes []int64
	for part := range strings.SplitSeq(s, ",") {
		f := strings.Split(part, ":")
		low, err := ParseSize(f[0])
		if err != nil {
			return nil, err
		}
		high, factor := low, int64(2)
		if len(f) > 1 {
			if high, err = ParseSize(f[1]); err != nil {
				return nil, err
			}
		}
		if len(f) > 2 {
			factor, err = strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(f[2]), "x"), 10, 32)
			if err != nil || factor < 2 {
				return nil, fmt.Errorf("%w range %q: the factor %q must be a whole number from 2, such as x4", ErrSize, part, f[2])
			}
		}
		if len(f) > 3 || high < low {
			return nil, fmt.Errorf("%w range %q: want LOW:HIGH:xFACTOR with LOW at most HIGH, such as 4KiB:256MiB:x4", ErrSize, part)
		}
		for v := low; v <= high; v *= factor {
			sizes = append(sizes, v)
			if len(sizes) > maxSizes {
				return nil, fmt.Errorf("%w list %q: more than %d sizes", ErrSize, s, maxSizes)
			}
			if v > MaxSize/factor {
				break
			}
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes), nil
}

// FormatSize writes bytes with the largest binary unit that leaves at least 1, rounded to two decimals; below 1 MiB, where
// that would not be exact, in bytes: "4 KiB", "256 MiB", "1.5 GiB", "4097 B".
func FormatSize(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	neg := ""
	u := uint64(n)
	if n < 0 {
		neg, u = "-", uint64(-n)
	}
	i := 0
	for i+1 < len(units) && u>>(10*i) >= 1024 {
		i++
	}
	v := float64(u) / float64(uint64(1)<<(10*i))
	if i > 0 && v != math.Round(v*100)/100 && u < 1<<20 {
		return fmt.Sprintf("%s%d B", neg, u)
	}
	return neg + strconv.FormatFloat(math.Round(v*100)/100, 'f', -1, 64) + " " + units[i]
}

// FormatExactly gives a size in the largest unit that it is a whole number of: "3076 KiB", "100000 B".
func FormatExactly(n int64) string {
	for i, unit := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if size := int64(1) << (40 - 10*i); n != 0 && n%size == 0 {
			return fmt.Sprintf("%d %s", n/size, unit)
		}
	}
	return fmt.Sprintf("%d B", n)
}

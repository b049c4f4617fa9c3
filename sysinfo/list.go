package sysinfo

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// maxListed bounds the numbers in a List: far above any kernel's NR_CPUS
// (8192) and low enough that a malformed range cannot exhaust memory.
const maxListed = 1 << 16

// List is an ascending set of CPU or NUMA node numbers. As text, and so in
// JSON, it has the kernel's list format: "0-3,8".
type List []int

// ParseList parses the kernel's list format (Documentation/core-api/printk-formats,
// %*pbl): comma-separated numbers and ranges, "0-3,8", also with a stride,
// "0-10:1/2". White space around it is ignored; an empty text is an empty list.
// Numbers are 0 to 65535.
func ParseList(s string) (List, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return nil, nil
	}
	var l List
	for field := range strings.SplitSeq(s, ",") {
		first, last, used, group, err := parseRange(field)
		if err != nil {
			return nil, fmt.Errorf("parse list %q: %w", s, err)
		}
		for n := first; n <= last; n++ {
			if (n-first)%group < used {
				l = append(l, n)
			}
		}
		if len(l) > 2*maxListed {
			return nil, fmt.Errorf("parse list %q: more than %d numbers", s, maxListed)
		}
	}
	return l.sorted(), nil
}

// parseRange parses one field of a list: n, first-last or first-last:used/group.
func parseRange(field string) (first, last, used, group int, err error) {
	number := func(s string) int {
		n, e := strconv.ParseUint(s, 10, 16)
		if e != nil && err == nil {
			err = fmt.Errorf("%q is not a number from 0 to %d", s, maxListed-1)
		}
		return int(n)
	}
	span, stride, strided := strings.Cut(field, ":")
	low, high, ranged := strings.Cut(span, "-")
	first = number(low)
	last, used, group = first, 1, 1
	if ranged {
		last = number(high)
	}
	if strided {
		u, g, _ := strings.Cut(stride, "/")
		used, group = number(u), number(g)
		if err == nil && (used == 0 || used > group) {
			err = fmt.Errorf("stride %q takes %d of every %d", stride, used, group)
		}
	}
	if err == nil && last < first {
		err = fmt.Errorf("range %q ends before it starts", span)
	}
	return first, last, used, group, err
}

// sorted returns l ascending and without duplicates; it reorders l.
func (l List) sorted() List {
	slices.Sort(l)
	return slices.Compact(l)
}

// Contains reports whether n is in the list.
func (l List) Contains(n int) bool {
	_, found := slices.BinarySearch(l, n)
	return found
}

// Intersect returns the numbers that are in both lists.
func (l List) Intersect(other List) List {
	var both List
	for _, n := range l {
		if other.Contains(n) {
			both = append(both, n)
		}
	}
	return both
}

// String returns the list in the kernel's format, "0-3,8".
func (l List) String() string {
	var b strings.Builder
	for i := 0; i < len(l); {
		j := i
		for j+1 < len(l) && l[j+1] == l[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(l[i]))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(l[j]))
		}
		i = j + 1
	}
	return b.String()
}

// MarshalText implements encoding.TextMarshaler.
func (l List) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (l *List) UnmarshalText(b []byte) error {
	parsed, err := ParseList(string(b))
	if err != nil {
		return err
	}
	*l = parsed
	return nil
}

// list returns a file's list, nil if it is absent, unreadable or malformed.
func list(fsys fs.FS, name string) List {
	s := text(fsys, name)
	if s == nil {
		return nil
	}
	l, err := ParseList(*s)
	if err != nil {
		return nil
	}
	return l
}

package sysinfo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
)

// Limits are the limits of this process that sharing memory can run into.
type Limits struct {
	// LockedMemory is RLIMIT_MEMLOCK in bytes ("Max locked memory").
	LockedMemory *Limit `json:"locked_memory_bytes,omitempty"`
	// OpenFiles is RLIMIT_NOFILE ("Max open files").
	OpenFiles *Limit `json:"open_files,omitempty"`
	// AddressSpace is RLIMIT_AS in bytes ("Max address space").
	AddressSpace *Limit `json:"address_space_bytes,omitempty"`
	// FileSize is RLIMIT_FSIZE in bytes ("Max file size"); it bounds a memfd too.
	FileSize *Limit `json:"file_size_bytes,omitempty"`
	// Mappings is how many mappings a process may have, from
	// proc/sys/vm/max_map_count.
	Mappings *uint64 `json:"max_map_count,omitempty"`
}

// Limit is one line of proc/self/limits (getrlimit(2)).
type Limit struct {
	// Soft is in force; the process may raise it up to Hard.
	Soft Bound `json:"soft"`
	Hard Bound `json:"hard"`
}

// Bound is a limit's value in the limit's unit, or Unlimited. In JSON it is a
// number or "unlimited".
type Bound uint64

// Unlimited is RLIM_INFINITY.
const Unlimited Bound = math.MaxUint64

// String returns the number or unlimited.
func (b Bound) String() string {
	if b == Unlimited {
		return "unlimited"
	}
	return strconv.FormatUint(uint64(b), 10)
}

// MarshalJSON implements json.Marshaler.
func (b Bound) MarshalJSON() ([]byte, error) {
	if b == Unlimited {
		return []byte(`"unlimited"`), nil
	}
	return []byte(b.String()), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *Bound) UnmarshalJSON(data []byte) error {
	if string(data) == `"unlimited"` {
		*b = Unlimited
		return nil
	}
	return json.Unmarshal(data, (*uint64)(b))
}

// ReadLimits reads proc/self/limits and proc/sys/vm/max_map_count. It fails if
// proc/self/limits does.
func ReadLimits(fsys fs.FS) (Limits, error) {
	s, err := readText(fsys, "proc/self/limits")
	if err != nil {
		return Limits{}, err
	}
	limits, err := parseLimits(s)
	if err != nil {
		return Limits{}, fmt.Errorf("parse proc/self/limits: %w", err)
	}
	named := func(name string) *Limit {
		if l, ok := limits[name]; ok {
			return &l
		}
		return nil
	}
	return Limits{
		LockedMemory: named("Max locked memory"),
		OpenFiles:    named("Max open files"),
		AddressSpace: named("Max address space"),
		FileSize:     named("Max file size"),
		Mappings:     number(fsys, "proc/sys/vm/max_map_count"),
	}, nil
}

// Use is how much of its limits this process uses. A field is nil if it can't
// be read.
type Use struct {
	// AddressSpace in bytes, the first number of proc/self/statm: what
	// RLIMIT_AS bounds.
	AddressSpace *uint64
	// Mappings is the number of lines in proc/self/maps.
	Mappings *uint64
}

// ReadUse reads proc/self/statm and proc/self/maps. pageSize is the machine's,
// in bytes.
func ReadUse(fsys fs.FS, pageSize uint64) Use {
	var u Use
	if s := text(fsys, "proc/self/statm"); s != nil {
		pages, _, _ := strings.Cut(*s, " ")
		if n, err := strconv.ParseUint(pages, 10, 64); err == nil {
			u.AddressSpace = multiply(&n, pageSize)
		}
	}
	if b, err := fs.ReadFile(fsys, "proc/self/maps"); err == nil {
		u.Mappings = new(uint64(bytes.Count(b, []byte("\n"))))
	}
	return u
}

// parseLimits parses the table of proc/self/limits by name.
func parseLimits(s string) (map[string]Limit, error) {
	limits := make(map[string]Limit)
	for line := range strings.Lines(s) {
		// The name is padded with at least one space to 25 columns.
		if len(line) < 26 || !strings.HasPrefix(line, "Max ") {
			continue
		}
		name, fields := strings.TrimSpace(line[:25]), strings.Fields(line[25:])
		if len(fields) < 2 {
			return nil, fmt.Errorf("%s: no soft and hard limit", name)
		}
		soft, err := parseBound(fields[0])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		hard, err := parseBound(fields[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		limits[name] = Limit{Soft: soft, Hard: hard}
	}
	return limits, nil
}

func parseBound(s string) (Bound, error) {
	if s == "unlimited" {
		return Unlimited, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is neither a number nor unlimited", s)
	}
	return Bound(n), nil
}

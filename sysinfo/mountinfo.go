package sysinfo

import (
	"slices"
	"strings"
)

// mount is one line of proc/self/mountinfo.
type mount struct {
	root, point string // absolute: what is mounted, and where
	fstype      string
	options     []string // of the file system
}

func (m mount) hasOption(o string) bool { return slices.Contains(m.options, o) }

// parseMountinfo parses proc/self/mountinfo (proc(5)); lines that do not have
// its shape are left out.
func parseMountinfo(s string) []mount {
	var mounts []mount
	for line := range strings.Lines(s) {
		// Optional fields, none or more, end with a lone hyphen.
		before, after, ok := strings.Cut(strings.TrimSpace(line), " - ")
		fields, tail := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 6 || len(tail) < 1 {
			continue
		}
		m := mount{root: unescape(fields[3]), point: unescape(fields[4]), fstype: tail[0]}
		if len(tail) > 2 {
			m.options = strings.Split(tail[2], ",")
		}
		if strings.HasPrefix(m.root, "/") && strings.HasPrefix(m.point, "/") {
			mounts = append(mounts, m)
		}
	}
	return mounts
}

// unescape undoes the octal escapes of white space and backslash in mount paths.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

package sysinfo

import (
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// Namespace is one namespace of this process (namespaces(7)).
type Namespace struct {
	// Kind is cgroup, ipc, mnt, net, pid, time, user or uts.
	Kind string `json:"kind"`
	// ID is the inode number in the link proc/self/ns/<kind>; two processes
	// with the same ID share the namespace.
	ID uint64 `json:"id"`
	// Initial is whether it is the one that the kernel made at boot, the host's.
	// The kernel gives those fixed numbers (linux/nsfs.h), net and mnt only
	// since Linux 6.18. Before that these two are the host's if they are those
	// of the host's first process, and nil where that can't be seen.
	Initial *bool `json:"initial,omitempty"`
	// SharedWithInit is whether process 1, as seen from here, is in it, from
	// proc/1/ns/<kind>; nil where that link may not be read.
	SharedWithInit *bool `json:"shared_with_init,omitempty"`
}

// initialIDs are the inode numbers of the initial namespaces.
var initialIDs = map[string]uint64{
	"ipc": 0xEFFFFFFF, "uts": 0xEFFFFFFE, "user": 0xEFFFFFFD, "pid": 0xEFFFFFFC,
	"cgroup": 0xEFFFFFFB, "time": 0xEFFFFFFA, "net": 0xEFFFFFF9, "mnt": 0xEFFFFFF8,
}

// ReadNamespaces reads the links in proc/self/ns and proc/1/ns, in the order of
// their kinds. It fails if proc/self/ns shows none.
func ReadNamespaces(fsys fs.FS) ([]Namespace, error) {
	var found []Namespace
	var first error
	fixed := fixedNumbers(fsys)
	for _, kind := range []string{"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"} {
		id, err := readNamespace(fsys, "proc/self/ns/"+kind)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		n := Namespace{Kind: kind, ID: id}
		if kind != "net" && kind != "mnt" || id == initialIDs[kind] || fixed {
			n.Initial = new(id == initialIDs[kind])
		}
		if one, err := readNamespace(fsys, "proc/1/ns/"+kind); err == nil {
			n.SharedWithInit = new(one == id)
		}
		found = append(found, n)
	}
	if len(found) == 0 {
		return nil, first
	}
	// In the host's PID namespace process 1 is the host's own, which no one isolates.
	if slices.ContainsFunc(found, func(n Namespace) bool { return n.Kind == "pid" && *n.Initial }) {
		for i := range found {
			if n := &found[i]; n.Initial == nil {
				n.Initial = n.SharedWithInit
			}
		}
	}
	return found, nil
}

// fixedNumbers reports whether the kernel is known to give fixed numbers to its
// first network and mount namespaces: Linux 6.18 and later do.
func fixedNumbers(fsys fs.FS) bool {
	for _, kind := range []string{"net", "mnt"} {
		if id, err := readNamespace(fsys, "proc/self/ns/"+kind); err == nil && id == initialIDs[kind] {
			return true
		}
	}
	var major, minor int
	release := text(fsys, "proc/sys/kernel/osrelease")
	if release == nil {
		return false
	}
	if n, _ := fmt.Sscanf(*release, "%d.%d", &major, &minor); n < 2 {
		return false
	}
	return major > 6 || major == 6 && minor >= 18
}

func readNamespace(fsys fs.FS, name string) (uint64, error) {
	link, err := fs.ReadLink(fsys, name)
	if err != nil {
		return 0, fmt.Errorf("read link %s: %w", name, cause(err))
	}
	id, err := parseNamespace(link)
	if err != nil {
		return 0, fmt.Errorf("parse link %s: %w", name, err)
	}
	return id, nil
}

// parseNamespace returns the number in "pid:[4026531836]".
func parseNamespace(link string) (uint64, error) {
	_, rest, ok := strings.Cut(link, ":[")
	digits, ok2 := strings.CutSuffix(rest, "]")
	id, err := strconv.ParseUint(digits, 10, 64)
	if !ok || !ok2 || err != nil {
		return 0, fmt.Errorf("%q is not kind:[number]", link)
	}
	return id, nil
}

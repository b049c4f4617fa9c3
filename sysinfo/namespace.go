package sysinfo

import (
	"fmt"
	"io/fs"
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
	// since Linux 6.18: before that Initial is nil for these two.
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
	for _, kind := range []string{"cgroup", "ipc", "mnt", "net", "pid", "time", "user", "uts"} {
		id, err := readNamespace(fsys, "proc/self/ns/"+kind)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		n := Namespace{Kind: kind, ID: id}
		if kind != "net" && kind != "mnt" || id == initialIDs[kind] {
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
	return found, nil
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

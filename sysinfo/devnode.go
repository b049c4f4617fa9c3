package sysinfo

import (
	"bufio"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// DeviceNode is a device's special file and who may open it.
type DeviceNode struct {
	// Path is absolute: /dev/udmabuf.
	Path string `json:"path"`
	// Mode is the permission bits.
	Mode NodeMode `json:"mode"`
	// UID and GID own the node; nil where the file system does not tell.
	UID *uint32 `json:"uid,omitempty"`
	GID *uint32 `json:"gid,omitempty"`
	// Group is the name of GID in etc/group.
	Group *string `json:"group,omitempty"`
	// Major and Minor are the device's numbers.
	Major *uint32 `json:"major,omitempty"`
	Minor *uint32 `json:"minor,omitempty"`
}

// NodeMode is the permission bits of a node. As text, and so in JSON, it is
// octal: 0660.
type NodeMode uint32

// String returns the mode in octal, 0660.
func (m NodeMode) String() string { return fmt.Sprintf("%04o", uint32(m)) }

// MarshalText implements encoding.TextMarshaler.
func (m NodeMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (m *NodeMode) UnmarshalText(b []byte) error {
	n, err := strconv.ParseUint(string(b), 8, 12)
	if err != nil {
		return fmt.Errorf("mode %q: not octal", b)
	}
	*m = NodeMode(n)
	return nil
}

// ReadDeviceNode looks at one node; name is relative to the root, dev/udmabuf.
// The error wraps fs.ErrNotExist if there is none.
func ReadDeviceNode(fsys fs.FS, name string) (DeviceNode, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return DeviceNode{}, fmt.Errorf("/%s: %w", name, cause(err))
	}
	n := DeviceNode{Path: "/" + name, Mode: NodeMode(info.Mode().Perm())}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		n.UID, n.GID = new(st.Uid), new(st.Gid)
		n.Group = groupName(fsys, st.Gid)
		if info.Mode()&fs.ModeDevice != 0 {
			// The encoding of dev_t in the C library (makedev(3)).
			dev := uint64(st.Rdev)
			n.Major = new(uint32(dev>>8&0xfff | dev>>32&^0xfff))
			n.Minor = new(uint32(dev&0xff | dev>>12&^0xff))
		}
	}
	return n, nil
}

// SharingDevices returns the device nodes that ways of sharing memory need, as
// far as they exist, sorted: dev/udmabuf, dev/dma_heap, dev/dri, dev/nvidia*,
// dev/nvidia-caps and dev/nvidia-caps-imex-channels.
func SharingDevices(fsys fs.FS) []DeviceNode {
	names := []string{"dev/udmabuf"}
	for _, name := range entries(fsys, "dev") {
		if strings.HasPrefix(name, "nvidia") {
			names = append(names, "dev/"+name)
		}
	}
	for _, dir := range []string{"dev/dma_heap", "dev/dri", "dev/nvidia-caps", "dev/nvidia-caps-imex-channels"} {
		for _, name := range entries(fsys, dir) {
			names = append(names, dir+"/"+name)
		}
	}
	slices.Sort(names)
	var nodes []DeviceNode
	for _, name := range names {
		if info, err := fs.Stat(fsys, name); err != nil || info.IsDir() {
			continue
		}
		if n, err := ReadDeviceNode(fsys, name); err == nil {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// PermissionAdvice says what a process with these credentials can do about
// EACCES or EPERM from opening the node for reading and writing, such as
// "add yourself to group kvm (mode 0660)". Access lists and device control
// groups are not seen: if the mode would allow the access, it says so.
func (n DeviceNode) PermissionAdvice(c Credentials) string {
	const readWrite = 0o6
	if n.UID == nil || n.GID == nil {
		return fmt.Sprintf("the node's owner is unknown (mode %v)", n.Mode)
	}
	group := fmt.Sprintf("%d", *n.GID)
	if n.Group != nil {
		group = *n.Group
	}
	member := c.GID == *n.GID || slices.Contains(c.Groups, *n.GID)
	// The first class that matches decides, even if a later one allows more.
	var bits NodeMode
	switch {
	case c.UID == *n.UID:
		bits = n.Mode >> 6
	case member:
		bits = n.Mode >> 3
	default:
		bits = n.Mode
	}
	switch {
	case bits&readWrite == readWrite:
		return fmt.Sprintf("the mode %v allows it: a container's device rules, a read-only or nodev mount or a security module refuse it", n.Mode)
	case !member && *n.GID != 0 && n.Mode>>3&readWrite == readWrite:
		return fmt.Sprintf("add yourself to group %s (mode %v): sudo usermod -aG %s $USER, then log in again", group, n.Mode, group)
	case c.UID != 0:
		return fmt.Sprintf("only root may open it (mode %v, group %s): run as root or give it a group with chgrp and chmod g+rw", n.Mode, group)
	}
	return fmt.Sprintf("root is refused too (mode %v, group %s): the process lacks CAP_DAC_OVERRIDE", n.Mode, group)
}

// groupName looks a group number up in etc/group.
func groupName(fsys fs.FS, gid uint32) *string {
	f, err := fsys.Open("etc/group")
	if err != nil {
		return nil
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Split(lines.Text(), ":")
		if len(fields) < 3 || fields[0] == "" {
			continue
		}
		if n, err := strconv.ParseUint(fields[2], 10, 32); err == nil && uint32(n) == gid {
			return &fields[0]
		}
	}
	return nil
}

// Udmabuf is the limits of /dev/udmabuf, from sys/module/udmabuf/parameters; a
// larger buffer is refused with EINVAL.
type Udmabuf struct {
	// MaxSize is size_limit_mb in bytes.
	MaxSize *uint64 `json:"max_size_bytes,omitempty"`
	// MaxItems is list_limit: how many memfd ranges a buffer may join.
	MaxItems *uint64 `json:"max_items,omitempty"`
}

// ReadUdmabuf reads sys/module/udmabuf/parameters; nil if it is absent.
func ReadUdmabuf(fsys fs.FS) *Udmabuf {
	const dir = "sys/module/udmabuf/parameters"
	u := Udmabuf{
		MaxSize:  scaled(fsys, path.Join(dir, "size_limit_mb"), 1<<20),
		MaxItems: number(fsys, path.Join(dir, "list_limit")),
	}
	if u == (Udmabuf{}) {
		return nil
	}
	return &u
}

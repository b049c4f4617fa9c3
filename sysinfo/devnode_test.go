package sysinfo

import (
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
)

func node(mode fs.FileMode, uid, gid uint32, rdev uint64) *fstest.MapFile {
	return &fstest.MapFile{Mode: fs.ModeDevice | fs.ModeCharDevice | mode, Sys: &syscall.Stat_t{Uid: uid, Gid: gid, Rdev: rdev}}
}

func TestSharingDevices(t *testing.T) {
	fsys := sample(t, "x86-laptop")
	fsys["dev/udmabuf"] = node(0o660, 0, 994, 10<<8|125)
	fsys["dev/dma_heap/system"] = node(0o600, 0, 0, 250<<8)
	fsys["dev/dri/renderD128"] = node(0o666, 0, 993, 226<<8|128)
	fsys["dev/dri/by-path/pci-0000:00:02.0-render"] = &fstest.MapFile{Data: []byte("../renderD128"), Mode: fs.ModeSymlink | 0o777}
	fsys["dev/nvidia0"] = node(0o666, 0, 0, 195<<8)
	fsys["dev/nvidia-caps-imex-channels/channel0"] = node(0o600, 0, 0, 511<<8)
	fsys["dev/null"] = node(0o666, 0, 0, 1<<8|3)
	var paths []string
	nodes := SharingDevices(fsys)
	for _, n := range nodes {
		paths = append(paths, n.Path)
	}
	check(t, "nodes", strings.Join(paths, " "),
		"/dev/dma_heap/system /dev/dri/renderD128 /dev/nvidia-caps-imex-channels/channel0 /dev/nvidia0 /dev/udmabuf")
	u := nodes[len(nodes)-1]
	check(t, "group", u.Group, new("kvm"))
	check(t, "mode", u.Mode.String(), "0660")
	check(t, "major", u.Major, new(uint32(10)))
	check(t, "minor", u.Minor, new(uint32(125)))

	if _, err := ReadDeviceNode(fsys, "dev/missing"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/dev/missing") {
		t.Errorf("a missing node: %v", err)
	}
}

func TestPermissionAdvice(t *testing.T) {
	own := func(mode NodeMode, uid, gid uint32, group string) DeviceNode {
		n := DeviceNode{Mode: mode, UID: &uid, GID: &gid}
		if group != "" {
			n.Group = &group
		}
		return n
	}
	user := Credentials{UID: 1000, GID: 1000, Groups: []uint32{44}}
	for _, test := range []struct {
		name string
		node DeviceNode
		who  Credentials
		want string
	}{
		{"a group that the user can join", own(0o660, 0, 994, "kvm"), user,
			"add yourself to group kvm (mode 0660): sudo usermod -aG kvm $USER, then log in again"},
		{"a group without a name", own(0o660, 0, 994, ""), user,
			"add yourself to group 994 (mode 0660): sudo usermod -aG 994 $USER, then log in again"},
		{"root's group is no advice", own(0o660, 0, 0, "root"), user,
			"only root may open it (mode 0660, group root): run as root or give it a group with chgrp and chmod g+rw"},
		{"root only", own(0o600, 0, 994, "kvm"), user,
			"only root may open it (mode 0600, group kvm): run as root or give it a group with chgrp and chmod g+rw"},
		{"already a member", own(0o660, 0, 44, "video"), user,
			"the mode 0660 allows it: a container's device rules, a read-only or nodev mount or a security module refuse it"},
		{"the group may less than others", own(0o606, 0, 44, "video"), user,
			"only root may open it (mode 0606, group video): run as root or give it a group with chgrp and chmod g+rw"},
		{"root without its powers", own(0o660, 1000, 1000, "me"), Credentials{},
			"add yourself to group me (mode 0660): sudo usermod -aG me $USER, then log in again"},
		{"nobody may", own(0o000, 0, 0, "root"), Credentials{},
			"root is refused too (mode 0000, group root): the process lacks CAP_DAC_OVERRIDE"},
		{"owner not known", DeviceNode{Mode: 0o600}, user, "the node's owner is unknown (mode 0600)"},
	} {
		check(t, test.name, test.node.PermissionAdvice(test.who), test.want)
	}
}

func TestNodeModeText(t *testing.T) {
	var m NodeMode
	if err := m.UnmarshalText([]byte("0660")); err != nil || m != 0o660 {
		t.Errorf("0660 became %v, %v", m, err)
	}
	if m.UnmarshalText([]byte("0990")) == nil {
		t.Error("a mode of 0990 was accepted")
	}
}

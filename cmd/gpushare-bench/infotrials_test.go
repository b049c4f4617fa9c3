package main

import (
	"fmt"
	"strings"
	"testing"

	"gpushare-bench/share"
)

// TestWriteTrials holds the matrix of four GPUs against its text: pairs and transports that answer alike share a line,
// reasons that differ in particulars a footnote.
func TestWriteTrials(t *testing.T) {
	m := &machineInfo{}
	for i := range 4 {
		m.Devices = append(m.Devices, share.DeviceInfo{ID: fmt.Sprintf("GPU-%d", i), Backend: "cuda", Index: i})
	}
	m.Devices = append(m.Devices, share.DeviceInfo{ID: "cpu", Backend: "host"})
	try := func(path, allocator, transport string, answer func(p, c int) (share.Status, string)) {
		for p := range 4 {
			for c := range 4 {
				status, reason := answer(p, c)
				m.Trials = append(m.Trials, trial{Path: path, Allocator: allocator, Producer: m.Devices[p].ID, Consumer: m.Devices[c].ID,
					Transport: transport, Status: status, Reason: reason})
			}
		}
	}
	yes := func(p, c int) (share.Status, string) { return share.StatusOK, "" }
	for _, transport := range []string{"scm-rights", "pidfd"} {
		try("dma-buf", "device", transport, func(p, c int) (share.Status, string) {
			return share.StatusPartial, fmt.Sprintf("cuImport(fd %d, 2 MiB) by GPU-%d: no", 10+c, c)
		})
		try("cumemmap", "vmm", transport, func(p, c int) (share.Status, string) {
			if p/2 != c/2 {
				return share.StatusPartial, fmt.Sprintf("cuMemSetAccess(address %#x, 2 MiB): no peer", 0x7f000000+p)
			}
			return share.StatusOK, ""
		})
		try("cuda-ipc", "device", transport, func(p, c int) (share.Status, string) {
			if p == c {
				return share.StatusOK, ""
			}
			return share.StatusFailed, "broken"
		})
	}
	try("staged", "device", "scm-rights", yes)
	try("staged", "device", "pidfd", func(p, c int) (share.Status, string) {
		if p == 1 && c == 2 {
			return share.StatusUnsupported, "pidfd_getfd: no"
		}
		return share.StatusOK, ""
	})
	m.Trials = append(m.Trials, trial{Path: "dma-buf", Allocator: "udmabuf", Producer: "cpu", Consumer: "GPU-2", Transport: "scm-rights", Status: share.StatusOK})
	var b strings.Builder
	if err := m.writeTrials(&b); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(b.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	const want = `path      allocator  pair                transport
dma-buf   device     all 16 pairs        scm-rights, pidfd  export only  [1]
cumemmap  vmm        0-1→0-1; 2-3→2-3    scm-rights, pidfd  yes
cumemmap  vmm        0-1→2-3; 2-3→0-1    scm-rights, pidfd  export only  [2]
cuda-ipc  device     same GPU            scm-rights, pidfd  yes
cuda-ipc  device     two GPUs            scm-rights, pidfd  FAILED       [3]
staged    device     all 16 pairs        scm-rights         yes
staged    device     0,2-3→0-3; 1→0-1,3  pidfd              yes
staged    device     1→2                 pidfd              no           [4]
dma-buf   udmabuf    cpu→2               scm-rights         yes
[1] cuImport(fd 10, 2 MiB) by GPU-0: no
[2] cuMemSetAccess(address 0x7f000000, 2 MiB): no peer
[3] broken
[4] pidfd_getfd: no`
	if got := strings.Join(lines, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestLinks says once what holds for all pairs.
func TestLinks(t *testing.T) {
	m := &machineInfo{}
	for i := range 3 {
		m.Devices = append(m.Devices, share.DeviceInfo{ID: fmt.Sprintf("GPU-%d", i), Backend: "cuda", Index: i})
	}
	for p := range 3 {
		for c := range 3 {
			m.Links = append(m.Links, share.Link{Producer: m.Devices[p].ID, Consumer: m.Devices[c].ID, Class: "NV18", Peer: new(true)})
		}
	}
	var r rows
	m.links(&r)
	if len(r) != 1 || r[0][1] != "all 6 pairs NV18, peer access yes" {
		t.Errorf("%v", r)
	}
	r, m.Links[1].Class = nil, "SYS" // 0→1
	m.links(&r)
	if len(r) != 2 || r[0][1] != "0→1 SYS, peer access yes" || r[1][1] != "0→2; 1→0,2; 2→0-1 NV18, peer access yes" {
		t.Errorf("%v", r)
	}
}

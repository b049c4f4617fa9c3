package bench

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gpushare-bench/share"
)

func TestParsePair(t *testing.T) {
	for s, want := range map[string]string{
		"0:1": "0 1", "cpu:cpu": "cpu cpu", "0:cpu": "0 cpu", "cpu:12": "cpu 12", "GPU-1a2b:cpu": "GPU-1a2b cpu", "MIG-1:MIG-2": "MIG-1 MIG-2",
		"0000:17:00.0:cpu": "0000:17:00.0 cpu", "cpu:0000:17:00.0": "cpu 0000:17:00.0", "17:00.0:65:00.0": "17:00.0 65:00.0",
		"0000:17:00.0:0000:65:00.0": "0000:17:00.0 0000:65:00.0", "1:17:00.0": "1 17:00.0",
		"": "", ":": "", "0": "", "0:": "", ":0": "", "0:1:2": "", "a:b": "", "-1:0": "", "cpu:cpu:cpu": "", "0:65536": "", "0:1 ": "", "0.0:1": "",
	} {
		p, c, err := ParsePair(s)
		got := p + " " + c
		if err != nil {
			got = ""
			if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), fmt.Sprintf("%q", s)) {
				t.Errorf("ParsePair(%q): %v", s, err)
			}
		}
		if got != want {
			t.Errorf("ParsePair(%q) = %q, want %q", s, got, want)
		}
	}
}

func FuzzParsePair(f *testing.F) {
	for _, s := range []string{"0:1", "cpu:0000:17:00.0", "GPU-1:MIG-2", "::", "0:\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, c, err := ParsePair(s)
		if err != nil {
			if !errors.Is(err, ErrUsage) || strings.Contains(err.Error(), "\n") {
				t.Errorf("ParsePair(%q): %q", s, err)
			}
			return
		}
		if p+":"+c != s || !isDeviceName(p) || !isDeviceName(c) {
			t.Errorf("ParsePair(%q) = %q, %q", s, p, c)
		}
	})
}

// machine has n GPUs, all of which reach each other but the last, and the host.
func machine(n int) ([]share.DeviceInfo, []share.Link) {
	var devices []share.DeviceInfo
	var links []share.Link
	for i := range n {
		devices = append(devices, share.DeviceInfo{ID: fmt.Sprintf("GPU-%d%d%d%d-x", i, i, i, i), Backend: "cuda", Index: i, Name: "Test",
			PCI: fmt.Sprintf("0000:%02X:00.0", 0x17+i)})
	}
	for i := range n {
		for j := range n {
			peer := i != n-1 && j != n-1
			links = append(links, share.Link{Producer: devices[i].ID, Consumer: devices[j].ID, Class: "NV18", Peer: &peer})
		}
	}
	return append(devices, share.DeviceInfo{ID: "cpu", Backend: "host"}), links
}

func TestChoosePairs(t *testing.T) {
	for _, c := range []struct {
		gpus  int
		asked string // separated by spaces
		want  string // pairs of indices, "!" and a part of the error
	}{
		{0, "", "c:c"},
		{0, "all", "c:c"},
		{0, "same peer", "c:c"},
		{0, "0:1", `!no device "0" here; this machine has cpu`},
		{1, "", "0:0 0:c c:0"},
		{2, "", "0:0 0:1 1:0 1:1 0:c c:0"},
		{3, "", "0:0 0:1 1:0 0:c c:0"},
		{3, "all", "0:0 0:1 0:2 1:0 1:1 1:2 2:0 2:1 2:2"},
		{3, "same", "0:0 1:1 2:2"},
		{3, "peer", "0:1 1:0"},
		{2, "peer", "!no two GPUs of this machine can address each other's memory"},
		{3, "0:1 all 0:1", "0:1 0:0 0:2 1:0 1:1 1:2 2:0 2:1 2:2"},
		{3, "cpu:cpu", "c:c"},
		{3, "GPU-1111:2", "1:2"},
		{3, "GPU-1111-x:0000:17:00.0", "1:0"},
		{3, "18:00.0:0000:19:00.0", "1:2"},
		{3, "GPU-:0", `!device "GPU-" is ambiguous: 0 (Test, GPU-0000-x), 1 (Test, GPU-1111-x), 2 (Test, GPU-2222-x)`},
		{3, "0:7", `!no device "7" here; this machine has 0 (Test, GPU-0000-x)`},
		{3, "x", "!want all, same, peer or PRODUCER:CONSUMER"},
	} {
		devices, links := machine(c.gpus)
		pairs, err := choosePairs(strings.Fields(c.asked), devices, links)
		if text, fails := strings.CutPrefix(c.want, "!"); fails {
			if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), text) {
				t.Errorf("%d GPUs, %q: %v, want %q", c.gpus, c.asked, err, text)
			}
			continue
		}
		var got []string
		name := func(d share.DeviceInfo) string {
			if d.Backend == "host" {
				return "c"
			}
			return fmt.Sprint(d.Index)
		}
		for _, p := range pairs {
			got = append(got, name(p.producer)+":"+name(p.consumer))
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%d GPUs, %q: %q, %v, want %q", c.gpus, c.asked, got, err, c.want)
		}
	}
	if _, err := choosePairs([]string{"all"}, nil, nil); err == nil {
		t.Error("pairs without a device")
	}
}

func TestLinkClass(t *testing.T) {
	devices, links := machine(2)
	host := devices[2]
	for _, c := range []struct {
		links []share.Link
		p, c  share.DeviceInfo
		want  string
	}{{links, devices[0], devices[1], "NV18"}, {nil, devices[0], devices[0], "same"}, {nil, devices[0], devices[1], ""}, {nil, host, host, "cpu"}, {nil, devices[0], host, ""}} {
		if got := linkClass(c.links, c.p, c.c); got != c.want {
			t.Errorf("%s→%s: %q, want %q", c.p.ID, c.c.ID, got, c.want)
		}
	}
	if !slices.Equal(pairGroups, []string{"all", "same", "peer"}) {
		t.Error("the flag's help names other words for several pairs")
	}
}

// Addresses are compared as numbers: the end of another GPU's address is not this one's.
func TestPCIAddress(t *testing.T) {
	for _, c := range []struct {
		asked, device string
		want          bool
	}{
		{"0000:1b:00.0", "0000:1b:00.0", true},
		{"0000:1B:00.0", "0000:1b:00.0", true},
		{"00000000:1b:00.0", "0000:1b:00.0", true},
		{"1b:00.0", "0000:1b:00.0", true},
		{"1b:0.0", "0000:1b:00.0", true},
		{"1b:00.0", "0001:1b:00.0", true},
		{"0:1b:00.0", "0001:1b:00.0", false},
		{"b:00.0", "0000:1b:00.0", false},
		{"b:00.0", "0000:0b:00.0", true},
		{"1b:00.1", "0000:1b:00.0", false},
		{"1b:01.0", "0000:1b:00.0", false},
		{"1b:00.0", "", false},
	} {
		a, err := parsePCI(c.asked)
		if err != nil || a.is(c.device) != c.want {
			t.Errorf("%s is %q: want %t, %v", c.asked, c.device, c.want, err)
		}
	}
	for _, s := range []string{"", "1b", "1b.0", "1b:00", "1b:00.00", "1b:00.", "x:00.0", "1:2:3:4.0", "-1:00.0", "100000000:00.0"} {
		if _, err := parsePCI(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
}

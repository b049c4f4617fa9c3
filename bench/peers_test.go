package bench

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gpushare-bench/share"
)

// Peers are one a GPU, behind the pair's own, before any GPU has two.
func TestPeerDevices(t *testing.T) {
	for _, c := range []struct {
		gpus  int
		pair  string
		peers int // AllPeers too
		want  string
	}{
		{8, "0:1", 0, ""},
		{8, "0:1", 2, "2 3"},
		{8, "0:1", 6, "2 3 4 5 6 7"},
		{8, "0:1", AllPeers, "2 3 4 5 6 7"},
		{8, "0:1", 9, "2 3 4 5 6 7 0 1 2"},
		{8, "5:2", 4, "6 7 0 1"},
		{8, "2:5", 7, "6 7 0 1 3 4 2"},
		{8, "3:3", AllPeers, "4 5 6 7 0 1 2"},
		{2, "0:1", AllPeers, ""},
		{2, "1:0", 3, "0 1 0"},
		{1, "0:0", 2, "0 0"},
		{1, "0:0", AllPeers, ""},
		{0, "cpu:cpu", 2, "c c"},
		{3, "cpu:cpu", 2, "c c"},
		{3, "0:cpu", AllPeers, "1 2"},
	} {
		devices, links := machine(c.gpus)
		pairs, err := choosePairs([]string{c.pair}, devices, links)
		if err != nil {
			t.Fatal(err)
		}
		counts := peerCounts([]int{c.peers}, pairs[0], devices)
		if len(counts) != 1 {
			t.Fatalf("counts %v", counts)
		}
		var got []string
		for _, d := range peerDevices(counts[0], pairs[0], devices) {
			if d.Backend == "host" {
				got = append(got, "c")
			} else {
				got = append(got, fmt.Sprint(d.Index))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%d GPUs, %s, %d peers: on %v, want %s", c.gpus, c.pair, c.peers, got, c.want)
		}
	}
	devices, _ := machine(4)
	if got := fmt.Sprint(peerCounts([]int{AllPeers, 0, 2, 5}, devicePair{devices[0], devices[1]}, devices)); got != "[0 2 5]" {
		t.Errorf("all, 0, 2 and 5 peers for two of four GPUs: %s", got)
	}
}

// Each number of peers has processes of its own, and none differs from a plan without the flag.
func TestPlanPeers(t *testing.T) {
	c := goodConfig()
	without, err := NewPlan(c, sites(0))
	if err != nil {
		t.Fatal(err)
	}
	c.Peers = []int{0, 2}
	p, err := NewPlan(c, sites(0))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Groups) != 2 || len(p.Groups[0].Peers) != 0 || len(p.Groups[1].Peers) != 2 || p.Groups[1].Peers[0].ID != "cpu" {
		t.Fatalf("groups %+v", p.Groups)
	}
	for i, q := range without.Cases() {
		if p.Cases()[i] != q {
			t.Errorf("case %d is %+v, without peers %+v", i, p.Cases()[i], q)
		}
	}
	for _, g := range p.Groups {
		for _, q := range g.Cases {
			if q.Case.Peers != len(g.Peers) || q.Refuse != "" {
				t.Errorf("%+v among %d peers", q, len(g.Peers))
			}
		}
	}
}

func TestPeersRefused(t *testing.T) {
	const size = 2 << 20
	cpu := share.DeviceInfo{ID: "cpu", Backend: "host"}
	gpu := func(n int, halves int64) share.DeviceInfo {
		return share.DeviceInfo{ID: fmt.Sprintf("GPU-%d", n), Backend: "cuda", Index: n, FreeBytes: 2*halves*size + 1}
	}
	devices := []share.DeviceInfo{gpu(0, 2), gpu(1, 2), gpu(2, 2), cpu}
	for _, c := range []struct {
		p, c   int // in devices
		peers  []int
		copies bool
		want   string
	}{
		{0, 1, []int{2}, false, ""},
		{0, 1, []int{2, 2}, false, ""},
		{0, 1, []int{2, 2, 2}, false, "does not fit: needs 6 MiB on GPU-2 (buffer, local copy, live mappings and a buffer of each process)"},
		{0, 0, nil, false, ""},
		{0, 0, []int{1}, false, "needs 8 MiB on GPU-0"}, // the pair's own mesh
		{0, 1, []int{2}, true, "staged shares no memory that peers could map"},
		{0, 3, []int{1}, false, "GPU-0 and cpu are not of one kind"},
		{3, 0, []int{3}, false, "cpu and GPU-0 are not of one kind"},
		{0, 3, nil, false, ""},
	} {
		g := &Group{Producer: devices[c.p], Consumer: devices[c.c]}
		for _, i := range c.peers {
			g.Peers = append(g.Peers, devices[i])
		}
		got := refusal(share.Case{Path: "staged", Size: size, Peers: len(c.peers)}, g, c.copies, devices)
		if got == "" != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestValidatePeers(t *testing.T) {
	for _, c := range []struct {
		peers []int
		same  bool
		want  string
	}{
		{[]int{0, 64, AllPeers}, false, ""},
		{[]int{0}, true, ""},
		{[]int{65}, false, "--peers 65: must be from 0 to 64, or all, such as 2"},
		{[]int{-2}, false, "--peers -2: must be"},
		{[]int{2}, true, "--peers and --same-process exclude each other"},
		{[]int{AllPeers}, true, "--peers and --same-process exclude each other"},
	} {
		cfg := goodConfig()
		cfg.Peers, cfg.SameProcess = c.peers, c.same
		err := cfg.Validate()
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

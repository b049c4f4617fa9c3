package bench

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gpushare-bench/share"
	"gpushare-bench/share/sharetest"
)

// sites is a host with sharetest's rows and free bytes of memory.
func sites(free int64) []Site {
	return []Site{{Backend: sharetest.Backend{}, Inventory: share.Inventory{Devices: []share.DeviceInfo{{ID: "cpu", Backend: "host", FreeBytes: free}}}}}
}

// The plan is the join of everything that was asked for, and each case has an index of its own.
func TestPlanJoins(t *testing.T) {
	c := goodConfig()
	c.Sizes = []int64{4096, 8192}
	c.Caches = []string{share.CacheCold, share.CacheWarm}
	c.Receivers = []string{share.ReceiverPolling, share.ReceiverBlocked}
	c.Transports = []string{"all"}
	c.Live = []int{0, 3}
	c.Isolate = []string{"pid", "ipc"}
	p, err := NewPlan(c, sites(0))
	if err != nil {
		t.Fatal(err)
	}
	// Ways: fake with file and none, by scm-rights and pidfd; fake-key with file, by bytes.
	if n := len(p.Cases()); n != (2*2+1)*2*2*2*2 {
		t.Errorf("%d cases", n)
	}
	if len(p.Groups) != 2 {
		t.Errorf("%d groups, want one a cache state", len(p.Groups))
	}
	seen := map[share.Case]bool{}
	for i, q := range p.Cases() {
		if q.Index != i || seen[q.Case] || q.Refuse != "" || q.Link != "cpu" || q.Case.Variant != "isolate=pid+ipc" {
			t.Fatalf("case %d: %+v", i, q)
		}
		seen[q.Case] = true
		if (q.Case.Path == "fake-key") != (q.Case.Transport == share.TransportBytes) {
			t.Errorf("%s travels by %s", q.Case.Path, q.Case.Transport)
		}
	}
}

func TestPlanRefuses(t *testing.T) {
	for _, c := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Paths = []string{"fkae"} }, `--path "fkae": not one of fake, fake-key. Did you mean "fake"?`},
		{func(c *Config) { c.Allocators = []string{"fiel"} }, `Did you mean "file"?`},
		{func(c *Config) { c.Paths, c.Allocators = []string{"fake-key"}, []string{"none"} }, "nothing to measure: no path joins an allocator and a consumer"},
		{func(c *Config) { c.Paths, c.Transports = []string{"fake"}, []string{share.TransportBytes} }, "nothing to measure"},
		{func(c *Config) { c.Pairs = []string{"cpu:3"} }, `no device "3"`},
	} {
		cfg := goodConfig()
		c.change(cfg)
		if _, err := NewPlan(cfg, sites(0)); !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// The same seed gives the same order; repeats and other seeds give others; groups stay whole, and nothing is lost.
func TestPlanOrder(t *testing.T) {
	order := func(seed uint64, repeat int) []string {
		c := goodConfig()
		c.Seed = seed
		c.Sizes = []int64{4096, 8192, 16384, 32768, 65536}
		c.Caches = []string{share.CacheCold, share.CacheWarm}
		p, err := NewPlan(c, sites(0))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, g := range p.Order(repeat) {
			for _, q := range g.Cases {
				names = append(names, q.Case.String())
				if q.Case.Cache != g.Cache {
					t.Errorf("case %s is in the group of %s", q.Case, g.Cache)
				}
			}
		}
		var unshuffled []string
		for _, q := range p.Cases() {
			unshuffled = append(unshuffled, q.Case.String())
		}
		if slices.Equal(unshuffled, names) {
			t.Error("the order was not shuffled")
		}
		if !slices.Equal(slices.Sorted(slices.Values(unshuffled)), slices.Sorted(slices.Values(names))) {
			t.Error("the shuffled plan has other cases")
		}
		return names
	}
	first := order(1, 0)
	if !slices.Equal(first, order(1, 0)) {
		t.Error("the same seed gave another order")
	}
	if slices.Equal(first, order(1, 1)) || slices.Equal(first, order(2, 0)) {
		t.Error("another repeat or seed gave the same order")
	}
	// Sizes of one path are not measured one after the other: drift would look like an effect of size.
	if slices.IsSortedFunc(first[:15], strings.Compare) {
		t.Error("sizes in order")
	}
}

func TestTooLarge(t *testing.T) {
	cpu := share.DeviceInfo{ID: "cpu", Backend: "host"}
	gpu := share.DeviceInfo{ID: "GPU-1", Backend: "cuda"}
	huge := share.DeviceInfo{ID: "cpu", Backend: "host", Details: map[string]string{"huge_page_bytes": "33554432"}}
	page := int64(os.Getpagesize())
	with := func(d share.DeviceInfo, free int64) share.DeviceInfo { d.FreeBytes = free; return d }
	for _, c := range []struct {
		c    share.Case
		p, q share.DeviceInfo
		fits bool
	}{
		{share.Case{Size: 1 << 40}, cpu, cpu, true}, // not known what is free: the system decides
		{share.Case{Size: 1 << 20}, with(cpu, 4<<20), with(cpu, 4<<20), true},
		{share.Case{Size: 1<<20 + 1}, with(cpu, 4<<20), with(cpu, 4<<20), false},                              // buffer and local copy on one device
		{share.Case{Size: 1 << 20, Live: 1}, with(cpu, 4<<20), with(cpu, 4<<20), false},                       // and another buffer
		{share.Case{Size: 1 << 20, Offset: 8}, with(cpu, 4<<20), with(cpu, 4<<20), false},                     // and what lies before the range
		{share.Case{Size: 1 << 20}, with(cpu, 2<<20), with(gpu, 4<<20), true},                                 // one on each
		{share.Case{Size: 1<<20 + 1}, with(cpu, 2<<20), with(gpu, 1<<40), false},                              // the producer's is too small
		{share.Case{Size: 2<<20 + 1}, with(cpu, 1<<40), with(gpu, 4<<20), false},                              // the consumer's is too small
		{share.Case{Allocator: "vmm", Size: 4 << 10, Live: 99}, with(gpu, 404<<20), with(gpu, 404<<20), true}, // 2 MiB each
		{share.Case{Allocator: "vmm", Size: 4 << 10, Live: 99}, with(gpu, 403<<20), with(gpu, 403<<20), false},
		{share.Case{Allocator: "vmm", Size: 2 << 20, Offset: 8, Live: 99}, with(gpu, 804<<20), with(gpu, 804<<20), true}, // 4 MiB each
		{share.Case{Allocator: "vmm", Size: 2 << 20, Offset: 8, Live: 99}, with(gpu, 803<<20), with(gpu, 803<<20), false},
		{share.Case{Allocator: "memfd", Size: page, Live: 97}, with(cpu, 200*page), with(cpu, 200*page), true},
		{share.Case{Allocator: "memfd", Size: 8, Live: 97}, with(cpu, 200*page), with(cpu, 200*page), true},
		{share.Case{Allocator: "memfd", Size: 8, Live: 99}, with(cpu, 200*page), with(cpu, 200*page), false},
		{share.Case{Allocator: "memfd-huge", Size: 8, Live: 9}, with(huge, 641<<20), with(huge, 641<<20), true}, // 32 MiB each
		{share.Case{Allocator: "memfd-huge", Size: 8, Live: 9}, with(huge, 640<<20), with(huge, 640<<20), false},
		{share.Case{Size: share.MaxSize, Live: 1_000_000, Offset: share.MaxSize}, with(cpu, 1<<62), with(cpu, 1<<62), false}, // no overflow
	} {
		why := tooLarge(c.c, devicePair{c.p, c.q}, false, []share.DeviceInfo{c.p, c.q})
		if (why == "") != c.fits {
			t.Errorf("%+v on %d and %d free: %q", c.c, c.p.FreeBytes, c.q.FreeBytes, why)
		}
		if !c.fits && (!strings.Contains(why, "does not fit") || strings.Contains(why, "-")) && !strings.Contains(why, "GPU-1") {
			t.Errorf("reason %q", why)
		}
	}
}

// A path that copies takes the consumer's copies and memory of the host; some allocators of GPUs take the host's alone.
func TestTooLargeElsewhere(t *testing.T) {
	const size = 2 << 20
	for _, c := range []struct {
		allocator              string
		live                   int
		copies                 bool
		producer, consumer, at int64 // halves of what is free, in sizes; at: of the host
		short                  string
	}{
		{"device", 0, false, 1, 1, 0, ""},
		{"device", 0, true, 1, 2, 1, ""},
		{"device", 0, true, 1, 1, 1, "GPU-2"},
		{"device", 2, true, 3, 4, 1, ""},
		{"device", 2, true, 3, 3, 1, "GPU-2"},
		{"device", 2, true, 2, 4, 1, "GPU-1"},
		{"device", 1, true, 2, 3, 0, "cpu"},
		{"pinned", 2, false, 0, 1, 3, ""},
		{"pinned", 2, false, 9, 1, 2, "cpu"},
		{"vmm-host", 0, true, 0, 2, 1, "cpu"},
		{"vmm-host", 0, true, 0, 2, 2, ""},
	} {
		free := func(id, backend string, n int64) share.DeviceInfo {
			return share.DeviceInfo{ID: id, Backend: backend, FreeBytes: 2*n*size + 1}
		}
		p, q := free("GPU-1", "cuda", c.producer), free("GPU-2", "cuda", c.consumer)
		devices := []share.DeviceInfo{p, q, free("cpu", "host", c.at)}
		why := tooLarge(share.Case{Allocator: c.allocator, Size: size, Live: c.live}, devicePair{p, q}, c.copies, devices)
		if (why == "") != (c.short == "") || !strings.Contains(why, c.short) {
			t.Errorf("%+v: %q", c, why)
		}
	}
}

func TestTransports(t *testing.T) {
	for _, c := range []struct {
		carrier share.Carrier
		asked   string
		want    string
	}{
		{share.FD, "", "scm-rights"}, {share.FD, "default", "scm-rights"}, {share.FD, "all", "scm-rights pidfd"},
		{share.FD, "pidfd", "pidfd"}, {share.FD, "pidfd scm-rights", "scm-rights pidfd"}, {share.FD, "bytes", ""},
		{share.Key, "", "bytes"}, {share.Key, "all", "bytes"}, {share.Key, "scm-rights", ""}, {share.Key, "bytes", "bytes"},
		{share.FDAndKey, "", "scm-rights"}, {share.FDAndKey, "all", "scm-rights pidfd"},
	} {
		if got := strings.Join(transports(c.carrier, strings.Fields(c.asked)), " "); got != c.want {
			t.Errorf("%v, %q: %q, want %q", c.carrier, c.asked, got, c.want)
		}
	}
}

func TestDefaultTimeLimit(t *testing.T) {
	for _, c := range []struct {
		groups, repeats int
		want            time.Duration
	}{{1, 1, 110 * time.Second}, {3, 1, 110 * time.Second}, {2, 2, 2 * time.Minute}, {64, 1, 32 * time.Minute}} {
		p := &Plan{Groups: make([]Group, c.groups)}
		if got := p.DefaultTimeLimit(c.repeats); got != c.want {
			t.Errorf("%d groups, %d repeats: %v, want %v", c.groups, c.repeats, got, c.want)
		}
	}
}

package kernels

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// entry is a kernel as the PTX has it.
type entry struct {
	params []string // types of its parameters
	body   string
}

var (
	entryRE = regexp.MustCompile(`(?s)\.visible \.entry (\w+)\((.*?)\)\n(.*?\n\})`)
	paramRE = regexp.MustCompile(`\.param (\.\w+)`)
)

func entries(t *testing.T) map[string]entry {
	t.Helper()
	all := map[string]entry{}
	for _, m := range entryRE.FindAllStringSubmatch(PTX, -1) {
		e := entry{body: m[3]}
		for _, p := range paramRE.FindAllStringSubmatch(m[2], -1) {
			e.params = append(e.params, p[1])
		}
		all[m[1]] = e
	}
	if len(all) == 0 {
		t.Fatal("no kernel in ptx/kernels.ptx")
	}
	return all
}

func TestPTXParameters(t *testing.T) {
	const p, q, w = ".u64", ".u64", ".u32" // pointer, 64-bit number, 32-bit number
	want := map[string][]string{
		Fill:      {p, q, q},
		Verify:    {p, q, q, p},
		Read:      {p, q, p},
		Write:     {p, q, w},
		Copy:      {p, p, q},
		Evict:     {p, q, p},
		ChaseInit: {p, q, q, q, q},
		Chase:     {p, q, p},
		Gate:      {p, q, p},
	}
	got := entries(t)
	if len(got) != len(Names()) || len(want) != len(Names()) {
		t.Errorf("PTX has %d kernels, Names %d, this test %d", len(got), len(Names()), len(want))
	}
	for _, name := range Names() {
		if e, ok := got[name]; !ok {
			t.Errorf("no kernel %s in the PTX", name)
		} else if !slices.Equal(e.params, want[name]) {
			t.Errorf("%s takes %v, want %v", name, e.params, want[name])
		}
	}
}

func TestPTXRunsFromVoltaOn(t *testing.T) {
	for _, line := range []string{"\n.version 6.4\n", "\n.target sm_70\n", "\n.address_size 64\n"} {
		if !strings.Contains(PTX, line) {
			t.Errorf("PTX lacks %q", strings.TrimSpace(line))
		}
	}
}

// The bandwidth kernels are as fast as their memory instructions: 16 bytes
// each, with the intended cache policy, and nothing spilled.
func TestPTXMemoryInstructions(t *testing.T) {
	type counts map[string]int
	want := map[string]counts{
		Fill:      {"st.global.u64": 1},
		Verify:    {"ld.global.cg.u64": 1, "red.global.add.u64": 1, "red.global.min.u64": 1, "red.global.max.u64": 1},
		Read:      {"ld.global.cs.v4.u32": 5, "st.global.u32": 1}, // four at once, one in the tail's loop, the sink
		Write:     {"st.global.cs.v4.u32": 1},
		Copy:      {"ld.global.cs.v4.u32": 1, "st.global.cs.v4.u32": 1},
		Evict:     {"ld.global.cg.v4.u32": 1, "st.global.u32": 1},
		ChaseInit: {"st.global.u64": 1},
		Chase:     {"ld.global.cg.u64": 1, "st.global.u64": 1},
		Gate:      {"ld.volatile.global.u32": 1, "st.volatile.global.u32": 1, "membar.sys": 1},
	}
	memory := regexp.MustCompile(`(?m)^\s+(?:@!?%p\d+ )?((?:ld|st|atom|red|membar)\.[\w.]+)`)
	for name, e := range entries(t) {
		got := counts{}
		for _, m := range memory.FindAllStringSubmatch(e.body, -1) {
			if !strings.HasPrefix(m[1], "ld.param.") {
				got[m[1]]++
			}
		}
		for op := range got {
			if _, ok := want[name][op]; !ok {
				t.Errorf("%s has an unexpected %s", name, op)
			}
		}
		for op, n := range want[name] {
			if got[op] != n {
				t.Errorf("%s has %d %s, want %d", name, got[op], op, n)
			}
		}
	}
	for _, bad := range []string{".local", ".shared", "call"} {
		if strings.Contains(PTX, bad) {
			t.Errorf("PTX uses %s", bad)
		}
	}
}

func TestShape(t *testing.T) {
	tests := []struct {
		kernel      string
		n           uint64
		grid, block uint32
	}{
		{Write, 0, 1, 256},
		{Write, 1, 1, 256},
		{Write, 256, 1, 256},
		{Write, 257, 2, 256},
		{Copy, 2 << 30 / 16, 524288, 256},
		{Read, 1024, 1, 256},
		{Read, 1025, 2, 256},
		{Read, 2 << 30 / 16, 131072, 256},
		{Fill, 1 << 62, MaxGrid, 256},
		{Read, ^uint64(0), MaxGrid, 256},
		{Chase, 1 << 20, 1, 1},
		{Gate, 0, 1, 1},
	}
	for _, tt := range tests {
		if grid, block := Shape(tt.kernel, tt.n); grid != tt.grid || block != tt.block {
			t.Errorf("Shape(%s, %d) = %d, %d; want %d, %d", tt.kernel, tt.n, grid, block, tt.grid, tt.block)
		}
	}
}

func TestEvictBytes(t *testing.T) {
	for _, tt := range []struct{ l2, want uint64 }{{0, 0}, {1, 2 << 20}, {62_914_560, 251_658_240}} {
		if got := EvictBytes(tt.l2); got != tt.want {
			t.Errorf("EvictBytes(%d) = %d, want %d", tt.l2, got, tt.want)
		}
	}
}

func TestChaseParamsFit(t *testing.T) {
	for _, tt := range []struct{ size, slots uint64 }{
		{0, 0}, {255, 0}, {256, 2}, {511, 2}, {512, 4}, {4096, 32}, {3 << 20, 16384}, {1 << 62, 1 << 55}, {^uint64(0), 1 << 56},
	} {
		slots, stride, _, _ := ChaseParams(tt.size, 9)
		if slots != tt.slots || stride != SlotWords {
			t.Errorf("ChaseParams(%d): %d slots %d words apart, want %d, %d", tt.size, slots, stride, tt.slots, SlotWords)
		}
	}
}

package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gpushare-bench/bench"
	"gpushare-bench/bench/worker"
	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/gpu"
	"gpushare-bench/results"
	"gpushare-bench/share"
)

// The test binary is its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := worker.Main(context.Background(), []share.Backend{gpu.Backend{}}); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// number is an environment variable's value.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// TestSoak measures random parts of the plan, round after round with other faults, and then compares what it holds with
// what it held before.
func TestSoak(t *testing.T) {
	want, seed := int(number(t, "GPUSHARE_SOAK", 200)), number(t, "GPUSHARE_SOAK_SEED", 1)
	rnd := rand.New(rand.NewPCG(seed, 0))
	s := &soaker{t: t, dir: t.TempDir(), counts: map[share.Status]int{}, paths: map[string]int{}, told: map[int]bool{}}
	s.env = cudatest.Machine(t, "new-driver")
	s.env.Setenv(t)
	tmp := filepath.Join(s.dir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", tmp)
	// What is loaded once is loaded now.
	for range 2 {
		s.round(s.config(rnd), faults{})
	}
	before := take(t, s.free())
	s.cycles, s.cases, s.rounds = 0, 0, 0
	clear(s.counts)
	clear(s.paths)
	start := time.Now()
	for s.cycles < want {
		s.round(s.config(rnd), someFaults(rnd))
	}
	// After all that a machine without faults is measured as ever.
	c := s.config(rnd)
	c.Paths, c.Pairs, c.SameProcess = nil, []string{"0:0", "0:1"}, false
	s.round(c, faults{})
	if n := s.last[share.StatusFailed] + s.last[share.StatusTimeout] + s.last[share.StatusCorrupt]; n > 0 || s.last[share.StatusOK] == 0 {
		t.Errorf("the last round, without faults: %v", s.last)
	}
	after := take(t, s.free())
	compare(t, before, after)
	t.Logf("seed %d: %d cycles of %d cases in %d rounds, %.0f s", seed, s.cycles, s.cases, s.rounds, time.Since(start).Seconds())
	t.Logf("cases by status: %v", s.counts)
	t.Logf("cycles by path: %v", s.paths)
	t.Logf("before: %v", before)
	t.Logf("after:  %v", after)
}

// soaker counts what was run.
type soaker struct {
	t        *testing.T
	env      cudatest.Env
	dir      string
	reported int // lines of the emulated driver's report seen so far

	rounds, cases, cycles int
	counts, last          map[share.Status]int
	paths                 map[string]int // finished cycles
	told                  map[int]bool   // processes that are known to have ended with a context
}

// config draws what a round measures.
func (s *soaker) config(rnd *rand.Rand) *bench.Config {
	one := func(list ...string) []string { return []string{list[rnd.IntN(len(list))]} }
	var paths []string
	for _, x := range (gpu.Backend{}).Exporters() {
		paths = append(paths, x.Path.Name)
	}
	rnd.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	// Without chase, which follows addresses in the buffer: bytes that were made wrong would lead it anywhere.
	c := &bench.Config{Paths: paths[:2], Pairs: one("0:0", "0:1", "1:0"), Sizes: []int64{8 << rnd.IntN(19)},
		Transports: one("default", "all"), Receivers: one(share.ReceiverPolling, share.ReceiverBlocked), Caches: one(share.CacheWarm, share.CacheCold),
		Kernels: []share.Kernel{share.KernelRead, share.KernelCopy, share.KernelMemcpy, share.KernelMemcpyBoth}, Live: []int{rnd.IntN(2) * rnd.IntN(4)},
		Precision: 0.02, MinSamples: 4, MaxSamples: 4 + rnd.IntN(20), MaxTime: 5 * time.Second,
		CaseTimeout: time.Second, Repeats: 1, Seed: rnd.Uint64(), Verify: true, SameProcess: rnd.IntN(8) == 0}
	if rnd.IntN(3) == 0 {
		c.Offset = 1 << 20
	}
	if !c.SameProcess {
		c.Peers = []int{int(c.Seed % 3)}
	}
	return c
}

// round measures a plan under faults and checks what can be checked at its end.
func (s *soaker) round(c *bench.Config, f faults) {
	t := s.t
	t.Helper()
	s.rounds++
	name := fmt.Sprintf("round %d: paths %v, pair %v, size %d, offset %d, live %d, peers %v, same process %v, faults %v",
		s.rounds, c.Paths, c.Pairs, c.Sizes[0], c.Offset, c.Live[0], c.Peers, c.SameProcess, f)
	if len(f.rules) == 0 {
		c.CaseTimeout = time.Minute // nothing hangs: a busy machine is no fault
	}
	if err := c.Validate(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	// Not t.Setenv, which remembers every value until the end.
	if err := os.Setenv("GPUSHARE_EMULATED_FAULTS", f.String()); err != nil {
		t.Fatal(err)
	}
	l := &bench.Launcher{Exe: "/proc/self/exe", Args: []string{"worker"}}
	defer l.Close()
	plan, err := bench.NewPlan(c, []bench.Site{{Backend: gpu.Backend{}, Inventory: s.look(l)}})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	path := filepath.Join(s.dir, results.JournalName)
	j, err := results.Create(path, results.Header{Schema: results.SchemaVersion, Tool: "test", Run: "r", Host: "h", Seed: c.Seed,
		Planned: len(plan.Cases()), Repeats: 1, Backend: "cuda", Devices: plan.Devices, Emulated: "new-driver"})
	if err != nil {
		t.Fatal(err)
	}
	r := &bench.Runner{Config: c, Plan: plan, Launcher: l, Record: j.Append}
	out, err := r.Run(t.Context())
	if err := j.Close(); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	run, err := results.Load(path)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if len(run.Dropped) > 0 || len(run.Cases) != len(plan.Cases()) {
		t.Errorf("%s: %d lines in the journal for %d cases; dropped: %v", name, len(run.Cases), len(plan.Cases()), run.Dropped)
	}
	s.count(run, out)
	if testing.Verbose() {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, out.Counts)
	}
	if left := children(t); len(left) > 0 {
		t.Errorf("%s: processes left: %q", name, left)
	}
	s.checkReport(name, f, c.SameProcess)
}

// count adds up what a round came to.
func (s *soaker) count(run *results.Run, out bench.Outcome) {
	s.last = out.Counts
	for status, n := range out.Counts {
		s.counts[status] += n
	}
	s.cases += len(run.Cases)
	for _, c := range run.Cases {
		for _, m := range c.Metrics {
			if m.Name == share.Export.String() {
				n := len(m.Samples)
				if m.First != nil {
					n++
				}
				s.cycles += n
				s.paths[c.Case.Path] += n
			}
		}
	}
}

// checkReport wants no rule of the driver broken, and nothing left by processes that ended in order. Within one process some
// handles can't be opened, which only the answer tells.
func (s *soaker) checkReport(name string, f faults, same bool) {
	t := s.t
	t.Helper()
	entries, err := s.env.ReadReport()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries[min(s.reported, len(entries)):] {
		told := e.Class == cudatest.Unreleased && s.told[e.PID]
		s.told[e.PID] = s.told[e.PID] || e.Class == cudatest.Unreleased
		switch {
		case told: // in an earlier round, and again until another process takes its place in the driver's table
		case e.Class == cudatest.OK, e.Class == cudatest.Unreleased && len(f.rules) > 0:
		case same && e.Class == cudatest.Refused:
		case f.spoils && (e.Class != cudatest.Violation || strings.Contains(e.Text, "still has it mapped")):
		default:
			t.Errorf("%s: %v", name, e)
		}
	}
	text, err := os.ReadFile(s.env.Report)
	if err != nil {
		t.Fatal(err)
	}
	s.reported = strings.Count(string(text), "\n") // what follows is about processes that are still open, whenever asked
}

// look finds the machine's devices, which no fault of a cycle touches.
func (s *soaker) look(l *bench.Launcher) share.Inventory {
	s.t.Helper()
	inv, _, err := l.Probe(s.t.Context(), "cuda")
	if err != nil {
		s.t.Fatal(err)
	}
	return inv
}

// free is the memory of each emulated device.
func (s *soaker) free() []int64 {
	l := &bench.Launcher{Exe: "/proc/self/exe", Args: []string{"worker"}}
	defer l.Close()
	var free []int64
	for _, d := range s.look(l).Devices {
		free = append(free, d.FreeBytes)
	}
	return free
}

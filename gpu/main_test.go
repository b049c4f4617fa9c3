package gpu_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gpushare-bench/bench"
	"gpushare-bench/bench/worker"
	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/gpu"
	"gpushare-bench/results"
	"gpushare-bench/share"
	"gpushare-bench/share/sharetest"
)

// The test binary is its own worker.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		limitDescriptors()
		if err := worker.Main(context.Background(), []share.Backend{gpu.Backend{}, memfdHost{}}); err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "rows" {
		sharetest.ServeMain(gpu.Backend{})
	}
	os.Exit(m.Run())
}

// onReal reports whether the tests run on the real driver: sharetest.MachineVariable names the profile that says what it is
// expected to answer, and nothing is emulated or compiled.
func onReal() bool { return realMachine() != "" && os.Getenv(gpu.LibraryVariable) == "" }

// realMachine names the profile of the machine that the tests run on.
func realMachine() string { return os.Getenv(sharetest.MachineVariable) }

// foundDevices are the GPUs that a worker finds, in the driver's order.
func foundDevices(t *testing.T) []share.DeviceInfo {
	t.Helper()
	l := &bench.Launcher{Exe: "/proc/self/exe", Args: []string{"worker"}}
	defer l.Close()
	inv, _, err := l.Probe(t.Context(), "cuda")
	if err != nil {
		t.Fatal(err)
	}
	return inv.Devices
}

// realDevices are the GPUs of the machine that the tests run on, in the driver's order.
func realDevices(t *testing.T) []string {
	t.Helper()
	var ids []string
	for _, d := range foundDevices(t) {
		ids = append(ids, d.ID)
	}
	return ids
}

// needEmulated skips tests that inject what no real machine does when asked.
func needEmulated(t *testing.T) {
	t.Helper()
	if onReal() {
		t.Skip("only the emulated driver can be told to do this")
	}
}

// A machine is where a test runs.
type machine struct {
	profile cudatest.Profile
	env     cudatest.Env // zero on the real driver
}

// on prepares a machine: its environment is set for the rest of the test.
func on(t *testing.T, name string, options ...cudatest.Option) machine {
	t.Helper()
	if onReal() {
		p, err := cudatest.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		return machine{profile: p}
	}
	env := cudatest.Machine(t, name, options...)
	env.Setenv(t)
	return machine{env.Profile, env}
}

// check asks the emulated driver what the processes did wrong; they must all have ended.
func (m machine) check(t *testing.T, exceptions ...cudatest.Exception) {
	t.Helper()
	if m.env.Library != "" {
		m.env.CheckReport(t, exceptions...)
	}
}

func config() *bench.Config {
	return &bench.Config{Pairs: []string{"0:0"}, Sizes: []int64{100_000}, Receivers: []string{share.ReceiverPolling}, Caches: []string{share.CacheWarm},
		Kernels: share.DefaultKernels(), Precision: 0.02, MinSamples: 3, MaxSamples: 3, MaxTime: 20 * time.Second,
		CaseTimeout: 20 * time.Second, Repeats: 1, Seed: 7, Verify: true}
}

// sweep measures a plan between real processes and returns the journal as read back.
func sweep(t *testing.T, c *bench.Config) (*results.Run, bench.Outcome) {
	t.Helper()
	sharetest.BalanceFDs(t)
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	l := &bench.Launcher{Exe: exe, Args: []string{"worker"}, Isolate: c.Isolate}
	defer l.Close()
	inv, _, err := l.Probe(t.Context(), "cuda")
	if err != nil {
		t.Fatal(err)
	}
	if real := inv.Emulated == ""; real != onReal() {
		t.Fatalf("emulated machine %q", inv.Emulated)
	}
	sites := []bench.Site{{Backend: gpu.Backend{}, Inventory: inv}}
	if strings.Contains(strings.Join(c.Pairs, " "), "cpu") {
		cpu, _, err := l.Probe(t.Context(), "host")
		if err != nil {
			t.Fatal(err)
		}
		sites = append(sites, bench.Site{Backend: memfdHost{}, Inventory: cpu})
	}
	plan, err := bench.NewPlan(c, sites)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), results.JournalName)
	j, err := results.Create(path, results.Header{Schema: results.SchemaVersion, Tool: "test", Run: "r", Host: "h", Seed: c.Seed,
		Planned: len(plan.Cases()) * c.Repeats, Repeats: c.Repeats, Backend: "cuda", Devices: plan.Devices, Emulated: inv.Emulated})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	r := &bench.Runner{Config: c, Plan: plan, Launcher: l, Record: j.Append}
	out, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run, err := results.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Dropped) > 0 {
		t.Errorf("journal: %v", run.Dropped)
	}
	return run, out
}

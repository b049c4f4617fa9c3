package results

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"gpushare-bench/share"
)

// linear makes a run with a sharing path, its staged baseline and a host path whose true costs are straight lines:
//
//	cumemmap: setup 50 µs, first_touch 10 µs + 0.01 ns a byte; reads at 1000 GB/s
//	staged:   copies 2·(10 µs + 0.02 ns a byte) and an allocation of 1 ms; reads at 2000 GB/s
//	memfd:    setup 20 µs, no first_touch; memcpy at 10 GB/s
func linear(sizes ...int64) *Run {
	run := &Run{Header: Header{Schema: 1, Run: "linear", Host: "node-a", Repeats: 1}}
	about := func(ns float64, seed int64) []float64 { return samplesAbout(ns/1.05, 41, uint64(seed)) }
	for i, n := range sizes {
		b, seed := float64(n), int64(i*100)
		gpu := exampleCase("cumemmap", "vmm", n)
		gpu.Backend, gpu.Producer, gpu.Consumer = "cuda", "GPU-0", "GPU-1"
		st := gpu
		st.Path, st.Allocator, st.Transport = "staged", "device", share.TransportBytes
		run.Cases = append(run.Cases,
			CaseResult{Case: gpu, Link: "NV18", Status: share.StatusOK, Metrics: []Metric{
				{Name: "setup", Unit: Nanoseconds, Samples: about(50e3, seed+1)},
				{Name: "first_touch", Unit: Nanoseconds, Samples: about(10e3+0.01*b, seed+2)},
				{Name: "kernel/read", Unit: BytesPerSecond, Samples: about(1000e9, seed+3)}}},
			CaseResult{Case: st, Link: "NV18", Status: share.StatusOK, Metrics: []Metric{
				{Name: "export", Unit: Nanoseconds, Samples: about(10e3+0.02*b, seed+4)},
				{Name: "map", Unit: Nanoseconds, Samples: about(1e6+10e3+0.02*b, seed+5)},
				{Name: "map/cuMemAlloc", Unit: Nanoseconds, Samples: about(1e6, seed+6)},
				{Name: "map/cuMemcpyHtoD", Unit: Nanoseconds, Samples: about(10e3+0.02*b, seed+7)},
				{Name: "setup", Unit: Nanoseconds, Samples: about(1e6+20e3+0.04*b, seed+8)},
				{Name: "kernel/read", Unit: BytesPerSecond, Samples: about(2000e9, seed+9)}}},
			CaseResult{Case: exampleCase("memfd", "memfd", n), Link: "cpu", Status: share.StatusOK, Metrics: []Metric{
				{Name: "setup", Unit: Nanoseconds, Samples: about(20e3, seed+10)},
				{Name: "kernel/memcpy", Unit: BytesPerSecond, Samples: about(10e9, seed+11)}}},
		)
	}
	return run
}

func near(got, want, relative float64) bool { return math.Abs(got-want) <= relative*want }

func TestFits(t *testing.T) {
	run := linear(4<<10, 64<<10, 1<<20, 16<<20, 64<<20, 256<<20)
	fits := Fits(run)
	var got []string
	for _, f := range fits {
		got = append(got, f.Series.Path+" "+f.Metric+" "+f.Against)
		if f.Why != "" {
			t.Errorf("%s %s: %s", f.Series.Path, f.Metric, f.Why)
		}
	}
	want := "cumemmap setup staged,cumemmap setup+first_touch staged,staged setup ,memfd setup memcpy"
	if strings.Join(got, ",") != want {
		t.Fatalf("fits %q, want %q", got, want)
	}
	touch := fits[1]
	if !near(touch.Line.Latency, 60e3, 0.05) || !touch.Line.LatencyCI.Contains(touch.Line.Latency) || !near(touch.Line.Bandwidth, 100, 0.05) {
		t.Errorf("60 µs + bytes / 100 GB/s is fitted as %+v", touch.Line)
	}
	if !near(touch.FirstByte.Median, 60e3, 0.05) || touch.Low != 4<<10 || touch.High != 256<<20 || touch.Sizes != 6 {
		t.Errorf("first byte %v, sizes %d from %d to %d", touch.FirstByte.Median, touch.Sizes, touch.Low, touch.High)
	}
	// 60e3 + 0.01 b = 20e3 + 0.04 b
	if e := touch.Even; !near(e.At, 40e3/0.03, 0.2) || !e.CI.Contains(e.At) {
		t.Errorf("even from %v bytes %+v, want about %v", e.At, e.CI, 40e3/0.03)
	}
	var b bytes.Buffer
	if err := WriteFits(&b, fits); err != nil {
		t.Fatal(err)
	}
	golden(t, "fits.csv", b.Bytes())
	var again bytes.Buffer
	if err := WriteFits(&again, Fits(run)); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("fitting the same run again gives other numbers")
	}
}

func TestBreakEvens(t *testing.T) {
	const size = 1 << 20
	run := linear(4<<10, size)
	rows := BreakEvens(run)
	if len(rows) != 4 { // cumemmap and memfd, two sizes
		t.Fatalf("%d rows", len(rows))
	}
	b := rows[1]
	once, use, other := 60e3+0.01*size, size/1000., 20e3+0.04*size+size/2000.
	if b.Against != AgainstStaged || !b.Reads || !near(b.Once, once, 0.02) || !near(b.Use, use, 0.02) || !near(b.OtherUse, other, 0.02) ||
		!near(b.Uses.At, once/(other-use), 0.05) || !b.Uses.CI.Contains(b.Uses.At) {
		t.Errorf("against staging: %+v, want once %v, use %v, other %v, uses %v", b, once, use, other, once/(other-use))
	}
	b = rows[3]
	if b.Against != AgainstMemcpy || b.Reads || !near(b.Once, 20e3, 0.02) || b.Use != 0 || !near(b.OtherUse, size/10., 0.02) || !near(b.Uses.At, 20e3/(size/10.), 0.05) {
		t.Errorf("against memcpy: %+v", b)
	}
	var out bytes.Buffer
	if err := WriteBreakEvens(&out, rows); err != nil {
		t.Fatal(err)
	}
	golden(t, "breakeven.csv", out.Bytes())
}

func TestSharingMayNeverPay(t *testing.T) {
	run := linear(1 << 20)
	for i, m := range run.Cases[0].Metrics {
		if m.Name == "kernel/read" {
			run.Cases[0].Metrics[i].Samples = samplesAbout(1e9, 41, 1) // a millisecond to read
		}
	}
	if b := BreakEvens(run)[0]; !math.IsInf(b.Uses.At, 1) || b.number(b.Uses.At) != "inf" {
		t.Errorf("uses %+v", b.Uses)
	}
}

func TestWhyNoFit(t *testing.T) {
	fits := Fits(linear(4<<10, 1<<20))
	if len(fits) != 4 || fits[0].Why != "fewer than 3 sizes" || fits[0].Against != "" {
		t.Fatalf("%+v", fits)
	}
	run := linear(4<<10, 1<<20, 2<<20)
	run.Cases[0].Metrics[0].Samples[5] = 0
	if f := Fits(run)[0]; f.Why != "a sample is 0, the clock is too coarse for a fit" {
		t.Errorf("why: %q", f.Why)
	}
	run = linear(1 << 20)
	for i := range run.Cases {
		for k := range run.Cases[i].Metrics {
			run.Cases[i].Metrics[k].Samples = run.Cases[i].Metrics[k].Samples[:5]
		}
	}
	if b := BreakEvens(run)[0]; b.Why != "fewer than 6 samples" {
		t.Errorf("why: %q", b.Why)
	}
	if n := len(Fits(&Run{})) + len(BreakEvens(&Run{})); n != 0 {
		t.Errorf("%d rows of an empty run", n)
	}
	if got := notMeasured(); !math.IsNaN(got.Median) || got.CI.Estimable() || got.N != 0 {
		t.Errorf("%+v", got)
	}
}

func BenchmarkFits(b *testing.B) {
	var sizes []int64
	for i := range 20 {
		sizes = append(sizes, 4096<<i)
	}
	run := linear(sizes...)
	for b.Loop() {
		Fits(run)
	}
}

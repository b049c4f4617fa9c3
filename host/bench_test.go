package host

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"gpushare-bench/share"
)

// BenchmarkKernels compares the kernels with testdata/bandwidth.c, compiled here with -O3 -march=native, on as many threads
// and in turns, so that both see the same machine. "ratio" is the kernel's bandwidth over that of the C loop, of the best
// sample of each, as STREAM does it: what else runs on the machine only ever makes a sample slower. "median-ratio" is that
// of the medians.
//
//	go test -run '^$' -bench Kernels -benchtime 5x ./host
func BenchmarkKernels(b *testing.B) {
	if _, err := exec.LookPath("gcc"); err != nil {
		b.Skip("needs gcc to compile testdata/bandwidth.c")
	}
	program := filepath.Join(b.TempDir(), "bandwidth")
	if out, err := exec.Command("gcc", "-O3", "-march=native", "-pthread", "-o", program, "testdata/bandwidth.c").CombinedOutput(); err != nil {
		b.Fatalf("gcc: %v\n%s", err, out)
	}
	for _, cold := range []bool{true, false} {
		cache := share.CacheWarm
		if cold {
			cache = share.CacheCold
		}
		for _, k := range []share.Kernel{share.KernelRead, share.KernelWrite, share.KernelCopy} {
			b.Run(fmt.Sprintf("%s/256MiB/%s", k, cache), func(b *testing.B) { compare(b, program, k, 256<<20, cold) })
		}
	}
}

// compare runs both sides in turns, b.N times.
func compare(b *testing.B, program string, k share.Kernel, size int64, cold bool) {
	const samples = 11
	d := open(b, share.Options{Cold: cold})
	tape := share.NewTape(nil)
	args := []string{string(k), strconv.FormatInt(size, 10), strconv.Itoa(len(d.team.parts)), strconv.Itoa(samples)}
	if cold {
		args = append(args, "cold")
	}
	var ours, theirs, theirBest []float64
	for b.Loop() {
		out, err := exec.Command(program, args...).Output()
		must(b, err)
		var mid, best float64
		if _, err := fmt.Sscan(string(out), &mid, &best); err != nil {
			b.Fatalf("bandwidth printed %q: %v", out, err)
		}
		theirs, theirBest = append(theirs, mid), append(theirBest, best)
		// New memory every time, as the C program has: where pages lie matters.
		buf, err := allocMemfd(tape, d, share.Request{Bytes: size})
		must(b, err)
		must(b, d.Fill(buf.Region(), 1))
		for range samples {
			e, err := d.RunKernel(k, buf.Region())
			must(b, err)
			ours = append(ours, float64(e.Bytes)/e.Nanoseconds*1e9)
		}
		must(b, buf.Release(tape))
		tape.Reset(0)
	}
	b.ReportMetric(slices.Max(ours)/1e9, "GB/s")
	b.ReportMetric(slices.Max(theirBest)/1e9, "C-GB/s")
	b.ReportMetric(slices.Max(ours)/slices.Max(theirBest), "ratio")
	b.ReportMetric(median(ours)/median(theirs), "median-ratio")
	b.ReportMetric(0, "ns/op")
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

package results

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/perf/benchfmt"

	"gpushare-bench/share"
)

// WriteBenchfmt writes the samples of runs in the Go benchmark format (https://go.dev/design/14313-benchmark-format), one
// line a sample, for benchstat and its relatives:
//
//	BenchmarkShare/path=memfd/alloc=memfd/pair=cpu:cpu/transport=scm-rights/receiver=polling/cache=cold/size=4096/metric=export 1 1042.3 ns/op
//
// The unit is ns/op for times and B/s for rates. A "/" inside a value is written as ".", so that kernel/read becomes
// metric=kernel.read; offset, live, peers and variant appear where they are not zero. GPUs are named by their index: the UUIDs
// of two machines never match. First cycles are left out. Run, host and devices are in comment lines, because benchstat
// does not compare across different configurations; the one configuration key that tells files apart is "emulated".
func WriteBenchfmt(w io.Writer, run *Run) error {
	bw := bufio.NewWriterSize(w, 1<<16)
	h := &run.Header
	fmt.Fprintf(bw, "# run %s on %s, %s %s\n", oneWord(h.Run), oneWord(h.Host), oneWord(h.Tool), oneWord(h.Version))
	labels := make(map[string]string)
	for _, d := range h.Devices {
		labels[d.ID] = deviceLabel(d)
		fmt.Fprintf(bw, "# device %s: %s\n", labels[d.ID], cell(d.Name))
	}
	config := []benchfmt.Config{{Key: "tool", Value: []byte("gpushare-bench"), File: true}}
	if h.Emulated != "" {
		config = append(config, benchfmt.Config{Key: "emulated", Value: []byte(oneWord(h.Emulated)), File: true})
	}
	fw := benchfmt.NewWriter(bw)
	for i := range run.Cases {
		c := &run.Cases[i]
		name := benchmarkName(c.Case, labels)
		for _, m := range c.Metrics {
			unit := m.Unit
			if unit == Nanoseconds {
				unit = "ns/op"
			}
			r := benchfmt.Result{Config: config, Name: benchfmt.Name(name + "/metric=" + oneWord(m.Name)), Iters: 1,
				Values: []benchfmt.Value{{Unit: unit}}}
			for _, v := range m.Samples {
				r.Values[0].Value = v
				if err := fw.Write(&r); err != nil {
					return err
				}
			}
		}
	}
	return bw.Flush() // bufio keeps the first error
}

// deviceLabel names a device as the command line does: its index, or "cpu".
func deviceLabel(d share.DeviceInfo) string {
	if d.Backend == "host" {
		return oneWord(d.ID)
	}
	return strconv.Itoa(d.Index)
}

func benchmarkName(c share.Case, labels map[string]string) string {
	label := func(id string) string {
		if l, ok := labels[id]; ok {
			return l
		}
		return oneWord(id)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Share/path=%s/alloc=%s/pair=%s:%s/transport=%s/receiver=%s/cache=%s/size=%d", oneWord(c.Path), oneWord(c.Allocator),
		label(c.Producer), label(c.Consumer), oneWord(c.Transport), oneWord(c.Receiver), oneWord(c.Cache), c.Size)
	if c.Offset != 0 {
		fmt.Fprintf(&b, "/offset=%d", c.Offset)
	}
	if c.Live != 0 {
		fmt.Fprintf(&b, "/live=%d", c.Live)
	}
	if c.Peers != 0 {
		fmt.Fprintf(&b, "/peers=%d", c.Peers)
	}
	if c.Variant != "" {
		fmt.Fprintf(&b, "/variant=%s", oneWord(c.Variant))
	}
	return b.String()
}

// oneWord makes a text fit into a benchmark's name: without white space, control characters and slashes.
func oneWord(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '/':
			return '.'
		case unicode.IsSpace(r) || unicode.IsControl(r):
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

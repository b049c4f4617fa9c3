package sharetest

import (
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"

	"gpushare-bench/share"
)

// An Expectation is what a machine is known to answer for a path and an allocator.
type Expectation struct {
	Refused []share.Phase // phases in which it declines, any of them; empty: it grants all
	Answers []string      // parts of the system's answer, any of them; empty: any answer
}

// A Contract is what every row of a backend must obey, checked between two processes that do with the rows what a worker
// does. The rules: unique names; an importer for every exporter; known allocators; calls recorded under the
// phases of their half, refused ones as refused; a refusal with operation and answer; the pattern at the right words for
// odd sizes and offsets; two uses of one buffer at a time; errors for handles that are none; and no descriptor or memory
// left behind.
type Contract struct {
	Backend            share.Backend
	Producer, Consumer string           // IDs of the devices
	Command            func() *exec.Cmd // starts this test binary so that it calls ServeMain
	// Expect says what the machine is known to answer. nil: a refusal skips the case, see SkipIfUnsupported.
	Expect func(p share.Path, allocator string) Expectation
	Sizes  []int64 // of shared buffers, bytes; nil: DefaultSizes
	// Steps is told, once for each path and allocator, what both ends recorded in one cycle, in order; may be nil.
	Steps func(path, allocator string, spans []share.Span)
	Once  []string // paths whose buffers a process can import only once at a time
}

// DefaultSizes are sizes that are no multiple of 8, of 16, of a page or of a granule, and some that are.
var DefaultSizes = []int64{1, 15, 5003, 2<<20 + 24}

// contractOffset is where the shared range starts in an allocation that shares its inside.
const contractOffset = 1 << 20

// Run holds the backend to the contract.
func (c *Contract) Run(t *testing.T) {
	if c.Sizes == nil {
		c.Sizes = DefaultSizes
	}
	t.Run("rows", c.rows)
	prod, cons := start(t, c.Command(), "producer"), start(t, c.Command(), "consumer")
	prod.must(t, request{Do: "open", Device: c.Producer})
	cons.must(t, request{Do: "open", Device: c.Consumer})
	for _, x := range c.Backend.Exporters() {
		for _, a := range x.Allocators {
			t.Run(x.Path.Name+"/"+a, func(t *testing.T) {
				r := &contractRun{c: c, t: t, prod: prod, cons: cons, exp: x, allocator: a}
				r.run()
			})
		}
	}
	cons.must(t, request{Do: "close"})
	prod.must(t, request{Do: "close"})
	for _, p := range []*rowPeer{cons, prod} {
		if err := p.stop(); err != nil {
			t.Error(err)
		}
	}
}

// rows checks what can be told without a device.
func (c *Contract) rows(t *testing.T) {
	var allocators, importers, exporters []string
	for _, a := range c.Backend.Allocators() {
		if a.Name == "" || a.Summary == "" || a.Alloc == nil || slices.Contains(allocators, a.Name) {
			t.Errorf("allocator %q: must have a name of its own, a summary and a function", a.Name)
		}
		allocators = append(allocators, a.Name)
	}
	for _, m := range c.Backend.Importers() {
		if m.Path.Name == "" || m.Import == nil || slices.Contains(importers, m.Path.Name) {
			t.Errorf("importer %q: must have a name of its own and a function", m.Path.Name)
		}
		importers = append(importers, m.Path.Name)
	}
	for _, x := range c.Backend.Exporters() {
		p := x.Path
		if p.Name == "" || p.Summary == "" || p.Carrier == 0 || x.Export == nil || slices.Contains(exporters, p.Name) {
			t.Errorf("exporter %q: must have a name of its own, a summary, a carrier and a function", p.Name)
		}
		exporters = append(exporters, p.Name)
		if !slices.Contains(importers, p.Name) {
			t.Errorf("path %s: nobody imports what it exports", p.Name)
		}
		if len(x.Allocators) == 0 {
			t.Errorf("path %s: no allocator could work", p.Name)
		}
		for i, a := range x.Allocators {
			if !slices.Contains(allocators, a) || slices.Contains(x.Allocators[:i], a) {
				t.Errorf("path %s: allocator %q is unknown or named twice", p.Name, a)
			}
		}
	}
}

// contractRun is one path with one allocator.
type contractRun struct {
	c          *Contract
	t          *testing.T
	prod, cons *rowPeer
	exp        share.Exporter
	allocator  string
	seed       uint64
	steps      []share.Span // of the first cycle
}

func (r *contractRun) run() {
	r.seed = 1
	// The first cycle of a kind may make a library open or keep something for good.
	granted := r.cycle(r.c.Sizes[0], 0)
	if r.c.Steps != nil {
		r.c.Steps(r.exp.Path.Name, r.allocator, r.steps)
	}
	if !granted {
		return
	}
	for _, size := range r.c.Sizes {
		r.cycle(size, 0)
		r.cycle(size, contractOffset)
	}
	// Now nothing is new any more: whatever another round leaves behind is lost.
	before := r.state()
	for _, size := range r.c.Sizes {
		r.cycle(size, contractOffset)
	}
	r.balanced(before, "a cycle of each size")
	before = r.state()
	r.twice()
	r.balanced(before, "two imports at a time")
	r.garbage()
	r.cycle(r.c.Sizes[0], 0)
}

// balance is what both ends hold.
type balance struct{ prod, cons *reply }

func (r *contractRun) state() balance {
	q := request{Do: "state", Handle: share.NoHandle()}
	return balance{r.prod.must(r.t, q), r.cons.must(r.t, q)}
}

// balanced compares with a state before.
func (r *contractRun) balanced(before balance, what string) {
	r.t.Helper()
	now := r.state()
	for _, x := range []struct {
		who  string
		a, b *reply
	}{{"producer", before.prod, now.prod}, {"consumer", before.cons, now.cons}} {
		if d := FDDifference(x.a.FDs, x.b.FDs); d != "" {
			r.t.Errorf("%s after %s has descriptors:\n%s", x.who, what, d)
		}
		// More free memory than before is what a driver gives back late.
		if x.b.Free < x.a.Free {
			r.t.Errorf("%s after %s: %d bytes of the device free, %d before", x.who, what, x.b.Free, x.a.Free)
		}
	}
}

// cycle shares one buffer and takes everything down again. It reports whether the machine granted it.
func (r *contractRun) cycle(size, offset int64) bool {
	t, seed, back := r.t, r.seed, r.seed+1
	t.Helper()
	r.seed += 2
	want := share.Request{Bytes: size, Offset: offset, Handles: r.exp.Handles}
	a := r.prod.order(t, request{Do: "allocate", Allocator: r.allocator, Want: want, Seed: seed})
	if !r.granted(a, share.Allocate) {
		return false
	}
	r.spans(a, "allocate", share.Allocate)
	if a.Taken < size+offset || a.Region.Bytes != size || a.Region.First != uint64(offset/8) {
		t.Fatalf("allocate %d bytes at %d: took %d, region %+v", size, offset, a.Taken, a.Region)
	}
	h, ok := r.export(0, want)
	if !ok {
		r.release(0)
		return false
	}
	i := r.cons.order(t, request{Do: "import", Path: r.exp.Path.Name, Handle: h})
	closeHandle(h)
	if !r.granted(i, share.Import, share.Map) {
		r.release(0)
		return false
	}
	r.spans(i, "import", share.Map, share.Import)
	if i.Region.Bytes != size || i.Region.First != uint64(offset/8) {
		t.Errorf("mapping of %d bytes at %d: region %+v", size, offset, i.Region)
	}
	r.use(0, seed, back)
	r.unmap(0)
	v := r.prod.must(t, request{Do: "verify", Seed: seed, Back: back, Copies: r.exp.Path.Copies})
	if v.Mismatch.Bytes != 0 {
		t.Errorf("producer, %d bytes at %d: %+v", size, offset, v.Mismatch)
	}
	r.release(0)
	return true
}

func (r *contractRun) use(id int, seed, back uint64) {
	r.t.Helper()
	u := r.cons.must(r.t, request{Do: "use", ID: id, Seed: seed, Back: back})
	if u.Mismatch.Bytes != 0 {
		r.t.Errorf("consumer: %+v", u.Mismatch)
	}
	r.spans(u, "use", share.FirstTouch, share.Unmap)
}

func (r *contractRun) export(id int, want share.Request) (share.Handle, bool) {
	t := r.t
	t.Helper()
	e := r.prod.order(t, request{Do: "export", Path: r.exp.Path.Name, ID: id})
	if !r.granted(e, share.Export) {
		if e.Handle.FD >= 0 {
			t.Error("a refused export has a descriptor")
			closeHandle(e.Handle)
		}
		return e.Handle, false
	}
	r.spans(e, "export", share.Export)
	h := e.Handle
	if got := carrierOf(h); got != r.exp.Path.Carrier {
		t.Errorf("handle carries %v, the path says %v", got, r.exp.Path.Carrier)
	}
	if h.Bytes != want.Bytes || h.Start+h.Offset != want.Offset || h.Allocated < want.Bytes+want.Offset {
		t.Errorf("handle of %d bytes at %d of %d, asked for %d at %d", h.Bytes, h.Start+h.Offset, h.Allocated, want.Bytes, want.Offset)
	}
	return h, true
}

func carrierOf(h share.Handle) (c share.Carrier) {
	if h.FD >= 0 {
		c |= share.FD
	}
	if h.KeyLen > 0 {
		c |= share.Key
	}
	return c
}

func (r *contractRun) unmap(id int) {
	r.t.Helper()
	r.spans(r.cons.must(r.t, request{Do: "unmap", ID: id}), "unmap", share.Unmap)
}

func (r *contractRun) release(id int) {
	r.t.Helper()
	r.spans(r.prod.must(r.t, request{Do: "release", ID: id}), "release", share.Release)
}

func closeHandle(h share.Handle) {
	if h.FD >= 0 {
		_ = syscall.Close(h.FD)
	}
}

// spans checks what a half that succeeded recorded: at least one call in the first phase, none in phases that are not named,
// all in order and successful.
func (r *contractRun) spans(p *reply, what string, phases ...share.Phase) {
	r.t.Helper()
	if what == "use" || what == "unmap" || what == "release" {
		r.note(p) // the others are noted where they are judged
	}
	last, found := int64(0), false
	for _, s := range p.Spans {
		found = found || s.Phase == phases[0]
		if !s.OK {
			r.t.Errorf("%s succeeded, but %s/%s is recorded as refused", what, s.Phase, s.Call)
		}
		if s.Phase != share.NoPhase && !slices.Contains(phases, s.Phase) {
			r.t.Errorf("%s: %s is recorded under %s", what, s.Call, s.Phase)
		}
		if s.Call == "" || s.Start < last || s.End < s.Start {
			r.t.Errorf("%s: span %+v after %d", what, s, last)
		}
		last = s.End
	}
	if !found {
		r.t.Errorf("%s: no call is recorded under %s", what, phases[0])
	}
}

// note keeps the spans of the first cycle.
func (r *contractRun) note(p *reply) {
	if r.seed == 3 {
		r.steps = append(r.steps, p.Spans...)
	}
}

// granted checks an answer against what the machine is known to answer, and whether a refusal argues for itself and was
// recorded as one.
func (r *contractRun) granted(p *reply, phases ...share.Phase) bool {
	t := r.t
	t.Helper()
	r.note(p)
	if p.Error != "" && !p.Refused {
		t.Fatalf("%v: failed, which is neither yes nor no: %s", phases, p.Error)
	}
	if p.Refused {
		if err := p.refusal(); p.Op == "" || p.Answer == "" {
			t.Errorf("a refusal must say what was asked and what the system answered: %v", err)
		}
		if n := len(p.Spans); n > 0 {
			if p.Spans[n-1].OK {
				t.Errorf("refused, but the last call %s is recorded as successful", p.Spans[n-1].Call)
			}
			if !slices.Contains(phases, p.Spans[n-1].Phase) {
				t.Errorf("refused in %s, recorded under %s", phases, p.Spans[n-1].Phase)
			}
		}
	}
	if r.c.Expect == nil {
		SkipIfUnsupported(t, p.refusal(), nil)
		return true
	}
	e := r.c.Expect(r.exp.Path, r.allocator)
	expected := slices.ContainsFunc(e.Refused, func(f share.Phase) bool { return slices.Contains(phases, f) })
	switch {
	case p.Refused && !expected:
		t.Fatalf("%v: this machine grants it, and answered: %s", phases, p.Error)
	case !p.Refused && expected && e.Refused[len(e.Refused)-1] <= phases[len(phases)-1]:
		t.Errorf("%v: this machine declines it (%v), and granted it", phases, e.Answers)
	case p.Refused && len(e.Answers) > 0 && !slices.ContainsFunc(e.Answers, func(a string) bool { return strings.Contains(p.Answer, a) }):
		t.Errorf("%v: answered %q, the machine is known to answer %q", phases, p.Answer, e.Answers)
	}
	return !p.Refused
}

package host

import (
	"errors"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"gpushare-bench/share"
)

// open opens the device for a test.
func open(t testing.TB, o share.Options) *device {
	t.Helper()
	dev, err := Backend{}.Open(t.Context(), "cpu", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev.(*device)
}

// halves finds the two halves of the path of an allocator.
func halves(t testing.TB, allocator string) (share.Exporter, share.Importer) {
	t.Helper()
	for _, x := range (Backend{}).Exporters() {
		if !slices.Contains(x.Allocators, allocator) {
			continue
		}
		for _, i := range (Backend{}).Importers() {
			if i.Path.Name == x.Path.Name {
				return x, i
			}
		}
	}
	t.Fatalf("no path for allocator %q", allocator)
	return share.Exporter{}, share.Importer{}
}

// TestCycle runs every allocator through one cycle as the workers do, both ends in this process: what the machine lacks
// must be a refusal with a reason.
func TestCycle(t *testing.T) {
	d := open(t, share.Options{})
	for _, a := range (Backend{}).Allocators() {
		for _, r := range []share.Request{{Bytes: 4096}, {Bytes: 1}, {Bytes: 12345, Offset: 8}, {Bytes: 3 << 20, Offset: 4096 + 16}} {
			t.Run(a.Name, func(t *testing.T) { cycle(t, d, a, r) })
		}
	}
}

func cycle(t *testing.T, d *device, a share.Allocator, r share.Request) {
	exp, imp := halves(t, a.Name)
	before := openFDs(t)
	tape := share.NewTape(nil)
	tape.Enter(share.Allocate)
	buf, err := a.Alloc(tape, d, r)
	if errors.Is(err, share.ErrUnsupported) {
		var u *share.Unsupported
		if !errors.As(err, &u) || u.Op == "" || u.Hint == "" {
			t.Errorf("refused without a reason that helps: %#v", err)
		}
		if a.Name == "memfd" {
			t.Errorf("every Linux has memfds: %v", err)
		}
		t.Logf("refused: %v", err)
		return
	}
	must(t, err)
	if w, g := buf.Whole(), buf.Region(); w.Bytes != r.Offset+r.Bytes || g.Addr != w.Addr+uintptr(r.Offset) || g.Bytes != r.Bytes || g.First != uint64(r.Offset/8) {
		t.Errorf("request %+v: whole %+v, region %+v", r, w, g)
	}
	must(t, d.Fill(buf.Whole(), 1))
	tape.Enter(share.Export)
	h, err := exp.Export(tape, buf)
	must(t, err)
	if o, ok := buf.(share.Origin); ok && o.ExporterName() == "" {
		t.Error("the buffer does not know its exporter")
	}
	own := h
	h.FD, err = unix.Dup(h.FD) // the journey
	must(t, err)

	tape.Enter(share.Import)
	m, err := imp.Import(tape, d, h)
	must(t, err)
	tape.Enter(share.FirstTouch)
	if acc, ok := m.(share.Accessor); ok {
		must(t, acc.BeginAccess(tape))
	}
	must(t, d.Touch(tape, m.Region()))
	if mis, err := d.Verify(m.Region(), 1); err != nil || mis.Bytes != 0 {
		t.Errorf("consumer sees %+v, %v", mis, err)
	}
	must(t, d.Fill(m.Region(), 2))
	tape.Enter(share.Unmap)
	if acc, ok := m.(share.Accessor); ok {
		must(t, acc.EndAccess(tape))
	}
	must(t, m.Unmap(tape))

	tape.Enter(share.Release)
	must(t, unix.Close(own.FD))
	if mis, err := d.Verify(buf.Region(), 2); err != nil || mis.Bytes != 0 {
		t.Errorf("producer sees %+v, %v", mis, err)
	}
	must(t, buf.Release(tape))
	must(t, tape.Err())
	for _, s := range tape.Spans() {
		if !s.OK || s.End < s.Start || s.Phase == share.NoPhase {
			t.Errorf("span %+v", s)
		}
	}
	if after := openFDs(t); after != before && a.Name == "memfd" {
		t.Errorf("%d descriptors are open, %d were", after, before)
	}
	for _, p := range []share.Phase{share.Allocate, share.Export, share.Import, share.Map, share.FirstTouch, share.Unmap, share.Release} {
		if !slices.ContainsFunc(tape.Spans(), func(s share.Span) bool { return s.Phase == p }) {
			t.Errorf("no span in phase %s", p)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// openFDs counts the open descriptors of the process.
func openFDs(t testing.TB) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}

// TestRounded tells of ranges that are not made of whole pages, and of no others.
func TestRounded(t *testing.T) {
	for _, c := range []struct {
		unit      int64
		fromStart bool
		r         share.Request
		want      string
	}{
		{4096, false, share.Request{Bytes: 100 << 10}, ""},
		{4096, false, share.Request{Bytes: 100 << 10, Offset: 1 << 20}, ""},
		{4096, false, share.Request{Bytes: 100 << 10, Offset: 8}, "104 KiB are mapped for 100 KiB at offset 8 B: whole pages of 4 KiB"},
		{4096, false, share.Request{Bytes: 100_000, Offset: 1 << 20}, "100 KiB are mapped for 100000 B at offset 1 MiB: whole pages of 4 KiB"},
		{4096, true, share.Request{Bytes: 100_000, Offset: 1 << 20}, "1124 KiB are mapped for 100000 B at offset 1 MiB: whole pages of 4 KiB"},
		{2 << 20, false, share.Request{Bytes: 3 << 20, Offset: 64 << 10}, "4 MiB are mapped for 3 MiB at offset 64 KiB: whole pages of 2 MiB"},
		{0, false, share.Request{Bytes: 1}, ""},
	} {
		e := &extent{unit: c.unit, fromStart: c.fromStart, req: c.r}
		if got := e.Rounded(); got != c.want {
			t.Errorf("%+v in pages of %d: %q, want %q", c.r, c.unit, got, c.want)
		}
	}
}

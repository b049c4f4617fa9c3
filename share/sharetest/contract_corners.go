package sharetest

import (
	"os"
	"slices"
	"syscall"

	"gpushare-bench/share"
)

// twice keeps two buffers and, but for paths of Contract.Once, two imports of each at the same time.
func (r *contractRun) twice() {
	t := r.t
	const size = 5003
	want := share.Request{Bytes: size, Offset: 0, Handles: r.exp.Handles}
	imports := 2
	if slices.Contains(r.c.Once, r.exp.Path.Name) {
		imports = 1
	}
	for id := range 2 {
		r.prod.must(t, request{Do: "allocate", ID: id, Allocator: r.allocator, Want: want, Seed: uint64(100 + id)})
		for i := range imports {
			h, ok := r.export(id, want)
			if !ok {
				t.Fatal("a second export is refused")
			}
			p := r.cons.order(t, request{Do: "import", ID: 2*id + i, Path: r.exp.Path.Name, Handle: h})
			closeHandle(h)
			if p.Error != "" {
				t.Fatalf("import %d of buffer %d: %s", i+1, id+1, p.Error)
			}
		}
	}
	back := func(id int) uint64 { return uint64(200 + id) }
	for id := range 2 {
		r.use(2*id, uint64(100+id), back(id))
		if imports == 2 && !r.exp.Path.Copies {
			r.use(2*id+1, back(id), back(id)) // through the other mapping, what the first one wrote
		}
	}
	for _, m := range []int{3, 0, 1, 2} { // 2*id + i
		if m%2 < imports {
			r.unmap(m)
		}
	}
	for id := range 2 {
		v := r.prod.must(t, request{Do: "verify", ID: id, Seed: uint64(100 + id), Back: back(id), Copies: r.exp.Path.Copies})
		if v.Mismatch.Bytes != 0 {
			t.Errorf("buffer %d: %+v", id, v.Mismatch)
		}
		r.release(id)
	}
}

// garbage gives the importer handles that are none. It must say no, close the descriptor and live on.
func (r *contractRun) garbage() {
	t := r.t
	want := share.Request{Bytes: 5003, Handles: r.exp.Handles}
	r.prod.must(t, request{Do: "allocate", Allocator: r.allocator, Want: want, Seed: 1})
	good, ok := r.export(0, want)
	if !ok {
		t.Fatal("export is refused")
	}
	defer closeHandle(good)
	null, err := os.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	short, err := os.CreateTemp(t.TempDir(), "short") // a file that ends before what the handle promises
	if err != nil {
		t.Fatal(err)
	}
	defer short.Close()
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(pipe[0])
	defer syscall.Close(pipe[1])

	bad := map[string]share.Handle{}
	if r.exp.Path.Carrier&share.FD != 0 {
		for name, fd := range map[string]int{"no descriptor": -1, "/dev/null": int(null.Fd()), "empty file": int(short.Fd()), "pipe": pipe[0]} {
			h := good
			h.FD = fd
			bad[name] = h
		}
	}
	if r.exp.Path.Carrier&share.Key != 0 {
		h := good
		for i := range h.KeyLen {
			h.Key[i] ^= 0xa5
		}
		bad["wrong bytes"] = h
		h = good
		h.SetKey(nil)
		h.Key = [share.MaxKey]byte{}
		bad["no bytes"] = h
		h = good
		h.KeyLen--
		bad["short bytes"] = h
	}
	for name, h := range bad {
		// Once before, because a library may open something for good when it first says no.
		r.refuseGarbage(name, h)
		before := r.state()
		r.refuseGarbage(name, h)
		r.balanced(before, name)
	}
	r.release(0)
}

func (r *contractRun) refuseGarbage(name string, h share.Handle) {
	r.t.Helper()
	p := r.cons.order(r.t, request{Do: "import", ID: 9, Path: r.exp.Path.Name, Handle: h})
	if p.Error == "" {
		r.t.Errorf("%s: was imported", name)
		r.cons.must(r.t, request{Do: "unmap", ID: 9})
	}
}

package share

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

func TestPhases(t *testing.T) {
	if len(Phases()) != int(phaseCount)-1 {
		t.Errorf("Phases has %d of %d", len(Phases()), phaseCount-1)
	}
	seen := map[string]bool{}
	setup := ""
	for i, p := range Phases() {
		if int(p) != i+1 || p.String() == "" || seen[p.String()] {
			t.Errorf("phase %d is %v", i, p)
		}
		seen[p.String()] = true
		if p.InSetup() {
			setup += p.String() + " "
		}
	}
	if setup != "export transfer import map " || NoPhase.String() != "" || seen[Setup] {
		t.Errorf("setup is %s", setup)
	}
}

func TestKernels(t *testing.T) {
	for _, k := range Kernels() {
		if k.Summary() == "" {
			t.Errorf("kernel %s has no summary", k)
		}
	}
	if Kernel("x").Summary() != "" {
		t.Error("an unknown kernel has a summary")
	}
}

func TestStatuses(t *testing.T) {
	for _, s := range Statuses() {
		if !s.Valid() {
			t.Errorf("%s is not valid", s)
		}
	}
	if Status("").Valid() || Status("OK").Valid() {
		t.Error("another word is a status")
	}
}

func TestCaseString(t *testing.T) {
	c := Case{Path: "cumemmap", Allocator: "vmm", Producer: "GPU-1a2b3c4d-0000-1111", Consumer: "cpu", Transport: TransportSCMRights, Receiver: ReceiverPolling,
		Cache: CacheCold, Size: 2 << 20, Offset: 4096, Live: 64, Peers: 2, Variant: "isolate=pid"}
	if got, want := c.String(), "cumemmap/vmm GPU-1a2b3c4d→cpu scm-rights polling cold 2 MiB +4 KiB live 64 peers 2 isolate=pid"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for id, want := range map[string]string{"cpu": "cpu", "GPU-1-2": "GPU-1", "MIG-1-2": "MIG-1", "GPU-1": "GPU-1", "GPU-": "GPU-", "": "", "GPU--": "GPU--"} {
		if got := ShortID(id); got != want {
			t.Errorf("ShortID(%q) = %q, want %q", id, got, want)
		}
	}
}

func TestCarrierString(t *testing.T) {
	for c, want := range map[Carrier]string{FD: "fd", Key: "bytes", FDAndKey: "fd+bytes", 0: "carrier(0)"} {
		if c.String() != want {
			t.Errorf("%q, want %q", c, want)
		}
	}
}

func TestHandle(t *testing.T) {
	h := NoHandle()
	if h.FD != -1 || len(h.KeyBytes()) != 0 {
		t.Errorf("%+v", h)
	}
	h.SetKey([]byte("key"))
	if string(h.KeyBytes()) != "key" {
		t.Errorf("%q", h.KeyBytes())
	}
	h.SetKey(make([]byte, MaxKey+10))
	if h.KeyLen != MaxKey {
		t.Errorf("%d bytes of a key that is too long", h.KeyLen)
	}
}

func TestUnsupported(t *testing.T) {
	for _, c := range []struct {
		u    Unsupported
		want string
	}{
		{Unsupported{Op: "open /dev/udmabuf", Answer: fs.ErrNotExist, Hint: "load the module"}, "open /dev/udmabuf: file does not exist; load the module"},
		{Unsupported{Op: "x", Answer: fs.ErrNotExist}, "x: file does not exist"},
		{Unsupported{Op: "x", Hint: "y"}, "x; y"},
		{Unsupported{Op: "x"}, "x"},
	} {
		if got := c.u.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		err := fmt.Errorf("wrapped: %w", &c.u)
		if !errors.Is(err, ErrUnsupported) || errors.Is(err, fs.ErrNotExist) != (c.u.Answer != nil) {
			t.Errorf("%v does not match as it should", err)
		}
	}
}

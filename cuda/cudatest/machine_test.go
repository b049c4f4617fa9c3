package cudatest_test

import (
	"strings"
	"testing"

	"gpushare-bench/cuda"
	"gpushare-bench/cuda/cudatest"
	"gpushare-bench/nvml"
)

// Every machine loads, several in one process, and says its name, or why it has
// no devices.
func TestMachinesLoad(t *testing.T) {
	for _, name := range cudatest.Names() {
		t.Run(name, func(t *testing.T) {
			env := cudatest.Machine(t, name)
			env.Setenv(t)
			lib, err := cuda.Open(env.Library)
			if want := env.Profile.Init; want != "" {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Fatalf("Open: %v, want %s", err, want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if emulated, machine := lib.Emulated(); !emulated || machine != name {
				t.Errorf("Emulated() = %v, %q, want %q", emulated, machine, name)
			}
			if got := int(lib.DriverVersion()); got != env.Profile.Driver {
				t.Errorf("driver version %d, want %d", got, env.Profile.Driver)
			}
		})
	}
}

func TestMissingSymbols(t *testing.T) {
	for _, test := range []struct {
		env  cudatest.Env
		name string
		want bool
	}{
		{cudatest.Machine(t, "h200-580"), "cuMemGetHandleForAddressRange", true},
		{cudatest.Machine(t, "old-driver"), "cuMemGetHandleForAddressRange", false},
		{cudatest.Machine(t, "old-driver"), "cuMemPoolCreate", false},
		{cudatest.Machine(t, "old-driver"), "cuMemCreate", true},
	} {
		test.env.Setenv(t)
		lib, err := cuda.Open(test.env.Library)
		if err != nil {
			t.Fatal(err)
		}
		if got := lib.Has(test.name); got != test.want {
			t.Errorf("%s: Has(%s) = %v", test.env.Profile.Name, test.name, got)
		}
	}
}

func TestTopology(t *testing.T) {
	for _, test := range []struct {
		machine string
		a, b    int
		want    string
	}{
		{"eight-h200", 0, 7, "NV18"},
		{"eight-nopeer", 0, 1, "PIX"},
		{"eight-nopeer", 0, 2, "NODE"},
		{"eight-nopeer", 3, 4, "SYS"},
		{"mixed", 1, 1, "same"},
	} {
		env := cudatest.Machine(t, test.machine)
		env.Setenv(t)
		lib, err := nvml.Open(env.NVML)
		if err != nil {
			t.Fatal(err)
		}
		a, err := lib.DeviceByUUID(env.Profile.Devices[test.a].UUID)
		if err != nil {
			t.Fatal(err)
		}
		b, err := lib.DeviceByPCI(env.Profile.Devices[test.b].PCI)
		if err != nil {
			t.Fatal(err)
		}
		if got := nvml.LinkClass(a, b); got != test.want {
			t.Errorf("%s: %d to %d is %q, want %q", test.machine, test.a, test.b, got, test.want)
		}
		info := a.Info()
		if info.Name != env.Profile.Devices[test.a].Name || info.NUMANode == nil || info.PowerLimitMilliW != nil {
			t.Errorf("%s: device %d: %+v", test.machine, test.a, info)
		}
	}
}

func TestUnknownMachine(t *testing.T) {
	if _, err := cudatest.Prepare(t.TempDir(), "cray"); err == nil || !strings.Contains(err.Error(), "h200-580") {
		t.Errorf("Prepare: %v, want the list of machines", err)
	}
}

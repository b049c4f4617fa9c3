package cudatest_test

import (
	"testing"

	"gpushare-bench/cuda"
	"gpushare-bench/cuda/cudatest"
)

// Every machine loads, and says its name, or why it has no devices.
func TestMachinesLoad(t *testing.T) {
	for _, name := range cudatest.Names() {
		t.Run(name, func(t *testing.T) {
			env := cudatest.Machine(t, name)
			env.Setenv(t)
			lib, err := cuda.Open(env.Library)
			if init := env.Profile.Init; init != "" {
				if err == nil {
					t.Fatalf("cuInit succeeded, want %s", init)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if emulated, machine := lib.Emulated(); !emulated || machine != name {
				t.Errorf("Emulated() = %v, %q, want %q", emulated, machine, name)
			}
			for _, symbol := range env.Profile.Missing {
				if symbol != "cuDeviceGetUuid_v2" && symbol != "cuEventElapsedTime_v2" && lib.Has(symbol) {
					t.Errorf("the driver has %s", symbol)
				}
			}
		})
	}
}

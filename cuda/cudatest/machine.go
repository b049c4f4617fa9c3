package cudatest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An Option changes a machine.
type Option func(*setup)

type setup struct {
	profile Profile
	faults  []string
}

// Faults injects faults, rules as driver/faults.c documents them:
// "consumer:cuMemMap@3=CUDA_ERROR_OUT_OF_MEMORY", "kernel:read=hang".
func Faults(rules ...string) Option {
	return func(s *setup) { s.faults = append(s.faults, rules...) }
}

// Memory gives every device this many bytes of memory.
func Memory(bytes int64) Option {
	return func(s *setup) {
		s.profile.Devices = slices.Clone(s.profile.Devices)
		for i := range s.profile.Devices {
			s.profile.Devices[i].Memory = bytes
		}
	}
}

// Answer sets the result of a call, or of a call in a circumstance:
// Answer("cuMemCreate/FABRIC", "CUDA_ERROR_NOT_PERMITTED").
func Answer(what, result string) Option {
	return func(s *setup) {
		if s.profile.Answers == nil {
			s.profile.Answers = map[string]string{}
		}
		s.profile.Answers[what] = result
	}
}

// Attribute sets an attribute of every device that has no value of its own:
// Attribute("COMPUTE_MODE", 2).
func Attribute(name string, value int) Option {
	return func(s *setup) {
		s.profile.Attributes = maps.Clone(s.profile.Attributes)
		s.profile.Attributes[name] = value
	}
}

// MemfdIsDMABuf lets the driver import any memfd as it imports a dma-buf, which
// no real one does: so memory of the CPU can be imported where the kernel makes
// no dma-bufs.
func MemfdIsDMABuf() Option {
	return func(s *setup) { s.profile.DMABufMemfd = true }
}

// Without removes symbols from the driver.
func Without(symbols ...string) Option {
	return func(s *setup) { s.profile.Missing = append(s.profile.Missing, symbols...) }
}

// Env is the environment in which programs find one emulated machine. Processes
// that share one Env are on one machine: they see each other's memory.
type Env struct {
	Library string // GPUSHARE_LIBCUDA: a copy that no other Env has, so one process can load several
	NVML    string // GPUSHARE_LIBNVML, likewise
	Machine string // GPUSHARE_EMULATED_MACHINE: the description; Machine+".state" is what the processes share
	Report  string // GPUSHARE_EMULATED_REPORT
	Faults  string // GPUSHARE_EMULATED_FAULTS; empty: none
	Profile Profile
}

// Machine prepares an emulated machine, one of [Names], in a temporary directory
// of the test.
func Machine(t testing.TB, name string, options ...Option) Env {
	t.Helper()
	env, err := Prepare(t.TempDir(), name, options...)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// Prepare is [Machine] for programs: it writes into dir, an existing directory.
func Prepare(dir, name string, options ...Option) (Env, error) {
	profile, err := Load(name)
	if err != nil {
		return Env{}, err
	}
	s := setup{profile: profile}
	for _, o := range options {
		o(&s)
	}
	config, err := s.profile.config()
	if err != nil {
		return Env{}, err
	}
	driver, err := build("driver", s.profile.Missing)
	if err != nil {
		return Env{}, err
	}
	nvml, err := build("nvml", nil)
	if err != nil {
		return Env{}, err
	}
	env := Env{
		Library: filepath.Join(dir, "libcuda-"+name+".so"),
		NVML:    filepath.Join(dir, "libnvidia-ml-"+name+".so"),
		Machine: filepath.Join(dir, name+".machine"),
		Report:  filepath.Join(dir, name+".report"),
		Faults:  strings.Join(s.faults, ";"),
		Profile: s.profile,
	}
	for from, to := range map[string]string{driver: env.Library, nvml: env.NVML} {
		library, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, library, 0o755)
		}
		if err != nil {
			return Env{}, fmt.Errorf("copy the emulated CUDA driver: %w", err)
		}
	}
	for path, text := range map[string]string{env.Machine: config, env.Report: ""} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return Env{}, fmt.Errorf("prepare the emulated machine %s: %w", name, err)
		}
	}
	return env, nil
}

// Entries are the lines for exec.Cmd's Env.
func (e Env) Entries() []string {
	return []string{
		"GPUSHARE_LIBCUDA=" + e.Library,
		"GPUSHARE_LIBNVML=" + e.NVML,
		"GPUSHARE_EMULATED_MACHINE=" + e.Machine,
		"GPUSHARE_EMULATED_REPORT=" + e.Report,
		"GPUSHARE_EMULATED_FAULTS=" + e.Faults,
	}
}

// Setenv sets the entries for the rest of the test, for a library that is
// loaded into this process and for processes that it starts.
func (e Env) Setenv(t testing.TB) {
	t.Helper()
	for _, entry := range e.Entries() {
		key, value, _ := strings.Cut(entry, "=")
		t.Setenv(key, value)
	}
}

package nvml

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

var modules = []struct {
	text string
	want KernelModule
	kind string
}{
	{"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (dvs-builder@U22-I3-B17-02-5)  Tue Sep 23 09:55:41 UTC 2025\n" +
		"GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04.2) \n", KernelModule{"580.95.05", true}, "open"},
	{"NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.65.06  Release Build\n", KernelModule{"580.65.06", true}, "open"},
	{"NVRM version: NVIDIA UNIX Open Kernel Module  570.86.15  Release Build\n", KernelModule{"570.86.15", true}, "open"},
	{"NVRM version: NVIDIA UNIX x86_64 Kernel Module  515.76  Mon Sep 12 19:21:56 UTC 2022\n" +
		"GCC version:  gcc version 7.5.0 (Ubuntu 7.5.0-3ubuntu1~18.04)\n", KernelModule{"515.76", false}, "proprietary"},
	{"NVRM version: NVIDIA UNIX aarch64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\n", KernelModule{"550.54.14", false}, "proprietary"},
	{"GCC version:  gcc version 13.3.0 (GCC)\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  440.95.01  Thu May 28\n", KernelModule{"440.95.01", false}, "proprietary"},
}

func TestParseKernelModule(t *testing.T) {
	for _, c := range modules {
		got, err := ParseKernelModule(strings.NewReader(c.text))
		if err != nil || got != c.want || got.Kind() != c.kind {
			t.Errorf("%q: %+v, %s, %v; want %+v, %s", c.text, got, got.Kind(), err, c.want, c.kind)
		}
	}
	for _, text := range []string{
		"", "NVRM version: \n", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64\n",
		"GCC version:  gcc version 11.4.0\n", "see NVRM version: NVIDIA UNIX x86_64 Kernel Module  515.76\n",
	} {
		if got, err := ParseKernelModule(strings.NewReader(text)); !errors.Is(err, ErrNoKernelModule) || got != (KernelModule{}) {
			t.Errorf("%q: %+v, %v; want ErrNoKernelModule", text, got, err)
		}
	}
	if _, err := ParseKernelModule(iotest.ErrReader(io.ErrClosedPipe)); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a failing reader: %v", err)
	}
}

func FuzzParseKernelModule(f *testing.F) {
	for _, c := range modules {
		f.Add(c.text)
	}
	f.Add("NVRM version: NVIDIA UNIX")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseKernelModule(strings.NewReader(text))
		if (err == nil) == (got == KernelModule{}) {
			t.Fatalf("%q: %+v and error %v, want one of them", text, got, err)
		}
		if err == nil && !strings.Contains(text, got.Version) {
			t.Fatalf("%q: version %q is not in the text", text, got.Version)
		}
	})
}

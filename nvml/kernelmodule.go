package nvml

import (
	"errors"
	"fmt"
	"io"
	"regexp"
)

// KernelModule is what the NVIDIA kernel module tells about itself.
type KernelModule struct {
	Version string // "580.159.04"
	Open    bool   // the open kernel module; false the proprietary one
}

// Kind gives "open" or "proprietary".
func (m KernelModule) Kind() string {
	if m.Open {
		return "open"
	}
	return "proprietary"
}

// ErrNoKernelModule is the error of [ParseKernelModule] for text of another form.
var ErrNoKernelModule = errors.New("no NVRM version line")

// Both forms of the line:
//
//	NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (…)
//	NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.135  Fri Jan 10 20:00:00 UTC 2025
var nvrmVersion = regexp.MustCompile(`(?m)^NVRM version:[ \t]+NVIDIA UNIX[ \t]+(Open[ \t]+)?(?:\S+[ \t]+)?Kernel Module[ \t]+(?:for[ \t]+\S+[ \t]+)?(\d+(?:\.\d+)+)`)

// ParseKernelModule reads /proc/driver/nvidia/version, which exists while the
// module is loaded. The error is [ErrNoKernelModule] or the reader's.
func ParseKernelModule(r io.Reader) (KernelModule, error) {
	text, err := io.ReadAll(io.LimitReader(r, 64<<10))
	if err != nil {
		return KernelModule{}, fmt.Errorf("read the NVIDIA kernel module's version: %w", err)
	}
	m := nvrmVersion.FindSubmatch(text)
	if m == nil {
		return KernelModule{}, ErrNoKernelModule
	}
	return KernelModule{Version: string(m[2]), Open: len(m[1]) > 0}, nil
}

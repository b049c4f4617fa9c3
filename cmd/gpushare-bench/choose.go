package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"gpushare-bench/bench"
	"gpushare-bench/bench/worker"
	"gpushare-bench/share"
	"gpushare-bench/sysinfo"
)

// backendChoice is the backend taken, with everything that its plan may join.
type backendChoice struct {
	name     string // "cuda" or "host"
	why      string // one sentence
	sites    []bench.Site
	overhead worker.Overhead // of an empty timed call
}

// chooseBackend looks for devices. With "auto" it takes GPUs where there are any, and says why not otherwise.
func (a *app) chooseBackend(ctx context.Context, l *bench.Launcher, want string) (*backendChoice, error) {
	c := &backendChoice{name: want}
	why := "asked for"
	if want != "host" {
		inv, err := a.lookForGPUs(ctx, l)
		switch {
		case err == nil:
			c.name, c.sites = "cuda", []bench.Site{{Backend: backendNamed("cuda"), Inventory: inv}}
			if want == "auto" {
				why = fmt.Sprintf("auto: found %d GPU(s), %s", len(inv.Devices), inv.Devices[0].Name)
			}
			if inv.Emulated != "" {
				why += fmt.Sprintf("; EMULATED machine %s: no figure of this run is a measurement of hardware", inv.Emulated)
			}
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case want == "cuda" && errors.Is(err, share.ErrUnsupported):
			return nil, &exitError{status: exitNothing, err: fmt.Errorf("--backend cuda: %w", err)}
		case want == "cuda":
			return nil, fmt.Errorf("--backend cuda: %w", err)
		case errors.Is(err, bench.ErrNoAnswer):
			c.name, why = "host", fmt.Sprintf("auto: the CUDA driver did not answer, so no GPU is measured (%v)", err)
		default:
			c.name, why = "host", fmt.Sprintf("auto: no GPU to measure (%v)", err)
		}
	}
	inv, overhead, err := l.Probe(ctx, "host")
	if err != nil {
		return nil, fmt.Errorf("look at this machine's memory: %w", err)
	}
	c.sites = append(c.sites, bench.Site{Backend: backendNamed("host"), Inventory: inv})
	c.spreadCPUs(sysinfo.Host(), inv.Devices)
	c.why, c.overhead = why, overhead
	return c, nil
}

// silence is how long the driver may take to find GPUs before it is said what is waited for.
var silence = 3 * time.Second

// lookForGPUs asks the driver for GPUs, and says so if that takes long.
func (a *app) lookForGPUs(ctx context.Context, l *bench.Launcher) (share.Inventory, error) {
	var inv share.Inventory
	var err error
	done := make(chan struct{})
	go func() {
		inv, _, err = l.Probe(ctx, "cuda")
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(silence):
		fmt.Fprintf(a.stderr, "waiting for the CUDA driver, which has not answered for %s, a minute at most; --backend host does without it\n", silence)
		<-done
	}
	return inv, err
}

// spreadCPUs orders the cores near each device so that the two ends, which take the first two, don't share one. A device
// that does not say which cores are near has those of the host.
func (c *backendChoice) spreadCPUs(fsys fs.FS, host []share.DeviceInfo) {
	for _, s := range c.sites {
		for i := range s.Inventory.Devices {
			d := &s.Inventory.Devices[i]
			if len(d.CPUs) == 0 && len(host) > 0 {
				d.CPUs = slices.Clone(host[0].CPUs)
			}
			slices.Sort(d.CPUs)
			d.CPUs = sysinfo.SpreadCPUs(fsys, d.CPUs)
		}
	}
}

// checkNames refuses paths and allocators that only a backend has that was not taken. asked is the backend as asked for:
// what was wrong then is the machine ("auto") or the command line.
func (c *backendChoice) checkNames(config *bench.Config, asked string) error {
	var taken []share.Backend
	for _, s := range c.sites {
		taken = append(taken, s.Backend)
	}
	err := bench.CheckNames(config, taken)
	if err != nil && asked == "auto" {
		return &exitError{status: exitNothing, err: fmt.Errorf("nothing to measure with backend %s: %w (%s)", c.name, err, c.why)}
	}
	return err
}

// noLibrary is how the loader says that neither name of the driver library is anywhere.
const noLibrary = "libcuda.so.1: cannot open shared object file: No such file or directory; libcuda.so: cannot open shared object file: No such file or directory"

// told is the reason in a line for the screen. The full one, which says what to do, is in the journal and in info; here
// it would only repeat to somebody without a GPU what they know.
func (c *backendChoice) told() string {
	if strings.Contains(c.why, noLibrary) && !driverLoaded() {
		return "no NVIDIA driver here (libcuda.so.1 not found); measuring host memory"
	}
	return c.why
}

// driverLoaded reports whether the kernel has NVIDIA's module, also when a container lacks the library to use it.
func driverLoaded() bool {
	_, err := os.Stat("/proc/driver/nvidia")
	return err == nil
}

func backendNamed(name string) share.Backend {
	for _, b := range backends {
		if b.Name() == name {
			return b
		}
	}
	panic("no backend " + name)
}

// emulated is the name of the emulated machine, "" on real hardware.
func (c *backendChoice) emulated() string {
	for _, s := range c.sites {
		if s.Inventory.Emulated != "" {
			return s.Inventory.Emulated
		}
	}
	return ""
}

// details are what the backends say about drivers and modules.
func (c *backendChoice) details() map[string]string {
	all := map[string]string{}
	for _, s := range c.sites {
		for k, v := range s.Inventory.Details {
			all[k] = v
		}
	}
	return all
}

// cpuScaling reports whether the processors' frequency is scaled.
func cpuScaling(e sysinfo.Environment) bool {
	return e.CPU != nil && e.CPU.Frequency != nil && e.CPU.Frequency.Scaling != nil && *e.CPU.Frequency.Scaling
}

// readLoad reads the processors' time and the machine's sleep since boot; zero where they can't be read.
func readLoad() bench.Load {
	l := bench.Load{Suspended: readClock(clockBoottime) - readClock(clockMonotonic)}
	if t, err := sysinfo.ReadTimes(sysinfo.Host()); err == nil {
		l.Steal, l.Total = t.Steal, t.Total
	}
	return l
}

// Clocks of clock_gettime(2). The first goes on while the machine is suspended, the second, which stamps all samples,
// does not; setting the time of day moves neither.
const (
	clockMonotonic = 1
	clockBoottime  = 7
)

// readClock reads a clock; 0 where the system has none.
func readClock(id uintptr) time.Duration {
	var ts syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return 0
	}
	return time.Duration(ts.Nano())
}

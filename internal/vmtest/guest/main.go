// Command guest is process 1 of the virtual machine that package vmtest starts.
// It is linked statically and reads vmtest.PlanFile.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"gpushare-bench/internal/vmtest"
)

func main() {
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "guest: only for process 1 of a virtual machine")
		os.Exit(2)
	}
	if err := work(); err != nil {
		fmt.Println("guest:", err)
	}
	syscall.Sync()
	// qemu runs with -no-reboot: this ends it.
	err := syscall.Reboot(syscall.LINUX_REBOOT_CMD_RESTART)
	fmt.Println("guest: restart:", err)
	select {}
}

// work runs the plan and sends the answer. Its error means that there is none.
func work() error {
	if err := mountAll(); err != nil {
		return err
	}
	var plan vmtest.Plan
	text, err := os.ReadFile(vmtest.PlanFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &plan); err != nil {
		return fmt.Errorf("read %s: %w", vmtest.PlanFile, err)
	}
	for _, file := range plan.Modules {
		if err := insert(file); err != nil {
			return err
		}
	}
	port, err := openPort()
	if err != nil {
		return err
	}
	defer port.Close()

	var stdout, stderr bytes.Buffer
	status := run(plan, &stdout, &stderr)
	return answer(port, plan, status, stdout.Bytes(), stderr.Bytes())
}

func mountAll() error {
	for _, m := range []struct{ source, target, kind string }{
		{"proc", "/proc", "proc"},
		{"sysfs", "/sys", "sysfs"},
		{"devtmpfs", "/dev", "devtmpfs"},
		{"tmpfs", "/dev/shm", "tmpfs"},
		{"tmpfs", "/tmp", "tmpfs"},
	} {
		if err := os.MkdirAll(m.target, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount(m.source, m.target, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %w", m.kind, m.target, err)
		}
	}
	return nil
}

// insert loads one kernel module. One that is there already is no fault.
func insert(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	const finitModule = 313 // finit_module on x86-64
	noParameters := []byte{0}
	_, _, errno := syscall.Syscall(finitModule, f.Fd(), uintptr(unsafe.Pointer(&noParameters[0])), 0)
	if errno != 0 && errno != syscall.EEXIST {
		return fmt.Errorf("insert module %s: %w", file, errno)
	}
	return nil
}

// openPort finds the virtio serial port by its name. The driver learns the
// name some time after it was loaded.
func openPort() (*os.File, error) {
	const wait, step = 20 * time.Second, 20 * time.Millisecond
	for waited := time.Duration(0); waited < wait; waited += step {
		names, err := filepath.Glob("/sys/class/virtio-ports/*/name")
		if err != nil {
			return nil, err
		}
		for _, file := range names {
			name, err := os.ReadFile(file)
			if err == nil && strings.TrimSpace(string(name)) == vmtest.PortName {
				device := "/dev/" + filepath.Base(filepath.Dir(file))
				return os.OpenFile(device, os.O_WRONLY, 0)
			}
		}
		time.Sleep(step)
	}
	return nil, fmt.Errorf("no virtio port named %s after %v", vmtest.PortName, wait)
}

// run runs the program. What it prints also goes to the console, so that it can
// be seen when the virtual machine doesn't live to answer.
func run(plan vmtest.Plan, stdout, stderr io.Writer) vmtest.Status {
	status := vmtest.Status{Kernel: release()}
	cmd := exec.Command(plan.Argv[0], plan.Argv[1:]...)
	cmd.Env = plan.Env
	cmd.Dir = "/"
	cmd.Stdout = io.MultiWriter(stdout, os.Stdout)
	cmd.Stderr = io.MultiWriter(stderr, os.Stdout)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
	case errors.As(err, &exit):
		status.ExitStatus = exit.ExitCode()
		if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
			status.ExitStatus = 128 + int(ws.Signal())
		}
	default:
		status.Fault = fmt.Sprintf("run %s: %v", plan.Argv[0], err)
	}
	return status
}

func release() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(text))
}

// answer sends what was printed, the files that the program left and, last, the status.
func answer(w io.Writer, plan vmtest.Plan, status vmtest.Status, stdout, stderr []byte) error {
	out := tar.NewWriter(w)
	add := func(name string, content []byte) error {
		header := &tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		_, err := out.Write(content)
		return err
	}
	if err := errors.Join(add(vmtest.StdoutEntry, stdout), add(vmtest.StderrEntry, stderr)); err != nil {
		return fmt.Errorf("send output: %w", err)
	}
	if plan.Collect != "" {
		err := filepath.WalkDir(plan.Collect, func(file string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) && file == plan.Collect {
				return nil
			}
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			return add(strings.TrimPrefix(file, "/"), content)
		})
		if err != nil {
			return fmt.Errorf("send files of %s: %w", plan.Collect, err)
		}
	}
	text, err := json.Marshal(status)
	if err != nil {
		return err
	}
	if err := add(vmtest.StatusEntry, text); err != nil {
		return fmt.Errorf("send status: %w", err)
	}
	return out.Close()
}

package vmtest

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config says what to run and what it needs.
type Config struct {
	Binary  string            // program on this machine; in the virtual machine it is /bin/ and its base name
	Under   string            // static program to run instead, with Binary's path and Args as arguments; empty: none
	Args    []string          // without the program's name
	Env     []string          // KEY=value, beside PATH, HOME and TMPDIR
	Modules []string          // kernel modules, such as vgem; dependencies are added
	Kernel  []string          // further kernel parameters, such as hugepages=16
	Files   map[string][]byte // further files, by absolute path in the virtual machine
	Collect string            // directory in the virtual machine whose regular files come back; empty: none

	KernelDir string        // what scripts/vm-kernel.sh filled; empty: DefaultKernelDir
	MemoryMiB int           // 0: 1024
	CPUs      int           // 0: 2
	Timeout   time.Duration // for boot and program together; 0: 3 minutes
}

// Result is what the program did.
type Result struct {
	ExitStatus int               // 128 plus the signal when a signal ended it
	Stdout     string            // all of standard output
	Stderr     string            // all of standard error
	Files      map[string][]byte // by absolute path, what Config.Collect held at the end
	Kernel     string            // release of the kernel that ran
	Console    string            // kernel messages, and once more what the program printed
}

// DefaultKernelDir is the environment variable GPUSHARE_VM_DIR, or build/vm
// above the working directory at the level where go.mod is.
func DefaultKernelDir() string {
	if dir := os.Getenv("GPUSHARE_VM_DIR"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, statErr := os.Stat(filepath.Join(dir, "go.mod")); statErr == nil {
			return filepath.Join(dir, "build", "vm")
		}
		dir = filepath.Dir(dir)
	}
	return filepath.Join("build", "vm")
}

// ErrMissing is matched by errors of Check: this machine cannot run the virtual
// machine until something is installed.
var ErrMissing = errors.New("cannot start a virtual machine here")

// Check tells whether Run can work at all: nil, or what is missing and how to get it.
func Check() error {
	if _, err := exec.LookPath(qemu); err != nil {
		return fmt.Errorf("%w: %w (apt-get install qemu-system-x86)", ErrMissing, err)
	}
	if _, err := openKernel(DefaultKernelDir()); err != nil {
		return fmt.Errorf("%w: %w", ErrMissing, err)
	}
	if _, err := findLibrary("libc.so.6"); err != nil {
		return fmt.Errorf("%w: the x86-64 C library: %w", ErrMissing, err)
	}
	return nil
}

// Build compiles a Go package for the virtual machine, without cgo, into dir.
// The package is named as on go build's command line.
func Build(ctx context.Context, dir, pkg string) (string, error) {
	binary := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.CommandContext(ctx, "go", "build", "-o", binary, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
	}
	return binary, nil
}

const qemu = "qemu-system-x86_64"

// transport are the modules that the answer needs.
var transport = []string{"virtio_pci", "virtio_console"}

// Run boots the virtual machine, runs the program in it and waits for the end.
// A program that fails is a Result with its exit status; an error means that
// there is no result, and quotes the end of the console.
func Run(ctx context.Context, c Config) (Result, error) {
	timeout := c.Timeout
	if timeout == 0 {
		timeout = 3 * time.Minute
	}
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("the virtual machine ran longer than %v", timeout))
	defer cancel()

	dir, err := os.MkdirTemp("", "vmtest-")
	if err != nil {
		return Result{}, fmt.Errorf("start virtual machine: %w", err)
	}
	defer os.RemoveAll(dir)
	kernelDir := c.KernelDir
	if kernelDir == "" {
		kernelDir = DefaultKernelDir()
	}
	k, err := openKernel(kernelDir)
	if err != nil {
		return Result{}, err
	}
	initrd := filepath.Join(dir, "initramfs")
	if err := writeInitramfs(ctx, initrd, dir, c, k); err != nil {
		return Result{}, err
	}
	return boot(ctx, dir, initrd, c, k)
}

// writeInitramfs builds process 1 and packs everything into the file.
func writeInitramfs(ctx context.Context, file, dir string, c Config, k *kernel) error {
	guest, err := Build(ctx, dir, "gpushare-bench/internal/vmtest/guest")
	if err != nil {
		return err
	}
	modules, err := k.load(append(slices.Clone(transport), c.Modules...))
	if err != nil {
		return err
	}
	libs, err := libraries(c.Binary)
	if err != nil {
		return err
	}
	program := "/bin/" + filepath.Base(c.Binary)
	libs["/init"] = guest
	libs[program] = c.Binary
	argv := append([]string{program}, c.Args...)
	if c.Under != "" {
		under := "/bin/" + filepath.Base(c.Under)
		libs[under] = c.Under
		argv = slices.Insert(argv, 0, under)
	}

	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write initramfs: %w", err)
	}
	defer f.Close()
	a := newArchive(f)
	plan := Plan{
		Argv:    argv,
		Env:     append([]string{"PATH=/bin", "HOME=/tmp", "TMPDIR=/tmp"}, c.Env...),
		Collect: c.Collect,
	}
	for _, m := range modules {
		name := "/modules/" + m.name + ".ko"
		a.file(name, m.content)
		plan.Modules = append(plan.Modules, name)
	}
	text, err := json.Marshal(plan)
	if err != nil {
		return fmt.Errorf("write initramfs: %w", err)
	}
	a.file(PlanFile, text)
	for _, name := range slices.Sorted(maps.Keys(libs)) {
		content, err := os.ReadFile(libs[name])
		if err != nil {
			return fmt.Errorf("write initramfs: %w", err)
		}
		a.file(name, content)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		a.file(name, c.Files[name])
	}
	return a.close()
}

// boot starts qemu and reads the answer it leaves.
func boot(ctx context.Context, dir, initrd string, c Config, k *kernel) (Result, error) {
	console, answer := filepath.Join(dir, "console"), filepath.Join(dir, "answer")
	cmd := exec.CommandContext(ctx, qemu,
		"-nodefaults", "-no-user-config", "-no-reboot", "-display", "none",
		"-accel", "tcg", "-cpu", "max",
		"-m", strconv.Itoa(orDefault(c.MemoryMiB, 1024)), "-smp", strconv.Itoa(orDefault(c.CPUs, 2)),
		"-kernel", k.image, "-initrd", initrd,
		"-append", strings.Join(append([]string{"console=ttyS0", "panic=-1", "rdinit=/init", "loglevel=5"}, c.Kernel...), " "),
		"-chardev", "file,id=console,path="+console, "-serial", "chardev:console",
		"-device", "virtio-serial-pci",
		"-chardev", "file,id=answer,path="+answer, "-device", "virtserialport,chardev=answer,name="+PortName,
	)
	cmd.WaitDelay = 5 * time.Second
	output, runErr := cmd.CombinedOutput()
	log, err := os.ReadFile(console)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Result{}, fmt.Errorf("read console: %w", err)
	}
	fail := func(err error) (Result, error) {
		return Result{}, fmt.Errorf("%s (kernel %s): %w\n%s\nlast lines of the console:\n%s",
			qemu, k.release, err, bytes.TrimSpace(output), tail(log, 4000))
	}
	if ctx.Err() != nil {
		return fail(context.Cause(ctx))
	}
	if runErr != nil {
		return fail(runErr)
	}
	f, err := os.Open(answer)
	if err != nil {
		return fail(err)
	}
	defer f.Close()
	result, err := readAnswer(f)
	if err != nil {
		return fail(err)
	}
	result.Console = string(log)
	return result, nil
}

// readAnswer reads the tar stream that process 1 sends. A stream that was cut
// short is an error, as is a program that could not be started.
func readAnswer(r io.Reader) (Result, error) {
	result := Result{Files: make(map[string][]byte)}
	var status *Status
	in := tar.NewReader(r)
	for {
		header, err := in.Next()
		if errors.Is(err, io.EOF) && status != nil {
			break
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // the reader takes a stream cut between two entries for whole
		}
		if err != nil {
			return Result{}, fmt.Errorf("the virtual machine ended without a whole answer: %w", err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			return Result{}, fmt.Errorf("the virtual machine ended in the middle of %s: %w", header.Name, err)
		}
		switch header.Name {
		case StatusEntry:
			if err := json.Unmarshal(content, &status); err != nil {
				return Result{}, fmt.Errorf("read status of the virtual machine: %w", err)
			}
		case StdoutEntry:
			result.Stdout = string(content)
		case StderrEntry:
			result.Stderr = string(content)
		default:
			result.Files["/"+header.Name] = content
		}
	}
	if status.Fault != "" {
		return Result{}, fmt.Errorf("in the virtual machine: %s", status.Fault)
	}
	result.ExitStatus, result.Kernel = status.ExitStatus, status.Kernel
	return result, nil
}

func orDefault(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

// tail returns the last n bytes at most.
func tail(b []byte, n int) []byte { return b[max(0, len(b)-n):] }

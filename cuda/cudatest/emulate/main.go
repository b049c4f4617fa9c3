// Emulate runs a program on an emulated GPU machine:
//
//	go run ./cuda/cudatest/emulate -machine eight-h200 -- gpushare-bench sweep
//
// It sets the environment in which gpushare-bench finds the emulated driver,
// runs the program, and afterwards prints what the driver found wrong. Figures
// that were measured so say nothing about any GPU.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"gpushare-bench/cuda/cudatest"
)

func main() {
	machine := flag.String("machine", "h200-580", "the `name` of the machine: "+strings.Join(cudatest.Names(), ", "))
	faults := flag.String("faults", "", "`rules` of faults to inject, as in consumer:cuMemMap@3=CUDA_ERROR_OUT_OF_MEMORY")
	flag.Parse()
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "emulate: no program; for example: emulate -machine thor -- gpushare-bench info")
		os.Exit(2)
	}
	status, err := run(*machine, *faults, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "emulate:", err)
		os.Exit(1)
	}
	os.Exit(status)
}

func run(machine, faults string, args []string) (status int, err error) {
	dir, err := os.MkdirTemp("", "gpushare-emulate-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	var options []cudatest.Option
	if faults != "" {
		options = append(options, cudatest.Faults(faults))
	}
	env, err := cudatest.Prepare(dir, machine, options...)
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.Env = append(os.Environ(), env.Entries()...)
	if err := cmd.Run(); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			return 0, fmt.Errorf("run %s: %w", args[0], err)
		}
		status = exit.ExitCode()
	}
	entries, err := env.ReadReport()
	if err != nil {
		return status, err
	}
	for _, e := range entries {
		if e.Class != cudatest.OK {
			fmt.Fprintln(os.Stderr, "emulated driver:", e)
		}
	}
	return status, nil
}

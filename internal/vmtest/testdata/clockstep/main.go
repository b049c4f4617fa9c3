// Command clockstep runs a program while it steps the time of day, as a clock that
// is set by hand or by a time server does, only further: a day ahead, two days
// back, a day ahead, over and over. Its arguments are the program and its
// arguments; after an argument ";" come those of the next call of the program.
// It ends with the first status that is not 0, and says how often it has stepped.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"
)

// every is short against a case, so that steps of either direction fall into it.
const every = 300 * time.Millisecond

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: clockstep program [argument ...] [; argument ...]")
		os.Exit(2)
	}
	stop, steps := make(chan struct{}), make(chan int)
	go func() { steps <- stepUntil(stop) }()
	status := runAll(os.Args[1], os.Args[2:])
	close(stop)
	fmt.Println("clockstep: steps:", <-steps)
	os.Exit(status)
}

// stepUntil steps the time of day until stop is closed and returns how often it did.
func stepUntil(stop <-chan struct{}) int {
	const day = 24 * time.Hour
	tick := time.NewTicker(every)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-stop:
			return n
		case <-tick.C:
		}
		by := []time.Duration{day, -2 * day, day}[n%3]
		tv := syscall.NsecToTimeval(time.Now().Add(by).UnixNano())
		if err := syscall.Settimeofday(&tv); err != nil {
			fmt.Fprintf(os.Stderr, "clockstep: settimeofday, by %v: %v\n", by, err)
			os.Exit(1)
		}
	}
}

// runAll calls the program once for each list of arguments.
func runAll(program string, args []string) int {
	for len(args) > 0 {
		call := args
		if i := slices.Index(args, ";"); i >= 0 {
			call, args = args[:i], args[i+1:]
		} else {
			args = nil
		}
		cmd := exec.Command(program, call...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		err := cmd.Run()
		var exit *exec.ExitError
		switch {
		case err == nil:
		case errors.As(err, &exit) && exit.Exited():
			return exit.ExitCode()
		default:
			fmt.Fprintf(os.Stderr, "clockstep: run %s: %v\n", program, err)
			return 1
		}
	}
	return 0
}

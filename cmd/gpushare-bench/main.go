// Command gpushare-bench measures what it costs to share memory between processes and GPUs.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// endOnSignal lets the first signal end the process at once, for commands that have nothing to end in order: their files
// are made under temporary names, and can be made again. The error is ctx's, of a signal that came before.
func endOnSignal(ctx context.Context) error {
	signal.Reset(os.Interrupt, syscall.SIGTERM)
	return ctx.Err()
}

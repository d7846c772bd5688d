// Command sbx uses sandboxes: it shows what the cleanup ledger holds and
// destroys what is owed.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], outside{out: os.Stdout, err: os.Stderr, lookup: os.LookupEnv, driver: lookupDriver})
	stop()
	os.Exit(code)
}

// Command sbx uses sandboxes: it creates them, runs commands in them, moves
// files, and destroys them; it shows what the cleanup ledger holds and destroys
// what is owed.
package main

import (
	"context"
	"os"

	"github.com/agentworkforce/sbx/catalog"
	"github.com/agentworkforce/sbx/generated/registry"
)

func main() {
	exits := &exitHooks{}
	ctx, stop := interrupted(context.Background(), exits)
	code := run(ctx, os.Args[1:], outside{in: os.Stdin, out: os.Stdout, err: os.Stderr, lookup: os.LookupEnv,
		driver: registry.Lookup, drivers: registry.Drivers, catalog: catalog.Entries, exits: exits})
	stop()
	os.Exit(code)
}

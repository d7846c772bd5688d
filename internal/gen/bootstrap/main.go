// Command bootstrap writes generated/contract and the generated parts of port
// from schema/ alone. It imports nothing that is generated, so it works when
// generated/ does not compile.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/agentworkforce/sbx/internal/gen"
)

func main() {
	if err := gen.Bootstrap(context.Background(), "."); err != nil {
		fmt.Fprintln(os.Stderr, "bootstrap:", err)
		os.Exit(1)
	}
}

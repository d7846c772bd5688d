package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/agentworkforce/sbx/internal/diag"
)

// exitInterrupted is what shells give a program that SIGINT ended.
const exitInterrupted = 130

// interrupted reports, and says, that the command ended because it was told to.
// What else failed then is said, too.
func interrupted(ctx context.Context, err error, s streams) bool {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return false
	}
	var several interface{ Unwrap() []error }
	if errors.As(err, &several) {
		for _, e := range several.Unwrap() {
			if e != nil && !errors.Is(e, context.Canceled) {
				fmt.Fprintf(s.err, "sbxgen: %s\n", diag.PrintableLines(e.Error()))
			}
		}
	}
	fmt.Fprintln(s.err, "sbxgen: interrupted; run it again")
	return true
}

// noFolder marks as the caller's that the folder the command was started in has
// been deleted.
func noFolder(err error) error {
	if call, ok := errors.AsType[*os.SyscallError](err); ok && call.Syscall == "getwd" {
		return usagef("the folder this was started in is gone; change to another one, or give --chdir an absolute path")
	}
	return err
}

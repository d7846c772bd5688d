package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
)

// pinnedClient holds the client packages that the manifest names against the
// module this run was built in: test binaries do not say what they are made of.
func pinnedClient(_ context.Context, t *trial) error {
	clients := t.s.h.Driver.Manifest.Clients
	if len(clients) == 0 {
		return refused("the manifest names no client package: the adapter speaks to the vendor by itself")
	}
	dir, err := moduleRoot()
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return unknown(NotAttempted, "go.mod: %v", err)
	}
	sum, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	if err != nil {
		return unknown(NotAttempted, "go.sum: %v", err)
	}
	for _, c := range clients {
		if err := pinned(c, mod, sum); err != nil {
			return err
		}
	}
	return nil
}

// moduleRoot is the nearest folder above the working one with a go.mod: tests
// run in the folder of their package.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", unknown(NotAttempted, "the working directory: %v", err)
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || up == dir {
			return "", unknown(NotAttempted, "the run was not started within the module that it was built from")
		}
		dir = up
	}
}

// pinned requires one client at its version and digest, and not replaced.
func pinned(c contract.PinnedClient, mod, sum []byte) error {
	version := ""
	for fields := range lines(mod) {
		if len(fields) > 0 && fields[0] == "require" {
			fields = fields[1:]
		}
		switch {
		case len(fields) > 1 && fields[0] == c.Module && strings.HasPrefix(fields[1], "v") && !slices.Contains(fields, "=>"):
			version = fields[1]
		case slices.Contains(fields, "=>") && slices.Contains(fields[:2], c.Module):
			return fmt.Errorf("%s is replaced in go.mod", c.Module)
		}
	}
	if version != c.Version {
		return fmt.Errorf("the manifest names %s %s, go.mod requires %q", c.Module, c.Version, version)
	}
	if c.Sha256 == "" {
		return fmt.Errorf("the manifest names no digest of %s %s", c.Module, c.Version)
	}
	for fields := range lines(sum) {
		if len(fields) != 3 || fields[0] != c.Module || fields[1] != c.Version {
			continue
		}
		digest, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(fields[2], "h1:"))
		if err != nil {
			return fmt.Errorf("go.sum: the digest of %s: %w", c.Module, err)
		}
		if got := hex.EncodeToString(digest); got != c.Sha256 {
			return fmt.Errorf("the manifest names digest %s of %s %s, go.sum has %s", c.Sha256, c.Module, c.Version, got)
		}
		return nil
	}
	return fmt.Errorf("go.sum has no digest of %s %s", c.Module, c.Version)
}

// lines yields the words of each line.
func lines(b []byte) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for in := bufio.NewScanner(bytes.NewReader(b)); in.Scan(); {
			if !yield(strings.Fields(in.Text())) {
				return
			}
		}
	}
}

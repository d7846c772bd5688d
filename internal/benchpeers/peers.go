package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// peers is the folder that scripts/bench-peers.sh puts the peers into: programs
// in bin/, npm packages in npm/, and a file absent/NAME with the reason for each
// one that could not be installed.
type peers struct{ dir string }

// path is where a program of this name is, there or not.
func (p peers) path(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(p.dir, "bin", name)
}

// missing says why a peer cannot be measured; empty when it can.
func (p peers) missing(name string) string {
	reason, err := os.ReadFile(filepath.Join(p.dir, "absent", name))
	switch {
	case err == nil && len(strings.TrimSpace(string(reason))) > 0:
		return strings.TrimSpace(string(reason))
	case err == nil:
		return "it could not be installed"
	case !errors.Is(err, fs.ErrNotExist):
		return err.Error()
	}
	if _, err := os.Stat(p.path(name)); err != nil {
		return "it was not installed"
	}
	return ""
}

// peer is a command that stands beside ours; name is the file in bin/.
func (p peers) peer(title, name, dir string, args ...string) subject {
	c := command{dir: dir, argv: append([]string{p.path(name)}, args...)}
	return subject{name: title, missing: p.missing(name), run: c.run}
}

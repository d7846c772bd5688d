package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"time"

	"github.com/agentworkforce/sbx/internal/gen"
)

// suite is a provider's generated test binary, built where the provider lives.
// Everything a provider's code does happens in that process: sbxgen links none.
type suite struct {
	project  *gen.Project
	manifest *gen.Manifest
	folder   string // of the provider, absolute; the process runs there
	temp     string // holds the binary and what it writes
	binary   string
}

// findSuite looks a provider up and says what is missing to run it.
func findSuite(p *gen.Project, id string) (*suite, error) {
	for _, m := range p.Manifests {
		if m.ID() != id {
			continue
		}
		s := &suite{project: p, manifest: m, folder: filepath.Join(p.Root, filepath.FromSlash(m.Dir))}
		_, err := os.Stat(filepath.Join(s.folder, "zz_generated_conformance_test.go"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, usagef("provider %q has no generated test: it has no adapter of its own, or sbxgen generate was not run", id)
		}
		return s, err
	}
	return nil, usagef("no provider %q", id)
}

// build compiles the test binary into a temporary folder. What the compiler says
// goes to standard error and is a finding.
func (su *suite) build(ctx context.Context, s streams) error {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return usagef("building the provider's suite needs the go command: %v", err)
	}
	if su.temp == "" {
		if su.temp, err = os.MkdirTemp("", "sbxgen-suite-"); err != nil {
			return err
		}
	}
	su.binary = filepath.Join(su.temp, "suite.test")
	if filepath.Separator == '\\' {
		su.binary += ".exe"
	}
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, goTool, "test", "-c", "-o", su.binary, ".")
	cmd.Dir, cmd.Stdout, cmd.Stderr = su.folder, &output, &output
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && ctx.Err() == nil {
		fmt.Fprintf(s.err, "%s does not compile:\n%s", path.Join(su.manifest.Dir), output.String())
		return findingsError{}
	}
	return err
}

// close removes what build and the runs made.
func (su *suite) close() error {
	if su.temp == "" {
		return nil
	}
	return os.RemoveAll(su.temp)
}

// teardownTime is how long an interrupted run may take to destroy what it made
// before it is killed; the ledgers then say what is owed.
const teardownTime = 5 * time.Minute

// run starts the binary with these arguments and additional environment and waits
// for its end. An interrupt is passed on and the process is left to tear down. It
// returns everything the process printed; a failed test is no error.
func (su *suite) run(ctx context.Context, args, env []string, started func(pid int)) ([]byte, error) {
	output := &cappedBuffer{}
	cmd := exec.CommandContext(ctx, su.binary, args...)
	cmd.Dir, cmd.Env = su.folder, append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = teardownTime
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	if started != nil {
		started(cmd.Process.Pid)
	}
	err := cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, context.Canceled) {
		err = nil
	}
	return output.b.Bytes(), err
}

// cappedBuffer keeps the first megabytes of what a process prints.
type cappedBuffer struct{ b bytes.Buffer }

const maxOutput = 8 << 20

// Write keeps what fits and takes the rest.
func (c *cappedBuffer) Write(p []byte) (int, error) {
	if room := maxOutput - c.b.Len(); room > 0 {
		c.b.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

// place turns a location of a report, an import path with file and line, into a
// path below the project's root where it can.
func (su *suite) place(location string) string {
	if rest, ok := cutModule(location, su.project.Module); ok {
		return rest
	}
	return location
}

func cutModule(location, module string) (string, bool) {
	if len(location) > len(module) && location[:len(module)] == module && location[len(module)] == '/' {
		return location[len(module)+1:], true
	}
	return location, false
}

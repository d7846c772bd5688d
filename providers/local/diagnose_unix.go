//go:build unix

package local

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"time"

	"github.com/agentworkforce/sbx/port"
)

const (
	probeTimeout = 10 * time.Second
	probeNoDir   = 3
	probeReason  = 1 << 10 // bytes of bwrap's own words
)

// probeScript tries the directory in the surroundings of the command.
const probeScript = `unset CDPATH; cd -- "$1" 2>/dev/null || exit 3`

// diagnose says why bwrap ended without having run the command. bwrap's own
// words are for people; asking again is for programs.
func (a *Adapter) diagnose(p plan) error {
	if p.probe {
		return failed(p.op, p.folder.id, port.CodeFailedPrecondition, port.OutcomeUnchanged,
			"bwrap cannot set up a sandbox on this machine", nil)
	}
	probe := p
	probe.argv = []string{shell, "-c", probeScript, "sh", p.dir}
	probe.dir, probe.probe, probe.tty, probe.run, probe.timeout = "/", true, false, newID(), probeTimeout
	probe.env = maps.Clone(p.env)
	probe.env[runVariable] = probe.run
	code, said, err := a.runProbe(probe)
	switch {
	case err == nil && code == probeNoDir:
		return refuse(p.op, p.folder.id, port.CodeWorkdirUnusable, "the working directory cannot be entered")
	case err == nil:
		return refuse(p.op, p.folder.id, port.CodeProvider, "bwrap failed before it ran the command")
	}
	if e, ok := errors.AsType[*port.Error](err); ok && len(said) > 0 {
		e.Err = errors.New(string(bytes.TrimSpace(said)))
	}
	return err
}

func (a *Adapter) runProbe(p plan) (int, []byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, nil, fsFailure(p.op, p.folder.id, port.OutcomeUnchanged, err)
	}
	t, err := a.start(p, streams{err: w})
	if err = errors.Join(err, w.Close()); err != nil {
		return 0, nil, withCode(errors.Join(err, r.Close()), p.op, p.folder.id)
	}
	said, readErr := io.ReadAll(io.LimitReader(r, probeReason))
	<-t.ended
	if err := errors.Join(readErr, r.Close()); err != nil && t.err == nil {
		return 0, said, fsFailure(p.op, p.folder.id, port.OutcomeUnchanged, err)
	}
	return t.code, said, t.err
}

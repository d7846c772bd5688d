//go:build unix

package local

import (
	"bytes"
	"errors"
	"io"
	"os"
	"time"

	"github.com/agentworkforce/sbx/port"
)

const (
	probeTimeout = 10 * time.Second
	probeNoDir   = 3
	probeReason  = 1 << 10
)

// probeScript tells apart why a command did not start: the directory, or a
// program that is absent or not executable. It runs in the same surroundings.
const probeScript = `set -f
unset CDPATH
cd -- "$1" 2>/dev/null || exit 3
case $2 in
*/*) [ -e "$2" ] && exit 126; exit 127 ;;
esac
IFS=:
for d in $PATH; do [ -e "${d:-.}/$2" ] && exit 126; done
exit 127`

// diagnose says why bwrap ended without having run the command. bwrap's own
// words are for people; asking again is for programs. A program that cannot be
// run is an exit code, as from a shell.
func (a *Adapter) diagnose(p plan) (int, error) {
	unusable := failed(p.op, p.folder.id, port.CodeFailedPrecondition, port.OutcomeUnchanged,
		"bwrap cannot set up a sandbox on this machine", nil)
	if p.probe {
		return 0, unusable
	}
	probe := p
	probe.argv = []string{shell, "-c", probeScript, "sh", p.dir, p.argv[0]}
	probe.dir, probe.probe, probe.tty, probe.run, probe.timeout = "/", true, false, newID(), probeTimeout
	code, said, err := a.runProbe(probe)
	switch {
	case err == nil && code == probeNoDir:
		return 0, refuse(p.op, p.folder.id, port.CodeWorkdirUnusable, "the working directory cannot be entered")
	case err == nil && (code == 126 || code == 127):
		return code, nil
	case err == nil:
		return 0, failed(p.op, p.folder.id, port.CodeExitUnknown, port.OutcomeUnknown,
			"the command's exit code is lost", nil)
	}
	if e, ok := errors.AsType[*port.Error](err); ok && len(said) > 0 {
		e.Err = errors.New(string(bytes.TrimSpace(said)))
	}
	return 0, err
}

func (a *Adapter) runProbe(p plan) (int, []byte, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return 0, nil, fsFailure(p.op, p.folder.id, port.OutcomeUnchanged, err)
	}
	t, err := a.start(p, streams{err: w})
	if err = errors.Join(err, w.Close()); err != nil {
		return 0, nil, errors.Join(err, r.Close())
	}
	said, readErr := io.ReadAll(io.LimitReader(r, probeReason))
	<-t.ended
	if err := errors.Join(readErr, r.Close()); err != nil && t.err == nil {
		return 0, said, fsFailure(p.op, p.folder.id, port.OutcomeUnchanged, err)
	}
	return t.code, said, t.err
}

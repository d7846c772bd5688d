package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

const (
	providerID = "local"

	isolationBwrap = "bwrap"
	isolationNone  = "none"
)

// Adapter drives sandboxes that are folders of this machine. It keeps no state
// between calls: any number of adapters, in any number of processes, may work
// on the same state directory at once.
type Adapter struct {
	state     ledger.Dirs
	dir       string // <state>/sbx/local
	isolation string // of the sandboxes made from now on
	bwrap     string // absolute path, "" when the program is not there
	now       func() time.Time
}

// New checks cfg and makes the state directory when it does not exist.
//
// Isolation: empty means bwrap on Linux and is refused elsewhere, because
// running without isolation has to be chosen. A missing bwrap program is
// failed_precondition. StateDir must be absolute; it has no default here: where
// state lives is a matter of the environment, which adapters do not read.
func New(_ context.Context, cfg Config) (*Adapter, error) {
	if reason := systemRefusal(); reason != "" {
		return nil, refuse("Open", "", port.CodeFailedPrecondition, reason)
	}
	bwrap := findBwrap()
	isolation, err := chooseIsolation(cfg.Isolation, runtime.GOOS, bwrap)
	if err != nil {
		return nil, err
	}
	state, err := openState(cfg.StateDir)
	if err != nil {
		return nil, err
	}
	return &Adapter{state: state, dir: state.Path("local"), isolation: isolation, bwrap: bwrap, now: time.Now}, nil
}

// chooseIsolation never weakens what was asked for.
func chooseIsolation(want, goos, bwrap string) (string, error) {
	switch {
	case want != "" && want != isolationBwrap && want != isolationNone:
		return "", refuse("Open", "", port.CodeInvalidArgument, "isolation must be bwrap or none")
	case want == isolationNone:
		return isolationNone, nil
	case goos != "linux" && want == isolationBwrap:
		return "", refuse("Open", "", port.CodeInvalidArgument, "isolation bwrap exists on Linux only")
	case goos != "linux":
		return "", refuse("Open", "", port.CodeInvalidArgument,
			"commands cannot be isolated on this system: set isolation to none to run them without")
	case bwrap == "":
		return "", refuse("Open", "", port.CodeFailedPrecondition,
			"bwrap (bubblewrap) is not installed: install it, or set isolation to none to run commands without")
	}
	return isolationBwrap, nil
}

// openState makes the path canonical: scope, mounts and file views depend on
// one spelling of it.
func openState(dir string) (ledger.Dirs, error) {
	if !filepath.IsAbs(dir) {
		return ledger.Dirs{}, refuse("Open", "", port.CodeInvalidArgument,
			"stateDir must be an absolute directory (SBX_STATE_DIR)")
	}
	real, err := filepath.EvalSymlinks(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(dir, 0o700); err == nil {
			real, err = filepath.EvalSymlinks(dir)
		}
	}
	if err != nil {
		return ledger.Dirs{}, fsFailure("Open", "", port.OutcomeUnchanged, err)
	}
	return ledger.Dirs{Root: real}, nil
}

// Scope is "local-" and a hash of this machine's identity and the state
// directory. It is the same for every process and isolation setting.
func (a *Adapter) Scope(ctx context.Context) (string, error) {
	host, err := ledger.Host(ctx, a.state)
	if err != nil {
		return "", failed("Scope", "", port.CodeUnavailable, port.OutcomeUnchanged,
			"the identity of this machine cannot be read", err)
	}
	sum := sha256.Sum256([]byte("sbx local scope v1\x00" + host + "\x00" + a.state.Root))
	return "local-" + hex.EncodeToString(sum[:16]), nil
}

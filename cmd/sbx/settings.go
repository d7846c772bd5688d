package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// dirs is where the ledgers are. It makes nothing; a place that cannot hold them
// is a wrong setting.
func (o outside) dirs() (ledger.Dirs, error) {
	dirs, err := ledger.StateDir(o.getenv)
	if err != nil {
		return dirs, usageError{err}
	}
	found, err := os.Stat(dirs.Root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dirs, nil // it is made when there is something to write
	case err != nil:
		return dirs, usagef("%s: %w", o.stateSetting(), err)
	case !found.IsDir():
		return dirs, usagef("%s: %s is not a directory", o.stateSetting(), dirs.Root)
	}
	return dirs, nil
}

// stateSetting is what decides about the state directory.
func (o outside) stateSetting() string {
	if strings.TrimSpace(o.getenv("SBX_STATE_DIR")) != "" {
		return "SBX_STATE_DIR"
	}
	return "the state directory cannot be used (SBX_STATE_DIR names another)"
}

// writable makes the state directory before a vendor is asked for anything.
func (a *app) writable() error {
	dirs, err := a.dirs()
	if err != nil {
		return err
	}
	if _, err := a.owner(dirs); err != nil {
		return err
	}
	if err := os.MkdirAll(dirs.Path(), 0o700); err != nil {
		return usagef("%s: %w", a.stateSetting(), err)
	}
	return nil
}

// owner is whose ledgers count, "" when nobody has made one yet. It makes nothing.
func (a *app) owner(dirs ledger.Dirs) (string, error) {
	if owner := strings.TrimSpace(a.getenv("SBX_OWNER")); owner != "" {
		if !ledger.ValidOwner(owner) {
			return "", usagef("SBX_OWNER is 3 to 32 characters of a-z, 0-9 and inner hyphens, and no device name")
		}
		return owner, nil
	}
	raw, err := os.ReadFile(dirs.Path("owner"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(raw)), err
}

// wrongSetting makes a provider that cannot be opened with what it was told a
// usage error: nothing was asked of it. It names variables, never their values.
func (a *app) wrongSetting(d sandbox.Driver, err error) error {
	e, ok := errors.AsType[*port.Error](err)
	if !ok || e.Code != port.CodeInvalidArgument || e.Op != "Open" {
		return err
	}
	var set []string
	for _, s := range d.Manifest.Settings {
		for _, name := range append([]string{s.Env}, s.Aliases...) {
			if name != "" && strings.TrimSpace(a.getenv(name)) != "" {
				set = append(set, name)
			}
		}
	}
	for _, name := range set {
		if strings.Contains(err.Error(), name) {
			return usageError{err} // it is named already
		}
	}
	if len(set) == 0 {
		return usageError{err}
	}
	return usageError{fmt.Errorf("%w (set here: %s)", err, strings.Join(set, ", "))}
}

package ledger

import (
	"path/filepath"
	"runtime"
	"strings"
)

// Dirs names the places of sbx's local state. The zero value is not usable; get
// one from StateDir, or set Root to an absolute directory.
type Dirs struct {
	// Root is the state root of the user; everything of sbx is below Root/sbx.
	Root string
}

// StateDir finds the state root: SBX_STATE_DIR; else XDG_STATE_HOME or
// ~/.local/state (~/Library/Application Support on macOS, %LocalAppData% on
// Windows). It reads only through getenv and touches no file. A relative
// SBX_STATE_DIR is an *InvalidError; a relative XDG_STATE_HOME is ignored, as
// its specification demands.
func StateDir(getenv func(string) string) (Dirs, error) {
	return stateDir(runtime.GOOS, getenv)
}

func stateDir(goos string, getenv func(string) string) (Dirs, error) {
	if root := strings.TrimSpace(getenv("SBX_STATE_DIR")); root != "" {
		if !filepath.IsAbs(root) {
			return Dirs{}, &InvalidError{Field: "SBX_STATE_DIR", Reason: "is not an absolute path"}
		}
		return Dirs{Root: filepath.Clean(root)}, nil
	}
	switch goos {
	case "windows":
		if local := getenv("LocalAppData"); local != "" {
			return Dirs{Root: local}, nil
		}
		return underHome(getenv, "USERPROFILE", "AppData", "Local")
	case "darwin", "ios":
		return underHome(getenv, "HOME", "Library", "Application Support")
	default:
		if xdg := getenv("XDG_STATE_HOME"); filepath.IsAbs(xdg) {
			return Dirs{Root: filepath.Clean(xdg)}, nil
		}
		return underHome(getenv, "HOME", ".local", "state")
	}
}

func underHome(getenv func(string) string, name string, elem ...string) (Dirs, error) {
	home := getenv(name)
	if home == "" {
		return Dirs{}, &InvalidError{Field: name, Reason: "is not set, and neither is SBX_STATE_DIR"}
	}
	return Dirs{Root: filepath.Join(append([]string{home}, elem...)...)}, nil
}

// Path joins elem below <state>/sbx.
func (d Dirs) Path(elem ...string) string {
	return filepath.Join(append([]string{d.Root, "sbx"}, elem...)...)
}

// OwnerDir is the directory of an owner's runs.
func (d Dirs) OwnerDir(owner string) string { return d.Path("ledger", owner) }

// RunFile is the ledger file of a run.
func (d Dirs) RunFile(owner, run string) string {
	return filepath.Join(d.OwnerDir(owner), run+runExt)
}

func (d Dirs) check() error {
	if !filepath.IsAbs(d.Root) {
		return &InvalidError{Field: "state directory", Reason: "is not an absolute path"}
	}
	return nil
}

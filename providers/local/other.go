//go:build !unix

package local

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// On systems that are no Unix, New refuses; what follows only completes the type.

const (
	commandPath  = ""
	notDirectory = syscall.ENOTDIR
)

const (
	lockShared = iota
	lockExclusive
)

var errLocked = errors.New("the folder is locked")

type folderLock struct{}

func (*folderLock) release() error { return nil }

func systemRefusal() string { return "local sandboxes need a Unix system" }

func findBwrap() string { return "" }

func unsupportedSystem(op, id string) error {
	return refuse(op, id, port.CodeUnsupported, systemRefusal())
}

func lockFolder(string, int) (*folderLock, error) { return nil, errors.ErrUnsupported }

func syncDir(string) error { return errors.ErrUnsupported }

func countMarked(string) (int, error) { return 0, errors.ErrUnsupported }

func killMarked(string, time.Duration) (int, error) { return 0, errors.ErrUnsupported }

func mountsBelow(string) (int, error) { return 0, errors.ErrUnsupported }

func clearFlags(string) error { return errors.ErrUnsupported }

func renameAcross(*os.Root, string, *os.Root, string) error { return errors.ErrUnsupported }

// Exec refuses.
func (a *Adapter) Exec(_ context.Context, id string, _ contract.Command) (contract.ExecResult, error) {
	return contract.ExecResult{}, unsupportedSystem("Exec", id)
}

// Stream refuses.
func (a *Adapter) Stream(_ context.Context, id string, _ contract.Command) (port.Process, error) {
	return nil, unsupportedSystem("Stream", id)
}

// OpenPTY refuses.
func (a *Adapter) OpenPTY(_ context.Context, id string, _ contract.PTYRequest) (port.PTY, error) {
	return nil, unsupportedSystem("OpenPTY", id)
}

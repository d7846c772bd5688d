package local

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/agentworkforce/sbx/port"
)

// failed makes an error of this provider.
func failed(op, id string, code port.Code, outcome port.Outcome, reason string, err error) error {
	return &port.Error{Code: code, Op: op, Provider: providerID, ID: id, Outcome: outcome, Reason: reason, Err: err}
}

// refuse is failed for what was turned down before anything was changed.
func refuse(op, id string, code port.Code, reason string) error {
	return failed(op, id, code, port.OutcomeUnchanged, reason, nil)
}

func notFound(op, id string) error {
	return refuse(op, id, port.CodeNotFound, "there is no such sandbox")
}

// fsFailure gives a file system error its code. This is the provider's one
// table of vendor errors.
func fsFailure(op, id string, outcome port.Outcome, err error) error {
	if _, ok := errors.AsType[*port.Error](err); ok {
		return err
	}
	is := func(codes ...syscall.Errno) bool {
		for _, c := range codes {
			if errors.Is(err, c) {
				return true
			}
		}
		return false
	}
	code := port.CodeProvider
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = port.CodeNotFound
	case is(syscall.ENOTEMPTY): // before ErrExist, which it also is
		code = port.CodeFailedPrecondition
	case errors.Is(err, fs.ErrExist):
		code = port.CodeAlreadyExists
	case errors.Is(err, fs.ErrPermission), is(syscall.EROFS):
		code = port.CodePermissionDenied
	case is(syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE):
		code = port.CodeQuotaExceeded
	case is(syscall.ENOTDIR, syscall.EISDIR, syscall.ENAMETOOLONG, syscall.ELOOP, syscall.EINVAL):
		code = port.CodeInvalidArgument
	case outcome == port.OutcomeUnchanged:
		code = port.CodeUnavailable
	}
	return failed(op, id, code, outcome, "", err)
}

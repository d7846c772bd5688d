// Package local drives Local sandboxes. Describe the vendor in provider.yaml,
// write the methods below, then run `sbxgen checklist local` to see what is
// left.
package local

import (
	"context"
	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Adapter talks to Local. It holds no state about sandboxes: every method is given an id, and any
// process with the same credentials may call it. It is safe for concurrent use.
type Adapter struct {
	cfg Config
}

// New makes an adapter from resolved settings. It reads no environment, checks what it was given
// and makes no network call.
func New(ctx context.Context, cfg Config) (*Adapter, error) {
	return &Adapter{cfg: cfg}, nil
}

// Scope names the account or engine that ids live in: stable, not secret, the same for every
// process with these credentials. Where the vendor gives no identity it is the endpoint and a
// keyed hash of the credential.
func (a *Adapter) Scope(ctx context.Context) (string, error) {
	return "", port.NotImplemented("Scope")
}

// Create makes a sandbox. An ID beside an error means it exists and Destroy is owed. No ID means a
// definite failure, or outcome_unknown. The context's cancellation does not abort it halfway: the
// caller passes a detached one.
func (a *Adapter) Create(ctx context.Context, request contract.CreateRequest) (contract.Instance, error) {
	return contract.Instance{}, port.NotImplemented("Create")
}

// Inspect reads one sandbox. It never changes, resumes or extends it. A tombstone is not_found.
func (a *Adapter) Inspect(ctx context.Context, id string) (contract.Instance, error) {
	return contract.Instance{}, port.NotImplemented("Inspect")
}

// Exec runs a command to its end. A nonzero exit is a result; a lost exit code is exit_unknown,
// never 0. A timeout that cannot be enforced is refused before submitting.
func (a *Adapter) Exec(ctx context.Context, id string, command contract.Command) (contract.ExecResult, error) {
	return contract.ExecResult{}, port.NotImplemented("Exec")
}

// Destroy asks the vendor to remove the sandbox. It is idempotent: absent is already-absent, not
// an error. It is never proof of absence.
func (a *Adapter) Destroy(ctx context.Context, id string) (port.DestroyOutcome, error) {
	return "", port.NotImplemented("Destroy")
}

// List returns every sandbox that matches, drained to a trustworthy end, or an error: never a
// short list. Server-side filters are checked again in process.
func (a *Adapter) List(ctx context.Context, request contract.ListRequest) ([]contract.Instance, error) {
	return nil, port.NotImplemented("List")
}

// ReadFile opens a regular file for reading. A missing file is not_found; a directory is
// invalid_argument. The receiver closes the stream.
func (a *Adapter) ReadFile(ctx context.Context, id string, path string) (port.ReadStream, error) {
	return port.ReadStream{}, port.NotImplemented("ReadFile")
}

// WriteFile creates or replaces a file with exactly these bytes and permission bits, making parent
// directories. When it returns without error the content can be read back.
func (a *Adapter) WriteFile(ctx context.Context, id string, path string, mode int, content port.WriteStream) error {
	return port.NotImplemented("WriteFile")
}

// Stat describes one path without following a final symlink.
func (a *Adapter) Stat(ctx context.Context, id string, path string) (contract.FileInfo, error) {
	return contract.FileInfo{}, port.NotImplemented("Stat")
}

// ReadDir lists a directory in name order.
func (a *Adapter) ReadDir(ctx context.Context, id string, path string) ([]contract.FileInfo, error) {
	return nil, port.NotImplemented("ReadDir")
}

// Mkdir makes a directory and its parents. An existing directory is not an error.
func (a *Adapter) Mkdir(ctx context.Context, id string, path string, mode int) error {
	return port.NotImplemented("Mkdir")
}

// Remove deletes a path, and with recursive what is below it. A missing path is not_found.
func (a *Adapter) Remove(ctx context.Context, id string, path string, recursive bool) error {
	return port.NotImplemented("Remove")
}

// Rename moves a path within the sandbox, replacing a file at the target.
func (a *Adapter) Rename(ctx context.Context, id string, from string, to string) error {
	return port.NotImplemented("Rename")
}

// Stream starts a command and returns at once with its live streams. The context ends the call,
// not the command: Process.Kill and Close do.
func (a *Adapter) Stream(ctx context.Context, id string, command contract.Command) (port.Process, error) {
	return nil, port.NotImplemented("Stream")
}

// OpenPTY starts a command on a pseudo terminal of the given size.
func (a *Adapter) OpenPTY(ctx context.Context, id string, request contract.PTYRequest) (port.PTY, error) {
	return nil, port.NotImplemented("OpenPTY")
}

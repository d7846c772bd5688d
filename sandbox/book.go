package sandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// recorder makes one fact durable. What it returns an error for may not happen.
type recorder func(ledger.Record) error

// book is a provider's own run in the ledger. The file is made by the first
// record, so a program that only reads leaves none behind.
type book struct {
	opts   *openOptions
	redact func(string) string

	mu     sync.Mutex
	who    *ledger.Identity
	writer *ledger.Writer
	ended  bool
}

// identity says whose this program's sandboxes are. It may make the owner file.
func (b *book) identity(ctx context.Context) (ledger.Identity, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.identityLocked(ctx)
}

func (b *book) identityLocked(ctx context.Context) (ledger.Identity, error) {
	if b.who != nil {
		return *b.who, nil
	}
	dirs, err := b.opts.dirs()
	if err != nil {
		return ledger.Identity{}, ledgerError("Open", err)
	}
	who, err := ledger.Identify(ctx, dirs, b.opts.getenv)
	if err != nil {
		return ledger.Identity{}, ledgerError("Open", err)
	}
	b.who = &who
	return who, nil
}

// none reports whether there are no ledgers at all, without making anything.
func (b *book) none() (bool, error) {
	dirs, err := b.opts.dirs()
	if err != nil {
		return false, ledgerError("Open", err)
	}
	_, err = os.Stat(dirs.Path("ledger"))
	return errors.Is(err, fs.ErrNotExist), nil
}

// start returns the writer of this run, making it the first time.
func (b *book) start(ctx context.Context) (*ledger.Writer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writer != nil {
		return b.writer, nil
	}
	if b.ended {
		return nil, ledgerError("Append", ledger.ErrClosed)
	}
	who, err := b.identityLocked(ctx)
	if err != nil {
		return nil, err
	}
	dirs, err := b.opts.dirs()
	if err != nil {
		return nil, ledgerError("Start", err)
	}
	w, err := ledger.Start(ctx, ledger.Options{Dirs: dirs, Identity: who, Clock: b.opts.clock, Redact: b.redact})
	if err != nil {
		return nil, ledgerError("Start", err)
	}
	b.writer = w
	return w, nil
}

// append records r in this run.
func (b *book) append(ctx context.Context, r ledger.Record) error {
	w, err := b.start(ctx)
	if err != nil {
		return err
	}
	if _, err := w.Append(r); err != nil {
		return ledgerError("Append", err)
	}
	return nil
}

func (b *book) path() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.writer == nil {
		return ""
	}
	return b.writer.Path()
}

func (b *book) close() error {
	b.mu.Lock()
	w := b.writer
	b.ended = true
	b.mu.Unlock()
	if w == nil {
		return nil
	}
	return w.Close()
}

// ledgerError: without a durable record nothing may be done at the vendor.
func ledgerError(op string, err error) error {
	return &Error{Code: port.CodeFailedPrecondition, Op: "Ledger" + op, Outcome: port.OutcomeUnchanged,
		Reason: "the cleanup ledger cannot be used", Err: err}
}

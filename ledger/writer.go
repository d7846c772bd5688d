package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/gofrs/flock"
)

// Options are what a Writer is made with. Identity is required; Start needs Dirs
// too.
type Options struct {
	Dirs     Dirs
	Identity Identity
	Clock    func() time.Time    // nil is time.Now
	Rand     io.Reader           // nil is crypto/rand
	Redact   func(string) string // scrubs free text before it is written; nil leaves it
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	return o
}

// Writer appends to one ledger file and holds its lock. Its methods may be called
// concurrently.
type Writer struct {
	opts       Options
	path       string
	run, owner string
	by         string // set when a dead run is recovered
	unlock     func() error
	self       fs.FileInfo // the file as it was opened; nil where it has no name

	mu       sync.Mutex
	f        file
	off      int64  // where the next batch goes
	torn     int64  // bytes beyond off that the next batch replaces
	healed   int64  // what the next record says about them
	seq      uint64 // of the last record
	prev     string // hash of the last record
	next     *batch // gathers records while a batch is being written
	flushing bool
	err      error // set for good by the first failed write
	closed   bool
	appends  sync.WaitGroup
}

// batch is a group of records made durable by one write and one fsync.
type batch struct {
	buf  []byte
	lead chan struct{} // tells one of the waiters to write it
	done chan struct{} // closed when err is set
	err  error
}

// Start makes the ledger of a new run, durable and locked, its first record
// included. ctx bounds the wait for the lock only. Close the Writer when the run
// ends; a process that dies without it leaves a dead run.
func Start(ctx context.Context, opts Options) (*Writer, error) {
	opts = opts.withDefaults()
	owner := opts.Identity.Owner
	if err := opts.Dirs.check(); err != nil {
		return nil, err
	}
	if !ValidOwner(owner) {
		return nil, &InvalidError{Field: "owner", Reason: ownerRule}
	}
	if err := mkdirDurable(opts.Dirs.OwnerDir(owner)); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	run, err := newRunID(opts.Clock(), opts.Rand)
	if err != nil {
		return nil, err
	}
	path := opts.Dirs.RunFile(owner, run)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, fileMode)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	w := &Writer{opts: opts, path: path, run: run, owner: owner, f: f, prev: firstHash()}
	if w.self, err = f.Stat(); err != nil {
		return nil, errors.Join(fmt.Errorf("ledger: %w", err), w.release(), os.Remove(path))
	}
	if err := w.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("ledger: %w", err), w.release(), os.Remove(path))
	}
	return w, nil
}

// begin locks the new file, makes its name durable and writes the first record,
// in this order: a file that has a first record has been locked.
func (w *Writer) begin(ctx context.Context) error {
	lock, err := acquire(ctx, w.path)
	if err != nil {
		return err
	}
	w.unlock = lock.Unlock
	if err := syncDir(w.opts.Dirs.OwnerDir(w.owner)); err != nil {
		return err
	}
	_, err = w.append(Record{Event: EventRunStarted}, false)
	return err
}

// Run is the run the file belongs to.
func (w *Writer) Run() string { return w.run }

// Path is the ledger file.
func (w *Writer) Path() string { return w.path }

// Append writes r and returns it as written, once it is durable: after a crash at
// any later moment a reader finds it. Records of concurrent callers may share one
// fsync. It takes no context, because an fsync cannot be abandoned and a fact does
// not stop being one.
//
// An intent is refused when the file is not there any more under its name, for
// then nobody would find it; the word about what exists already is taken.
//
// An *InvalidError, a *LostError and ErrClosed mean that nothing was written. A *PoisonedError
// means that r may or may not be durable and that every later Append fails: make
// no vendor call on the strength of it.
func (w *Writer) Append(r Record) (Record, error) {
	if err := validate(&r); err != nil {
		return Record{}, err
	}
	if r.Event == EventIntent {
		if err := w.findable(); err != nil {
			return Record{}, &LostError{Path: w.path, Err: err}
		}
	}
	return w.append(r, false)
}

func (w *Writer) append(r Record, last bool) (Record, error) {
	clean(&r, w.opts.Redact)
	w.mu.Lock()
	b, err := w.enqueue(&r, last)
	if err != nil {
		w.mu.Unlock()
		return Record{}, err
	}
	defer w.appends.Done()
	mine := !w.flushing
	w.flushing = true
	w.mu.Unlock()
	if !mine {
		select {
		case <-b.done:
			return result(r, b.err)
		case <-b.lead:
		}
	}
	w.flush()
	return result(r, b.err)
}

func result(r Record, err error) (Record, error) {
	if err != nil {
		return Record{}, err
	}
	return r, nil
}

// enqueue gives r its place in the chain and adds it to the next batch. w.mu is held.
func (w *Writer) enqueue(r *Record, last bool) (*batch, error) {
	if w.err != nil {
		return nil, w.err
	}
	if w.closed && !last {
		return nil, ErrClosed
	}
	r.V, r.Seq, r.PrevHash = Version, w.seq+1, w.prev
	r.At = w.opts.Clock().UTC().Round(0)
	r.ReapAfter = r.ReapAfter.UTC().Round(0)
	r.Run, r.Owner, r.By = w.run, w.owner, w.by
	r.Host, r.Boot = w.opts.Identity.Host, w.opts.Identity.Boot
	r.HealedBytes = w.healed
	line, err := encode(r)
	if err != nil {
		return nil, err
	}
	w.seq, w.prev, w.healed = r.Seq, lineHash(line), 0
	if w.next == nil {
		w.next = &batch{lead: make(chan struct{}, 1), done: make(chan struct{})}
	}
	w.next.buf = append(w.next.buf, line...)
	w.appends.Add(1)
	return w.next, nil
}

// flush makes the gathered batch durable and hands the writing of the next one, if
// records came in meanwhile, to one of those who wait for it. Only the caller that
// was told to lead may call it.
func (w *Writer) flush() {
	w.mu.Lock()
	b, off, torn, err := w.next, w.off, w.torn, w.err
	w.next = nil
	w.mu.Unlock()

	if err == nil {
		if err = writeBatch(w.f, b.buf, off, torn); err != nil {
			err = &PoisonedError{Path: w.path, Err: err}
		}
	}

	w.mu.Lock()
	if err != nil {
		w.err = err
	} else {
		w.off, w.torn = off+int64(len(b.buf)), 0
	}
	if w.next != nil {
		w.next.lead <- struct{}{}
	} else {
		w.flushing = false
	}
	w.mu.Unlock()
	b.err = err
	close(b.done)
}

// findable makes sure that a reader finds the file that is written to. One that
// was removed, by whoever tidies up, still takes records and nobody reads them.
func (w *Writer) findable() error {
	if w.self == nil {
		return nil
	}
	named, err := os.Stat(w.path)
	if err == nil && !os.SameFile(named, w.self) {
		err = errors.New("the file was replaced by another one")
	}
	return err
}

// Close appends run-ended (not when a dead run was recovered, or after a failed
// write), closes the file and gives up the lock, in this order. It waits for
// appends under way. Further calls do nothing.
func (w *Writer) Close() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	ended := w.by == "" && w.err == nil
	w.mu.Unlock()
	var err error
	if ended {
		_, err = w.append(Record{Event: EventRunEnded}, true)
	}
	w.appends.Wait()
	return errors.Join(err, w.release())
}

func (w *Writer) release() error {
	err := w.f.Close()
	if w.unlock != nil {
		err = errors.Join(err, w.unlock())
	}
	return err
}

// OpenDead takes over the file of a dead run: it locks it, reads it and returns a
// Writer that continues its chain in the name of run by, with what was read. The
// bytes of a torn record are replaced by the first record appended, which says how
// many there were; until then nothing is changed.
//
// ErrAlive: somebody holds it. ErrNoRun: it holds no intent, leave it. A
// *CorruptError: it must not be continued; the Log holds what can be trusted.
func OpenDead(ctx context.Context, path, by string, opts Options) (*Writer, *Log, error) {
	opts = opts.withDefaults()
	if !ValidRun(by) {
		return nil, nil, &InvalidError{Field: "by", Reason: "is not a run ID"}
	}
	if _, err := readFirst(path); err != nil {
		return nil, nil, err
	}
	lock, err := acquire(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	w, log, err := openLocked(path, lock, opts)
	if err != nil {
		return nil, log, errors.Join(err, lock.Unlock())
	}
	w.by = by
	return w, log, nil
}

func openLocked(path string, lock *flock.Flock, opts Options) (*Writer, *Log, error) {
	log, err := Read(path)
	if err != nil {
		return nil, log, err
	}
	f, err := os.OpenFile(path, os.O_RDWR, fs.FileMode(fileMode))
	if err != nil {
		return nil, log, err
	}
	self, err := f.Stat()
	if err != nil {
		return nil, log, errors.Join(err, f.Close())
	}
	first := log.Records[0]
	return &Writer{
		opts: opts, self: self, path: path, run: first.Run, owner: first.Owner, unlock: lock.Unlock,
		f: f, off: log.Size, torn: log.TornBytes, healed: log.TornBytes,
		seq: uint64(len(log.Records)), prev: log.lastHash,
	}, log, nil
}

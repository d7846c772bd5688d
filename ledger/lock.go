package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// Liveness says what a ledger file's lock tells about its run.
type Liveness string

const (
	// Alive: the lock is held, by the run or by who recovers it.
	Alive Liveness = "alive"
	// Dead: there is a first record and the lock is free.
	Dead Liveness = "dead"
	// Empty: there is no complete first record. The run is being started, or died
	// at once; it has no intent either way.
	Empty Liveness = "empty"
	// LivenessUnknown: the lock could not be asked. Not to be treated as dead.
	LivenessUnknown Liveness = "unknown"
)

// probe asks whether a file that has a first record is locked. A shared lock
// disturbs neither its holder nor other probes; acquire tells it from an owner.
func probe(path string) (Liveness, error) {
	lock := flock.New(lockName(path), flock.SetFlag(os.O_RDONLY))
	ok, err := lock.TryRLock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return LivenessUnknown, fmt.Errorf("ledger: no lock file: %w", err)
	case err != nil:
		return LivenessUnknown, fmt.Errorf("ledger: probe %s: %w", path, err)
	case !ok:
		return Alive, nil
	}
	if err := lock.Unlock(); err != nil {
		return LivenessUnknown, fmt.Errorf("ledger: probe %s: %w", path, err)
	}
	return Dead, nil
}

// acquire takes the exclusive lock of a ledger file, or returns ErrAlive when
// somebody else has it exclusively. Shared locks are probes, held for
// microseconds: it waits them out until ctx ends.
func acquire(ctx context.Context, path string) (*flock.Flock, error) {
	flag := os.O_RDONLY
	if lockName(path) != path {
		flag |= os.O_CREATE
	}
	for {
		lock := flock.New(lockName(path), flock.SetFlag(flag))
		ok, err := lock.TryLock()
		if err != nil {
			return nil, fmt.Errorf("ledger: lock %s: %w", path, err)
		}
		if ok {
			return lock, nil
		}
		shared, err := lock.TryRLock()
		if err != nil {
			return nil, fmt.Errorf("ledger: lock %s: %w", path, err)
		}
		if !shared {
			return nil, ErrAlive
		}
		if err := lock.Unlock(); err != nil {
			return nil, fmt.Errorf("ledger: lock %s: %w", path, err)
		}
		// Two that acquire at once look like probes to one another; chance parts them.
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("ledger: lock %s: %w", path, context.Cause(ctx))
		case <-time.After(time.Millisecond + rand.N(4*time.Millisecond)):
		}
	}
}

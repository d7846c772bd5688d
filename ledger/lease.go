package ledger

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/gofrs/flock"
)

// Held is a lease that somebody has.
type Held struct{ lock *flock.Flock }

// Lease waits until this caller alone has the lease of key, over all processes
// that share the state directory, or until ctx ends. The parts of a key stay
// apart: ("a", "bc") and ("ab", "c") are two keys. The system frees the lease of
// a process that dies. Lease files are empty and stay: removing one while another
// process opens it would give the lease out twice.
func Lease(ctx context.Context, dirs Dirs, key ...string) (*Held, error) {
	if err := dirs.check(); err != nil {
		return nil, err
	}
	dir := dirs.Path("lease")
	if err := mkdirDurable(dir); err != nil {
		return nil, fmt.Errorf("lease: %w", err)
	}
	lock := flock.New(dirs.Path("lease", keyHash(key)+".lock"))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return nil, fmt.Errorf("lease: %w", err)
	}
	return &Held{lock: lock}, nil
}

// Release gives the lease up. Further calls do nothing.
func (h *Held) Release() error { return h.lock.Unlock() }

// keyHash puts the length before each part, so that no two keys are hashed from
// the same bytes.
func keyHash(key []string) string {
	h := sha256.New()
	for _, part := range key {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

//go:build !windows

package ledger

import (
	"errors"
	"os"
)

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// lockName is the file whose lock says that the run of a ledger file is alive.
// It is the ledger file itself: nobody can remove it and keep the ledger.
func lockName(path string) string { return path }

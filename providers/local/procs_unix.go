//go:build unix && !linux

package local

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// Without /proc, a command's processes are found by their process group alone:
// what left the group is not seen here.

func countMarked(string) (int, error) { return 0, nil }

func killMarked(string, time.Duration) (int, error) { return 0, nil }

// awaitExit does nothing: the wait itself reaps.
func awaitExit(int) {}

func mountsBelow(string) (int, error) { return 0, nil }

func clearFlags(string) error { return nil }

func ignoreGone(err error) error {
	// A group of zombies answers "not permitted" on BSD.
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EPERM) {
		return nil
	}
	return err
}

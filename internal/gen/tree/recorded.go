package tree

import (
	"os"
	"path/filepath"
)

// RecordedInputs returns the inputs that an intact lock names, by which its
// files were made. A lock that is missing, damaged or newer names none.
func RecordedInputs(root, lockPath string) map[string]string {
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(lockPath)))
	if err != nil {
		return nil
	}
	l, state, err := parseLock(lockPath, data)
	if err != nil || state != lockIntact {
		return nil
	}
	return l.Inputs
}

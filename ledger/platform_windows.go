package ledger

import "strings"

// syncDir does nothing: Windows has no flush of a directory, NTFS journals names.
func syncDir(string) error { return nil }

// lockName is the file whose lock says that the run of a ledger file is alive.
// Locks are mandatory on Windows: one on the ledger itself would keep everybody
// from reading it. An open file cannot be removed here, so the second name is safe.
func lockName(path string) string { return strings.TrimSuffix(path, runExt) + ".lock" }

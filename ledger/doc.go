// Package ledger is the cleanup ledger: the file format in which a run writes
// down, durably and before it happens, everything it makes at a vendor, so that
// whoever comes after a crash knows what is still owed. It appends, reads,
// verifies and locks; it knows no provider and makes no vendor call.
//
// # Layout
//
//	<state>/sbx/owner                       the owner identity of this state directory
//	<state>/sbx/ledger/<owner>/<run>.jsonl  one file per run, mode 0600
//	<state>/sbx/lease/<hash>.lock           leases, see Lease
//
// # Format
//
// A file is a sequence of lines, each one Record in JSON followed by a newline.
// Field order is that of Record. seq counts from 1. prevHash is the SHA-256, in
// hex, of the previous line's exact bytes including its newline; the first line
// has 64 zeros. The first record is run-started and says whose file it is. A run
// that ends in order appends run-ended.
//
// # What a reader can know
//
// Bytes after the last newline are a torn record: its Append never returned
// success. They are ignored and reported. Every other malformed line, a seq out
// of turn or a wrong prevHash is a *CorruptError. The chain shows a change, a
// removal or an insertion in the middle. It cannot show that whole records were
// cut from the end of the file: without run-ended, a shorter ledger looks like
// that of a run which died earlier. Nor does it stop somebody who rewrites the
// whole file; that takes a signature over it, which evidence has.
//
// # Alive and dead
//
// A run holds an exclusive lock on its file as long as its process lives, and
// takes it before it writes the first record. So a file with a complete first
// record and a free lock belongs to a dead run; a file without a first record is
// either just being started or died at once, and holds no intent either way.
// Nobody ever locks such a file but its own run: a probe cannot make a starting
// run fail. Probes take the lock shared, so they never block one another, and
// who wants it exclusively can tell a probe from an owner. (On Windows, where
// locks are mandatory, the lock is on <run>.lock beside the file.)
package ledger

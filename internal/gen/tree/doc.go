// Package tree writes generated files into a source tree and checks that they
// are current. It knows nothing about what is generated: it is given a Plan of
// Units and their bytes.
//
// Ownership decides what may be touched. Owned files are the generator's and
// are rewritten; marker blocks are the generator's inside a file of the user;
// scaffolded files are created once and then the user's; appends are added to
// the end of a user's file once per key. Each unit records what it wrote in a
// lock file, so that a hand edit, an orphan and an outdated file are told apart.
//
// Check writes nothing. On an untouched tree it costs little more than hashing
// the owned files: nothing is rendered while the inputs and contents are those
// the lock recorded.
//
// Apply computes everything in memory, makes the new bytes and a journal
// durable, and only then renames. A process killed at any moment leaves either
// the old tree or a journal, which the next Apply completes first. Two Apply
// calls on one tree, in one process or several, wait for each other.
package tree

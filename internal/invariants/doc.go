// Package invariants holds what is true of this tree as a whole, as ordinary
// tests: who may import whom and why, how files and packages look, and that
// documents name only what exists. It exports nothing. Each rule is a function
// over data, so that a second test shows it refusing what it is for.
package invariants

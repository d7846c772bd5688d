// Package secretdiag says where a file holds what looks like a credential, as
// findings of the rules SBX501 to SBX504, and keeps its value out of everything
// else that is said of that file. The generator and the gate share it, so that
// both refuse the same and neither shows it.
package secretdiag

// Package reference is a vendor in memory and its adapter, with every capability
// the contract has operations for. The conformance suite is tested against it:
// it has to pass clean, and mutants of it have to be caught.
//
// A sandbox of it is a temporary directory of this machine and the machine's own
// sh: nothing is separated from the host, and the manifest says so. It is no
// provider; it keeps nothing when the process ends. It exists on Unix only.
package reference

// Image is the one image that exists.
const Image = "reference/host:1"

// Package reference is a vendor in memory and its adapter, with every capability
// the contract has operations for. The conformance suite is tested against it:
// it has to pass clean, and mutants of it have to be caught.
//
// A sandbox of it is a temporary directory of this machine and the machine's own
// sh: nothing is separated from the host, and the manifest says so. It is no
// provider; it keeps nothing when the process ends. It exists on Unix only.
//
// The same vendor can be had over HTTP, on a port of the loopback, with an adapter
// of its own: faults are put between the two.
package reference

// Image is the one image that is there from the start.
const Image = "reference/host:1"

// Package peers re-states what another project's test suite for sandbox
// providers asks, in this project's words and over this project's Table, so that
// both suites can be held against the same faults.
//
// The peer is ComputeSDK's provider suite: 19 tests, each with a sandbox of its
// own that is made before and destroyed afterwards, whatever the destroy says.
// What the peer looks at is looked at, and nothing else: where it accepts any
// answer, any answer is accepted here.
package peers

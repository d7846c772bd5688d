// Package evidence holds what a run against a vendor leaves behind as proof, and
// judges it: the statement and its signature, what they bind, and everything that
// has to hold before a provider may be called verified. See
// docs/decisions/0006-evidence-trust.md for what that proves.
//
// # A run's folder
//
//	evidence/<provider>/<run>/
//	    conformance.json       conformance.Report
//	    benchmark.json         bench.Artifact
//	    benchmark.svg          its plot; optional, covered, not judged
//	    ledger/<run>.jsonl     every ledger of the run, as package ledger wrote it
//	    statement.json         Statement: a digest of every file above
//	    statement.dsse.json    DSSE envelope over statement.json
//
// The functions that judge are pure: they read no clock, no environment and no
// file but what they are given. They keep no state and may be called
// concurrently.
package evidence

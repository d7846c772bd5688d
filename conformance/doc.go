// Package conformance runs the checks of schema/checks.json against a provider
// through package sandbox, the way an application would, and reports what held.
//
// A provider is handed over as a Harness. Run makes subtests of the checks,
// Contract replays the provider's contract fixtures without any vendor, and
// Execute does what Run does without package testing.
//
// # Verdicts
//
// A check ends passed, failed, refused-as-declared, or unknown with a reason
// from a closed list. There is no skipping: what was not run is unknown, is
// counted, and never reads as passed. A run in which no check was executed has
// failed.
//
// # What a check may do
//
// Every check runs under one deadline. A panic of a check or an adapter is a
// failure of that check. Whatever a check made is destroyed when it ends, on
// every way out, and a teardown that fails makes the check fail. A check whose
// precondition did not pass is unknown (blocked-by) and makes nothing.
//
// Commands that checks run in a sandbox need a POSIX sh and the usual small
// programs (awk, cat, dd, kill, sleep, tr), nothing else.
package conformance

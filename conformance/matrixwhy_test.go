//go:build unix

package conformance_test

// Why no mutant makes a check fail.
const (
	reserved  = "Its capability has no operations yet: it ends refused as declared, or unknown."
	libraries = "It guards what the library does before it calls an adapter, which no fault of an adapter changes; the tests of package sandbox break it."
	elsewhere = "It needs another process that sees the same vendor, which the one in memory has not; every provider's own run has it."
)

// untouched says of each check that no mutant makes fail why that is so.
func untouched() map[string]string {
	return map[string]string{
		"shape.capabilities-stated":             libraries,
		"shape.detached-exec-is-whole":          reserved,
		"shape.undeclared-refuses":              libraries,
		"create.lifetime-sent":                  reserved,
		"exec.env-names-validated":              libraries,
		"exec.timeout-refused-if-unenforceable": libraries,
		"must-fire.sigterm":                     elsewhere,
		"must-fire.sigkill-reap":                elsewhere,
		"secrets.brokering-refused":             libraries,
	}
}

// together says of checks that fail on exactly the same mutants why they are kept.
func together() map[string]string {
	return map[string]string{}
}

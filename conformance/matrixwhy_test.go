//go:build unix

package conformance_test

// Why no mutant makes a check fail.
const (
	reserved  = "Its capability has no operations yet: it ends refused as declared, or unknown."
	libraries = "It guards what the library does before it calls an adapter, which no fault of an adapter changes."
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
		"must-fire.cancel-during-create":        "It guards what the library does with a create whose caller has left, and is not run where a fault of teardown was seen before.",
		"must-fire.sigterm":                     elsewhere,
		"must-fire.sigkill-reap":                elsewhere,
		"secrets.brokering-refused":             libraries,
	}
}

// together says of checks that fail on exactly the same mutants why they are kept.
func together() map[string]string {
	return map[string]string{
		"shape.credentials-absent shape.blank-credential-is-absent": "One rule of the library for two forms of absence; no adapter is there yet.",
		"create.options-refused egress.undeclared-refuses": "One asks for every option that cannot be carried, the other for every policy that cannot be enforced. " +
			"The library refuses both before an adapter is called.",
		"cleanup.intent-before-create list.absent-after-destroy":  torn,
		"must-fire.failed-destroy-retried must-fire.half-created": torn,
		"must-fire.normal must-fire.error must-fire.panic must-fire.cancel": "Four ways in which work ends, and one teardown of the library after each: " +
			"an adapter is called the same way in all of them.",
		"must-not-fire.foreign-owner must-not-fire.attached must-not-fire.kept": torn,
	}
}

// torn is for checks of the library that adapters break at their end only.
const torn = "They hold the library to different rules; faults of an adapter show only when their sandboxes are torn down."

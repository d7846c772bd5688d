// Package sandbox is what an application imports: it opens a provider, creates
// sandboxes, runs commands in them and proves that they are gone.
//
//	p, err := sandbox.Open(ctx, docker.Driver())
//	sb, err := p.Create(ctx, sandbox.WithImage("alpine"))
//	defer sb.Destroy(ctx) // works after ctx is cancelled
//	res, err := sb.Run(ctx, "go", "test", "./...")
//
// Everything that every adapter would otherwise repeat lives here: settings,
// argument checks, one absolute deadline per operation, ownership, the cleanup
// ledger, egress policy, redaction, and the reaper. A capability that a provider
// does not have refuses with the code unsupported and changes nothing.
//
// A *Provider and a *Sandbox are safe for concurrent use. Errors are *Error, or
// wrap one; programs act on its Code and Outcome.
package sandbox

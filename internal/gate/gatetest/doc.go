// Package gatetest makes small trees in which a provider is verified by a run
// that looks genuine: every record adds up and a listed key signed it. Nothing
// was run. Tests change one thing in such a tree and expect one refusal; the same
// trees state what a holder of a key could do.
package gatetest

// Package hooktest holds the tests of what other repositories use to check
// their providers: the hooks of .pre-commit-hooks.yaml, run by the real
// pre-commit, and the step of action.yml. It exports nothing.
package hooktest

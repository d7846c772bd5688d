package wire

import (
	"slices"
	"strings"

	"github.com/agentworkforce/sbx/port"
)

// Quote returns s as one word for a POSIX shell, whatever it contains except a
// NUL byte, which no argument can hold.
func Quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// QuoteArgs returns argv as words for a POSIX shell.
func QuoteArgs(argv []string) string {
	words := make([]string, len(argv))
	for i, a := range argv {
		words[i] = Quote(a)
	}
	return strings.Join(words, " ")
}

// CheckEnvName accepts ^[A-Za-z_][A-Za-z0-9_]*$. The error shows neither name
// nor value: a "name" with '=' in it is often both.
func CheckEnvName(name string) error {
	ok := name != ""
	for i, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
		ok = ok && (letter || i > 0 && c >= '0' && c <= '9')
	}
	if ok {
		return nil
	}
	return badCommand("an environment variable's name is not of the form [A-Za-z_][A-Za-z0-9_]*")
}

// checkShellEnv also refuses names that shells keep read-only: assigning them
// ends some shells, and the command's exit code with it.
func checkShellEnv(name, value string) error {
	if err := CheckEnvName(name); err != nil {
		return err
	}
	if slices.Contains([]string{"BASHOPTS", "BASH_VERSINFO", "EUID", "PPID", "SHELLOPTS", "UID"}, name) {
		return badCommand("the environment variable " + name + " is read-only in common shells")
	}
	if strings.ContainsRune(value, 0) {
		return badCommand("the environment variable " + name + " has a value with a NUL byte")
	}
	return nil
}

func badCommand(reason string) error {
	return &port.Error{Code: port.CodeInvalidArgument, Op: "Exec", Outcome: port.OutcomeUnchanged, Reason: reason}
}

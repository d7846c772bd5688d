package docker

import (
	"strconv"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
)

// checkCommand refuses what can never run, before anything is sent.
func (a *Adapter) checkCommand(op, id string, c contract.Command) error {
	switch {
	case (len(c.Argv) > 0) == (c.Script != ""):
		return a.refuse(op, id, "a command is either argv or a script")
	case len(c.Argv) > 0 && (c.Argv[0] == "" || c.Argv[0][0] == '-'):
		return a.refuse(op, id, "the program's name is empty or begins with '-'")
	case c.Timeout < 0:
		return a.refuse(op, id, "the timeout is below 0")
	case c.OutputLimit < 0:
		return a.refuse(op, id, "the output limit is below 0")
	}
	for _, arg := range append([]string{c.Script, c.Dir}, c.Argv...) {
		if strings.ContainsRune(arg, 0) {
			return a.refuse(op, id, "the command has a NUL byte")
		}
		if len(arg) > maxArgument {
			return a.refuse(op, id, "an argument has %d bytes, Linux passes %d at most; write a file instead", len(arg), maxArgument)
		}
	}
	return nil
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

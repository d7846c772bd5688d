package local

import (
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

const (
	defaultTimeout = 30 * time.Minute
	defaultOutput  = 10 << 20
	shell          = "/bin/sh"

	// Processes carry these in their environment, so that they are found again
	// when nothing else leads to them.
	idVariable  = "SBX_LOCAL_ID"  // the sandbox
	runVariable = "SBX_LOCAL_RUN" // one command of it
)

func sandboxMark(id string) string { return idVariable + "=" + id }

// plan is a checked command, ready to be started.
type plan struct {
	op      string
	folder  folder
	meta    meta
	argv    []string
	dir     string // absolute, as the command sees it
	env     map[string]string
	run     string // value of runVariable
	timeout time.Duration
	limit   int
	tty     bool // on a terminal of its own
	probe   bool // asks why another command could not start
}

// planCommand checks c and says how it would run in the sandbox id. Nothing is
// started.
func (a *Adapter) planCommand(op, id string, c contract.Command) (plan, error) {
	f, m, err := a.use(op, id)
	if err != nil {
		return plan{}, err
	}
	if err := a.checkIsolation(op, id, m); err != nil {
		return plan{}, err
	}
	if reason := commandRefusal(c); reason != "" {
		return plan{}, refuse(op, id, port.CodeInvalidArgument, reason)
	}
	if err := checkEnv(op, c.Env); err != nil {
		return plan{}, err
	}
	p := plan{op: op, folder: f, meta: m, argv: c.Argv, run: newID(), timeout: c.Timeout, limit: int(c.OutputLimit)}
	if c.Script != "" {
		p.argv = []string{shell, "-c", c.Script}
	}
	if p.timeout == 0 {
		p.timeout = defaultTimeout
	}
	if p.limit == 0 {
		p.limit = defaultOutput
	}
	v := viewOf(f, m)
	p.dir = c.Dir
	if !filepath.IsAbs(p.dir) {
		p.dir = filepath.Join(v.home(), p.dir)
	}
	p.env = map[string]string{"PATH": commandPath, "HOME": v.home(), "PWD": p.dir, "TMPDIR": v.temp()}
	maps.Copy(p.env, m.Env)
	maps.Copy(p.env, c.Env)
	p.env[idVariable], p.env[runVariable] = id, p.run
	return p, nil
}

// checkIsolation keeps a provider opened with isolation from running commands
// without, and never runs a sandbox's commands with less than it was made with.
func (a *Adapter) checkIsolation(op, id string, m meta) error {
	if m.Isolation == isolationNone && a.isolation != isolationNone {
		return refuse(op, id, port.CodeFailedPrecondition,
			"this sandbox was made without isolation: set isolation to none to run commands in it")
	}
	if m.Isolation == isolationBwrap && a.bwrap == "" {
		return refuse(op, id, port.CodeFailedPrecondition,
			"this sandbox was made with bwrap, which is not installed")
	}
	return nil
}

func commandRefusal(c contract.Command) string {
	switch {
	case len(c.Argv) > 0 && c.Script != "":
		return "a command is argv or a script, not both"
	case len(c.Argv) == 0 && c.Script == "":
		return "there is no command"
	case len(c.Argv) > 0 && c.Argv[0] == "":
		return "the program has no name"
	case len(c.Argv) > 0 && c.Argv[0][0] == '-':
		return "the program's name starts with a hyphen: write ./ before it" // some shells' exec takes it for an option
	case slices.ContainsFunc(append(slices.Clone(c.Argv), c.Script, c.Dir), hasNUL):
		return "the command holds a NUL byte"
	case c.Timeout < 0:
		return "the timeout is negative"
	case c.OutputLimit < 0 || c.OutputLimit > math.MaxInt32:
		return "the output limit is negative or above 2 GiB"
	case c.OpenStdin && len(c.Stdin) > 0:
		return "standard input is given whole or kept open, not both"
	}
	return ""
}

func hasNUL(s string) bool { return strings.ContainsRune(s, 0) }

// checkEnv never shows a value: it may be a credential.
func checkEnv(op string, env map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		if err := wire.CheckEnvName(name); err != nil {
			return refuse(op, "", port.CodeInvalidArgument,
				"an environment variable's name is not of the form [A-Za-z_][A-Za-z0-9_]*")
		}
		if name == idVariable || name == runVariable {
			return refuse(op, "", port.CodeInvalidArgument, "the environment variable "+name+" is reserved")
		}
		if hasNUL(env[name]) {
			return refuse(op, "", port.CodeInvalidArgument,
				"the environment variable "+name+" has a value with a NUL byte")
		}
	}
	return nil
}

// environ is the command's whole environment, sorted.
func (p plan) environ() []string {
	out := make([]string, 0, len(p.env))
	for _, name := range slices.Sorted(maps.Keys(p.env)) {
		out = append(out, name+"="+p.env[name])
	}
	return out
}

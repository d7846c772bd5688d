package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/sandbox"
)

// ControlDummy is the control in which a secret that is injected on purpose is
// looked for inside a sandbox.
const ControlDummy = "dummy-secret-not-in-sandbox"

// control makes one more sandbox after the checks, uses it, and looks for the
// dummy secret in its home, work and temporary directories and in the
// environments of its processes; then it plants the secret and requires the same
// search to find it. A search that finds nothing when there is something would
// prove nothing.
func (r *runner) control(ctx context.Context, report *Report, dummy string) {
	if dummy == "" || r.s.p == nil || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, r.s.opts.CheckTimeout)
	defer cancel()
	sb, err := r.s.p.Create(ctx, slices.Clone(r.s.h.Create)...)
	if err != nil {
		r.problem("control %s: no sandbox was created: %v", ControlDummy, err)
		return
	}
	if err := searchSandbox(ctx, sb, dummy); err != nil {
		r.problem("control %s: %v", ControlDummy, err)
	} else {
		report.Controls = append(report.Controls, ControlDummy)
	}
	if err := r.s.destroy(context.WithoutCancel(ctx), sb); err != nil {
		r.problem("control %s: teardown: %v", ControlDummy, err)
	}
}

var errPlantedNotFound = errors.New("a planted secret was not found, so finding none proves nothing")

func searchSandbox(ctx context.Context, sb *sandbox.Sandbox, dummy string) error {
	found, err := search(ctx, sb, useScript, dummy)
	if err != nil {
		return err
	}
	if len(found) > 0 {
		return fmt.Errorf("the secret that was injected on purpose is inside the sandbox: %s", strings.Join(found, ", "))
	}
	// Another secret of the same form is planted: whoever watches processes from
	// outside is not to mistake the control for a leak.
	if found, err = search(ctx, sb, plantScript, planted(dummy)); err != nil {
		return err
	}
	inFile := slices.ContainsFunc(found, func(s string) bool { return strings.HasSuffix(s, "/sbx-control-planted") })
	inProcess := slices.ContainsFunc(found, func(s string) bool { return strings.HasPrefix(s, "/proc/") })
	if !inFile || !inProcess {
		return fmt.Errorf("%w: file %t, process %t", errPlantedNotFound, inFile, inProcess)
	}
	return nil
}

func planted(dummy string) string { return "planted-" + dummy[len(dummy)/2:] }

// The scripts get the secret in three parts, and search for a pattern that is not
// the secret's own text, so that they do not themselves put it where they look.
const (
	searchScript = `n="$1[$2]$3"; { for d in "$HOME" "$PWD" "${TMPDIR:-/tmp}" /tmp; do [ -d "$d" ] &&
find "$d" -xdev -maxdepth 6 -type f -size -2048 -mmin -240 2>/dev/null; done; } | sort -u | while IFS= read -r f; do
grep -q -e "$n" "$f" 2>/dev/null && echo "$f"; done
for e in /proc/[0-9]*/environ; do tr '\0' '\n' <"$e" 2>/dev/null | grep -q -e "$n" && echo "$e"; done; echo searched`
	useScript   = `echo used >sbx-control-used; sleep 5 >/dev/null 2>&1 </dev/null &`
	plantScript = `p="$1$2$3"; printf '%s\n' "$p" >sbx-control-planted; SBX_CONTROL_PLANTED="$p" sleep 5 >/dev/null 2>&1 </dev/null &`
)

// search prepares a sandbox by one script and lists where a secret, of letters,
// digits and hyphens, is in it, in one command: there are providers where no
// process outlives its command.
func search(ctx context.Context, sb *sandbox.Sandbox, prepare, secret string) ([]string, error) {
	half := len(secret) / 2
	argv := []string{"sh", "-c", prepare + "\n" + searchScript, "sh", secret[:half], secret[half : half+1], secret[half+1:]}
	res, err := sb.Exec(ctx, contract.Command{Argv: argv, Timeout: 2 * time.Minute})
	if err != nil {
		return nil, err
	}
	found := strings.Split(strings.TrimSpace(string(res.Stdout)), "\n")
	if res.ExitCode != 0 || found[len(found)-1] != "searched" {
		return nil, fmt.Errorf("the search ended with exit code %d: %s", res.ExitCode, quoteHead(res.Stderr))
	}
	return found[:len(found)-1], nil
}

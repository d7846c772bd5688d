package conformance

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// extentChecks ask whether there is more or less than was asked for.
func extentChecks() map[string]proof {
	return map[string]proof{
		"create.env-nothing-added":   {run: envNothingAdded, method: "Create"},
		"exec.timeout-always-sent":   {run: timeoutAlwaysSent, method: "Exec"},
		"ports.audience-as-declared": {run: audienceAsDeclared, method: "PortURL"},
		"must-not-fire.transferred":  {run: transferredIsLeft, method: "Destroy"},
	}
}

// ordinary are variables that shells, awk and every command line have.
func ordinary() []string {
	return []string{"PATH", "HOME", "PWD", "OLDPWD", "SHLVL", "_", "HOSTNAME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LC_*",
		"TZ", "TMPDIR", "IFS", "PS1", "PS2", "PS4", "OPTIND", "PPID", "AWKPATH", "AWKLIBPATH"}
}

// envNothingAdded lists the variables of a command that nobody gave any. Those of
// an image count as added: the suite cannot tell them from the vendor's.
func envNothingAdded(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx)
	if err != nil {
		return err
	}
	const names = `awk 'BEGIN { for (name in ENVIRON) print name }'`
	known := append(ordinary(), t.s.h.Driver.Manifest.EnvReserved...)
	for _, c := range []contract.Command{{Script: names}, {Argv: []string{"sh", "-c", names}}} {
		out, err := t.exec(ctx, sb, c)
		if err != nil {
			return err
		}
		all := strings.Fields(out)
		if !slices.Contains(all, "PATH") {
			return fmt.Errorf("the environment of a command has no PATH, only %q", all)
		}
		slices.Sort(all)
		for _, name := range all {
			if !slices.ContainsFunc(known, func(pattern string) bool { return covers(pattern, name) }) {
				return fmt.Errorf("the variable %s is there, nobody asked for it, and the manifest does not declare it", name)
			}
		}
	}
	return nil
}

// covers reports whether a pattern, which is a name or a prefix with a star, has name.
func covers(pattern, name string) bool {
	prefix, is := strings.CutSuffix(pattern, "*")
	return name == pattern || is && strings.HasPrefix(name, prefix)
}

// longestDefault is the longest default life that a check waits for.
const longestDefault = 90 * time.Second

// timeoutAlwaysSent sees what the library makes of a command without a limit,
// and lets one outlive the vendor's default where that is short or not known.
func timeoutAlwaysSent(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	life := t.s.h.Driver.Manifest.ExecTimeoutDefault
	lasts := 3 * time.Second
	switch {
	case life != nil && *life <= longestDefault:
		lasts = *life + 2*time.Second
	case life == nil: // a minute is the default that vendors were seen to have
		lasts = 65 * time.Second
	}
	began := time.Now()
	res, err := sb.Exec(ctx, contract.Command{Script: fmt.Sprintf("sleep %d; echo lasted", int(lasts/time.Second))})
	if err != nil {
		return fmt.Errorf("a command of %s without a time limit ended after %s: %w", lasts, time.Since(began).Round(time.Second), err)
	}
	if err := equal("output", "lasted\n", string(res.Stdout)); err != nil || res.ExitCode != 0 {
		return joinErrors(fmt.Errorf("a command of %s without a time limit: exit code %d", lasts, res.ExitCode), err)
	}
	data := t.request("Exec")
	if len(data) < 2 {
		return errors.New("no command reached the adapter")
	}
	sent, _ := data[1].(contract.Command)
	if sent.Timeout < lasts {
		return fmt.Errorf("a command without a time limit reached the adapter with %s", sent.Timeout)
	}
	if life != nil && *life > longestDefault {
		return noted("the adapter was given %s; the default of %s that the manifest states was not waited for", sent.Timeout, *life)
	}
	return nil
}

// audienceAsDeclared connects to a published port from where it may be opened,
// and from where it may not.
func audienceAsDeclared(ctx context.Context, t *trial) error {
	_, access, err := t.published(ctx, checkedPort+2)
	if err != nil {
		return err
	}
	declared := t.s.h.Driver.Manifest.PortAudience
	if declared != "" && declared != contract.PortAudienceUnknown && declared != access.Audience {
		return fmt.Errorf("the manifest says that ports are for %q, the answer says %q", declared, access.Audience)
	}
	u, err := url.Parse(access.URL)
	if err != nil || u.Host == "" {
		return fmt.Errorf("the address %q is not usable: %w", access.URL, err)
	}
	came := t.until(ctx, 20*time.Second, func() (bool, error) { return answers(ctx, u.Host) })
	switch access.Audience {
	case contract.PortAudienceAnyone:
		return came
	case contract.PortAudienceHost:
		if came != nil {
			return fmt.Errorf("this machine, which may open the port: %w", came)
		}
		return t.closedElsewhere(ctx, u.Port())
	case contract.PortAudienceToken, contract.PortAudienceAccount:
		if came == nil {
			return fmt.Errorf("the port is for %s, and answered without any credential", access.Audience)
		}
		return unknown(NotAttempted, "it does not answer without a credential, and the contract hands out none to open it with")
	}
	return unknown(NotAttempted, "who may open the port is not known")
}

// closedElsewhere requires that the port does not answer under this machine's
// other addresses, which are what other machines connect to.
func (t *trial) closedElsewhere(ctx context.Context, number string) error {
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return unknown(NotAttempted, "the addresses of this machine: %v", err)
	}
	var hosts []string
	for _, a := range addresses {
		ip, _, err := net.ParseCIDR(a.String())
		if err == nil && !ip.IsLoopback() && ip.To4() != nil {
			hosts = append(hosts, net.JoinHostPort(ip.String(), number))
		}
	}
	// The server answers one at a time and takes a moment in between.
	for ends := time.Now().Add(3 * time.Second); time.Now().Before(ends); {
		for _, host := range hosts {
			if ok, err := answers(ctx, host); err == nil && ok {
				return fmt.Errorf("the port is for this machine only, and answers at %s too", host)
			}
		}
		if len(hosts) == 0 || !wait(ctx, 100*time.Millisecond) {
			break
		}
	}
	if len(hosts) == 0 {
		return noted("this machine has no other address to try")
	}
	return nil
}

// heir is the owner that a sandbox is handed over to.
const heir = "sbxcheir00000001"

// inherit destroys what was handed over as its new owner, so that a ledger says
// what became of it.
func (t *trial) inherit(ctx context.Context, id string) error {
	p, err := t.s.open(ctx, t.s.h.Driver, sandbox.WithOwner(heir))
	if err != nil {
		return err
	}
	sb, err := p.Attach(ctx, id, sandbox.Adopt())
	if err != nil {
		return errors.Join(err, p.Close())
	}
	return errors.Join(t.s.destroy(ctx, sb), p.Close())
}

// transferredIsLeft hands a sandbox over and then does everything that would
// destroy it if it were still its maker's.
func transferredIsLeft(ctx context.Context, t *trial) error {
	t.s.reaping.Lock()
	defer t.s.reaping.Unlock()
	p, err := t.s.open(ctx, t.s.h.Driver)
	if err != nil {
		return err
	}
	sb, err := p.Create(ctx, t.s.h.Create...)
	if err != nil {
		return errors.Join(unknown(NoInstanceCreated, "%v", err), p.Close())
	}
	if err := sb.Transfer(ctx, heir); err != nil {
		return errors.Join(err, second(sb.Destroy(ctx)), p.Close())
	}
	t.cleanup(func(ctx context.Context) error { return t.inherit(ctx, sb.ID()) })
	before := t.reached("Destroy")
	_, err = sb.Destroy(ctx)
	if err := errors.Join(wantCode(err, port.CodeForeign, "a destroy after the transfer"), p.Close()); err != nil {
		return err
	}
	report, err := t.s.p.Reap(ctx, true)
	if err != nil {
		return err
	}
	if v, item := reapVerdict(report, sb.ID()); v == sandbox.VerdictReap {
		return fmt.Errorf("the reaper says %q: %s", v, item.Reason)
	}
	again, err := t.s.p.Attach(ctx, sb.ID())
	if err != nil {
		return fmt.Errorf("after the end of the run that handed it over: %w", err)
	}
	if again.Owned() {
		return errors.New("its maker owns it again by attaching")
	}
	_, err = again.Destroy(ctx)
	if err := wantCode(err, port.CodeForeign, "a destroy by its maker's next run"); err != nil {
		return err
	}
	if n := t.reached("Destroy") - before; n > 0 {
		return fmt.Errorf("%d destroys reached the adapter after the transfer", n)
	}
	return t.alive(ctx, again)
}

package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func createChecks() map[string]proof {
	return map[string]proof{
		"create.returns-id":                      {run: createReturnsID, method: "Create"},
		"create.state-is-honest":                 {run: createStateIsHonest, method: "Inspect"},
		"create.definite-failure-leaves-nothing": {run: definiteFailureLeavesNothing, method: "Create"},
		"create.bad-image-is-definite":           {run: badImageIsDefinite, method: "Create"},
		"create.env":                             {run: createEnv, method: "Create"},
		"create.name-not-truncated":              {run: nameNotTruncated, method: "Create"},
		"create.lifetime-sent":                   {run: lifetimeSent, method: "Create"},
		"create.options-refused":                 {run: optionsRefused, method: "Create"},
		"create.tags-survive":                    {run: tagsSurvive, method: "Inspect"},
		"create.isolation-as-declared":           {run: isolationAsDeclared, method: "Inspect"},
	}
}

// createReturnsID makes the sandbox that most checks share.
func createReturnsID(ctx context.Context, t *trial) error {
	sb, err := t.s.p.Create(ctx, append(slices.Clone(t.s.h.Create), sandbox.SkipReady())...)
	if err != nil {
		return err
	}
	t.s.share(sb) // the run tears it down
	if sb.ID() == "" {
		return errors.New("create returned no id")
	}
	t.mu.Lock()
	said := slices.Contains(t.made, sb.ID())
	t.mu.Unlock()
	if !said {
		return errors.New("the adapter's create answered without an id; the library found the sandbox by its marks")
	}
	i, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return fmt.Errorf("looking it up at once: %w", err)
	}
	if i.ID != sb.ID() {
		return fmt.Errorf("create said id %q, look-up says %q", sb.ID(), i.ID)
	}
	switch i.State {
	case contract.StateCreating, contract.StateStarting, contract.StateRunning:
		return nil
	}
	return fmt.Errorf("a new sandbox is %q", i.State)
}

func createStateIsHonest(ctx context.Context, t *trial) error {
	sb, err := t.create(ctx, sandbox.SkipReady())
	if err != nil {
		return err
	}
	i, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	if i.Freshness != contract.FreshnessLive {
		return fmt.Errorf("the state %q is %s, not read from the vendor now", i.State, i.Freshness)
	}
	if i.State == contract.StateRunning {
		if err := t.alive(ctx, sb); err != nil {
			return fmt.Errorf("it is reported as running, but: %w", err)
		}
	} else if err := sb.Ready(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		if i, err = t.s.table().Inspect(ctx, sb.ID()); err != nil || i.State == contract.StateRunning {
			return err
		}
		if !wait(ctx, 200*time.Millisecond) {
			return fmt.Errorf("it runs commands, and the look-up says %q", i.State)
		}
	}
}

// noSuchImage asks for an image that cannot exist, without fetching anything.
func noSuchImage() []sandbox.CreateOption {
	return []sandbox.CreateOption{sandbox.WithImage("sbx-conformance-no-such-image:0"), sandbox.WithPull(contract.PullPolicyNever)}
}

func badImageIsDefinite(ctx context.Context, t *trial) error {
	sb, err := t.attempt(ctx, t.s.p, noSuchImage()...)
	if err == nil {
		return fmt.Errorf("an image that does not exist gave a sandbox, of image %q", sb.Instance().Image)
	}
	switch port.CodeOf(err) {
	case port.CodeNotFound, port.CodeInvalidArgument:
		return nil
	case port.CodeUnsupported:
		return noted("images are refused: %v", err)
	}
	return fmt.Errorf("want not_found or invalid_argument: %w", err)
}

func definiteFailureLeavesNothing(ctx context.Context, t *trial) error {
	_, err := t.attempt(ctx, t.s.p, noSuchImage()...)
	if err == nil {
		return unknown(NotAttempted, "no create could be made to fail")
	}
	if port.OutcomeOf(err) != port.OutcomeUnchanged {
		return fmt.Errorf("the failure is not definite: outcome %q: %w", port.OutcomeOf(err), err)
	}
	request, ok := t.createRequest()
	if !ok {
		return noted("it was refused before the adapter: %v", err)
	}
	t.mu.Lock()
	made := t.made
	t.mu.Unlock()
	if len(made) > 0 {
		return fmt.Errorf("the failed create made %v", made)
	}
	if !t.s.callable(contract.CapabilityList) {
		return unknown(NotAttempted, "without a listing nobody can see whether something was left")
	}
	all, err := t.s.table().List(ctx, contract.ListRequest{})
	if err != nil {
		return err
	}
	for _, i := range all {
		if i.Tags != nil && i.Tags.Intent == request.Tags.Intent {
			return fmt.Errorf("the failed create left %s", i.ID)
		}
	}
	return nil
}

// createRequest is the latest one that reached the adapter under this check.
func (t *trial) createRequest() (contract.CreateRequest, bool) {
	data := t.request("Create")
	if len(data) == 0 {
		return contract.CreateRequest{}, false
	}
	r, ok := data[0].(contract.CreateRequest)
	return r, ok
}

// oddValues are environment values that careless quoting breaks.
func oddValues() map[string]string {
	return map[string]string{
		"SBXC_PLAIN":   "value",
		"SBXC_EMPTY":   "",
		"SBXC_BLANKS":  "  two  blanks  ",
		"SBXC_QUOTES":  `it's "quoted" and \ back`,
		"SBXC_DOLLAR":  "$HOME ${PATH} $(echo no) `echo no`",
		"SBXC_LINES":   "first\nsecond\n",
		"SBXC_EQUALS":  "a=b=c",
		"SBXC_UNICODE": "grüße 世界 🦀",
		"SBXC_GLOB":    "* ? [a-z] ~",
		"SBXC_SHELL":   "; exit 9 & | > /dev/null #",
	}
}

// envSeen requires that a command sees exactly these values.
func (t *trial) envSeen(ctx context.Context, sb *sandbox.Sandbox, want, given map[string]string) error {
	for _, name := range sortedKeys(want) {
		script := `printf '%s|%s' "${` + name + `+set}" "$` + name + `"`
		for what, c := range map[string]contract.Command{
			"a script":  {Script: script, Env: given},
			"a program": {Argv: []string{"sh", "-c", script}, Env: given},
		} {
			out, err := t.exec(ctx, sb, c)
			if err != nil {
				return err
			}
			if err := equal(name+" in "+what, "set|"+want[name], out); err != nil {
				return err
			}
		}
	}
	return nil
}

func createEnv(ctx context.Context, t *trial) error {
	sb, err := t.attempt(ctx, t.s.p, sandbox.WithEnv(oddValues()))
	if code := port.CodeOf(err); code == port.CodeUnsupported || code == port.CodeInvalidArgument {
		return noted("create refuses it: %v", err)
	}
	if err != nil {
		return err
	}
	return t.envSeen(ctx, sb, oddValues(), nil)
}

func nameNotTruncated(ctx context.Context, t *trial) error {
	prefix := "sbxc-" + strings.ToLower(randomID()) + "-" + strings.Repeat("long-name-", 30) // runs side by side share an account
	seen := map[string]bool{}
	for _, name := range []string{prefix + "a", prefix + "b"} {
		sb, err := t.attempt(ctx, t.s.p, sandbox.WithName(name), sandbox.SkipReady())
		if code := port.CodeOf(err); code == port.CodeInvalidArgument || code == port.CodeUnsupported {
			if port.OutcomeOf(err) != port.OutcomeUnchanged {
				return fmt.Errorf("the refusal's outcome is %q: %w", port.OutcomeOf(err), err)
			}
			continue
		}
		if err != nil {
			return err
		}
		i, err := t.s.table().Inspect(ctx, sb.ID())
		if err != nil {
			return err
		}
		if i.Name != "" && i.Name != name {
			return fmt.Errorf("a name of %d bytes became %q", len(name), i.Name)
		}
		if seen[sb.ID()] {
			return errors.New("two names became one sandbox")
		}
		seen[sb.ID()] = true
	}
	return nil
}

func lifetimeSent(ctx context.Context, t *trial) error {
	if ok, err := t.declared(ctx, contract.CapabilityLifetime); !ok {
		return err
	}
	sb, err := t.create(ctx, sandbox.WithLifetime(time.Hour))
	if err != nil {
		return err
	}
	i, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	if i.ExpiresAt == nil {
		return errors.New("the vendor does not report when the sandbox ends")
	}
	if left := time.Until(*i.ExpiresAt); left < 50*time.Minute || left > 65*time.Minute {
		return fmt.Errorf("a life of an hour was asked for, and %s are left", left)
	}
	return nil
}

// optionsRefused asks for everything this provider cannot carry.
func optionsRefused(ctx context.Context, t *trial) error {
	asked := map[string]sandbox.CreateOption{"region": sandbox.WithRegion("sbxc-nowhere")}
	for _, c := range contract.Capabilities() {
		if opt := undeclaredField(c); opt != nil && !t.s.callable(c) {
			asked[string(c)] = opt
		}
	}
	if !t.s.h.Driver.Manifest.BrokersSecrets {
		asked["secrets"] = sandbox.WithSecrets(contract.BrokeredSecret{Name: "TOKEN", Hosts: []string{"example.com"},
			Value: port.NewSecret("sbxc-dummy-value")})
	}
	if t.s.h.Driver.Manifest.Egress == contract.EgressControlNone {
		asked["egress"] = sandbox.WithEgress(contract.EgressPolicy{Mode: contract.EgressModeDenyAll})
	}
	for _, what := range sortedKeys(asked) {
		if _, err := t.attempt(ctx, t.s.p, asked[what]); err != nil {
			if err := wantCode(err, port.CodeUnsupported, "create with "+what); err != nil {
				return err
			}
			continue
		}
		return fmt.Errorf("create with %s succeeded", what)
	}
	if n := t.reached("Create"); n > 0 {
		return fmt.Errorf("%d creates reached the adapter", n)
	}
	return nil
}

func tagsSurvive(ctx context.Context, t *trial) error {
	switch t.s.h.Driver.Manifest.Labels.Encoding {
	case contract.LabelEncodingNone:
		return refused("the manifest says that the vendor stores no marks")
	case contract.LabelEncodingUnknown, "":
		return unknown(NotAttempted, "where the vendor stores marks is not known")
	}
	sb, err := t.create(ctx, sandbox.SkipReady())
	if err != nil {
		return err
	}
	return t.sameTags(ctx, sb)
}

// sameTags requires that the marks of the latest create are read back.
func (t *trial) sameTags(ctx context.Context, sb *sandbox.Sandbox) error {
	request, ok := t.createRequest()
	if !ok {
		return errors.New("no create reached the adapter")
	}
	i, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	want := request.Tags
	if i.Tags == nil {
		return errors.New("no marks are read back")
	}
	if i.Tags.Owner != want.Owner || i.Tags.Run != want.Run || i.Tags.Intent != want.Intent {
		return fmt.Errorf("marks read back are %+v, written were %+v", *i.Tags, want)
	}
	return nil
}

func isolationAsDeclared(ctx context.Context, t *trial) error {
	sb, err := t.shared()
	if err != nil {
		return err
	}
	i, err := t.s.table().Inspect(ctx, sb.ID())
	if err != nil {
		return err
	}
	order := []contract.Isolation{contract.IsolationNone, contract.IsolationProcess, contract.IsolationContainer,
		contract.IsolationUserKernel, contract.IsolationVM}
	claimed, has := t.s.h.Driver.Manifest.Isolation, i.Isolation
	switch {
	case has == contract.IsolationUnknown:
		return noted("the provider does not know what separates this sandbox")
	case !slices.Contains(order, has):
		return fmt.Errorf("%q is not a word of the contract", has)
	case claimed == contract.IsolationUnknown || claimed == "":
		return noted("the manifest claims nothing; this sandbox has %s", has)
	case slices.Index(order, has) < slices.Index(order, claimed):
		return fmt.Errorf("the manifest claims %s, this sandbox has %s", claimed, has)
	}
	return nil
}

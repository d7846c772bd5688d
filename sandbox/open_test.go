package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

func environ(vars map[string]string) sandbox.Option {
	return sandbox.WithEnviron(func(n string) (string, bool) { v, ok := vars[n]; return v, ok })
}

func TestSettingsAreResolvedInOrder(t *testing.T) {
	for name, tc := range map[string]struct {
		opts   []sandbox.Option
		env    map[string]string
		want   string
		source string
	}{
		"option wins":           {[]sandbox.Option{sandbox.WithSecret("token", port.NewSecret("from-option"))}, map[string]string{"FAKE_TOKEN": "from-variable"}, "from-option", "option"},
		"variable before alias": {nil, map[string]string{"FAKE_TOKEN": "from-variable", "OLD_TOKEN": "from-alias"}, "from-variable", "FAKE_TOKEN"},
		"alias":                 {nil, map[string]string{"OLD_TOKEN": "from-alias"}, "from-alias", "OLD_TOKEN"},
		"blank is absent":       {[]sandbox.Option{sandbox.WithSetting("token", " ")}, map[string]string{"FAKE_TOKEN": "\t", "OLD_TOKEN": "from-alias"}, "from-alias", "OLD_TOKEN"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newCloud(t).driver()
			var got port.Settings
			inner := d.Open
			d.Open = func(ctx context.Context, s port.Settings) (contract.Adapter, error) { got = s; return inner(ctx, s) }
			_, err := sandbox.Open(t.Context(), d, append(tc.opts, environ(tc.env))...)
			require.NoError(t, err)
			require.Equal(t, tc.want, got.String("token"))
			require.Equal(t, tc.source, got["token"].Source)
		})
	}
}

func TestOpenNamesWhatIsMissingAndWhatIsWrong(t *testing.T) {
	d := newCloud(t).driver()
	d.Manifest.Settings = append(d.Manifest.Settings,
		contract.SettingRule{Key: "key", Env: "FAKE_KEY", Secret: true}, contract.SettingRule{Key: "id", Env: "FAKE_ID", Secret: true},
		contract.SettingRule{Key: "size", Env: "FAKE_SIZE", Type: contract.SettingTypeInteger, Default: "3"},
		contract.SettingRule{Key: "mode", Env: "FAKE_MODE", Type: contract.SettingTypeEnum, Allowed: []string{"a", "b"}})
	d.Manifest.CredentialSets = [][]string{{"token"}, {"key", "id"}}
	_, err := sandbox.Open(t.Context(), d, environ(map[string]string{"FAKE_ID": "some-identity"}))
	e := code(t, err, port.CodeUnauthenticated)
	require.Contains(t, e.Reason, "FAKE_TOKEN")
	require.Contains(t, e.Reason, "FAKE_KEY")
	require.NotContains(t, e.Reason, "FAKE_ID")

	_, err = sandbox.Open(t.Context(), d, environ(map[string]string{"FAKE_SIZE": dummy, "FAKE_MODE": "zzz"}))
	e = code(t, err, port.CodeInvalidArgument)
	require.Contains(t, e.Reason, "FAKE_SIZE")
	require.Contains(t, e.Reason, "FAKE_MODE")
	require.NotContains(t, err.Error(), dummy)
}

func TestOverclaimsAreOneError(t *testing.T) {
	d := newCloud(t).driver(contract.CapabilityPTY, contract.CapabilitySuspend, contract.CapabilityList, contract.CapabilitySSH)
	_, err := sandbox.Open(t.Context(), d, environ(map[string]string{"FAKE_TOKEN": dummy}))
	var over *sandbox.OverclaimError
	require.ErrorAs(t, err, &over)
	require.ElementsMatch(t, []contract.Capability{contract.CapabilityPTY, contract.CapabilitySuspend, contract.CapabilitySSH}, over.Capabilities)
}

func TestUndeclaredIsRefusedAndCallsNothing(t *testing.T) {
	w := newWorld(t)
	d := w.c.driver(contract.CapabilityList)
	d.Manifest.Claims["stop"] = contract.Claim{Support: contract.SupportNotExposed, Reason: "later"}
	p := w.openDriver(d)
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	before := len(w.c.calls)
	for name, call := range map[string]func() error{
		"stop":     func() error { _, err := s.Stop(t.Context()); return err },
		"snapshot": func() error { _, err := s.CreateSnapshot(t.Context(), contract.SnapshotRequest{}); return err },
		"pty":      func() error { _, err := s.OpenPTY(t.Context(), contract.PTYRequest{}); return err },
		"fork":     func() error { _, err := s.Fork(t.Context(), contract.ForkRequest{}); return err },
	} {
		e := code(t, call(), port.CodeUnsupported)
		require.Equal(t, name, e.Capability)
		require.Equal(t, port.OutcomeUnchanged, e.Outcome)
		require.NotEmpty(t, e.Support)
		require.NotEmpty(t, e.Reason)
	}
	require.Len(t, w.c.calls, before)
	require.Equal(t, "later", p.Claim(contract.CapabilityStop).Reason)
}

func TestProbingCallsOnlyWhatIsUnknown(t *testing.T) {
	w := newWorld(t)
	d := w.c.driver()
	d.Manifest.Claims["stop"] = contract.Claim{Support: contract.SupportUnsupported, Reason: "never"}
	p := w.openDriver(d, sandbox.Probing())
	require.True(t, p.Supports(contract.CapabilityRestart))
	require.False(t, p.Supports(contract.CapabilityStop))
	require.False(t, p.Supports(contract.CapabilityPTY))
	s, err := p.Create(t.Context())
	require.NoError(t, err)
	_, err = s.Restart(t.Context())
	require.NoError(t, err)
	_, err = s.Stop(t.Context())
	code(t, err, port.CodeUnsupported)
}

type reporting struct {
	*adapter
	answer map[string]bool
	err    error
}

func (r *reporting) ReportCapabilities(context.Context) (map[string]bool, error) {
	return r.answer, r.err
}

func TestTheVendorsAnswerOnlyNarrows(t *testing.T) {
	w := newWorld(t)
	d := w.c.driver(contract.CapabilityStop, contract.CapabilityList)
	r := &reporting{adapter: &adapter{c: w.c}, answer: map[string]bool{"stop": false, "snapshot": true, "nonsense": true}}
	d.Open = func(context.Context, port.Settings) (contract.Adapter, error) { return r, nil }
	p := w.openDriver(d)
	require.False(t, p.Supports(contract.CapabilityStop))
	require.Equal(t, contract.SupportUnsupported, p.Claim(contract.CapabilityStop).Support)
	require.False(t, p.Supports(contract.CapabilitySnapshot))
	require.True(t, p.Supports(contract.CapabilityList))
	r.answer, r.err = nil, &port.Error{Code: port.CodeUnavailable, Reason: "for " + dummy}
	require.True(t, w.openDriver(d).Supports(contract.CapabilityStop))
	require.Equal(t, sandbox.EventCapabilitiesUnreported, w.told[len(w.told)-1].Kind)
	require.NotContains(t, w.told[len(w.told)-1].Detail, dummy)
}

func TestReadingLeavesNoLedger(t *testing.T) {
	w := newWorld(t)
	p := w.open()
	_, err := p.List(t.Context(), contract.ListRequest{})
	require.NoError(t, err)
	require.Empty(t, p.LedgerPath())
	entries, err := os.ReadDir(filepath.Join(w.state))
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestStateOfAProviderIsBesideTheLedger(t *testing.T) {
	for name, tc := range map[string]struct {
		want string
		env  map[string]string
		opts []sandbox.Option
	}{
		"platform": {"/home/u/.local/state", map[string]string{"HOME": "/home/u", "XDG_STATE_HOME": "/home/u/.local/state"}, nil},
		"variable": {"/v", map[string]string{"SBX_STATE_DIR": "/v", "HOME": "/home/u"}, nil},
		"option":   {"/o", map[string]string{"SBX_STATE_DIR": "/v"}, []sandbox.Option{sandbox.WithStateDir("/o")}},
		"setting":  {"/s", map[string]string{"SBX_STATE_DIR": "/v"}, []sandbox.Option{sandbox.WithStateDir("/o"), sandbox.WithSetting("state", "/s")}},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "platform" && runtime.GOOS != "linux" {
				return // the resolver has its own tests for every platform
			}
			d := newCloud(t).driver()
			d.Manifest.Settings = append(d.Manifest.Settings, contract.SettingRule{Key: "state", Env: "SBX_STATE_DIR"})
			d.Manifest.CredentialSets = nil
			var got port.Settings
			inner := d.Open
			d.Open = func(ctx context.Context, s port.Settings) (contract.Adapter, error) { got = s; return inner(ctx, s) }
			_, err := sandbox.Open(t.Context(), d, append(tc.opts, environ(tc.env))...)
			require.NoError(t, err)
			require.Equal(t, tc.want, got.String("state"))
		})
	}
	d := newCloud(t).driver()
	d.Manifest.Settings = append(d.Manifest.Settings, contract.SettingRule{Key: "state", Env: "SBX_STATE_DIR"})
	_, err := sandbox.Open(t.Context(), d, environ(map[string]string{"SBX_STATE_DIR": "relative", "FAKE_TOKEN": dummy}))
	require.Contains(t, code(t, err, port.CodeInvalidArgument).Reason, "SBX_STATE_DIR")
}

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/generated/registry"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// Help is for a terminal of 80 columns, and for a screen.
func TestHelpFitsAScreen(t *testing.T) {
	d := newDesk(t)
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		require.NotEmpty(t, c.Short)
		require.Equal(t, 0, d.sbx(append(path, "--help")...))
		lines := strings.Split(strings.TrimRight(d.out.String(), "\n"), "\n")
		require.LessOrEqual(t, len(lines), 50, "%v:\n%s", path, d.out.String())
		for _, line := range lines {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "        ")), 80, "%v: %s", path, line)
		}
		for _, sub := range c.Commands() {
			if !sub.Hidden {
				walk(sub, append(append([]string(nil), path...), sub.Name()))
			}
		}
	}
	walk(newRootCmd(&app{}), nil)
}

func TestOnlyTheReferenceIsOnStdout(t *testing.T) {
	d := newDesk(t)
	d.columns = 100
	require.Equal(t, 0, d.sbx("new", "--ttl", "1h"))
	require.Equal(t, "cloud:box-1\n", d.out.String())
	require.Contains(t, d.err.String(), "pull [=")
	require.Contains(t, d.err.String(), "50% 512.0 KiB/1.0 MiB")
	require.Contains(t, d.err.String(), "cloud ends nothing by time")
	require.Regexp(t, `sbx: create \S+, ready \S+\n$`, d.err.String())
	require.Equal(t, 0, d.sbx("new", "--quiet", "--ttl", "1h"))
	require.Equal(t, "cloud:box-2\n", d.out.String())
	require.Empty(t, d.err.String())
	d.columns = 0 // no terminal: what matters, and no progress
	require.Equal(t, 0, d.sbx("new", "--ttl", "1h"))
	require.Equal(t, "sbx: cloud ends nothing by time: sbx reap --apply may destroy it in 1h0m0s, nobody else will\n", d.err.String())
}

// A reference that nobody reads is a sandbox that nobody knows.
func TestNewDestroysWhatItCannotTell(t *testing.T) {
	d := newDesk(t)
	all := d.c.driver()
	code := run(t.Context(), []string{"new"}, outside{out: brokenWriter{}, err: &d.err, drivers: func() []sandbox.Driver { return []sandbox.Driver{all} },
		driver: func(id string) (sandbox.Driver, bool) { return all, id == "cloud" },
		lookup: func(n string) (string, bool) { v, ok := d.vars[n]; return v, ok }})
	require.Equal(t, 1, code)
	require.Empty(t, d.c.boxes)
	require.Contains(t, d.err.String(), "so the sandbox was destroyed")
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, os.ErrClosed }

func TestCompletion(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, 0, d.sbx("new", "--name", "mine", "--label", "team=red"))
	require.Equal(t, 0, d.sbx("snapshot", "cloud:box-1", "--name", "disk"))
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"exec", ""}, "cloud:box-1\tmine\n"},
		{[]string{"rm", "cloud:box-1", ""}, ":4\n"},
		{[]string{"stop", "cloud:box-1", ""}, ":4\n"},
		{[]string{"scp", ""}, "cloud:box-1:\tmine\n"},
		{[]string{"new", "--provider", ""}, "cloud\n"},
		{[]string{"new", "--label", ""}, "team=red\n"},
		{[]string{"list", "--label", ""}, "team=red\n"},
		{[]string{"new", "--from-snapshot", ""}, "cloud:snap-2\tdisk\n"},
		{[]string{"run", "--from-snapshot", ""}, "cloud:snap-2\tdisk\n"},
		{[]string{"snapshots", "rm", ""}, "cloud:snap-2\tdisk\n"},
		{[]string{"snapshots", "rm", "cloud:snap-2", ""}, ":4\n"},
		{[]string{"new", "--pull", ""}, "missing\nalways\nnever\n"},
		{[]string{"capabilities", ""}, "cloud\n"},
	} {
		require.Equal(t, 0, d.sbx(append([]string{"__complete"}, tc.args...)...))
		require.True(t, strings.HasPrefix(d.out.String(), tc.want), "%v: %q", tc.args, d.out.String())
	}
	require.Equal(t, 0, d.sbx("completion", "bash"))
}

func TestProviderComesFromFlagThenEnvironmentThenFile(t *testing.T) {
	d := newDesk(t)
	other := newCloud().driver()
	other.ID, other.Manifest.ID = "other", "other"
	d.extra = []sandbox.Driver{other}
	dir := t.TempDir()
	d.vars["XDG_CONFIG_HOME"] = dir
	write(t, dir, "providers: [other]\nimages:\n  other: from-file\n  cloud: for-cloud\n")
	require.Equal(t, 0, d.sbx("new", "--provider", "cloud"))
	require.Equal(t, "cloud:box-1\n", d.out.String())
	require.Equal(t, "for-cloud", d.c.asked[0].Image)
	require.Equal(t, 0, d.sbx("new", "--image", "flag"))
	require.Equal(t, "cloud:box-2\n", d.out.String(), "from SBX_PROVIDER")
	require.Equal(t, "flag", d.c.asked[1].Image)
	delete(d.vars, "SBX_PROVIDER")
	require.Equal(t, 0, d.sbx("new"))
	require.Equal(t, "other:box-1\n", d.out.String())
	require.Equal(t, 0, d.sbx("exec", "box-1", "--", "say", "x"), "a native ID, where one provider is named")
	require.Equal(t, exitUsage, d.sbx("info", "cloud:box-1", "--provider", "other"))
	require.Equal(t, exitUsage, d.sbx("new", "--provider", "bogus"))
	require.Contains(t, d.err.String(), "there are cloud, other")
	require.Equal(t, exitUsage, d.sbx("new", "--for", "k", "--provider", "cloud,other"))
}

func write(t *testing.T, dir, text string) string {
	t.Helper()
	path := filepath.Join(dir, "sbx", "config.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestConfigIsRefusedWithItsPlace(t *testing.T) {
	d := newDesk(t)
	dir := t.TempDir()
	d.vars["XDG_CONFIG_HOME"] = dir
	delete(d.vars, "SBX_PROVIDER")
	credential := "ghp_" + strings.Repeat("Ab1", 12)
	for text, want := range map[string]string{
		"provider: cloud\n":                       ":1:1: this key is unknown; there are providers, images",
		"providers: [cloud, bogus]\n":             ":1:20: this is no provider that is built in; there are cloud",
		"providers: cloud\n":                      ":1:12: this must be a list of providers",
		"images:\n  cloud: [a]\n":                 ":2:10: this must be the name of an image",
		"images:\n  cloud: a\n  cloud: b\n":       ":3:3: a key is a word, and is there once",
		"token: " + dummyToken + "\n":             ":1:1: this is the name of a credential",
		"CLOUD_TOKEN: x\n":                        ":1:1: this is the name of a credential",
		"images:\n  cloud: " + credential + "\n":  ":2:10: this looks like a credential",
		"images:\n  api_key: x\n":                 ":2:3: this is the name of a credential",
		"providers: [\n":                          ": it is not YAML",
		"- cloud\n":                               ":1:1: this must be a mapping",
		"images: {cloud: 'u:" + dummyToken + "'}": "",
	} {
		path := write(t, dir, text)
		code := d.sbx("new", "--provider", "cloud")
		if want == "" {
			require.Equal(t, 0, code, d.err.String())
			continue
		}
		require.Equal(t, exitUsage, code, text)
		require.Contains(t, d.err.String(), path+want, text)
		require.NotContains(t, d.err.String(), credential)
	}
	write(t, dir, "")
	require.Equal(t, 0, d.sbx("new", "--provider", "cloud"))
}

func TestWithoutDockerAndBubblewrapOneLineSaysHowToGoOn(t *testing.T) {
	state, home := t.TempDir(), t.TempDir()
	vars := map[string]string{"SBX_STATE_DIR": state, "HOME": home, "DOCKER_HOST": "unix://" + filepath.Join(home, "none.sock")}
	docker, _ := registry.Lookup("docker")
	local, _ := registry.Lookup("local")
	local.Open = func(context.Context, port.Settings) (contract.Adapter, error) {
		return nil, &port.Error{Code: port.CodeFailedPrecondition, Outcome: port.OutcomeUnchanged, Reason: "bwrap (bubblewrap) is not installed"}
	}
	all := []sandbox.Driver{docker, local}
	var out, errOut strings.Builder
	code := run(t.Context(), []string{"new"}, outside{out: &out, err: &errOut, drivers: func() []sandbox.Driver { return all },
		lookup: func(n string) (string, bool) { v, ok := vars[n]; return v, ok },
		driver: func(id string) (sandbox.Driver, bool) {
			return map[string]sandbox.Driver{"docker": docker, "local": local}[id], id == "docker" || id == "local"
		}})
	require.Equal(t, 1, code)
	require.Empty(t, out.String())
	require.Equal(t, "sbx: no Docker Engine answers and bubblewrap (bwrap) is not installed; start a Docker Engine (or set DOCKER_HOST), "+
		"or install bubblewrap (or do without isolation: SBX_LOCAL_ISOLATION=none)\n", errOut.String())
}

func TestDockerContextDecidesWhereDockerHostDoesNot(t *testing.T) {
	d := newDesk(t)
	var got port.Settings
	engine := newCloud().driver()
	engine.ID, engine.Manifest.ID, engine.Manifest.CredentialSets = "engine", "engine", nil
	engine.Manifest.Settings = []contract.SettingRule{{Key: "host", Env: "DOCKER_HOST"}, {Key: "tls", Env: "DOCKER_TLS_VERIFY"}, {Key: "certs", Env: "DOCKER_CERT_PATH"}}
	engine.Open = func(_ context.Context, s port.Settings) (contract.Adapter, error) { got = s; return d.c, nil }
	d.extra = []sandbox.Driver{engine}
	docker := filepath.Join(d.vars["HOME"], ".docker")
	context := func(name, meta string) string {
		sum := sha256.Sum256([]byte(name))
		id := hex.EncodeToString(sum[:])
		dir := filepath.Join(docker, "contexts", "meta", id)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "meta.json"), []byte(meta), 0o600))
		return filepath.Join(docker, "contexts", "tls", id, "docker")
	}
	certs := context("far", `{"Name":"far","Endpoints":{"docker":{"Host":"tcp://far:2376"}}}`)
	require.NoError(t, os.MkdirAll(certs, 0o700))
	context("over-ssh", `{"Name":"over-ssh","Endpoints":{"docker":{"Host":"ssh://far"}}}`)
	config := filepath.Join(docker, "config.json")
	require.NoError(t, os.WriteFile(config, []byte(`{"currentContext":"far"}`), 0o600))

	require.Equal(t, 0, d.sbx("list", "--provider", "engine"), d.err.String())
	require.Equal(t, "tcp://far:2376", got.String("host"))
	require.Equal(t, "true", got.String("tls"))
	require.Equal(t, certs, got.String("certs"))
	require.Equal(t, "the Docker context far", got["host"].Source)

	d.vars["DOCKER_HOST"] = "unix:///here.sock"
	require.Equal(t, 0, d.sbx("list", "--provider", "engine"))
	require.Equal(t, "unix:///here.sock", got.String("host"))
	require.Empty(t, got.String("certs"))
	delete(d.vars, "DOCKER_HOST")

	d.vars["DOCKER_CONTEXT"] = "over-ssh"
	require.Equal(t, exitUsage, d.sbx("list", "--provider", "engine"))
	require.Contains(t, d.err.String(), "is reached by ssh")
	d.vars["DOCKER_CONTEXT"] = "missing"
	require.Equal(t, exitUsage, d.sbx("list", "--provider", "engine"))
	d.vars["DOCKER_CONTEXT"] = "default"
	require.Equal(t, 0, d.sbx("list", "--provider", "engine"))
	require.Empty(t, got.String("host"))
}

func TestListIsHonestAboutWhatIsMissing(t *testing.T) {
	d := newDesk(t)
	delete(d.vars, "SBX_OWNER")
	require.Equal(t, 0, d.sbx("new"))
	away := newCloud().driver()
	away.ID, away.Manifest.ID = "away", "away"
	away.Open = func(context.Context, port.Settings) (contract.Adapter, error) {
		return nil, &port.Error{Code: port.CodeUnavailable, Reason: "nobody answers"}
	}
	d.extra = []sandbox.Driver{away}
	delete(d.vars, "SBX_PROVIDER")
	require.Equal(t, 0, d.sbx("list", "--quiet"), "nothing of ours is there")
	require.Contains(t, d.out.String(), "cloud:box-1")
	require.Contains(t, d.err.String(), "not listed: away: Open: unavailable: nobody answers")
	require.NotContains(t, d.err.String(), "something of yours")
	require.Equal(t, 1, d.sbx("list", "--all", "--json"), "nobody knows what others have there")
	require.Contains(t, d.out.String(), `"provider": "away"`)
	d.vars["SBX_OWNER"] = "shared"
	require.Equal(t, 1, d.sbx("list"), "nor what this owner has made elsewhere")
	delete(d.vars, "SBX_OWNER")
	require.Equal(t, 0, d.sbx("list", "--provider", "cloud"))
	require.Equal(t, 1, d.sbx("list", "--provider", "away"))
	away.Open = d.c.driver().Open // it answers once, and something of ours is there
	d.extra[0] = away
	require.Equal(t, 0, d.sbx("new", "--provider", "away"), d.err.String())
	away.Open = func(context.Context, port.Settings) (contract.Adapter, error) {
		return nil, &port.Error{Code: port.CodeUnavailable, Reason: "nobody answers"}
	}
	d.extra[0] = away
	require.Equal(t, 1, d.sbx("list"))
	require.Contains(t, d.err.String(), "something of yours is there")
}

func TestFallbackGoesOnOnlyWhereNothingWasLeft(t *testing.T) {
	d := newDesk(t)
	full := newCloud()
	first := full.driver()
	first.ID, first.Manifest.ID = "full", "full"
	first.Open = func(context.Context, port.Settings) (contract.Adapter, error) { return &refusing{full}, nil }
	d.extra = []sandbox.Driver{first}
	require.Equal(t, 0, d.sbx("new", "--provider", "full,cloud"), d.err.String())
	require.Equal(t, "cloud:box-1\n", d.out.String())
	require.Equal(t, 1, d.sbx("new", "--provider", "full"))
	require.Contains(t, d.err.String(), "quota_exceeded")
}

type refusing struct{ *cloud }

func (*refusing) Create(context.Context, contract.CreateRequest) (contract.Instance, error) {
	return contract.Instance{}, &port.Error{Code: port.CodeQuotaExceeded, Outcome: port.OutcomeUnchanged, Reason: "the account is full"}
}

func TestBufferedWhereNothingStreams(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, 0, d.sbx("new"))
	d.in = strings.NewReader("given")
	require.Equal(t, 0, d.sbx("exec", "cloud:box-1", "--", "repeat"))
	require.Equal(t, "given", d.out.String())
	require.Equal(t, 7, d.sbx("exec", "-n", "cloud:box-1", "--", "fail"))
	require.Equal(t, "failing\n", d.err.String())
	require.Equal(t, exitSbx, d.sbx("exec", "-n", "cloud:box-1", "--", "lose"))
	require.Equal(t, exitSbx, d.sbx("ssh", "cloud:box-1"))
	require.Contains(t, d.err.String(), "unsupported (pty: unknown)")
}

func TestSizesAndPoliciesAreReadStrictly(t *testing.T) {
	for text, want := range map[string]int64{"512MiB": 512, "2g": 2048, "1 GB": 1024, "512": 0, "0g": 0, "-1g": 0, "1.5g": 0, "": 0, "99999999999g": 0} {
		got, err := mebibytes(text)
		require.Equal(t, want != 0, err == nil, text)
		require.Equal(t, want, got, text)
	}
	p, err := egressPolicy([]string{"example.com", "10.0.0.0/8", "192.0.2.1"})
	require.NoError(t, err)
	require.Equal(t, &contract.EgressPolicy{Mode: contract.EgressModeAllowList, Hosts: []string{"example.com"}, CIDRs: []string{"10.0.0.0/8", "192.0.2.1/32"}}, p)
	for _, bad := range [][]string{{"deny-all", "example.com"}, {"10.0.0.0/99"}, {""}} {
		_, err := egressPolicy(bad)
		require.Error(t, err, bad)
	}
}

func TestEgressCheckDecidesBeforeAnythingStarts(t *testing.T) {
	d := newDesk(t)
	for _, tc := range []struct {
		want string
		exit int
		args []string
	}{
		{"enforce", 0, []string{"--policy", "example.com"}},
		{"refuse-unenforceable", 4, []string{"--policy", "10.0.0.0/8"}},
		{"withhold", 0, []string{"--policy", "10.0.0.0/8", "--allow-uncontained"}},
		{"pass", 0, []string{"--policy", "allow-all"}},
	} {
		require.Equal(t, tc.exit, d.sbx(append([]string{"egress-check"}, tc.args...)...))
		require.Equal(t, tc.want+"\n", d.out.String())
	}
	require.Equal(t, exitUsage, d.sbx("egress-check"))
	require.Equal(t, 4, d.sbx("new", "--egress", "10.0.0.0/8"))
	require.Empty(t, d.c.asked)
	require.Equal(t, 0, d.sbx("new", "--egress", "10.0.0.0/8", "--allow-uncontained"))
	require.Contains(t, d.err.String(), "the egress policy is withheld: cloud does not enforce it")
	require.Nil(t, d.c.asked[0].Egress)
}

func TestTimeoutLimitsTheVerb(t *testing.T) {
	d := newDesk(t)
	require.Equal(t, 1, d.sbx("new", "--timeout", "1ns"))
	require.Regexp(t, "timeout|canceled", d.err.String())
	require.Empty(t, d.c.boxes)
}

func TestNothingIsColoured(t *testing.T) {
	d := newDesk(t)
	d.columns, d.vars["TERM"] = 80, "dumb"
	for _, args := range [][]string{{"new", "--name", "a-name-that-is-longer-than-anybody-wants", "--image", "registry.example/team/image:with-a-tag"}, {"list"}, {"list", "--all"}, {"providers"}, {"capabilities"}, {"capabilities", "cloud"}, {"info", "cloud:box-1"}, {"rm", "cloud:box-1"}} {
		require.Equal(t, 0, d.sbx(args...), args)
		require.NotContains(t, d.out.String()+d.err.String(), "\x1b", args)
		for line := range strings.Lines(d.out.String()) {
			require.LessOrEqual(t, utf8.RuneCountInString(line), 81, args)
		}
	}
}

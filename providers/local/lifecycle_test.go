//go:build unix

package local

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

var (
	_ contract.Adapter        = (*Adapter)(nil)
	_ contract.Lister         = (*Adapter)(nil)
	_ contract.FileReadWriter = (*Adapter)(nil)
	_ contract.FileManager    = (*Adapter)(nil)
	_ contract.Streamer       = (*Adapter)(nil)
	_ contract.PTYOpener      = (*Adapter)(nil)
)

func TestIsolationHasToBeChosenWhereThereIsNone(t *testing.T) {
	for _, c := range []struct {
		want, goos, bwrap, got string
		code                   port.Code
	}{
		{"", "linux", "/usr/bin/bwrap", isolationBwrap, ""},
		{"", "linux", "", "", port.CodeFailedPrecondition},
		{"bwrap", "linux", "", "", port.CodeFailedPrecondition},
		{"none", "linux", "", isolationNone, ""},
		{"", "darwin", "", "", port.CodeInvalidArgument},
		{"bwrap", "darwin", "", "", port.CodeInvalidArgument},
		{"none", "darwin", "", isolationNone, ""},
		{"docker", "linux", "/usr/bin/bwrap", "", port.CodeInvalidArgument},
	} {
		got, err := chooseIsolation(c.want, c.goos, c.bwrap)
		require.Equal(t, c.got, got, "%+v", c)
		require.Equal(t, c.code, port.CodeOf(err), "%+v", c)
	}
	for _, dir := range []string{"", "relative/dir"} {
		_, err := New(t.Context(), Config{Isolation: isolationNone, StateDir: dir})
		requireCode(t, port.CodeInvalidArgument, err)
	}
}

func TestScopeIsStable(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	scope := func(dir string) string {
		a, err := New(t.Context(), Config{Isolation: isolationNone, StateDir: dir})
		require.NoError(t, err)
		s, err := a.Scope(t.Context())
		require.NoError(t, err)
		require.NotContains(t, s, dir)
		return s
	}
	require.Equal(t, scope(dir), scope(dir))
	require.Equal(t, scope(dir), scope(link), "one directory, one scope")
	require.NotEqual(t, scope(dir), scope(t.TempDir()))
}

func TestCreateDescribesWhatItMade(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		r := request()
		r.Name, r.Image, r.Labels = "my box", "host", map[string]string{"k": "v"}
		r.Env = map[string]string{"GREETING": "hello world"}
		r.Tags.ReapAfter = pointer(time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond))
		in, err := a.Create(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, contract.StateRunning, in.State)
		require.Equal(t, contract.FreshnessLive, in.Freshness)
		require.Equal(t, map[string]string{"k": "v"}, in.Labels)
		require.Equal(t, r.Tags, *in.Tags)
		require.Equal(t, "my box", in.Name)
		require.WithinDuration(t, time.Now(), *in.CreatedAt, time.Minute)
		want := contract.IsolationNone
		if a.isolation == isolationBwrap {
			want = contract.IsolationProcess
		}
		require.Equal(t, want, in.Isolation)
		again, err := a.Inspect(t.Context(), in.ID)
		require.NoError(t, err)
		require.Equal(t, in, again)
		require.Equal(t, in.WorkDir+"\n"+in.HomeDir+"\nhello world\n",
			string(sh(t, a, in.ID, `pwd; echo "$HOME"; echo "$GREETING"`).Stdout))
		out, err := a.Destroy(t.Context(), in.ID)
		require.NoError(t, err)
		require.Equal(t, port.DestroyAccepted, out)
		out, err = a.Destroy(t.Context(), in.ID)
		require.NoError(t, err)
		require.Equal(t, port.DestroyAlreadyAbsent, out)
		_, err = a.Exec(t.Context(), in.ID, contract.Command{Script: "true"})
		requireCode(t, port.CodeNotFound, err)
	})
}

func TestCreateRefusesWhatItCannotDo(t *testing.T) {
	a := openAdapter(t, isolationNone)
	for name, change := range map[string]func(*contract.CreateRequest){
		"image":     func(r *contract.CreateRequest) { r.Image = "alpine" },
		"pull":      func(r *contract.CreateRequest) { r.Pull = contract.PullPolicyAlways },
		"snapshot":  func(r *contract.CreateRequest) { r.FromSnapshot = "s" },
		"class":     func(r *contract.CreateRequest) { r.Class = "small" },
		"resources": func(r *contract.CreateRequest) { r.Resources = &contract.Resources{} },
		"region":    func(r *contract.CreateRequest) { r.Region = "eu" },
		"lifetime":  func(r *contract.CreateRequest) { r.Lifetime = pointer(time.Hour) },
		"idle":      func(r *contract.CreateRequest) { r.IdleTimeout = pointer(time.Hour) },
		"deny":      func(r *contract.CreateRequest) { r.Egress = &contract.EgressPolicy{Mode: contract.EgressModeDenyAll} },
		"allow":     func(r *contract.CreateRequest) { r.Egress = &contract.EgressPolicy{Mode: contract.EgressModeAllowList} },
		"mode":      func(r *contract.CreateRequest) { r.Egress = &contract.EgressPolicy{Mode: "other"} },
		"secrets":   func(r *contract.CreateRequest) { r.Secrets = []contract.BrokeredSecret{{Name: "n"}} },
		"mounts":    func(r *contract.CreateRequest) { r.Mounts = []contract.Mount{{Path: "/m"}} },
		"ports":     func(r *contract.CreateRequest) { r.Ports = []int64{80} },
		"name":      func(r *contract.CreateRequest) { r.Name = "a\nb" },
		"env name":  func(r *contract.CreateRequest) { r.Env = map[string]string{"A B": "secret-value"} },
		"env mark":  func(r *contract.CreateRequest) { r.Env = map[string]string{idVariable: "x"} },
		"env nul":   func(r *contract.CreateRequest) { r.Env = map[string]string{"A": "secret-value\x00"} },
		"label":     func(r *contract.CreateRequest) { r.Labels = map[string]string{"sbx.owner": "me"} },
		"no owner":  func(r *contract.CreateRequest) { r.Tags.Owner = "" },
	} {
		t.Run(name, func(t *testing.T) {
			r := request()
			change(&r)
			in, err := a.Create(t.Context(), r)
			require.Error(t, err)
			require.Empty(t, in.ID)
			require.Contains(t, []port.Code{port.CodeUnsupported, port.CodeInvalidArgument}, port.CodeOf(err))
			require.Equal(t, port.OutcomeUnchanged, port.OutcomeOf(err))
			require.NotContains(t, err.Error(), "secret-value")
		})
	}
	entries, err := os.ReadDir(a.dir)
	require.ErrorIs(t, err, os.ErrNotExist, "a refusal made something: %v", entries)
}

func TestListFiltersAndIsComplete(t *testing.T) {
	a := openAdapter(t, isolationNone)
	all, err := a.List(t.Context(), contract.ListRequest{})
	require.NoError(t, err)
	require.Empty(t, all)
	x, y := create(t, a), create(t, a)
	all, err = a.List(t.Context(), contract.ListRequest{})
	require.NoError(t, err)
	require.Len(t, all, 2)
	one, err := a.List(t.Context(), contract.ListRequest{Tags: &contract.Tags{Intent: x.Tags.Intent}})
	require.NoError(t, err)
	require.Equal(t, []contract.Instance{x}, one)
	none, err := a.List(t.Context(), contract.ListRequest{Labels: map[string]string{"sbx.owner": "tester"}})
	require.NoError(t, err)
	require.Empty(t, none, "tags are not labels")

	// A damaged one is listed, and never silently left out of a filtered list.
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, y.ID, metaFile), []byte("{"), 0o600))
	all, err = a.List(t.Context(), contract.ListRequest{States: []contract.State{contract.StateFailed}})
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, y.ID, all[0].ID)
	require.Nil(t, all[0].Tags)
	_, err = a.List(t.Context(), contract.ListRequest{Tags: &contract.Tags{Owner: "tester"}})
	require.ErrorContains(t, err, y.ID)
	_, err = a.Exec(t.Context(), y.ID, contract.Command{Script: "true"})
	requireCode(t, port.CodeFailedPrecondition, err)
}

func TestBrokenFoldersAreSaidToBe(t *testing.T) {
	a := openAdapter(t, isolationNone)
	in := create(t, a)
	for name, text := range map[string]string{"empty": "", "other id": `{"version":1,"id":"x"}`, "version": `{"version":9}`,
		"unknown member": strings.Replace(mustRead(t, a, in.ID), `"version"`, `"surprise":1,"version"`, 1)} {
		require.NoError(t, os.WriteFile(filepath.Join(a.dir, in.ID, metaFile), []byte(text), 0o600))
		got, err := a.Inspect(t.Context(), in.ID)
		require.NoError(t, err, name)
		require.Equal(t, contract.StateFailed, got.State, name)
		require.Equal(t, contract.IsolationUnknown, got.Isolation, name)
	}
	other := create(t, a)
	require.NoError(t, os.Remove(filepath.Join(a.dir, other.ID, rootName)))
	got, err := a.Inspect(t.Context(), other.ID)
	require.NoError(t, err)
	require.Equal(t, contract.StateFailed, got.State)
	for _, id := range []string{"", "..", "../x", "nope", strings.Repeat("a", 27), newID()} {
		_, err := a.Inspect(t.Context(), id)
		requireCode(t, port.CodeNotFound, err)
		out, err := a.Destroy(t.Context(), id)
		require.NoError(t, err)
		require.Equal(t, port.DestroyAlreadyAbsent, out)
	}
}

func mustRead(t *testing.T, a *Adapter, id string) string {
	text, err := os.ReadFile(filepath.Join(a.dir, id, metaFile))
	require.NoError(t, err)
	return string(text)
}

func TestInterruptedDestroyStillExists(t *testing.T) {
	a := openAdapter(t, isolationNone)
	in := create(t, a)
	dying := filepath.Join(a.dir, in.ID+deletingExt)
	require.NoError(t, os.Rename(filepath.Join(a.dir, in.ID), dying))
	got, err := a.Inspect(t.Context(), in.ID)
	require.NoError(t, err)
	require.Equal(t, contract.StateFailed, got.State, "nobody is at it")
	require.Equal(t, in.Tags, got.Tags)
	_, err = a.Exec(t.Context(), in.ID, contract.Command{Script: "true"})
	requireCode(t, port.CodeFailedPrecondition, err)
	lock, err := lockFolder(dying, lockExclusive)
	require.NoError(t, err)
	got, err = a.Inspect(t.Context(), in.ID)
	require.NoError(t, err)
	require.Equal(t, contract.StateStopping, got.State)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err = a.Destroy(ctx, in.ID)
	requireCode(t, port.CodeTimeout, err)
	require.NoError(t, lock.release())
	require.NoError(t, os.Remove(filepath.Join(dying, metaFile)))
	got, err = a.Inspect(t.Context(), in.ID)
	require.NoError(t, err)
	require.Equal(t, contract.StateFailed, got.State)
	all, err := a.List(t.Context(), contract.ListRequest{})
	require.NoError(t, err)
	require.Len(t, all, 1)
	out, err := a.Destroy(t.Context(), in.ID)
	require.NoError(t, err)
	require.Equal(t, port.DestroyAccepted, out)
}

func TestDestroyRemovesWhatIsHardToRemove(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		res := sh(t, a, in.ID, `mkdir -p a/b/c && echo x > a/b/c/f && chmod 0 a/b/c/f a/b/c a/b a && ln -s / up && mkfifo pipe && chmod 0 .`)
		require.Zero(t, res.ExitCode, "%s", res.Stderr)
		if os.Geteuid() == 0 && a.isolation == isolationNone {
			// Works on file systems that have the flag.
			_, err := a.Exec(t.Context(), in.ID, contract.Command{Script: "touch ../tmp/fixed; chattr +i ../tmp/fixed", Dir: "/"})
			require.NoError(t, err)
		}
	})
}

func TestManyDestroysAtOnce(t *testing.T) {
	a := openAdapter(t, isolationNone)
	in := create(t, a)
	var wg sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		wg.Go(func() { _, errs[i] = a.Destroy(t.Context(), in.ID) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

func TestKilledCreatesLeaveNoHalfSandbox(t *testing.T) {
	a := openAdapter(t, isolationNone)
	one, out := startCaller(t, a, "", "")
	two, _ := startCaller(t, a, "", "")
	eventually(t, "both make sandboxes", func() bool {
		all, err := a.List(t.Context(), contract.ListRequest{})
		require.NoError(t, err)
		return len(all) > 20
	})
	require.NoError(t, one.Process.Kill())
	require.NoError(t, two.Process.Kill())
	require.Error(t, one.Wait())
	require.Error(t, two.Wait())
	require.Contains(t, out.String(), "made")
	all, err := a.List(t.Context(), contract.ListRequest{})
	require.NoError(t, err)
	for _, in := range all {
		require.Equal(t, contract.StateRunning, in.State)
	}
	// What they left half-made goes away with a later create, not before its time.
	drafts := filepath.Join(a.dir, draftsName)
	require.NoError(t, os.MkdirAll(filepath.Join(drafts, newID(), "root"), 0o700))
	create(t, a)
	left, err := os.ReadDir(drafts)
	require.NoError(t, err)
	require.NotEmpty(t, left)
	a.now = func() time.Time { return time.Now().Add(2 * draftAge) }
	create(t, a)
	left, err = os.ReadDir(drafts)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestSandboxKeepsItsIsolation(t *testing.T) {
	need(t, "bwrap")
	strict := openAdapter(t, isolationBwrap)
	loose, err := New(t.Context(), Config{Isolation: isolationNone, StateDir: strict.state.Root})
	require.NoError(t, err)
	walled, bare := create(t, strict), create(t, loose)
	require.Equal(t, "/sandbox\n", string(sh(t, loose, walled.ID, "pwd").Stdout))
	_, err = strict.Exec(t.Context(), bare.ID, contract.Command{Script: "touch ran"})
	requireCode(t, port.CodeFailedPrecondition, err)
	_, err = strict.Stat(t.Context(), bare.ID, under(bare, "ran"))
	requireCode(t, port.CodeNotFound, err)
	loose.bwrap = ""
	_, err = loose.Exec(t.Context(), walled.ID, contract.Command{Script: "true"})
	requireCode(t, port.CodeFailedPrecondition, err)
	strict.bwrap = "/bin/false"
	_, err = strict.Exec(t.Context(), walled.ID, contract.Command{Script: "true"})
	requireCode(t, port.CodeFailedPrecondition, err)
}

package ledger

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func TestStateDir(t *testing.T) {
	abs := t.TempDir()
	home := filepath.Join(abs, "home")
	for _, c := range []struct {
		goos string
		env  []string
		want string
	}{
		{"linux", []string{"HOME", home}, filepath.Join(home, ".local", "state")},
		{"linux", []string{"HOME", home, "XDG_STATE_HOME", abs}, abs},
		{"linux", []string{"HOME", home, "XDG_STATE_HOME", "relative"}, filepath.Join(home, ".local", "state")},
		{"darwin", []string{"HOME", home, "XDG_STATE_HOME", abs}, filepath.Join(home, "Library", "Application Support")},
		{"windows", []string{"LocalAppData", `C:\L`, "USERPROFILE", `C:\U`}, `C:\L`},
		{"windows", []string{"USERPROFILE", home}, filepath.Join(home, "AppData", "Local")},
		{"linux", []string{"HOME", home, "XDG_STATE_HOME", home, "SBX_STATE_DIR", abs + "/."}, abs},
		{"windows", []string{"LocalAppData", home, "SBX_STATE_DIR", abs}, abs},
		{"linux", nil, ""},
		{"darwin", nil, ""},
		{"windows", nil, ""},
		{"linux", []string{"HOME", home, "SBX_STATE_DIR", "relative"}, ""},
	} {
		got, err := stateDir(c.goos, env(c.env...))
		if c.want == "" {
			var invalid *InvalidError
			require.ErrorAs(t, err, &invalid, "%v", c)
			continue
		}
		require.NoError(t, err, "%v", c)
		require.Equal(t, c.want, got.Root, "%v", c)
	}
	dirs, err := StateDir(env("SBX_STATE_DIR", abs))
	require.NoError(t, err)
	require.Equal(t, filepath.Join(abs, "sbx", "ledger", "o", "r.jsonl"), dirs.RunFile("o", "r"))
	left, err := os.ReadDir(abs)
	require.NoError(t, err)
	require.Empty(t, left, "resolving makes nothing")
}

func TestOwnerIsMadeOnceAndKept(t *testing.T) {
	dirs := Dirs{Root: filepath.Join(t.TempDir(), "deep", "er")}
	var wg sync.WaitGroup
	owners := make([]string, 8)
	for i := range owners {
		wg.Go(func() {
			var err error
			owners[i], err = Owner(t.Context(), dirs, noEnv)
			assert.NoError(t, err)
		})
	}
	wg.Wait()
	for _, owner := range owners {
		require.Equal(t, owners[0], owner)
	}
	require.Regexp(t, `^[a-z0-9]{16}$`, owners[0])

	other, err := Owner(t.Context(), Dirs{Root: t.TempDir()}, noEnv)
	require.NoError(t, err)
	require.NotEqual(t, owners[0], other)

	named, err := Owner(t.Context(), Dirs{}, env("SBX_OWNER", " team-1 "))
	require.NoError(t, err)
	require.Equal(t, "team-1", named)
}

func TestADamagedOwnerIsRefusedAndKept(t *testing.T) {
	for _, content := range []string{"", "\n", "UPPER-CASE", "a/b/c", "two\nlines"} {
		dirs := Dirs{Root: t.TempDir()}
		require.NoError(t, os.MkdirAll(dirs.Path(), 0o700))
		require.NoError(t, os.WriteFile(dirs.Path("owner"), []byte(content), 0o600))
		require.NoError(t, os.WriteFile(dirs.Path("host"), []byte(content), 0o600))
		var invalid *InvalidError
		_, err := Owner(t.Context(), dirs, noEnv)
		require.ErrorAs(t, err, &invalid)
		_, err = hostOf(t.Context(), dirs, "")
		require.ErrorAs(t, err, &invalid)
		kept, err := os.ReadFile(dirs.Path("owner"))
		require.NoError(t, err)
		require.Equal(t, content, string(kept))
	}
}

func TestValidOwner(t *testing.T) {
	for _, s := range []string{"abc", "team-1", "0123456789abcdef", strings.Repeat("a", 32), "com10", "console"} {
		require.True(t, ValidOwner(s), s)
	}
	for _, s := range []string{"", "ab", "-ab", "ab-", "A-b", "a_b", "a.b", "a/b", "..", "con", "nul", "com1", "lpt9",
		strings.Repeat("a", 33), "abc\n", "é-é-é"} {
		require.False(t, ValidOwner(s), s)
		_, err := Owner(t.Context(), Dirs{Root: t.TempDir()}, env("SBX_OWNER", s))
		var invalid *InvalidError
		if strings.TrimSpace(s) != "" && !ValidOwner(strings.TrimSpace(s)) {
			require.ErrorAs(t, err, &invalid, s)
		}
	}
}

func TestHostGivesNothingAway(t *testing.T) {
	const machine = "0123456789abcdef0123456789abcdef"
	a, err := hostOf(t.Context(), Dirs{}, machine)
	require.NoError(t, err)
	require.Regexp(t, `^m-[0-9a-f]{32}$`, a)
	require.NotContains(t, a, machine[:8])
	b, err := hostOf(t.Context(), Dirs{}, machine+"0")
	require.NoError(t, err)
	require.NotEqual(t, a, b)

	dirs := Dirs{Root: t.TempDir()}
	c, err := hostOf(t.Context(), dirs, "")
	require.NoError(t, err)
	require.Regexp(t, `^s-[0-9a-f]{32}$`, c)
	again, err := hostOf(t.Context(), dirs, "")
	require.NoError(t, err)
	require.Equal(t, c, again)

	id, err := Identify(t.Context(), dirs, env("SBX_OWNER", "team-1"))
	require.NoError(t, err)
	require.Equal(t, "team-1", id.Owner)
	require.Regexp(t, `^[ms]-[0-9a-f]{32}$`, id.Host)
	require.Regexp(t, `^(b-[0-9a-f]{32})?$`, id.Boot)
	require.NotEqual(t, keyedHash("host", machine), keyedHash("boot", machine))
}

func TestRunIDs(t *testing.T) {
	early, err := newRunID(time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", -3600)), strings.NewReader("abcdef"))
	require.NoError(t, err)
	require.Equal(t, "20260102T040405Z-616263646566", early)
	require.True(t, ValidRun(early))
	_, err = newRunID(time.Now(), iotest.ErrReader(fs.ErrClosed))
	require.ErrorIs(t, err, fs.ErrClosed)
	_, err = newRunID(time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), strings.NewReader("abcdef"))
	require.Error(t, err)
	for _, s := range []string{"", "x", "20260102T040405Z", "20260102T040405Z-61626364656", "20260102T040405Z-61626364656G",
		"20261302T040405Z-616263646566", "../20260102T040405Z-616263646566", early + "/", early + "\n"} {
		require.False(t, ValidRun(s), s)
	}
	a, err := NewIntent()
	require.NoError(t, err)
	b, err := NewIntent()
	require.NoError(t, err)
	require.NotEqual(t, a, b)
	require.Regexp(t, `^[0-9a-f]{32}$`, a)
}

func TestRandomOwnerIsUnbiased(t *testing.T) {
	// Bytes 252 to 255 would favour four letters; they are drawn again.
	owner, err := randomOwner(strings.NewReader("\xff\xfe\xfd\xfc" + strings.Repeat("\x00\x23", 8)))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("a9", 8), owner)
	_, err = randomOwner(strings.NewReader("short"))
	require.True(t, err != nil && !errors.Is(err, fs.ErrClosed))
}

package evidence

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/schema"
)

func TestKeysSchemaPassesLint(t *testing.T) {
	src, err := schema.Files().ReadFile(schema.KeysFile)
	require.NoError(t, err)
	require.Empty(t, schema.Lint(schema.KeysFile, src))
}

func TestParseKeys(t *testing.T) {
	key, err := NewPrivateKey(seeded("a"))
	require.NoError(t, err)
	other, err := NewPrivateKey(seeded("b"))
	require.NoError(t, err)
	from, until := began(), began().AddDate(1, 0, 0)
	entry := key.Entry("Ada", from, until)
	text := "keys:\n" + entry + "    revoked: {at: 2027-01-01T00:00:00Z, reason: retired}\n" + other.Entry("Bob", from, until)
	keys, found, err := ParseKeys(KeysFile, []byte(text))
	require.NoError(t, err)
	require.Empty(t, found)
	require.Len(t, keys.Keys, 2)
	got, ok := keys.Find(key.ID())
	require.True(t, ok)
	require.Equal(t, "Ada", got.Owner)
	require.True(t, from.Equal(got.ValidFrom))
	require.Equal(t, Retired, got.Revoked.Reason)
	_, ok = (*Keys)(nil).Find(key.ID())
	require.False(t, ok)

	keys, found, err = ParseKeys(KeysFile, []byte("keys: []\n"))
	require.NoError(t, err)
	require.Empty(t, found)
	require.Empty(t, keys.Keys)

	for what, c := range map[string]struct {
		text, at, rule string
	}{
		"another's ID":   {"keys:\n" + strings.Replace(entry, key.ID(), other.ID(), 1), ":2:9:", RuleKeys},
		"twice":          {"keys:\n" + entry + entry, ":7:9:", RuleKeys},
		"ends first":     {"keys:\n" + key.Entry("Ada", until, from), ":6:17:", RuleKeys},
		"for too long":   {"keys:\n" + key.Entry("Ada", from, from.AddDate(3, 0, 0)), ":6:17:", RuleKeys},
		"unknown field":  {"keys:\n" + entry + "    note: x\n", ":7:5:", "SBX120"},
		"no owner":       {"keys:\n" + strings.Replace(entry, "    owner: \"Ada\"\n", "", 1), ":2:5:", "SBX121"},
		"unknown reason": {"keys:\n" + entry + "    revoked: {at: 2027-01-01T00:00:00Z, reason: lost}\n", ":7:49:", "SBX123"},
		"no public half": {"keys:\n" + strings.Replace(entry, key.Public(), "abc", 1), ":3:13:", "SBX124"},
		"syntax":         {"keys: [\n", ":", "SBX100"},
	} {
		keys, found, err := ParseKeys(KeysFile, []byte(c.text))
		require.NoError(t, err, what)
		require.Nil(t, keys, what)
		require.NotEmpty(t, found, what)
		require.Equal(t, c.rule, found[0].Rule, what)
		require.Contains(t, fmt.Sprintf("%s:%d:%d:", found[0].File, found[0].Span().Line, found[0].Span().Col), c.at, "%s: %v", what, found)
	}
}

func TestPrivateKeyIsNotShown(t *testing.T) {
	key, err := NewPrivateKey(seeded("a"))
	require.NoError(t, err)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		require.Equal(t, key.ID(), fmt.Sprintf(verb, key), verb)
	}
	//lint:ignore SA9005 that nothing of it is marshalled is what this is about
	b, err := json.Marshal(key)
	require.NoError(t, err)
	require.Equal(t, "{}", string(b))
	_, err = NewPrivateKey(strings.NewReader("short"))
	require.Error(t, err)
	_, err = Sign(context.Background(), []byte("x"), PrivateKey{})
	require.ErrorIs(t, err, errNoKey)
}

func TestKeyFile(t *testing.T) {
	key, err := NewPrivateKey(seeded("a"))
	require.NoError(t, err)
	root, elsewhere := t.TempDir(), t.TempDir()
	file := filepath.Join(elsewhere, "key.pem")
	require.NoError(t, WriteKeyFile(file, root, key))
	again, err := ReadKeyFile(file)
	require.NoError(t, err)
	require.Equal(t, key.Public(), again.Public())
	require.ErrorIs(t, WriteKeyFile(file, root, key), fs.ErrExist)
	require.ErrorIs(t, WriteKeyFile(filepath.Join(root, "key.pem"), root, key), ErrInsideTree)
	require.NoError(t, os.MkdirAll(filepath.Join(root, "a"), 0o755))
	require.ErrorIs(t, WriteKeyFile(filepath.Join(root, "a", "key.pem"), root, key), ErrInsideTree)
	require.Error(t, WriteKeyFile(filepath.Join(elsewhere, "k2"), root, PrivateKey{}))
	if runtime.GOOS != "windows" {
		info, err := os.Stat(file)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
		link := filepath.Join(elsewhere, "link")
		require.NoError(t, os.Symlink(root, link))
		require.ErrorIs(t, WriteKeyFile(filepath.Join(link, "key.pem"), root, key), ErrInsideTree)
		require.NoError(t, os.Chmod(file, 0o640))
		_, err = ReadKeyFile(file)
		require.ErrorIs(t, err, ErrPermissions)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	_, err = ParsePrivateKey(bytes.Replace(text, []byte("PRIVATE"), []byte("PUBLIC"), 2))
	require.ErrorIs(t, err, errNoKey)
	_, err = ParsePrivateKey(nil)
	require.ErrorIs(t, err, errNoKey)
}

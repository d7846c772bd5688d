package docker_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

func bytesOf(b []byte) port.WriteStream {
	return port.WriteStream{Reader: bytes.NewReader(b), Size: int64(len(b))}
}

func (w *world) read(id, path string) ([]byte, fs.FileMode) {
	w.t.Helper()
	s, err := w.ReadFile(w.t.Context(), id, path)
	require.NoError(w.t, err)
	all, err := io.ReadAll(s)
	require.NoError(w.t, err)
	require.EqualValues(w.t, s.Size, len(all))
	require.NoError(w.t, s.Close())
	return all, *s.Mode
}

func TestFiles(t *testing.T) {
	w := open(t)
	id := w.create()
	ctx := t.Context()

	t.Run("bytes, modes and names", func(t *testing.T) {
		binary := make([]byte, 4096)
		for i := range binary {
			binary[i] = byte(i)
		}
		for i, name := range []string{"plain", "with space", "new\nline", "-n", "ünïcode ☃", "'\"$`\\*", "a/b/c/deep", ".hidden"} {
			path := fmt.Sprintf("/data/%d/%s", i, name)
			mode := []int{0o600, 0o644, 0o755, 0o4711, 0o1777, 0o000, 0o444, 0o640}[i]
			require.NoError(t, w.WriteFile(ctx, id, path, mode, bytesOf(binary)))
			got, m := w.read(id, path)
			require.True(t, bytes.Equal(binary, got))
			info, err := w.Stat(ctx, id, path)
			require.NoError(t, err)
			require.EqualValues(t, mode, *info.Mode)
			require.EqualValues(t, mode&0o777, m.Perm())
			require.EqualValues(t, len(binary), *info.Size)
		}
	})
	t.Run("empty, replaced, unknown size", func(t *testing.T) {
		require.NoError(t, w.WriteFile(ctx, id, "/f", 0o644, port.WriteStream{}))
		got, _ := w.read(id, "/f")
		require.Empty(t, got)
		require.NoError(t, w.WriteFile(ctx, id, "/f", 0o600, port.WriteStream{Reader: strings.NewReader("abc"), Size: -1}))
		got, mode := w.read(id, "/f")
		require.Equal(t, "abc", string(got))
		require.EqualValues(t, 0o600, mode.Perm())
	})
	t.Run("large", func(t *testing.T) {
		big := bytes.Repeat([]byte("0123456789abcdef"), 64<<16)
		require.NoError(t, w.WriteFile(ctx, id, "/big", 0o644, bytesOf(big)))
		require.Contains(t, w.output(id, "sha256sum /big"), fmt.Sprintf("%x", sha256.Sum256(big)))
		got, _ := w.read(id, "/big")
		require.Equal(t, sha256.Sum256(big), sha256.Sum256(got))
	})
	t.Run("symlinks are followed", func(t *testing.T) {
		w.output(id, "mkdir -p /s; echo old >/s/real; ln -s real /s/link; ln -s later /s/dangling; ln -s loop /s/loop")
		require.NoError(t, w.WriteFile(ctx, id, "/s/link", 0o644, bytesOf([]byte("new"))))
		require.NoError(t, w.WriteFile(ctx, id, "/s/dangling", 0o644, bytesOf([]byte("later"))))
		require.Equal(t, "newlater", w.output(id, "[ -L /s/link ] && cat /s/real /s/later"))
		got, _ := w.read(id, "/s/link")
		require.Equal(t, "new", string(got))
		require.Error(t, w.WriteFile(ctx, id, "/s/loop", 0o644, bytesOf(nil)))
	})
	t.Run("failures", func(t *testing.T) {
		open := func(path string) error {
			_, err := w.ReadFile(ctx, id, path)
			return err
		}
		write := func(path string) error { return w.WriteFile(ctx, id, path, 0o644, bytesOf([]byte("x"))) }
		hasCode(t, open("/none"), port.CodeNotFound)
		hasCode(t, open("/etc"), port.CodeInvalidArgument)
		hasCode(t, open("/dev/null"), port.CodeInvalidArgument)
		hasCode(t, open("relative"), port.CodeInvalidArgument)
		hasCode(t, open("/a\x00"), port.CodeInvalidArgument)
		hasCode(t, write("/etc"), port.CodeInvalidArgument)
		hasCode(t, write("/dev/null"), port.CodeInvalidArgument)
		hasCode(t, write("/etc/passwd/x"), port.CodeInvalidArgument)
		hasCode(t, write("/x/"), port.CodeInvalidArgument)
		hasCode(t, w.WriteFile(ctx, id, "/x", 0o10000, bytesOf(nil)), port.CodeInvalidArgument)
	})
	t.Run("a wrong size leaves nothing", func(t *testing.T) {
		w.output(id, "mkdir /w; echo old >/w/f")
		for _, size := range []int64{2, 4, 1 << 20} {
			for _, path := range []string{"/w/f", "/w/new"} {
				err := w.WriteFile(ctx, id, path, 0o644, port.WriteStream{Reader: strings.NewReader("abc"), Size: size})
				hasCode(t, err, port.CodeInvalidArgument)
			}
		}
		require.Equal(t, "f\nold\n", w.output(id, "ls -A /w; cat /w/f"))
	})
	t.Run("closing early ends the reading", func(t *testing.T) {
		s, err := w.ReadFile(ctx, id, "/big")
		require.NoError(t, err)
		_, err = io.ReadFull(s, make([]byte, 10))
		require.NoError(t, err)
		require.NoError(t, s.Close())
		require.Empty(t, w.output(id, "ps | grep '[c]at /big'; true"))
	})
}

func TestFileManager(t *testing.T) {
	w := open(t)
	id := w.create()
	ctx := t.Context()
	w.output(id, `mkdir -p /m/dir/sub; cd /m; echo 12345 >file; chmod 640 file; ln -s 'to there' link; mkfifo fifo
echo x >'new
line'; ln -s 'odd
target' 'odd
link'; echo h >.hidden; echo x >-dash; ln -s dir dirlink`)

	infos, err := w.ReadDir(ctx, id, "/m/")
	require.NoError(t, err)
	var names []string
	for _, i := range infos {
		names = append(names, fmt.Sprintf("%s %s %s", strings.TrimPrefix(i.Path, "/m/"), i.Type, i.Target))
	}
	require.Equal(t, []string{"-dash file ", ".hidden file ", "dir directory ", "dirlink symlink dir", "fifo other ", "file file ",
		"link symlink to there", "new\nline file ", "odd\nlink symlink odd\ntarget"}, names)
	for _, i := range infos {
		one, err := w.Stat(ctx, id, i.Path)
		require.NoError(t, err)
		require.Equal(t, i, one)
		require.WithinRange(t, *i.ModifiedAt, one.ModifiedAt.AddDate(0, 0, -1), one.ModifiedAt.AddDate(0, 0, 1))
	}
	infos, err = w.ReadDir(ctx, id, "/m/dir/sub")
	require.NoError(t, err)
	require.Empty(t, infos)
	infos, err = w.ReadDir(ctx, id, "/m/dirlink")
	require.NoError(t, err)
	require.Equal(t, "/m/dirlink/sub", infos[0].Path)
	_, err = w.ReadDir(ctx, id, "/m/file")
	hasCode(t, err, port.CodeInvalidArgument)
	_, err = w.ReadDir(ctx, id, "/none")
	hasCode(t, err, port.CodeNotFound)
	_, err = w.Stat(ctx, id, "/none")
	hasCode(t, err, port.CodeNotFound)
	root, err := w.Stat(ctx, id, "/")
	require.NoError(t, err)
	require.Equal(t, contract.FileTypeDirectory, root.Type)

	require.NoError(t, w.Mkdir(ctx, id, "/m/a/b/c", 0o710))
	require.NoError(t, w.Mkdir(ctx, id, "/m/a/b/c", 0o700))
	require.Equal(t, "710\n", w.output(id, "stat -c %a /m/a/b/c"))
	hasCode(t, w.Mkdir(ctx, id, "/m/file", 0o700), port.CodeInvalidArgument)
	hasCode(t, w.Mkdir(ctx, id, "/m/file/x", 0o700), port.CodeInvalidArgument)

	require.NoError(t, w.Rename(ctx, id, "/m/file", "/m/a/moved"))
	require.NoError(t, w.Rename(ctx, id, "/m/-dash", "/m/a/moved"))
	require.NoError(t, w.Rename(ctx, id, "/m/a", "/m/z"))
	require.Equal(t, "x\n", w.output(id, "cat /m/z/moved"))
	hasCode(t, w.Rename(ctx, id, "/none", "/m/y"), port.CodeNotFound)
	hasCode(t, w.Rename(ctx, id, "/m/z", "/none/y"), port.CodeNotFound)
	hasCode(t, w.Rename(ctx, id, "/m/.hidden", "/m/dir"), port.CodeFailedPrecondition)
	hasCode(t, w.Rename(ctx, id, "/m/dir", "/m/.hidden"), port.CodeFailedPrecondition)
	require.NoError(t, w.Rename(ctx, id, "/m/.hidden", "/m/dirlink"))
	require.Equal(t, "h\nsub\n", w.output(id, "cat /m/dirlink; ls /m/dir"))

	hasCode(t, w.Remove(ctx, id, "/none", true), port.CodeNotFound)
	hasCode(t, w.Remove(ctx, id, "/m/dir", false), port.CodeFailedPrecondition)
	hasCode(t, w.Remove(ctx, id, "/", true), port.CodeInvalidArgument)
	require.NoError(t, w.Remove(ctx, id, "/m/link", false))
	require.NoError(t, w.Remove(ctx, id, "/m/dir/sub", false))
	require.NoError(t, w.Remove(ctx, id, "/m", true))
	_, err = w.Stat(ctx, id, "/m")
	hasCode(t, err, port.CodeNotFound)
}

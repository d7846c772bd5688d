//go:build unix

package local

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

func write(t *testing.T, a *Adapter, id, path string, mode int, text string) error {
	t.Helper()
	return a.WriteFile(t.Context(), id, path, mode, port.WriteStream{Reader: strings.NewReader(text), Size: int64(len(text))})
}

func read(t *testing.T, a *Adapter, id, path string) (string, error) {
	t.Helper()
	s, err := a.ReadFile(t.Context(), id, path)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(s)
	require.NoError(t, err)
	require.EqualValues(t, len(b), s.Size)
	require.NoError(t, s.Close())
	return string(b), nil
}

// under is a path below the sandbox's home; an absolute or empty one stays as it is.
func under(in contract.Instance, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return in.HomeDir + "/" + path
}

// As the contract says: a relative path would start nowhere.
func TestRelativePathsAreRefused(t *testing.T) {
	a := openAdapter(t, isolationNone)
	in, ctx := create(t, a), t.Context()
	_, readErr := read(t, a, in.ID, "f")
	_, statErr := a.Stat(ctx, in.ID, "./f")
	_, listErr := a.ReadDir(ctx, in.ID, ".")
	for _, err := range []error{readErr, statErr, listErr, write(t, a, in.ID, "f", 0o600, ""), a.Mkdir(ctx, in.ID, "d", 0o755),
		a.Remove(ctx, in.ID, "f", true), a.Rename(ctx, in.ID, "f", in.HomeDir+"/g"), a.Rename(ctx, in.ID, in.HomeDir+"/g", "f")} {
		requireCode(t, port.CodeInvalidArgument, err)
	}
}

func TestFilesAreTheOnesCommandsSee(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		tmp := string(bytes.TrimSpace(sh(t, a, in.ID, "echo $TMPDIR").Stdout))
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		for _, path := range []string{in.HomeDir + "/plain", "relative/with parents/f", tmp + "/t", "-dash", "new\nline", "ünï", "\xff\xfe", "a'b\"c$d"} {
			require.NoError(t, write(t, a, in.ID, under(in, path), 0o640, string(all)), path)
			got, err := read(t, a, in.ID, under(in, path))
			require.NoError(t, err)
			require.Equal(t, string(all), got)
			res, err := a.Exec(t.Context(), in.ID, contract.Command{Argv: []string{"sh", "-c", `stat -c %a "./$1" 2>/dev/null || stat -c %a "$1"; cat < "$1"`, "sh", path}})
			require.NoError(t, err)
			require.Equal(t, "640\n"+string(all), string(res.Stdout), path)
		}
		sh(t, a, in.ID, "printf made > by-command; chmod 700 by-command; ln -s "+in.HomeDir+"/by-command abs; ln -s by-command rel; ln -s "+tmp+" tmplink")
		for _, path := range []string{"by-command", "abs", "rel", in.WorkDir + "/./x/../abs"} {
			if strings.Contains(path, "..") {
				require.NoError(t, a.Mkdir(t.Context(), in.ID, under(in, "x"), 0o755))
			}
			got, err := read(t, a, in.ID, under(in, path))
			require.NoError(t, err, path)
			require.Equal(t, "made", got)
		}
		require.NoError(t, write(t, a, in.ID, under(in, "abs"), 0o600, "through"))
		require.Equal(t, "through", string(sh(t, a, in.ID, "cat by-command; test -L abs").Stdout))
		require.NoError(t, write(t, a, in.ID, under(in, "tmplink/via"), 0o600, "t"))
		require.Equal(t, "t", string(sh(t, a, in.ID, "cat $TMPDIR/via").Stdout))
		for mode := range 8 {
			require.NoError(t, write(t, a, in.ID, under(in, "m"), mode*0o111, ""))
			info, err := a.Stat(t.Context(), in.ID, under(in, "m"))
			require.NoError(t, err)
			require.EqualValues(t, mode*0o111, *info.Mode)
		}
	})
}

func TestFileRefusals(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		sh(t, a, in.ID, `mkdir d; mkfifo pipe; echo f > f; ln -s loop loop; ln -s nowhere dangling`)
		for path, code := range map[string]port.Code{"absent": port.CodeNotFound, "d": port.CodeInvalidArgument,
			"pipe": port.CodeInvalidArgument, "f/x": port.CodeInvalidArgument, "loop": port.CodeInvalidArgument,
			"dangling": port.CodeNotFound, "": port.CodeInvalidArgument, "a\x00b": port.CodeInvalidArgument,
			"absent/../f": port.CodeNotFound, in.HomeDir: port.CodeInvalidArgument,
			"/etc/passwd": port.CodePermissionDenied, "..": port.CodePermissionDenied, "../../x": port.CodePermissionDenied} {
			_, err := read(t, a, in.ID, under(in, path))
			require.Equal(t, code, port.CodeOf(err), "%q: %v", path, err)
		}
		requireCode(t, port.CodeInvalidArgument, write(t, a, in.ID, under(in, "d"), 0o600, "x"))
		requireCode(t, port.CodeInvalidArgument, write(t, a, in.ID, under(in, "y"), 0o4755, "x"))
		requireCode(t, port.CodeInvalidArgument, a.WriteFile(t.Context(), in.ID, under(in, "short"), 0o600,
			port.WriteStream{Reader: strings.NewReader("abc"), Size: 4}))
		requireCode(t, port.CodeCanceled, a.WriteFile(canceled(t), in.ID, under(in, "c"), 0o600, port.WriteStream{Reader: strings.NewReader("")}))
		require.Equal(t, "d\ndangling\nf\nloop\npipe\n", string(sh(t, a, in.ID, "ls -A").Stdout), "nothing half-written is left")
		require.NoError(t, write(t, a, in.ID, under(in, "dangling"), 0o600, "x"))
		require.Equal(t, "x", string(sh(t, a, in.ID, "cat nowhere").Stdout))
	})
}

func TestLinksDoNotLeadOut(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in := create(t, a)
		dir, err := os.MkdirTemp("/var/tmp", "sbx-local-*") // /tmp would be the sandbox's own
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
		outside := filepath.Join(dir, "secret")
		require.NoError(t, os.WriteFile(outside, []byte("outside"), 0o644))
		root := filepath.Join(a.dir, in.ID, rootName)
		for name, target := range map[string]string{"file": outside, "dir": filepath.Dir(outside), "meta": "../meta.json", "up": "..", "slash": "/",
			"deep": strings.Repeat("../", 40) + outside[1:]} {
			require.NoError(t, os.Symlink(target, filepath.Join(root, name)))
		}
		for _, path := range []string{"file", "dir/secret", "meta", "up/meta.json", "slash/etc/passwd", "deep", "dir/new"} {
			_, err := read(t, a, in.ID, under(in, path))
			require.Contains(t, []port.Code{port.CodePermissionDenied, port.CodeNotFound}, port.CodeOf(err), "%s: %v", path, err)
			require.Error(t, write(t, a, in.ID, under(in, path), 0o600, "overwritten"), path)
		}
		require.Error(t, a.Mkdir(t.Context(), in.ID, under(in, "dir/made"), 0o755))
		require.Error(t, a.Remove(t.Context(), in.ID, under(in, "dir/secret"), true))
		require.Error(t, a.Rename(t.Context(), in.ID, under(in, "dir/secret"), under(in, "stolen")))
		require.NoError(t, a.Mkdir(t.Context(), in.ID, under(in, "own"), 0o755))
		require.Error(t, a.Rename(t.Context(), in.ID, under(in, "own"), under(in, "dir/put")))
		_, err = a.ReadDir(t.Context(), in.ID, under(in, "dir"))
		require.Error(t, err)
		require.NoError(t, a.Remove(t.Context(), in.ID, under(in, "dir"), true), "the link itself is the sandbox's")
		text, err := os.ReadFile(outside)
		require.NoError(t, err)
		require.Equal(t, "outside", string(text))
	})
}

func TestManageFiles(t *testing.T) {
	each(t, func(t *testing.T, a *Adapter) {
		in, ctx := create(t, a), t.Context()
		tmp := viewOf(folder{path: filepath.Join(a.dir, in.ID)}, meta{Isolation: a.isolation}).temp()
		require.NoError(t, a.Mkdir(ctx, in.ID, under(in, "a/b"), 0o711))
		require.NoError(t, a.Mkdir(ctx, in.ID, under(in, "a/b"), 0o700))
		require.NoError(t, write(t, a, in.ID, under(in, "a/f"), 0o600, "12345"))
		sh(t, a, in.ID, "ln -s f a/l; mkfifo a/p")
		list, err := a.ReadDir(ctx, in.ID, under(in, "a"))
		require.NoError(t, err)
		var got []string
		for _, e := range list {
			got = append(got, e.Path+" "+string(e.Type)+" "+e.Target)
			require.NotNil(t, e.ModifiedAt)
		}
		base := in.WorkDir + "/a/"
		require.Equal(t, []string{base + "b directory ", base + "f file ", base + "l symlink f", base + "p other "}, got)
		require.EqualValues(t, 0o711, *list[0].Mode)
		require.EqualValues(t, 5, *list[1].Size)
		requireCode(t, port.CodeAlreadyExists, a.Mkdir(ctx, in.ID, under(in, "a/f"), 0o755))
		_, err = a.ReadDir(ctx, in.ID, under(in, "a/f"))
		requireCode(t, port.CodeInvalidArgument, err)
		requireCode(t, port.CodeFailedPrecondition, a.Remove(ctx, in.ID, under(in, "a"), false))
		requireCode(t, port.CodeNotFound, a.Remove(ctx, in.ID, under(in, "absent"), true))
		requireCode(t, port.CodeNotFound, a.Remove(ctx, in.ID, under(in, "absent"), false))
		requireCode(t, port.CodeInvalidArgument, a.Remove(ctx, in.ID, in.HomeDir, true))
		require.NoError(t, write(t, a, in.ID, under(in, "target"), 0o600, "old"))
		require.NoError(t, a.Rename(ctx, in.ID, under(in, "a/f"), under(in, "target")))
		require.NoError(t, a.Rename(ctx, in.ID, under(in, "target"), tmp+"/moved"))
		requireCode(t, port.CodeNotFound, a.Rename(ctx, in.ID, under(in, "target"), under(in, "x")))
		text, err := read(t, a, in.ID, tmp+"/moved")
		require.NoError(t, err)
		require.Equal(t, "12345", text)
		require.NoError(t, a.Remove(ctx, in.ID, under(in, "a"), true))
		_, err = a.Stat(ctx, in.ID, under(in, "a"))
		requireCode(t, port.CodeNotFound, err)
		info, err := a.Stat(ctx, in.ID, in.HomeDir)
		require.NoError(t, err)
		require.Equal(t, contract.FileTypeDirectory, info.Type)
		require.Equal(t, in.HomeDir, info.Path)
		_, err = a.Stat(ctx, newID(), "x")
		requireCode(t, port.CodeNotFound, err)
	})
}

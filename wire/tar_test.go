package wire_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
	"github.com/stretchr/testify/require"
)

func archive(t testing.TB, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = int64(len(h.Name))
		}
		h.Mode = 0o755
		require.NoError(t, w.WriteHeader(&h))
		if h.Typeflag == tar.TypeReg {
			_, err := io.WriteString(w, h.Name)
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func TestTarFileRoundTrip(t *testing.T) {
	for _, size := range []int{0, 1, 511, 512, 513, 100_000} {
		content := strings.Repeat("x", size)
		for _, wrap := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader} {
			r, err := wire.TarFile("dir/"+strings.Repeat("n", 150), 0o640, int64(size), wrap(strings.NewReader(content)))
			require.NoError(t, err)
			s, err := wire.UntarFile(io.NopCloser(iotest.HalfReader(r)))
			require.NoError(t, err)
			got, err := io.ReadAll(s)
			require.NoError(t, err)
			require.Equal(t, content, string(got))
			require.EqualValues(t, size, s.Size)
			require.Equal(t, fs.FileMode(0o640), *s.Mode)
		}
	}
}

func TestTarFileOfWrongSizeIsNeverComplete(t *testing.T) {
	for _, size := range []int64{0, 1, 3, 5, 511, 513} {
		r, err := wire.TarFile("f", 0o644, size, strings.NewReader("four"))
		require.NoError(t, err)
		var out bytes.Buffer
		_, err = io.Copy(&out, r)
		require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err))
		if size > 0 {
			s, err := wire.UntarFile(io.NopCloser(&out))
			require.NoError(t, err)
			_, err = io.ReadAll(s)
			require.Equal(t, port.CodeProvider, port.CodeOf(err), "size %d", size)
		}
	}
	_, err := wire.TarFile("f", 0o644, -1, strings.NewReader(""))
	require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err))
	broken := errors.New("disk")
	r, err := wire.TarFile("f", 0o644, 9, io.MultiReader(strings.NewReader("x"), iotest.ErrReader(broken)))
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, r)
	require.ErrorIs(t, err, broken)
}

type closeCounter struct {
	io.Reader
	n int
}

func (c *closeCounter) Close() error { c.n++; return nil }

func TestUntarFileRefuses(t *testing.T) {
	good := archive(t, tar.Header{Name: "f", Typeflag: tar.TypeReg})
	for name, tc := range map[string]struct {
		data []byte
		code port.Code
	}{
		"directory": {archive(t, tar.Header{Name: "d/", Typeflag: tar.TypeDir}), port.CodeInvalidArgument},
		"symlink":   {archive(t, tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}), port.CodeInvalidArgument},
		"hard link": {archive(t, tar.Header{Name: "l", Typeflag: tar.TypeLink, Linkname: "f"}), port.CodeInvalidArgument},
		"device":    {archive(t, tar.Header{Name: "n", Typeflag: tar.TypeChar}), port.CodeInvalidArgument},
		"pipe":      {archive(t, tar.Header{Name: "p", Typeflag: tar.TypeFifo}), port.CodeInvalidArgument},
		"empty":     {nil, port.CodeNotFound},
		"garbage":   {bytes.Repeat([]byte("garbage!"), 200), port.CodeProvider},
		"cut head":  {good[:100], port.CodeProvider},
		"cut body":  {good[:512], port.CodeProvider},
		"two files": {archive(t, tar.Header{Name: "f", Typeflag: tar.TypeReg}, tar.Header{Name: "g", Typeflag: tar.TypeReg}), port.CodeInvalidArgument},
	} {
		c := &closeCounter{Reader: bytes.NewReader(tc.data)}
		s, err := wire.UntarFile(c)
		if err == nil {
			_, err = io.ReadAll(s)
			require.NoError(t, s.Close())
		}
		require.Equal(t, tc.code, port.CodeOf(err), name)
		require.Equal(t, 1, c.n, name)
		if tc.code == port.CodeInvalidArgument {
			_, ok := errors.AsType[*wire.TarEntryError](err)
			require.True(t, ok, name)
		}
	}
}

// A terabyte of holes in two kilobytes of archive.
func TestSparseFilesAreRefused(t *testing.T) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: "f", Typeflag: tar.TypeReg, Size: 512, Mode: 0o644, Format: tar.FormatPAX,
		PAXRecords: map[string]string{"XXX.sparse.major": "1", "XXX.sparse.minor": "0", "XXX.sparse.name": "f", "XXX.sparse.realsize": "1099511627776"}}))
	_, err := w.Write(append([]byte("0\n"), make([]byte, 510)...))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	data := bytes.ReplaceAll(b.Bytes(), []byte("XXX."), []byte("GNU."))
	h, err := tar.NewReader(bytes.NewReader(data)).Next()
	require.NoError(t, err)
	require.EqualValues(t, 1<<40, h.Size, "the archive must be what this test is about")
	_, err = wire.UntarFile(io.NopCloser(bytes.NewReader(data)))
	require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err))
	err = wire.UntarDir(t.Context(), bytes.NewReader(data), t.TempDir(), wire.UntarLimits{MaxBytes: -1})
	require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err))
}

func TestDirRoundTrip(t *testing.T) {
	src, dst := t.TempDir(), t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(src, "a", "b"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(src, "a", "run.sh"), []byte("#!/bin/sh\n"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(src, "a", "b", "ro"), []byte("r"), 0o400))
	require.NoError(t, os.WriteFile(filepath.Join(src, "empty"), nil, 0o600))
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Symlink("../run.sh", filepath.Join(src, "a", "b", "link")))
		require.NoError(t, os.Chmod(filepath.Join(src, "a", "b"), 0o500))
		t.Cleanup(func() {
			for _, d := range []string{src, dst} {
				require.NoError(t, os.Chmod(filepath.Join(d, "a", "b"), 0o700))
			}
		})
	}
	var one, two bytes.Buffer
	require.NoError(t, wire.TarDir(t.Context(), src, &one))
	require.NoError(t, wire.UntarDir(t.Context(), bytes.NewReader(one.Bytes()), dst, wire.UntarLimits{}))
	require.NoError(t, wire.TarDir(t.Context(), dst, &two))
	require.Equal(t, one.Bytes(), two.Bytes(), "modes, links and content survive")
	if runtime.GOOS != "windows" {
		target, err := os.Readlink(filepath.Join(dst, "a", "b", "link"))
		require.NoError(t, err)
		require.Equal(t, "../run.sh", target)
		info, err := os.Stat(filepath.Join(dst, "a", "run.sh"))
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o755), info.Mode().Perm())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, port.CodeCanceled, port.CodeOf(wire.TarDir(ctx, src, io.Discard)))
	require.Equal(t, port.CodeCanceled, port.CodeOf(wire.UntarDir(ctx, &one, dst, wire.UntarLimits{})))
}

func TestUntarDirStaysInside(t *testing.T) {
	reg := func(n string) tar.Header { return tar.Header{Name: n, Typeflag: tar.TypeReg} }
	link := func(n, to string) tar.Header { return tar.Header{Name: n, Typeflag: tar.TypeSymlink, Linkname: to} }
	for name, headers := range map[string][]tar.Header{
		"absolute":       {reg("/evil")},
		"climbs":         {reg("a/../../evil")},
		"backslash":      {reg(`..\evil`)},
		"absolute link":  {link("l", "/etc")},
		"climbing link":  {link("a/l", "../../x")},
		"link itself":    {link("l", "..")},
		"hard link":      {{Name: "h", Typeflag: tar.TypeLink, Linkname: "l"}},
		"device":         {{Name: "n", Typeflag: tar.TypeBlock}},
		"over directory": {reg("d/x"), reg("d")},
		"under file":     {reg("f"), reg("f/x")},
		"outside link":   {reg("out/evil")},
		"too many":       {reg("1"), reg("2"), reg("3"), reg("4")},
		"too big":        {reg(strings.Repeat("n", 90))},
	} {
		t.Run(name, func(t *testing.T) {
			outer := t.TempDir()
			dir := filepath.Join(outer, "in")
			require.NoError(t, os.Mkdir(dir, 0o755))
			require.NoError(t, os.Mkdir(filepath.Join(outer, "target"), 0o755))
			if err := os.Symlink("../target", filepath.Join(dir, "out")); err != nil {
				require.Equal(t, "windows", runtime.GOOS)
			}
			err := wire.UntarDir(t.Context(), bytes.NewReader(archive(t, headers...)), dir, wire.UntarLimits{MaxBytes: 80, MaxEntries: 3})
			require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err), "%v", err)
			_, ok := errors.AsType[*wire.TarEntryError](err)
			require.True(t, ok)
			left, err := os.ReadDir(filepath.Join(outer, "target"))
			require.NoError(t, err)
			require.Empty(t, left)
			all, err := os.ReadDir(outer)
			require.NoError(t, err)
			require.Len(t, all, 2)
		})
	}
	dir := t.TempDir()
	err := wire.UntarDir(t.Context(), bytes.NewReader(archive(t, reg("f"))[:512]), dir, wire.UntarLimits{})
	require.Equal(t, port.CodeProvider, port.CodeOf(err))
}

func TestSpool(t *testing.T) {
	for _, size := range []int{0, 10, 1<<20 - 1, 1 << 20, 3 << 20} {
		content := strings.Repeat("s", size)
		for _, announced := range []int64{-1, int64(size)} {
			s, err := wire.Spool(port.WriteStream{Reader: strings.NewReader(content), Size: announced})
			require.NoError(t, err)
			require.EqualValues(t, size, s.Size)
			for range 2 {
				_, err = s.Seek(0, io.SeekStart)
				require.NoError(t, err)
				got, err := io.ReadAll(s)
				require.NoError(t, err)
				require.True(t, content == string(got))
			}
			require.NoError(t, s.Close())
			require.NoError(t, s.Close())
		}
		_, err := wire.Spool(port.WriteStream{Reader: strings.NewReader(content), Size: int64(size) + 1})
		require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err))
	}
}

func FuzzUntar(f *testing.F) {
	f.Add(archive(f, tar.Header{Name: "f", Typeflag: tar.TypeReg}))
	f.Add(archive(f, tar.Header{Name: "a/l", Typeflag: tar.TypeSymlink, Linkname: "../x"}, tar.Header{Name: "x/", Typeflag: tar.TypeDir}))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := wire.UntarFile(io.NopCloser(bytes.NewReader(b))); err == nil {
			n, err := io.Copy(io.Discard, s)
			if err == nil && n != s.Size {
				t.Fatalf("%d bytes of %d without an error", n, s.Size)
			}
		}
		outer := t.TempDir()
		dir := filepath.Join(outer, "in")
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		err := wire.UntarDir(t.Context(), bytes.NewReader(b), dir, wire.UntarLimits{MaxBytes: 1 << 16, MaxEntries: 16})
		all, listErr := os.ReadDir(outer)
		if listErr != nil || len(all) != 1 {
			t.Fatalf("something escaped: %v %v (untar said %v)", all, listErr, err)
		}
	})
}

package mutants

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// onWrite changes what is written; onRead what is read.
func onWrite(fn func(path *string, mode *int, content []byte) []byte) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.WriteFile
		t.WriteFile = func(ctx context.Context, id, path string, mode int, content port.WriteStream) error {
			b, err := io.ReadAll(content)
			if err != nil || int64(len(b)) != content.Size {
				return next(ctx, id, path, mode, port.WriteStream{Reader: bytes.NewReader(b), Size: content.Size})
			}
			b = fn(&path, &mode, b)
			return next(ctx, id, path, mode, port.WriteStream{Reader: bytes.NewReader(b), Size: int64(len(b))})
		}
		return t
	})
}

func onRead(fn func(path string, content []byte, err error) ([]byte, error)) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.ReadFile
		t.ReadFile = func(ctx context.Context, id, path string) (port.ReadStream, error) {
			s, err := next(ctx, id, path)
			var b []byte
			if err == nil {
				if b, err = io.ReadAll(s); err == nil {
					err = s.Close()
				}
			}
			if b, err = fn(path, b, err); err != nil {
				return port.ReadStream{}, err
			}
			return port.ReadStream{ReadCloser: io.NopCloser(bytes.NewReader(b)), Size: int64(len(b)), Mode: s.Mode}, nil
		}
		return t
	})
}

// onStat changes what Stat and ReadDir show.
func onStat(fn func(i *contract.FileInfo)) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.Stat
		t.Stat = func(ctx context.Context, id, path string) (contract.FileInfo, error) {
			i, err := next(ctx, id, path)
			fn(&i)
			return i, err
		}
		return t
	})
}

// onDir changes what ReadDir shows.
func onDir(fn func(all []contract.FileInfo) []contract.FileInfo) func() func(contract.Table) contract.Table {
	return plain(func(t contract.Table) contract.Table {
		next := t.ReadDir
		t.ReadDir = func(ctx context.Context, id, path string) ([]contract.FileInfo, error) {
			all, err := next(ctx, id, path)
			return fn(all), err
		}
		return t
	})
}

// fileMutants break files.
func fileMutants() []Mutant {
	return []Mutant{
		{Name: "files are text", Seen: "strings that replace invalid UTF-8", Kills: "files.round-trip-bytes",
			Make: onWrite(func(_ *string, _ *int, b []byte) []byte { return bytes.ToValidUTF8(b, []byte("\uFFFD")) })},
		{Name: "files read as text", Seen: "strings that replace invalid UTF-8", Kills: "files.round-trip-bytes",
			Make: onRead(func(_ string, b []byte, err error) ([]byte, error) { return bytes.ToValidUTF8(b, []byte("?")), err })},
		{Name: "line ends changed", Seen: "text mode", Kills: "files.round-trip-bytes",
			Make: onWrite(func(_ *string, _ *int, b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) })},
		{Name: "newline added", Seen: "echo into a file", Kills: "files.round-trip-bytes",
			Make: onWrite(func(_ *string, _ *int, b []byte) []byte { return append(bytes.Clone(b), '\n') })},
		{Name: "files limited to 128 KiB", Seen: "content in one argument of a command", Kills: "files.round-trip-bytes",
			Make: onWrite(func(_ *string, _ *int, b []byte) []byte { return b[:min(len(b), 128<<10)] })},
		{Name: "reads limited to 1 MiB", Seen: "output of cat through exec", Kills: "files.large",
			Make: onRead(func(_ string, b []byte, err error) ([]byte, error) { return b[:min(len(b), 1<<20)], err })},
		{Name: "large file corrupt in the middle", Seen: "parts joined out of order", Kills: "files.large",
			Make: onWrite(func(_ *string, _ *int, b []byte) []byte {
				if len(b) > 32<<20 {
					b = bytes.Clone(b)
					b[30<<20] ^= 1
				}
				return b
			})},
		{Name: "short write kept", Seen: "an upload that is not checked", Kills: "files.round-trip-bytes", Make: plain(func(t contract.Table) contract.Table {
			next := t.WriteFile
			t.WriteFile = func(ctx context.Context, id, path string, mode int, content port.WriteStream) error {
				content.Size = -1
				return next(ctx, id, path, mode, content)
			}
			return t
		})},
		{Name: "modes dropped", Seen: "an upload without a mode", Kills: "files.modes",
			Make: onWrite(func(_ *string, mode *int, b []byte) []byte { *mode = 0o644; return b })},
		{Name: "missing file is empty", Seen: "cat's output without its exit code", Kills: "files.missing-is-not-found",
			Make: onRead(func(_ string, b []byte, err error) ([]byte, error) {
				if absent(err) {
					return nil, nil
				}
				return b, err
			})},
		{Name: "directory reads as missing", Seen: "one error for everything", Kills: "files.missing-is-not-found",
			Make: onRead(func(_ string, b []byte, err error) ([]byte, error) {
				if port.CodeOf(err) == port.CodeInvalidArgument {
					return nil, notFound("ReadFile", "")
				}
				return b, err
			})},
		{Name: "odd names cut at a blank", Seen: "a path in an unquoted script", Kills: "files.odd-names",
			Make: onWrite(func(path *string, _ *int, b []byte) []byte { *path, _, _ = strings.Cut(*path, " "); return b })},
		{Name: "names normalized", Seen: "a path cleaned as a URL", Kills: "files.odd-names",
			Make: onWrite(func(path *string, _ *int, b []byte) []byte { *path = strings.ReplaceAll(*path, `\`, "/"); return b })},
		{Name: "content that is a path is opened", Seen: "an upload that takes content or a local path", Kills: "honesty.content-is-not-a-path",
			Make: onWrite(func(_ *string, _ *int, b []byte) []byte {
				if len(b) < 4096 && bytes.HasPrefix(b, []byte("/")) {
					if local, err := os.ReadFile(string(b)); err == nil {
						return local
					}
				}
				return b
			})},
		{Name: "stat follows links", Seen: "stat for lstat", Kills: "files.manage.stat",
			Make: onStat(func(i *contract.FileInfo) {
				if i.Type == contract.FileTypeSymlink {
					i.Type = contract.FileTypeFile
				}
			})},
		{Name: "stat without mode", Seen: "fields that are not parsed", Kills: "files.manage.stat",
			Make: onStat(func(i *contract.FileInfo) { i.Mode = nil })},
		{Name: "directory capped at 1,000", Seen: "a page cap", Kills: "files.manage.readdir",
			Make: onDir(func(all []contract.FileInfo) []contract.FileInfo { return all[:min(len(all), 1000)] })},
		{Name: "directory in no order", Seen: "the order of the disk", Kills: "files.manage.readdir",
			Make: onDir(func(all []contract.FileInfo) []contract.FileInfo {
				if len(all) > 1 {
					all[0], all[1] = all[1], all[0]
				}
				return all
			})},
		{Name: "names instead of paths", Seen: "ls", Kills: "files.manage.readdir",
			Make: onDir(func(all []contract.FileInfo) []contract.FileInfo {
				for i := range all {
					all[i].Path = all[i].Path[strings.LastIndex(all[i].Path, "/")+1:]
				}
				return all
			})},
		{Name: "remove is always recursive", Seen: "rm -rf", Kills: "files.manage.mkdir-remove", Make: plain(func(t contract.Table) contract.Table {
			next := t.Remove
			t.Remove = func(ctx context.Context, id, path string, _ bool) error { return next(ctx, id, path, true) }
			return t
		})},
		{Name: "removing what is missing is fine", Seen: "rm -f", Kills: "files.manage.mkdir-remove", Make: plain(func(t contract.Table) contract.Table {
			next := t.Remove
			t.Remove = func(ctx context.Context, id, path string, recursive bool) error {
				if err := next(ctx, id, path, recursive); !absent(err) {
					return err
				}
				return nil
			}
			return t
		})},
		{Name: "rename copies", Seen: "cp", Kills: "files.manage.rename", Make: plain(func(t contract.Table) contract.Table {
			t.Rename = func(ctx context.Context, id, from, to string) error {
				s, err := t.ReadFile(ctx, id, from)
				if err != nil {
					return err
				}
				b, err := io.ReadAll(s)
				if err != nil {
					return err
				}
				if err := s.Close(); err != nil {
					return err
				}
				return t.WriteFile(ctx, id, to, 0o644, port.WriteStream{Reader: bytes.NewReader(b), Size: int64(len(b))})
			}
			return t
		})},
	}
}

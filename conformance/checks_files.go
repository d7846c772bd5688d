package conformance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

func fileChecks() map[string]proof {
	return map[string]proof{
		"files.round-trip-bytes":     {run: inDir(filesRoundTrip), method: "WriteFile"},
		"files.large":                {run: inDir(filesLarge), method: "WriteFile"},
		"files.modes":                {run: inDir(filesModes), method: "WriteFile"},
		"files.missing-is-not-found": {run: inDir(filesMissing), method: "ReadFile"},
		"files.odd-names":            {run: inDir(filesOddNames), method: "WriteFile"},
	}
}

// inDir runs a check in a fresh directory of the shared sandbox.
func inDir(fn func(context.Context, *trial, *sandbox.Sandbox, string) error) func(context.Context, *trial) error {
	return func(ctx context.Context, t *trial) error {
		sb, err := t.shared()
		if err != nil {
			return err
		}
		dir, err := t.dir(ctx, sb)
		if err != nil {
			return err
		}
		return fn(ctx, t, sb, dir)
	}
}

func write(ctx context.Context, sb *sandbox.Sandbox, path string, mode int, content []byte) error {
	return sb.WriteFile(ctx, path, mode, port.WriteStream{Reader: bytes.NewReader(content), Size: int64(len(content))})
}

func read(ctx context.Context, sb *sandbox.Sandbox, path string) (content []byte, err error) {
	s, err := sb.ReadFile(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = joinErrors(err, s.Close()) }()
	content, err = io.ReadAll(s)
	if err == nil && s.Size >= 0 && s.Size != int64(len(content)) {
		err = fmt.Errorf("the stream said %d bytes and had %d", s.Size, len(content))
	}
	return content, err
}

// roundTrip writes through the files operations and reads through them and
// through a command.
func (t *trial) roundTrip(ctx context.Context, sb *sandbox.Sandbox, path string, content []byte) error {
	if err := write(ctx, sb, path, 0o644, content); err != nil {
		return fmt.Errorf("writing %q: %w", path, err)
	}
	got, err := read(ctx, sb, path)
	if err != nil {
		return fmt.Errorf("reading %q: %w", path, err)
	}
	if err := equal("content read back", content, got); err != nil {
		return err
	}
	out, err := t.exec(ctx, sb, contract.Command{Argv: []string{"cat", path}})
	if err != nil {
		return err
	}
	return equal("content as a command sees it", string(content), out)
}

func filesRoundTrip(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	for name, content := range map[string][]byte{"bytes": allBytes(), "empty": {}, "text": []byte("no newline at the end"),
		"crlf": []byte("a\r\nb\r\n"), "new/parents/file": []byte("x"), "200k": numbered(1600)} {
		if err := t.roundTrip(ctx, sb, dir+"/"+name, content); err != nil {
			return err
		}
	}
	if err := t.roundTrip(ctx, sb, dir+"/200k", []byte("short")); err != nil {
		return fmt.Errorf("replacing a longer file: %w", err)
	}
	short := port.WriteStream{Reader: bytes.NewReader([]byte("four")), Size: 10}
	err := sb.WriteFile(ctx, dir+"/cut", 0o644, short)
	if err := wantCode(err, port.CodeInvalidArgument, "a stream that ends before its size"); err != nil {
		return err
	}
	if _, err := read(ctx, sb, dir+"/cut"); !isAbsent(err) {
		return fmt.Errorf("a write that failed left a file behind: %v", err)
	}
	return nil
}

func filesLarge(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	const size = 64 << 20
	block := numbered(1 << 13) // 1 MiB
	content := bytes.Repeat(block, size/len(block))
	path := dir + "/large"
	if err := write(ctx, sb, path, 0o600, content); err != nil {
		if port.CodeOf(err) == port.CodeInvalidArgument {
			if _, readErr := read(ctx, sb, path); isAbsent(readErr) {
				return noted("it is refused before anything is written: %v", err)
			}
		}
		return err
	}
	s, err := sb.ReadFile(ctx, path)
	if err != nil {
		return err
	}
	h := sha256.New()
	n, err := io.Copy(h, s)
	if err := joinErrors(err, s.Close()); err != nil {
		return err
	}
	if n != size || [32]byte(h.Sum(nil)) != sha256.Sum256(content) {
		return fmt.Errorf("%d bytes went in, and %d bytes with another digest or length came out", size, n)
	}
	_, err = t.exec(ctx, sb, contract.Command{Argv: []string{"rm", path}})
	return err
}

func filesModes(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	for _, mode := range []int{0o600, 0o644, 0o755, 0o400} {
		path := fmt.Sprintf("%s/mode-%o", dir, mode)
		if err := write(ctx, sb, path, mode, []byte("#!/bin/sh\necho ran\n")); err != nil {
			return err
		}
		out, err := t.exec(ctx, sb, contract.Command{Argv: []string{"ls", "-ln", path}})
		if err != nil {
			return err
		}
		want := fs.FileMode(mode).String()
		if len(out) < len(want) || out[:len(want)] != want {
			return fmt.Errorf("mode %o shows as %s", mode, quoteHead([]byte(out)))
		}
		s, err := sb.ReadFile(ctx, path)
		if err != nil {
			return err
		}
		if err := s.Close(); err != nil {
			return err
		}
		if s.Mode != nil && s.Mode.Perm() != fs.FileMode(mode) {
			return fmt.Errorf("mode %o is read back as %o", mode, s.Mode.Perm())
		}
	}
	out, err := t.exec(ctx, sb, contract.Command{Argv: []string{dir + "/mode-755"}})
	if err != nil {
		return fmt.Errorf("running a file of mode 755: %w", err)
	}
	if err := equal("its output", "ran\n", out); err != nil {
		return err
	}
	if err := write(ctx, sb, dir+"/mode-755", 0o600, []byte("x")); err != nil {
		return err
	}
	out, err = t.exec(ctx, sb, contract.Command{Argv: []string{"ls", "-ln", dir + "/mode-755"}})
	if err == nil && (len(out) < 10 || out[:10] != "-rw-------") {
		err = fmt.Errorf("a file replaced with mode 600 shows as %s", quoteHead([]byte(out)))
	}
	return err
}

func filesMissing(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	for _, path := range []string{dir + "/missing", dir + "/missing/below"} {
		_, err := read(ctx, sb, path)
		if err := wantCode(err, port.CodeNotFound, "reading a file that is not there"); err != nil {
			return err
		}
	}
	_, err := read(ctx, sb, dir)
	return wantCode(err, port.CodeInvalidArgument, "reading a directory")
}

func filesOddNames(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	for _, name := range []string{"two  blanks", "it's", `"double"`, "$HOME", "`id`", "line\nbreak", "back\\slash", "-n", "*", "日本語 🦀", ";exit 9"} {
		if err := t.roundTrip(ctx, sb, dir+"/"+name, []byte("content of "+name)); err != nil {
			return err
		}
	}
	return nil
}

func fileManageChecks() map[string]proof {
	return map[string]proof{
		"files.manage.stat":         {run: inDir(manageStat), method: "Stat"},
		"files.manage.readdir":      {run: inDir(manageReadDir), method: "ReadDir"},
		"files.manage.mkdir-remove": {run: inDir(manageMkdirRemove), method: "Mkdir"},
		"files.manage.rename":       {run: inDir(manageRename), method: "Rename"},
	}
}

func manageStat(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	if _, err := t.exec(ctx, sb, contract.Command{Dir: dir,
		Script: "printf 12345 > file && chmod 640 file && mkdir sub && chmod 711 sub && ln -s file link && ln -s nowhere dangling"}); err != nil {
		return err
	}
	for _, want := range []struct {
		name   string
		typ    contract.FileType
		size   int64
		mode   int64
		target string
	}{
		{"file", contract.FileTypeFile, 5, 0o640, ""}, {"sub", contract.FileTypeDirectory, -1, 0o711, ""},
		{"link", contract.FileTypeSymlink, -1, -1, "file"}, {"dangling", contract.FileTypeSymlink, -1, -1, "nowhere"},
	} {
		i, err := sb.Stat(ctx, dir+"/"+want.name)
		switch {
		case err != nil:
			return err
		case i.Type != want.typ, i.Path != dir+"/"+want.name, i.Target != "" && i.Target != want.target:
			return fmt.Errorf("stat of %s: %+v", want.name, i)
		case want.size >= 0 && (i.Size == nil || *i.Size != want.size):
			return fmt.Errorf("the size of %s is not %d: %+v", want.name, want.size, i)
		case want.mode >= 0 && (i.Mode == nil || *i.Mode != want.mode):
			return fmt.Errorf("the mode of %s is not %o: %+v", want.name, want.mode, i)
		}
	}
	if _, err := t.exec(ctx, sb, contract.Command{Dir: dir, Script: "printf 678 >> file"}); err != nil {
		return err
	}
	if i, err := sb.Stat(ctx, dir+"/file"); err != nil || i.Size == nil || *i.Size != 8 {
		return joinErrors(err, fmt.Errorf("a file that grew to 8 bytes: %+v", i))
	}
	_, err := sb.Stat(ctx, dir+"/missing")
	return wantCode(err, port.CodeNotFound, "stat of what is not there")
}

func manageReadDir(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	if _, err := t.exec(ctx, sb, contract.Command{Dir: dir,
		Script: `i=1000; while [ $i -lt 2000 ]; do : > "f $i"; i=$((i + 1)); done; mkdir zz`}); err != nil {
		return err
	}
	all, err := sb.ReadDir(ctx, dir)
	if err != nil {
		return err
	}
	if len(all) != 1001 {
		return fmt.Errorf("%d entries, want 1001", len(all))
	}
	for n, i := range all {
		want, typ := fmt.Sprintf("%s/f %d", dir, 1000+n), contract.FileTypeFile
		if n == 1000 {
			want, typ = dir+"/zz", contract.FileTypeDirectory
		}
		if i.Path != want || i.Type != typ {
			return fmt.Errorf("entry %d is %s %q, want %s %q", n, i.Type, i.Path, typ, want)
		}
	}
	empty, err := sb.ReadDir(ctx, dir+"/zz")
	if err != nil || len(empty) != 0 {
		return joinErrors(err, fmt.Errorf("an empty directory has %d entries", len(empty)))
	}
	if _, err := t.exec(ctx, sb, contract.Command{Dir: dir, Script: ": > zz/one"}); err != nil {
		return err
	}
	if one, err := sb.ReadDir(ctx, dir+"/zz"); err != nil || len(one) != 1 {
		return joinErrors(err, fmt.Errorf("a directory that was empty before has %d entries, want 1", len(one)))
	}
	_, err = sb.ReadDir(ctx, dir+"/missing")
	return wantCode(err, port.CodeNotFound, "listing what is not there")
}

func manageMkdirRemove(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	deep := dir + "/a/b/c"
	if err := sb.Mkdir(ctx, deep, 0o755); err != nil {
		return err
	}
	if err := sb.Mkdir(ctx, deep, 0o755); err != nil {
		return fmt.Errorf("making an existing directory: %w", err)
	}
	if err := exits(ctx, sb, contract.Command{Argv: []string{"test", "-d", deep}}, 0); err != nil {
		return err
	}
	if err := sb.Remove(ctx, dir+"/a", false); err == nil {
		return errors.New("a directory with content was removed without being asked to go deep")
	}
	if err := exits(ctx, sb, contract.Command{Argv: []string{"test", "-d", deep}}, 0); err != nil {
		return fmt.Errorf("a refused remove took something away: %w", err)
	}
	if err := sb.Remove(ctx, dir+"/a", true); err != nil {
		return err
	}
	if err := exits(ctx, sb, contract.Command{Argv: []string{"test", "-e", dir + "/a"}}, 1); err != nil {
		return err
	}
	for _, recursive := range []bool{false, true} {
		if err := wantCode(sb.Remove(ctx, dir+"/a", recursive), port.CodeNotFound, "removing what is not there"); err != nil {
			return err
		}
	}
	if err := sb.Mkdir(ctx, deep, 0o755); err != nil {
		return fmt.Errorf("making a directory again that was removed: %w", err)
	}
	return exits(ctx, sb, contract.Command{Argv: []string{"test", "-d", deep}}, 0)
}

func manageRename(ctx context.Context, t *trial, sb *sandbox.Sandbox, dir string) error {
	if _, err := t.exec(ctx, sb, contract.Command{Dir: dir, Script: "printf new > from; printf old > to"}); err != nil {
		return err
	}
	if err := sb.Rename(ctx, dir+"/from", dir+"/to"); err != nil {
		return err
	}
	out, err := t.exec(ctx, sb, contract.Command{Dir: dir, Script: "cat to; test -e from || printf ' gone'"})
	if err != nil {
		return err
	}
	if err := equal("content under the new name", "new gone", out); err != nil {
		return err
	}
	if _, err := t.exec(ctx, sb, contract.Command{Dir: dir, Script: "printf newer > from"}); err != nil {
		return err
	}
	if err := sb.Rename(ctx, dir+"/from", dir+"/to"); err != nil {
		return fmt.Errorf("renaming a second time: %w", err)
	}
	out, err = t.exec(ctx, sb, contract.Command{Dir: dir, Script: "cat to; test -e from && printf ' left' || true"})
	if err := joinErrors(err, equal("content under the new name after a second rename", "newer", out)); err != nil {
		return err
	}
	return wantCode(sb.Rename(ctx, dir+"/from", dir+"/x"), port.CodeNotFound, "renaming what is not there")
}

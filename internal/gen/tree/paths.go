package tree

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"
)

// checkPath accepts a clean, slash-separated, relative path that means the
// same file on every system.
func checkPath(p string) error {
	if !fs.ValidPath(p) || p == "." {
		return errors.New("not a clean relative path")
	}
	if strings.ContainsAny(p, "\\:*?\"<>|\x00\n\r\t#") || !filepath.IsLocal(filepath.FromSlash(p)) {
		return errors.New("not a portable path")
	}
	return nil
}

// fold maps names that a case-insensitive file system takes for one to one key.
func fold(p string) string {
	for i := range len(p) {
		if p[i] >= utf8.RuneSelf {
			return strings.ToLower(strings.ToUpper(p))
		}
	}
	return strings.ToLower(p) // no letter of ASCII has another relation
}

// UnsafePathError says that a path cannot be used without following a symbolic
// link or replacing something that is not a regular file.
type UnsafePathError struct {
	Path   string // root-relative
	Reason string
}

// Error names path and reason.
func (e *UnsafePathError) Error() string { return e.Path + ": " + e.Reason }

// collisions finds two planned paths that are one on a case-insensitive file
// system; folders count, since A/x and a/y need one folder under two names.
type collisions map[string]string

func (c collisions) add(p string) error {
	for q := p; q != "."; q = path.Dir(q) {
		key := fold(q)
		seen, ok := c[key]
		switch {
		case !ok:
			c[key] = q
		case seen == q:
			return nil // and so are the folders above it
		default:
			return &PlanError{Path: p, Reason: fmt.Sprintf("differs from %s only by letter case", seen)}
		}
	}
	return nil
}

// disk answers questions about files below one root. It is not safe for
// concurrent use, except for read.
type disk struct {
	root string
	dirs map[string]bool // folders already known to be no symbolic links
}

func newDisk(root string) *disk { return &disk{root: root, dirs: map[string]bool{".": true}} }

func (d *disk) abs(p string) string { return filepath.Join(d.root, filepath.FromSlash(p)) }

// safe refuses p when a folder on the way to it is a symbolic link.
func (d *disk) safe(p string) error {
	dir := path.Dir(p)
	if d.dirs[dir] {
		return nil
	}
	if err := d.safe(dir); err != nil {
		return err
	}
	info, err := os.Lstat(d.abs(dir))
	switch {
	case absent(err):
		return nil
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		return &UnsafePathError{Path: dir, Reason: "a symbolic link, which generated files are not written through"}
	}
	d.dirs[dir] = true
	return nil
}

func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// kind says what is at a path.
type kind int

const (
	kindAbsent kind = iota
	kindFile
	kindDir
)

// stat refuses symbolic links and special files.
func (d *disk) stat(p string) (kind, fs.FileInfo, error) {
	info, err := os.Lstat(d.abs(p))
	switch {
	case absent(err):
		return kindAbsent, nil, nil
	case err != nil:
		return kindAbsent, nil, err
	case info.IsDir():
		return kindDir, info, nil
	case !info.Mode().IsRegular():
		return kindAbsent, nil, &UnsafePathError{Path: p, Reason: "a symbolic link or special file, not a regular file"}
	}
	return kindFile, info, nil
}

// read returns the bytes at p; nil with kindAbsent or kindDir.
func (d *disk) read(p string) ([]byte, kind, error) {
	k, _, err := d.stat(p)
	if err != nil || k != kindFile {
		return nil, k, err
	}
	data, err := os.ReadFile(d.abs(p))
	if absent(err) {
		return nil, kindAbsent, nil
	}
	if data == nil {
		data = []byte{}
	}
	return data, kindFile, err
}

// twin finds an existing entry that differs from a component of p, which does
// not exist, only by letter case.
func (d *disk) twin(p string) (string, error) {
	dir, base := path.Split(p)
	dir = path.Clean(dir)
	if dir != "." {
		k, _, err := d.stat(dir)
		if err != nil {
			return "", err
		}
		if k != kindDir {
			return d.twin(dir)
		}
	}
	entries, err := os.ReadDir(d.abs(dir))
	if absent(err) {
		return "", nil
	}
	for _, e := range entries {
		if e.Name() != base && fold(e.Name()) == fold(base) {
			return path.Join(dir, e.Name()), nil
		}
	}
	return "", err
}

// pattern is a parsed Unit.OwnedPatterns entry.
type pattern struct {
	dir  string // literal folder, "." for the unit's own
	deep bool   // folders below dir count
	base string // glob for the base name
}

func parsePattern(s string) (pattern, error) {
	p := pattern{dir: ".", base: s}
	if i := strings.LastIndex(s, "/"); i >= 0 {
		p.dir, p.base = s[:i], s[i+1:]
	}
	switch {
	case p.base == "**":
		p.deep, p.base = true, "*"
	case p.dir == "**":
		p.deep, p.dir = true, "."
	case strings.HasSuffix(p.dir, "/**"):
		p.deep, p.dir = true, strings.TrimSuffix(p.dir, "/**")
	}
	if p.dir != "." {
		if err := checkPath(p.dir); err != nil {
			return p, err
		}
	}
	_, err := path.Match(p.base, "x")
	return p, err
}

func (p pattern) match(rel string) bool {
	dir, base := path.Dir(rel), path.Base(rel)
	if dir != p.dir && !(p.deep && (p.dir == "." || strings.HasPrefix(dir, p.dir+"/"))) {
		return false
	}
	ok, err := path.Match(p.base, base)
	return err == nil && ok
}

// owns reports whether a root-relative path can only be the generator's.
func (u Unit) owns(p string) bool {
	for _, s := range u.OwnedPatterns {
		pat, err := parsePattern(s)
		if err == nil && pat.match(u.rel(p)) {
			return true
		}
	}
	return false
}

// ownedOnDisk lists the files that match the unit's patterns, root-relative.
// Lock files and .sbxgen folders are never among them.
func (d *disk) ownedOnDisk(u Unit) (map[string]bool, error) {
	found := map[string]bool{}
	for _, s := range u.OwnedPatterns {
		pat, err := parsePattern(s)
		if err != nil {
			return nil, err
		}
		dir := u.abs(pat.dir)
		if err := d.safe(path.Join(dir, "x")); err != nil {
			return nil, err
		}
		if err := d.glob(u, dir, pat, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (d *disk) glob(u Unit, dir string, pat pattern, found map[string]bool) error {
	entries, err := os.ReadDir(d.abs(dir))
	if absent(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch {
		case e.Name() == stateName || e.Name() == LockName || p == u.lockPath():
		case e.IsDir():
			if pat.deep {
				if err := d.glob(u, p, pat, found); err != nil {
					return err
				}
			}
		case pat.match(u.rel(p)):
			found[p] = true
		}
	}
	return nil
}

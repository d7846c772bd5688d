package tree

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
)

// recallScaffold takes what a lock that is gone or damaged no longer says of
// scaffolded files from the bytes that were kept of them. Those that are still
// planned are recorded already; the others would be forgotten.
func (s *unitState) recallScaffold(d *disk) error {
	base := path.Join(s.stateDir(), "base")
	if err := d.safe(path.Join(base, "x")); err != nil {
		return err
	}
	return filepath.WalkDir(d.abs(base), func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(d.abs(base), name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if _, recorded := s.next.Scaffold[rel]; recorded || checkPath(rel) != nil {
			return nil
		}
		kept, k, err := d.read(path.Join(base, rel))
		if err != nil || k != kindFile {
			return err
		}
		if s.next.Scaffold == nil {
			s.next.Scaffold = map[string]string{}
		}
		s.next.Scaffold[rel] = sumOf(kept)
		return nil
	})
}

package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// view says under which paths a command sees the folder's writable directories.
type view []area

// area is one of them: what is stored in dir is seen below path.
type area struct {
	path string
	dir  string
}

// viewOf is the view of a sandbox: fixed paths with bwrap, the host's own
// without isolation.
func viewOf(f folder, m meta) view {
	root, tmp := filepath.Join(f.path, rootName), filepath.Join(f.path, tmpName)
	if m.Isolation == isolationBwrap {
		return view{{"/sandbox", root}, {"/tmp", tmp}}
	}
	return view{{root, root}, {tmp, tmp}}
}

func (v view) home() string { return v[0].path }
func (v view) temp() string { return v[1].path }

var (
	errOutside = errors.New("the path leads out of the sandbox")
	errLinks   = errors.New("the path holds too many symbolic links")
)

const maxLinks = 40

// spot is a resolved path: no component of rel but perhaps the last is a
// symbolic link. rel is "." for the area itself. missing says that something on
// the way does not exist; what does not exist cannot be a link.
type spot struct {
	area    int
	rel     string
	missing bool
}

// resolve walks an absolute path as a process in the sandbox would, following symbolic
// links in the sandbox's own view, absolute ones too; the last component only
// when follow is set. Anything outside the writable directories is errOutside,
// whatever exists there. The answer may be overtaken by a running command, which
// is why it is only ever used through os.Root.
func (v view) resolve(roots *roots, path string, follow bool) (spot, error) {
	var at []string
	todo := split(path)
	links, missing := 0, false
	for len(todo) > 0 {
		name := todo[0]
		todo = todo[1:]
		if name == ".." {
			if missing {
				return spot{}, fs.ErrNotExist
			}
			at = at[:max(len(at)-1, 0)]
			continue
		}
		at = append(at, name)
		i, rel, ok := v.locate(at)
		if !ok || rel == "." || missing {
			continue // above an area the host's own directories carry no links of ours
		}
		target, state, err := roots.link(i, rel)
		if err != nil {
			return spot{}, err
		}
		missing = state == linkMissing
		if state != linkFound || len(todo) == 0 && !follow {
			continue
		}
		if links++; links > maxLinks {
			return spot{}, errLinks
		}
		at = at[:len(at)-1]
		if filepath.IsAbs(target) {
			at = nil
		}
		todo = append(split(target), todo...)
	}
	i, rel, ok := v.locate(at)
	if !ok {
		return spot{}, errOutside
	}
	return spot{area: i, rel: rel, missing: missing}, nil
}

func split(path string) []string {
	var out []string
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if part != "" && part != "." {
			out = append(out, part)
		}
	}
	return out
}

// locate says which area holds the absolute path of these components.
func (v view) locate(at []string) (i int, rel string, ok bool) {
	path := "/" + strings.Join(at, "/")
	for i, a := range v {
		if path == a.path {
			return i, ".", true
		}
		if rest, under := strings.CutPrefix(path, a.path+"/"); under {
			return i, rest, true
		}
	}
	return 0, "", false
}

// roots are the opened areas of a view. An os.Root cannot be left by any link,
// also not by one that a running command swaps in between.
type roots struct{ open []*os.Root }

func (v view) openRoots() (*roots, error) {
	r := &roots{}
	for _, a := range v {
		root, err := os.OpenRoot(a.dir)
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.open = append(r.open, root)
	}
	return r, nil
}

func (r *roots) close() error {
	var errs []error
	for _, root := range r.open {
		errs = append(errs, root.Close())
	}
	return errors.Join(errs...)
}

type linkState int

const (
	linkNone linkState = iota
	linkFound
	linkMissing
)

func (r *roots) link(area int, rel string) (string, linkState, error) {
	info, err := r.open[area].Lstat(rel)
	if errors.Is(err, fs.ErrNotExist) {
		return "", linkMissing, nil
	}
	if err != nil {
		return "", linkNone, err
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return "", linkNone, nil
	}
	target, err := r.open[area].Readlink(rel)
	return target, linkFound, err
}

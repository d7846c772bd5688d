package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/agentworkforce/sbx/internal/diag"
)

// modulePath is the module whose packages adapters are written against.
const modulePath = "github.com/agentworkforce/sbx"

// Options say what to validate. The zero value validates the tree of the working
// directory with today's date and the user's cache.
type Options struct {
	// Root is the folder that file names in findings are relative to: that of
	// go.mod. Empty is the working directory.
	Root string
	// Paths are files and folders, absolute or relative to Root. Empty means
	// everything below Root. Other files are read only as far as a given one
	// refers to them.
	Paths []string
	// AsOf is the day the check is made for; zero means Now().
	AsOf time.Time
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Strict makes errors of warnings.
	Strict bool
	// NoCache neither reads nor writes the cache. A gate that must not trust
	// this machine's earlier runs sets it.
	NoCache bool
	// CacheDir holds the cache; empty means sbx/validate below the user's cache
	// folder. Without such a folder there is no cache.
	CacheDir string
	// Workers is how many files are examined at once; 0 means GOMAXPROCS.
	Workers int
	// Deep looks for secrets in the same files with the rules of gitleaks, too.
	Deep bool
	// Types asks for the rules that need types. What the adapters import is built
	// with the go command, which has to be in PATH.
	Types bool
	// Sources add findings of others, such as those about generated files.
	Sources []Source
}

// Source finds what another part of the program knows about the same tree.
type Source interface {
	// Findings returns diagnostics for the tree at root, which is absolute. With
	// paths, slash-separated and relative to root, it may leave out the rest.
	Findings(ctx context.Context, root string, paths []string) ([]diag.Diagnostic, error)
}

// SourceFunc is a function that is a Source.
type SourceFunc func(ctx context.Context, root string, paths []string) ([]diag.Diagnostic, error)

// Findings calls f.
func (f SourceFunc) Findings(ctx context.Context, root string, paths []string) ([]diag.Diagnostic, error) {
	return f(ctx, root, paths)
}

// Stats are the numbers of one run.
type Stats struct {
	Files   int   // files that were asked about
	Bytes   int64 // and their size
	Cached  int   // of those, taken from the cache
	Ignored int   // paths given that are of no kind the gate knows
	// CacheError is why the cache was not read or written; nil when it was.
	CacheError error
}

// PathError says that a given path cannot be validated: it does not exist or
// lies outside the root. It is a mistake of the caller.
type PathError struct {
	Path string
	Err  error
}

// Error names the path.
func (e *PathError) Error() string { return fmt.Sprintf("%s: %v", e.Path, e.Err) }

// Unwrap returns what is wrong with it.
func (e *PathError) Unwrap() error { return e.Err }

// ErrOutside is in a PathError for a path that is not below the root.
var ErrOutside = errors.New("outside the root")

// Validate checks what Options name and returns every finding. The error is a
// *PathError, a *TypesError, ctx's, or a schema of this program that is broken;
// findings are no error. It changes nothing but the cache, and
// may be called concurrently.
func Validate(ctx context.Context, o Options) (*diag.Set, Stats, error) {
	return validate(ctx, o, newCheckers())
}

func validate(ctx context.Context, o Options, c *checkers) (*diag.Set, Stats, error) {
	r, err := newRun(o, c)
	if err != nil {
		return nil, Stats{}, err
	}
	targets, err := r.discover(ctx)
	if err != nil {
		return nil, Stats{}, err
	}
	if err := r.examineAll(ctx, targets); err != nil {
		return nil, Stats{}, err
	}
	if err := r.project(ctx); err != nil {
		return nil, Stats{}, err
	}
	if o.Deep {
		if err := r.deep(ctx); err != nil {
			return nil, Stats{}, err
		}
	}
	if o.Types {
		if err := r.types(ctx); err != nil {
			return nil, Stats{}, err
		}
	}
	for _, s := range o.Sources {
		found, err := s.Findings(ctx, r.root, r.given)
		if err != nil {
			return nil, Stats{}, err
		}
		r.add(found...)
	}
	set, err := r.finish()
	return set, r.stats, err
}

// run is one call of Validate.
type run struct {
	opt     Options
	root    string
	given   []string // slash paths relative to root; empty: everything
	asOf    time.Time
	checks  *checkers
	cache   *cache
	files   map[string]*examined // by slash path
	targets []string             // files to report about, sorted
	entries bool                 // whether root has a catalog folder
	found   []diag.Diagnostic
	stats   Stats
	// mentioned are places that could not be read and of which that was said.
	mentioned map[string]bool
}

func newRun(o Options, c *checkers) (*run, error) {
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return nil, err
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.AsOf.IsZero() {
		o.AsOf = o.Now()
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	r := &run{opt: o, root: root, asOf: o.AsOf, checks: c, files: map[string]*examined{}, mentioned: map[string]bool{}}
	if !o.NoCache {
		r.cache, r.stats.CacheError = openCache(o.CacheDir, root)
	}
	if info, err := os.Stat(filepath.Join(root, "catalog")); err == nil {
		r.entries = info.IsDir()
	}
	return r, nil
}

func (r *run) add(ds ...diag.Diagnostic) { r.found = append(r.found, ds...) }

// finish gives every finding the severity of its rule and the command to run
// next.
func (r *run) finish() (*diag.Set, error) {
	set := &diag.Set{}
	if len(r.found) > 0 {
		levels, err := severities()
		if err != nil {
			return nil, err
		}
		for i := range r.found {
			d := &r.found[i]
			if level, ok := levels[d.Rule]; ok && d.Severity == diag.Error {
				d.Severity = level
			}
			if d.Severity == diag.Warning && (r.opt.Strict || d.Rule == ruleExpired && len(r.given) > 0) {
				d.Severity = diag.Error
			}
			if d.Next == "" {
				d.Next = "sbxgen explain " + d.Rule
			}
		}
		set.Add(r.found...)
	}
	if r.cache != nil {
		if err := r.cache.close(); err != nil {
			r.stats.CacheError = err
		}
	}
	return set, nil
}

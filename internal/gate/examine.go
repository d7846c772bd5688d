package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/agentworkforce/sbx/internal/diag"
	"github.com/agentworkforce/sbx/internal/evidence"
	"github.com/agentworkforce/sbx/internal/schemacheck"
	"github.com/agentworkforce/sbx/internal/secretdiag"
	"github.com/agentworkforce/sbx/internal/secretscan"
	"github.com/agentworkforce/sbx/internal/yamldoc"
)

// maxScan is the most bytes of evidence, prose or code that are looked at. What
// is longer is refused rather than passed over.
const maxScan = 32 << 20

// examined is what one file says by itself.
type examined struct {
	kind  kind
	facts facts
	found []diag.Diagnostic
}

// checkers are the parts that all files share, made at the first need.
type checkers struct {
	provider func() (*schemacheck.Checker, error)
	catalog  func() (*schemacheck.Checker, error)
	known    func() (*vocabulary, error)
	verifier func() (*evidence.Verifier, error)
}

func newCheckers() *checkers {
	provider := sync.OnceValues(schemacheck.Provider)
	return &checkers{provider: provider, catalog: sync.OnceValues(schemacheck.Catalog), known: newVocabulary(provider),
		verifier: sync.OnceValues(evidence.NewVerifier)}
}

// examineAll examines the targets side by side and takes their findings.
func (r *run) examineAll(ctx context.Context, targets []target) error {
	results := make([]*examined, len(targets))
	errs := make([]error, r.opt.Workers)
	var next, size, cached atomic.Int64
	var wg sync.WaitGroup
	for w := range r.opt.Workers {
		wg.Go(func() {
			var buf bytes.Buffer
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(targets) {
					return
				}
				e, n, hit, err := r.load(targets[i], &buf)
				if err != nil {
					errs[w] = err
					return
				}
				results[i] = e
				size.Add(int64(n))
				if hit {
					cached.Add(1)
				}
			}
		})
	}
	wg.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return err
	}
	for i, t := range targets {
		r.files[t.name] = results[i]
		r.targets = append(r.targets, t.name)
		r.add(results[i].found...)
	}
	r.stats.Files, r.stats.Bytes, r.stats.Cached = len(targets), size.Load(), int(cached.Load())
	return nil
}

// context examines a file that a target refers to; its findings are not
// reported. It returns nil when there is no such file.
func (r *run) context(name string, k kind) (*examined, error) {
	if e, ok := r.files[name]; ok {
		return e, nil
	}
	e, _, _, err := r.load(target{name, k}, &bytes.Buffer{})
	if errors.Is(err, fs.ErrNotExist) {
		e, err = nil, nil
	}
	if err == nil {
		r.files[name] = e
	}
	return e, err
}

// load reads and examines one file, or takes what the cache knows of it.
func (r *run) load(t target, buf *bytes.Buffer) (*examined, int, bool, error) {
	src, err := r.read(t, buf)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, false, err
	}
	if err != nil {
		return &examined{kind: t.kind, found: []diag.Diagnostic{yamldoc.Unreadable(t.name, err)}}, 0, false, nil
	}
	var key cacheKey
	if r.cache != nil {
		key = newCacheKey(t, src)
		if e := r.cache.get(key); e != nil {
			e.kind = t.kind
			return e, len(src), true, nil
		}
	}
	e, err := r.checks.examine(t, bytes.Clone(src))
	if err != nil {
		return nil, 0, false, fmt.Errorf("%s: %w", t.name, err)
	}
	if r.cache != nil {
		r.cache.put(key, e)
	}
	return e, len(src), false, nil
}

// read returns a file's bytes, which are valid until buf is used again. Of a
// manifest or entry, one byte more than is accepted is enough to refuse it.
func (r *run) read(t target, buf *bytes.Buffer) (src []byte, err error) {
	name := filepath.Join(r.root, filepath.FromSlash(t.name))
	switch info, err := os.Stat(name); { // opening a pipe would wait for a writer
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: t.name, Err: yamldoc.ErrNotRegular}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	limit := int64(maxScan)
	if t.kind == kindManifest || t.kind == kindCatalog {
		limit = yamldoc.MaxBytes
	}
	buf.Reset()
	if _, err := buf.ReadFrom(io.LimitReader(f, limit+1)); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// examine runs the rules about one file by itself.
func (c *checkers) examine(t target, src []byte) (*examined, error) {
	e := &examined{kind: t.kind}
	var err error
	switch t.kind {
	case kindManifest:
		err = c.document(e, t.name, src, c.provider)
	case kindCatalog:
		err = c.document(e, t.name, src, c.catalog)
	case kindGo:
		e.found, e.facts = examineGo(t.name, src)
	}
	if err != nil {
		return nil, err
	}
	if len(src) > maxScan {
		e.found = append(e.found, diag.Diagnostic{File: t.name, Rule: yamldoc.RuleSize,
			Message: fmt.Sprintf("the file is larger than %d MiB", maxScan>>20)})
	}
	entropy := t.kind == kindManifest || t.kind == kindCatalog
	if secrets := secretscan.Scan(src, secretscan.Options{Entropy: entropy}); len(secrets) > 0 {
		hideSecrets(e, src, secrets)
		e.found = append(e.found, secretdiag.Diagnostics(t.name, src, secrets)...)
	}
	return e, nil
}

// document checks a manifest or a catalog entry: syntax, schema, then meaning.
// A document without a tree has syntax findings only.
func (c *checkers) document(e *examined, name string, src []byte, checker func() (*schemacheck.Checker, error)) error {
	doc, found := yamldoc.Parse(name, src)
	e.found = found
	if doc == nil {
		return nil
	}
	check, err := checker()
	if err != nil {
		return err
	}
	e.found = append(e.found, check.Validate(doc)...)
	var meant []diag.Diagnostic
	if e.kind == kindCatalog {
		meant, e.facts = examineCatalog(doc)
	} else if meant, e.facts, err = examineManifest(doc, c.known); err != nil {
		return err
	}
	e.found = append(e.found, meant...)
	return nil
}

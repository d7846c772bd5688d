package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// manifestCount is how many manifests the first two works validate.
const manifestCount = 1000

// corpus is a module of manifests, with a cache folder for sbxgen of its own.
type corpus struct {
	b      *bench
	dir    string
	cache  string
	schema string // what the peers are given
	files  []string
}

func newCorpus(b *bench, n int) (*corpus, error) {
	c := &corpus{b: b, dir: filepath.Join(b.dir, "corpus"), cache: filepath.Join(b.dir, "cache"),
		schema: filepath.Join(b.checkout, "schema", "provider.schema.json")}
	if err := writeFile(filepath.Join(c.dir, "go.mod"), []byte("module example.com/corpus\n\ngo 1.26\n")); err != nil {
		return nil, err
	}
	var err error
	c.files, err = writeManifests(b.checkout, c.dir, n)
	return c, err
}

// ours validates paths; cold forgets what earlier runs found out.
func (c *corpus) ours(cold bool, paths ...string) subject {
	s := subject{name: "sbxgen validate", run: command{dir: c.dir, env: c.env(),
		argv: append([]string{c.b.sbxgen, "validate"}, paths...)}.run}
	if cold {
		s.prepare = func(context.Context) error { return os.RemoveAll(c.cache) }
	}
	return s
}

// env keeps what sbxgen caches inside the corpus, and gives it the two
// processors that the goals are about.
func (c *corpus) env() []string {
	return []string{"GOMAXPROCS=2", "XDG_CACHE_HOME=" + c.cache, "HOME=" + c.cache, "LocalAppData=" + c.cache}
}

func validateCold(ctx context.Context, b *bench) ([]row, error) {
	c, err := newCorpus(b, manifestCount)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(c.dir, "providers")
	jv := b.peers.peer("jv", "jv", c.dir, append([]string{"--assert-format", c.schema}, c.files...)...)
	ajv := b.peers.peer("ajv-cli", "ajv", c.dir, "validate", "--spec=draft2020", "-c", "ajv-formats", "--strict=false",
		"-s", c.schema, "-d", filepath.Join(folder, "*", "provider.yaml"))
	native := b.peers.peer("sourcemeta, exhaustive", "sourcemeta", c.dir, "validate", c.schema, folder,
		"--extension", ".yaml", "--format-assertion")
	fast := b.peers.peer("sourcemeta, --fast", "sourcemeta", c.dir, "validate", c.schema, folder,
		"--extension", ".yaml", "--format-assertion", "--fast")
	return compare(ctx, b.rounds, fmt.Sprintf("validate %d manifests, cold", manifestCount), c.ours(true, "providers"),
		versus{jv, goal{ratio: 0.9}}, versus{ajv, goal{ratio: 0.6}}, versus{native, goal{ratio: 0.95}},
		versus{fast, goal{remains: "it stops at the first mistake"}})
}

func validateWarm(ctx context.Context, b *bench) ([]row, error) {
	c, err := newCorpus(b, manifestCount)
	if err != nil {
		return nil, err
	}
	if _, err := c.ours(true, "providers").run(ctx); err != nil {
		return nil, err
	}
	return compare(ctx, 3*b.rounds, fmt.Sprintf("validate %d manifests, nothing changed", manifestCount),
		c.ours(false, "providers"), versus{sha256sum(c.dir, c.files), goal{ratio: 1.5}})
}

func validateOne(ctx context.Context, b *bench) ([]row, error) {
	c, err := newCorpus(b, manifestCount)
	if err != nil {
		return nil, err
	}
	one := c.files[manifestCount/2]
	return compare(ctx, 5*b.rounds, "validate one file, cold", c.ours(true, one),
		versus{b.peers.peer("jv", "jv", c.dir, "--assert-format", c.schema, one), goal{ratio: 1}},
		versus{b.peers.peer("sourcemeta, exhaustive", "sourcemeta", c.dir, "validate", c.schema, one, "--format-assertion"),
			goal{remains: "told for comparison"}})
}

// sha256sum reads and hashes files: the limit for whatever has to see that
// nothing changed.
func sha256sum(dir string, files []string) subject {
	s := subject{name: "sha256sum of the same files"}
	program, err := exec.LookPath("sha256sum")
	if err != nil {
		s.missing = "no sha256sum on the path"
		return s
	}
	s.run = command{dir: dir, argv: slices.Concat([]string{program}, files)}.run
	return s
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// scaffold makes new providers, each in a module of its own under a name that
// no build cache has seen.
type scaffold struct {
	b    *bench
	made int
}

func (s *scaffold) dir() string { return filepath.Join(s.b.dir, fmt.Sprintf("fresh%d", s.made)) }

// next makes room for one more.
func (s *scaffold) next(context.Context) error {
	if err := os.RemoveAll(s.dir()); err != nil {
		return err
	}
	s.made++
	return nil
}

// answers is a file with all answers that new provider asks for.
func (s *scaffold) answers() (string, error) {
	name := filepath.Join(s.b.dir, fmt.Sprintf("answers%d.yaml", s.made))
	text := fmt.Sprintf(`apiVersion: sbx/v1
id: fresh%d
name: Fresh %d
summary: Sandboxes of a vendor nobody has tried yet.
homepage: https://fresh.example/sandboxes
maintainers: [somebody]
license: Apache-2.0
adapter: {kind: native}
credentialSets: [[{env: FRESH_API_KEY, label: API key}]]
`, s.made, s.made)
	return name, os.WriteFile(name, []byte(text), 0o644)
}

func (s *scaffold) create(ctx context.Context) (sample, error) {
	file, err := s.answers()
	if err != nil {
		return sample{}, err
	}
	return command{dir: s.b.dir, argv: []string{s.b.sbxgen, "new", "provider", "--from", file,
		"--dir", s.dir(), "--module", fmt.Sprintf("example.com/fresh%d", s.made), "--replace", s.b.checkout}}.run(ctx)
}

// green makes a provider and runs its tests.
func (s *scaffold) green(ctx context.Context) (sample, error) {
	made, err := s.create(ctx)
	if err != nil {
		return sample{}, err
	}
	tested, err := command{dir: s.dir(), argv: []string{"go", "test", "-count=1", "./..."},
		env: []string{"GOFLAGS=-mod=mod", "GOPROXY=off"}}.run(ctx)
	return sample{made.wall + tested.wall, made.cpu + tested.cpu}, err
}

func newProvider(ctx context.Context, b *bench) ([]row, error) {
	goTool := ""
	if _, err := exec.LookPath("go"); err != nil {
		goTool = "no go on the path"
	}
	s := &scaffold{b: b}
	k := &kubebuilder{peers: b.peers, dir: filepath.Join(b.dir, "kubebuilder")}
	api := subject{name: "kubebuilder create api", missing: b.peers.missing("kubebuilder"), prepare: k.prepare, run: k.createAPI}
	rows, err := compare(ctx, b.rounds, "new provider from answers", subject{name: "sbxgen new", prepare: s.next, run: s.create},
		versus{api, goal{remains: "a part of the next row"}})
	if err != nil || goTool != "" {
		return rows, err
	}
	green := subject{name: "sbxgen new, go test", prepare: s.next, run: s.green}
	samples, err := alternate(ctx, 1, b.rounds, []subject{green})
	if err != nil {
		return rows, err
	}
	return append(rows, row{work: "new provider from answers, its tests green", ours: seconds(samples[0]),
		peer: "none, the goal is a time", goal: goal{within: time.Second}}), nil
}

// kubebuilder adds an API to a fresh copy of an initialised project.
type kubebuilder struct {
	peers peers
	dir   string
	made  int
}

func (k *kubebuilder) project() string { return filepath.Join(k.dir, fmt.Sprint(k.made)) }

func (k *kubebuilder) prepare(ctx context.Context) error {
	template := filepath.Join(k.dir, "template")
	if _, err := os.Stat(template); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(template, 0o755); err != nil {
			return err
		}
		if _, err := (command{dir: template, argv: []string{k.peers.path("kubebuilder"), "init", "--domain", "example.com",
			"--repo", "example.com/project", "--fetch-deps=false", "--skip-go-version-check"}}).run(ctx); err != nil {
			return err
		}
	}
	k.made++
	return os.CopyFS(k.project(), os.DirFS(template))
}

func (k *kubebuilder) createAPI(ctx context.Context) (sample, error) {
	return command{dir: k.project(), argv: []string{k.peers.path("kubebuilder"), "create", "api", "--group", "bench",
		"--version", "v1", "--kind", "Widget", "--resource", "--controller", "--make=false"}}.run(ctx)
}

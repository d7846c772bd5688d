package tree

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// put writes files given as path, content pairs.
func put(t testing.TB, root string, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		name := filepath.Join(root, filepath.FromSlash(pairs[i]))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(pairs[i+1]), 0o644))
	}
}

func get(t testing.TB, root, p string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(p)))
	require.NoError(t, err)
	return string(data)
}

func there(root, p string) bool {
	_, err := os.Lstat(filepath.Join(root, filepath.FromSlash(p)))
	return err == nil
}

// snapshot reads the whole tree except .sbxgen/work.
func snapshot(t testing.TB, root string) map[string]string {
	t.Helper()
	files := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if rel == workDir {
			return filepath.SkipDir
		}
		if e.IsDir() {
			return nil
		}
		data, err := os.ReadFile(name)
		files[rel] = string(data)
		return err
	}))
	return files
}

func inputs(version string) map[string]string {
	return map[string]string{"generator": sumOf([]byte("1")), "provider.yaml": sumOf([]byte(version))}
}

// fixed is a unit whose output is given; it counts its renders when count is set.
func fixed(dir, version string, out Output, count *int) Unit {
	return Unit{Dir: dir, Inputs: inputs(version), OwnedPatterns: []string{"zz_generated_*"},
		Render: func(context.Context) (Output, error) {
			if count != nil {
				*count++
			}
			return out, nil
		}}
}

func bytesOf(pairs ...string) map[string][]byte {
	m := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = []byte(pairs[i+1])
	}
	return m
}

func contains(text string) func([]byte) bool {
	return func(content []byte) bool { return strings.Contains(string(content), text) }
}

// dockerPlan has a file of every kind; version goes into the generated texts.
func dockerPlan(version string) Plan {
	out := Output{
		Owned: bytesOf("p/docker/zz_generated_config.go", "package docker // "+version+"\n",
			"p/docker/zz_generated_same.go", "package docker\n"),
		Scaffold: bytesOf("p/docker/adapter.go", "package docker\n\nfunc New() {}\n",
			"p/docker/README.md", "# docker\n\n<!-- sbxgen:begin table -->\n<!-- sbxgen:end table -->\n\nyours\n"),
		Blocks:  map[string]map[string]string{"p/docker/README.md": {"table": "row " + version}},
		Appends: map[string][]Append{"p/docker/adapter.go": {{Key: "Stop", Text: "func Stop() {}", Present: contains("func Stop(")}}},
	}
	return Plan{Units: []Unit{fixed("p/docker", version, out, nil)}}
}

func apply(t testing.TB, root string, plan Plan, opts Options) Result {
	t.Helper()
	r, err := Apply(context.Background(), root, plan, opts)
	require.NoError(t, err)
	return r
}

func check(t testing.TB, root string, plan Plan) Report {
	t.Helper()
	r, err := Check(context.Background(), root, plan, CheckOptions{})
	require.NoError(t, err)
	return r
}

// words renders findings as "word path#name", one string each.
func words(list []Finding) []string {
	var out []string
	for _, f := range list {
		s := string(f.Word) + " " + f.Path
		if f.Name != "" {
			s += "#" + f.Name
		}
		if f.Also != "" {
			s += " +" + string(f.Also)
		}
		out = append(out, s)
	}
	return out
}

// bulk is a plan of many units with files of the given number of lines.
func bulk(units, files, lines int, version string) Plan {
	var plan Plan
	for u := range units {
		dir := fmt.Sprintf("providers/p%02d", u)
		owned := map[string][]byte{}
		for f := range files {
			var b strings.Builder
			fmt.Fprintf(&b, "package p%02d // %s\n", u, version)
			for l := range lines {
				fmt.Fprintf(&b, "var v%02d_%04d = %q\n", f, l, "generated text")
			}
			owned[path.Join(dir, fmt.Sprintf("zz_generated_%02d.go", f))] = []byte(b.String())
		}
		plan.Units = append(plan.Units, fixed(dir, version, Output{Owned: owned}, nil))
	}
	return plan
}

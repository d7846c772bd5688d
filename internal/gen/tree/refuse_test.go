package tree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPlansRefused(t *testing.T) {
	one := bytesOf("a/x.go", "x")
	cases := map[string]Plan{
		"no units":          {},
		"no inputs":         {Units: []Unit{{Dir: "a", Render: func(context.Context) (Output, error) { return Output{Owned: one}, nil }}}},
		"no render":         {Units: []Unit{{Dir: "a", Inputs: inputs("one")}}},
		"bad hash":          {Units: []Unit{{Dir: "a", Inputs: map[string]string{"x": "abc"}, Render: func(context.Context) (Output, error) { return Output{}, nil }}}},
		"nothing rendered":  {Units: []Unit{fixed("a", "one", Output{}, nil)}},
		"escape":            {Units: []Unit{fixed("a", "one", Output{Owned: bytesOf("a/../../x", "x")}, nil)}},
		"absolute":          {Units: []Unit{fixed(".", "one", Output{Owned: bytesOf("/x", "x")}, nil)}},
		"backslash":         {Units: []Unit{fixed("a", "one", Output{Owned: bytesOf(`a/..\x`, "x")}, nil)}},
		"other territory":   {Units: []Unit{fixed("a", "one", Output{Owned: bytesOf("b/x", "x")}, nil)}},
		"its lock":          {Units: []Unit{fixed("a", "one", Output{Owned: bytesOf("a/.sbxgen.lock", "x")}, nil)}},
		"its state":         {Units: []Unit{fixed("a", "one", Output{Owned: bytesOf("a/.SBXGEN/base/x", "x")}, nil)}},
		"case":              {Units: []Unit{fixed("a", "one", Output{Owned: bytesOf("a/x.go", "x", "a/X.go", "x")}, nil)}},
		"case of a folder":  {Units: []Unit{fixed("a", "one", Output{Owned: bytesOf("a/s/x.go", "x", "a/S/y.go", "x")}, nil)}},
		"owned and user's":  {Units: []Unit{fixed("a", "one", Output{Owned: one, Scaffold: one}, nil)}},
		"two units, a path": {Units: []Unit{fixed("a", "one", Output{Owned: one}, nil), {Dir: ".", Inputs: inputs("one"), Render: func(context.Context) (Output, error) { return Output{Owned: one}, nil }}}},
		"two units, a lock": {Units: []Unit{fixed("a", "one", Output{Owned: one}, nil), fixed("a", "one", Output{Owned: one}, nil)}},
		"marker in a block": {Units: []Unit{fixed("a", "one", Output{Blocks: map[string]map[string]string{"a/r.md": {"b": "x\n# sbxgen:end b\n"}}}, nil)}},
		"append twice":      {Units: []Unit{fixed("a", "one", Output{Scaffold: one, Appends: map[string][]Append{"a/x.go": {{Key: "K", Text: "t"}, {Key: "K", Text: "t"}}}}, nil)}},
		"bad pattern":       {Units: []Unit{{Dir: "a", Retired: true, OwnedPatterns: []string{"../*"}}}},
	}
	for name, plan := range cases {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			_, err := Check(context.Background(), root, plan, CheckOptions{})
			_, ok := errors.AsType[*PlanError](err)
			require.True(t, ok, "%v", err)
			_, err = Apply(context.Background(), root, plan, Options{Force: true})
			_, ok = errors.AsType[*PlanError](err)
			require.True(t, ok, "%v", err)
			require.Empty(t, snapshot(t, root))
		})
	}
}

func TestSymlinksRefused(t *testing.T) {
	plan := Plan{Units: []Unit{fixed("a", "one", Output{Owned: bytesOf("a/b/zz_generated_x.go", "x\n")}, nil)}}
	cases := map[string]func(t *testing.T, root, outside string){
		"unit folder": func(t *testing.T, root, outside string) {
			require.NoError(t, os.Symlink(outside, filepath.Join(root, "a")))
		},
		"inner folder": func(t *testing.T, root, outside string) {
			put(t, root, "a/k", "k")
			require.NoError(t, os.Symlink(outside, filepath.Join(root, "a/b")))
		},
		"file": func(t *testing.T, root, outside string) {
			put(t, root, "a/b/k", "k")
			require.NoError(t, os.Symlink(filepath.Join(outside, "f"), filepath.Join(root, "a/b/zz_generated_x.go")))
		},
		"lock": func(t *testing.T, root, outside string) {
			put(t, root, "a/k", "k")
			require.NoError(t, os.Symlink(filepath.Join(outside, "f"), filepath.Join(root, "a/.sbxgen.lock")))
		},
		"pattern folder": func(t *testing.T, root, outside string) {
			put(t, root, "a/k", "k")
			require.NoError(t, os.Symlink(outside, filepath.Join(root, "a/gen")))
		},
		"work folder": func(t *testing.T, root, outside string) {
			require.NoError(t, os.Symlink(outside, filepath.Join(root, ".sbxgen")))
		},
	}
	plan.Units[0].OwnedPatterns = []string{"gen/*"}
	for name, arrange := range cases {
		t.Run(name, func(t *testing.T) {
			root, outside := t.TempDir(), t.TempDir()
			put(t, outside, "f", "untouched")
			arrange(t, root, outside)
			_, err := Apply(context.Background(), root, plan, Options{Force: true})
			_, ok := errors.AsType[*UnsafePathError](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, map[string]string{"f": "untouched"}, snapshot(t, outside))
		})
	}
}

func TestSomethingInTheWay(t *testing.T) {
	plan := Plan{Units: []Unit{fixed("a", "one", Output{Owned: bytesOf("a/sub/x.txt", "x\n")}, nil)}}
	for _, in := range []string{"a/sub/X.txt", "a/SUB/y", "A/y"} {
		root := t.TempDir()
		put(t, root, in, "mine")
		_, err := Apply(context.Background(), root, plan, Options{Force: true})
		require.ErrorContains(t, err, "letter case", in)
	}
	root := t.TempDir()
	put(t, root, "a/sub", "a file")
	_, err := Apply(context.Background(), root, plan, Options{Force: true})
	require.ErrorContains(t, err, "where a folder is needed")

	root = t.TempDir()
	put(t, root, "a/sub/x.txt/mine", "a file")
	_, err = Apply(context.Background(), root, plan, Options{Force: true})
	require.ErrorContains(t, err, "is in the way")

	root = t.TempDir()
	put(t, root, "a/sub/x.txt", "mine")
	require.Equal(t, []string{"missing a/.sbxgen.lock", "hand-edited a/sub/x.txt"}, words(check(t, root, plan).Findings))
	_, err = Apply(context.Background(), root, plan, Options{})
	require.Error(t, err)
	r := apply(t, root, plan, Options{Force: true})
	require.Equal(t, "mine", get(t, root, r.Saved[0].Copy))
}

// On some systems deleting the orphan would delete the new file.
func TestOrphanThatDiffersByCaseIsRefused(t *testing.T) {
	root := t.TempDir()
	apply(t, root, Plan{Units: []Unit{fixed("a", "one", Output{Owned: bytesOf("a/x.txt", "x\n")}, nil)}}, Options{})
	before := snapshot(t, root)
	_, err := Apply(context.Background(), root, Plan{Units: []Unit{fixed("a", "two", Output{Owned: bytesOf("a/X.txt", "x\n")}, nil)}}, Options{})
	require.ErrorContains(t, err, "only by letter case")
	require.Equal(t, before, snapshot(t, root))
}

func TestFilesAndFoldersTradePlaces(t *testing.T) {
	root := t.TempDir()
	file := Plan{Units: []Unit{fixed("a", "one", Output{Owned: bytesOf("a/t", "file\n")}, nil)}}
	folder := Plan{Units: []Unit{fixed("a", "two", Output{Owned: bytesOf("a/t/u/v", "inside\n")}, nil)}}
	for range 2 {
		apply(t, root, file, Options{})
		require.Equal(t, "file\n", get(t, root, "a/t"))
		apply(t, root, folder, Options{})
		require.Equal(t, "inside\n", get(t, root, "a/t/u/v"))
		require.True(t, check(t, root, folder).Clean())
	}
}

func TestConflictedAndDamagedLocksAreRepaired(t *testing.T) {
	root := t.TempDir()
	plan := dockerPlan("one")
	apply(t, root, plan, Options{})
	want := snapshot(t, root)
	const p = "p/docker/.sbxgen.lock"
	raw := get(t, root, p)
	ours := raw[:strings.Index(raw, `  "owned"`)]
	cases := map[string]string{
		"conflicted": "<<<<<<< HEAD\n" + ours + "=======\n" + strings.ReplaceAll(ours, "4", "5") + ">>>>>>> branch\n" + raw[len(ours):],
		"damaged":    raw[:len(raw)/2],
		"doubled":    strings.Replace(raw, `  "owned": {`, `  "owned": {},`+"\n"+`  "owned": {`, 1),
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			put(t, root, p, text)
			report := check(t, root, plan)
			require.Equal(t, []string{"changed " + p}, words(report.Findings))
			if name == "conflicted" {
				require.Contains(t, report.Findings[0].Detail, "conflict markers")
			} else {
				require.Contains(t, report.Findings[0].Detail, "damaged")
			}
			apply(t, root, plan, Options{})
			require.Equal(t, want, snapshot(t, root))
		})
	}
	put(t, root, p, strings.Replace(raw, `"format": 1`, `"format": 2`, 1))
	_, err := Apply(context.Background(), root, plan, Options{Force: true})
	_, ok := errors.AsType[*LockVersionError](err)
	require.True(t, ok, "%v", err)
}

func TestConflictMarkersInGeneratedFilesAreRewritten(t *testing.T) {
	root := t.TempDir()
	plan := dockerPlan("one")
	apply(t, root, plan, Options{})
	want := snapshot(t, root)
	put(t, root, "p/docker/zz_generated_config.go", "<<<<<<< HEAD\npackage docker // one\n=======\npackage docker // two\n>>>>>>> b\n",
		"p/docker/README.md", strings.Replace(want["p/docker/README.md"], "row one\n", "<<<<<<< HEAD\nrow one\n=======\nrow two\n>>>>>>> b\n", 1))
	require.Equal(t, []string{"changed p/docker/README.md#table", "changed p/docker/zz_generated_config.go"}, words(check(t, root, plan).Findings))
	r := apply(t, root, plan, Options{})
	require.Empty(t, r.Saved)
	require.Equal(t, want, snapshot(t, root))
}

func TestUnlistedFilesWithoutALockAreAdoptedButSaved(t *testing.T) {
	root := t.TempDir()
	put(t, root, "p/docker/zz_generated_config.go", "older\n", "p/docker/zz_generated_same.go", "package docker\n")
	r := apply(t, root, dockerPlan("one"), Options{})
	require.Equal(t, []string{"p/docker/zz_generated_config.go"}, r.Written)
	require.Equal(t, "older\n", get(t, root, r.Saved[0].Copy))
}

func TestLockWithOtherLineEndsIsIntact(t *testing.T) {
	root := t.TempDir()
	plan := dockerPlan("one")
	apply(t, root, plan, Options{})
	put(t, root, "p/docker/.sbxgen.lock", strings.ReplaceAll(get(t, root, "p/docker/.sbxgen.lock"), "\n", "\r\n"))
	report := check(t, root, plan)
	require.True(t, report.Clean())
	require.Empty(t, report.Rendered)
}

func TestPermissionsAreKept(t *testing.T) {
	root := t.TempDir()
	apply(t, root, dockerPlan("one"), Options{})
	name := filepath.Join(root, "p/docker/README.md")
	require.NoError(t, os.Chmod(name, 0o600))
	apply(t, root, dockerPlan("two"), Options{})
	info, err := os.Stat(name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// TestUnrelatedUnitsAreNotRendered adds one unit to a clean tree.
func TestUnrelatedUnitsAreNotRendered(t *testing.T) {
	root := t.TempDir()
	plan := bulk(3, 2, 2, "one")
	r := apply(t, root, Plan{Units: []Unit{plan.Units[1], plan.Units[0]}}, Options{})
	require.Equal(t, []string{"providers/p00/zz_generated_00.go", "providers/p00/zz_generated_01.go",
		"providers/p01/zz_generated_00.go", "providers/p01/zz_generated_01.go"}, r.Created)
	report := check(t, root, plan)
	require.Equal(t, []string{"providers/p02"}, report.Rendered)
	r = apply(t, root, plan, Options{})
	require.Equal(t, []string{"providers/p02/zz_generated_00.go", "providers/p02/zz_generated_01.go"}, r.Created)
	require.Empty(t, r.Written)
}

package tree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestApplyThenCheckIsCleanWithoutRendering(t *testing.T) {
	root := t.TempDir()
	plan := dockerPlan("one")
	require.Equal(t, []string{"missing p/docker/.sbxgen.lock", "missing p/docker/README.md", "missing p/docker/adapter.go",
		"missing p/docker/zz_generated_config.go", "missing p/docker/zz_generated_same.go"}, words(check(t, root, plan).Findings))
	require.Empty(t, snapshot(t, root), "Check writes nothing")

	r := apply(t, root, plan, Options{})
	require.Len(t, r.Created, 4)
	require.Equal(t, "# docker\n\n<!-- sbxgen:begin table -->\nrow one\n<!-- sbxgen:end table -->\n\nyours\n", get(t, root, "p/docker/README.md"))
	require.Equal(t, "package docker\n\nfunc New() {}\n\nfunc Stop() {}\n", get(t, root, "p/docker/adapter.go"))
	require.Equal(t, "package docker\n\nfunc New() {}\n", get(t, root, "p/docker/.sbxgen/base/adapter.go"))

	plan.Units[0].Render = func(context.Context) (Output, error) { return Output{}, errors.New("must not be called") }
	report := check(t, root, plan)
	require.True(t, report.Clean())
	require.Equal(t, 3, report.Hashed)
	require.Empty(t, report.Rendered)
	require.Empty(t, apply(t, root, plan, Options{}).Findings)
}

func TestChangedNamesTheInputAndKeepsOtherMtimes(t *testing.T) {
	root := t.TempDir()
	apply(t, root, dockerPlan("one"), Options{})
	old := time.Unix(1_000_000_000, 0)
	for p := range snapshot(t, root) {
		require.NoError(t, os.Chtimes(filepath.Join(root, p), old, old))
	}
	plan := dockerPlan("two")
	report := check(t, root, plan)
	require.Equal(t, []string{"changed p/docker/README.md#table", "changed p/docker/zz_generated_config.go"}, words(report.Findings))
	require.Contains(t, report.Findings[1].Detail, "provider.yaml")
	require.NotContains(t, report.Findings[1].Detail, "generator")
	require.Contains(t, report.Findings[1].Diff, "-package docker // one\n+package docker // two\n")

	r := apply(t, root, plan, Options{})
	require.Equal(t, []string{"p/docker/README.md", "p/docker/zz_generated_config.go"}, r.Written)
	rewritten := map[string]bool{"p/docker/README.md": true, "p/docker/zz_generated_config.go": true, "p/docker/.sbxgen.lock": true}
	for p := range snapshot(t, root) {
		info, err := os.Stat(filepath.Join(root, p))
		require.NoError(t, err)
		require.Equal(t, rewritten[p], !info.ModTime().Equal(old), p)
	}
	require.True(t, check(t, root, plan).Clean())
}

func TestInputsChangedButOutputTheSame(t *testing.T) {
	root := t.TempDir()
	out := Output{Owned: bytesOf("a/zz_generated_x.go", "x\n")}
	apply(t, root, Plan{Units: []Unit{fixed("a", "one", out, nil)}}, Options{})
	report := check(t, root, Plan{Units: []Unit{fixed("a", "two", out, nil)}})
	require.Equal(t, []string{"changed a/.sbxgen.lock"}, words(report.Findings))
	require.Contains(t, report.Findings[0].Detail, "provider.yaml")
}

func TestHandEditIsRefusedThenSavedAndOverwritten(t *testing.T) {
	root := t.TempDir()
	plan := dockerPlan("one")
	apply(t, root, plan, Options{})
	put(t, root, "p/docker/zz_generated_config.go", "package docker // mine\n")
	report := check(t, root, plan)
	require.Equal(t, []string{"hand-edited p/docker/zz_generated_config.go"}, words(report.Findings))
	require.Contains(t, report.Findings[0].Diff, "-package docker // mine\n+package docker // one\n")
	require.Equal(t, []string{"hand-edited p/docker/zz_generated_config.go +changed"},
		words(check(t, root, dockerPlan("two")).Findings)[1:])

	before := snapshot(t, root)
	_, err := Apply(context.Background(), root, dockerPlan("two"), Options{})
	refused, ok := errors.AsType[*RefusedError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, []string{"hand-edited p/docker/zz_generated_config.go +changed"}, words(refused.Findings))
	require.Equal(t, before, snapshot(t, root), "all or nothing")

	r := apply(t, root, plan, Options{Force: true})
	require.Equal(t, []Saved{{Path: "p/docker/zz_generated_config.go", Copy: "p/docker/.sbxgen/lost/zz_generated_config.go"}}, r.Saved)
	require.Equal(t, "package docker // mine\n", get(t, root, r.Saved[0].Copy))
	require.Equal(t, "*\n", get(t, root, "p/docker/.sbxgen/lost/.gitignore"))
	require.True(t, check(t, root, plan).Clean())

	put(t, root, "p/docker/zz_generated_config.go", "package docker // mine again\n")
	r = apply(t, root, plan, Options{Force: true})
	require.Equal(t, "p/docker/.sbxgen/lost/zz_generated_config.go.2", r.Saved[0].Copy)
	require.Equal(t, "package docker // mine\n", get(t, root, "p/docker/.sbxgen/lost/zz_generated_config.go"))
}

func TestOrphans(t *testing.T) {
	root := t.TempDir()
	big := Output{Owned: bytesOf("g/a.go", "a\n", "g/sub/deep/b.go", "b\n", "g/sub/c.go", "c\n")}
	unit := fixed("g", "one", big, nil)
	unit.OwnedPatterns = []string{"**"}
	apply(t, root, Plan{Units: []Unit{unit}}, Options{})
	put(t, root, "g/sub/c.go", "edited\n", "g/stray.go", "stray\n")
	require.Equal(t, []string{"orphan g/stray.go", "hand-edited g/sub/c.go"}, words(check(t, root, Plan{Units: []Unit{unit}}).Findings))

	small := fixed("g", "two", Output{Owned: bytesOf("g/a.go", "a\n")}, nil)
	small.OwnedPatterns = unit.OwnedPatterns
	plan := Plan{Units: []Unit{small}}
	want := []string{"orphan g/stray.go", "orphan g/sub/c.go +hand-edited", "orphan g/sub/deep/b.go"}
	require.Equal(t, want, words(check(t, root, plan).Findings))
	r := apply(t, root, plan, Options{Force: true})
	require.Equal(t, []string{"g/sub/deep/b.go"}, r.Removed)
	require.Equal(t, want[:2], words(r.Remaining()))
	require.False(t, there(root, "g/sub/deep"), "an emptied folder goes")
	require.Equal(t, "edited\n", get(t, root, "g/sub/c.go"))
	require.Equal(t, want[:2], words(check(t, root, plan).Findings), "a kept orphan stays known")

	require.NoError(t, os.Remove(filepath.Join(root, "g/sub/c.go")))
	require.NoError(t, os.Remove(filepath.Join(root, "g/stray.go")))
	require.Equal(t, []string{"changed g/.sbxgen.lock"}, words(check(t, root, plan).Findings))
	apply(t, root, plan, Options{})
	require.True(t, check(t, root, plan).Clean())
}

func TestRetiredUnitLeavesOnlyWhatIsTheUsers(t *testing.T) {
	root := t.TempDir()
	apply(t, root, dockerPlan("one"), Options{})
	plan := Plan{Units: []Unit{{Dir: "p/docker", Retired: true, OwnedPatterns: []string{"zz_generated_*"}}}}
	require.Equal(t, []string{"orphan p/docker/.sbxgen.lock", "orphan p/docker/zz_generated_config.go", "orphan p/docker/zz_generated_same.go"},
		words(check(t, root, plan).Findings))
	apply(t, root, plan, Options{})
	require.True(t, check(t, root, plan).Clean())
	require.True(t, there(root, "p/docker/adapter.go"))
	require.False(t, there(root, "p/docker/.sbxgen.lock"))
}

func TestFileMovesBetweenUnits(t *testing.T) {
	root := t.TempDir()
	whole := func(v string, a, b Output) Plan {
		ua, ub := fixed(".", v, a, nil), fixed("sub", v, b, nil)
		ua.Lock, ua.OwnedPatterns = "gen/.sbxgen.lock", []string{"gen/**"}
		return Plan{Units: []Unit{ua, ub}}
	}
	base := Output{Owned: bytesOf("gen/k.go", "k\n")}
	apply(t, root, whole("one", Output{Owned: bytesOf("gen/k.go", "k\n", "sub/x.go", "x\n")}, Output{Owned: bytesOf("sub/y.go", "y\n")}), Options{})
	moved := whole("two", base, Output{Owned: bytesOf("sub/y.go", "y\n", "sub/x.go", "x2\n")})
	require.Equal(t, []string{"changed sub/x.go"}, words(check(t, root, moved).Findings)[1:])
	apply(t, root, moved, Options{})
	require.Equal(t, "x2\n", get(t, root, "sub/x.go"))
	require.True(t, check(t, root, moved).Clean())
}

func TestScaffoldIsCreatedOnce(t *testing.T) {
	root := t.TempDir()
	put(t, root, "p/docker/adapter.go", "package docker\n\nfunc Stop() { mine() }\n")
	plan := dockerPlan("one")
	apply(t, root, plan, Options{})
	require.Equal(t, "package docker\n\nfunc Stop() { mine() }\n", get(t, root, "p/docker/adapter.go"), "present, so not appended")
	require.True(t, check(t, root, plan).Clean())

	require.NoError(t, os.Remove(filepath.Join(root, "p/docker/adapter.go")))
	require.True(t, check(t, root, dockerPlan("one")).Clean())
	apply(t, root, dockerPlan("two"), Options{})
	require.False(t, there(root, "p/docker/adapter.go"), "deleted by the user, not recreated")
}

func TestAppendHappensOncePerKey(t *testing.T) {
	root := t.TempDir()
	plan := func(v string, keys ...string) Plan {
		out := Output{Scaffold: bytesOf("a/adapter.go", "package a")}
		out.Appends = map[string][]Append{}
		for _, k := range keys {
			out.Appends["a/adapter.go"] = append(out.Appends["a/adapter.go"], Append{Key: k, Text: "func " + k + "() {}\n", Present: contains("func " + k + "(")})
		}
		return Plan{Units: []Unit{fixed("a", v, out, nil)}}
	}
	apply(t, root, plan("one"), Options{})
	put(t, root, "a/adapter.go", "package a\r\n// mine, without a last line end")
	next := plan("two", "Stop", "Start")
	require.Equal(t, []string{"changed a/adapter.go#Start", "changed a/adapter.go#Stop"}, words(check(t, root, next).Findings))
	apply(t, root, next, Options{})
	require.Equal(t, "package a\r\n// mine, without a last line end\r\n\r\nfunc Stop() {}\r\n\r\nfunc Start() {}\r\n", get(t, root, "a/adapter.go"))
	put(t, root, "a/adapter.go", "package a\n")
	apply(t, root, plan("three", "Stop", "Start"), Options{})
	require.Equal(t, "package a\n", get(t, root, "a/adapter.go"), "the user deleted them; they stay deleted")

	require.NoError(t, os.Remove(filepath.Join(root, "a/adapter.go")))
	_, err := Apply(context.Background(), root, plan("four", "Stop", "Start", "Fork"), Options{})
	_, ok := errors.AsType[*RefusedError](err)
	require.True(t, ok, "%v", err)
	require.False(t, there(root, "a/adapter.go"))
}

func TestBlockFindings(t *testing.T) {
	root := t.TempDir()
	plan := dockerPlan("one")
	apply(t, root, plan, Options{})
	readme := "p/docker/README.md"
	good := get(t, root, readme)

	put(t, root, readme, "mine\n<!-- sbxgen:begin table -->\nedited\n<!-- sbxgen:end table -->\n")
	require.Equal(t, []string{"hand-edited " + readme + "#table"}, words(check(t, root, plan).Findings))
	r := apply(t, root, plan, Options{Force: true})
	require.Equal(t, "mine\n<!-- sbxgen:begin table -->\nrow one\n<!-- sbxgen:end table -->\n", get(t, root, readme))
	require.Contains(t, get(t, root, r.Saved[0].Copy), "edited")

	put(t, root, readme, "all mine\n")
	require.Equal(t, []string{"missing " + readme + "#table"}, words(check(t, root, plan).Findings))
	_, err := Apply(context.Background(), root, plan, Options{})
	require.Error(t, err, "a deleted marker is never passed over in silence")
	apply(t, root, plan, Options{Force: true})
	require.Equal(t, "all mine\n\n<!-- sbxgen:begin table -->\nrow one\n<!-- sbxgen:end table -->\n", get(t, root, readme))

	put(t, root, readme, "<!-- sbxgen:begin table -->\nno end\n")
	report := check(t, root, plan)
	require.Len(t, report.Findings, 1)
	require.True(t, report.Findings[0].ByHand)
	require.Contains(t, report.Findings[0].Detail, "line 1")
	_, err = Apply(context.Background(), root, plan, Options{Force: true})
	require.Error(t, err)
	require.Equal(t, "<!-- sbxgen:begin table -->\nno end\n", get(t, root, readme))

	require.NoError(t, os.Remove(filepath.Join(root, readme)))
	require.Equal(t, []string{"missing " + readme + "#table"}, words(check(t, root, plan).Findings))
	apply(t, root, plan, Options{Force: true})
	require.Equal(t, good, get(t, root, readme))
}

func TestDryRunWritesNothing(t *testing.T) {
	root := t.TempDir()
	r := apply(t, root, dockerPlan("one"), Options{DryRun: true})
	require.Len(t, r.Created, 4)
	require.Contains(t, r.Findings[3].Diff, "+package docker // one")
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestNothingIsWrittenWhenAUnitFails(t *testing.T) {
	root := t.TempDir()
	plan := dockerPlan("one")
	bad := fixed("q", "one", Output{}, nil)
	bad.Render = func(context.Context) (Output, error) { return Output{}, errors.New("boom") }
	plan.Units = append(plan.Units, bad)
	_, err := Apply(context.Background(), root, plan, Options{})
	require.ErrorContains(t, err, "render q: boom")
	_, err = Check(context.Background(), root, plan, CheckOptions{})
	require.Error(t, err)

	plan = dockerPlan("one")
	plan.Validate = func(p string, content []byte) error {
		if p == "p/docker/adapter.go" {
			return errors.New("does not parse")
		}
		return nil
	}
	_, err = Apply(context.Background(), root, plan, Options{})
	require.ErrorContains(t, err, "p/docker/adapter.go: not valid: does not parse")
	require.Empty(t, snapshot(t, root))
}

func TestRenderAllFindsALockEditedWithItsFile(t *testing.T) {
	root := t.TempDir()
	out := Output{Owned: bytesOf("a/zz_generated_x.go", "x\n")}
	plan := Plan{Units: []Unit{fixed("a", "one", out, nil)}}
	apply(t, root, plan, Options{})
	forged := Output{Owned: bytesOf("a/zz_generated_x.go", "forged\n")}
	apply(t, root, Plan{Units: []Unit{fixed("a", "one", forged, nil)}}, Options{RenderAll: true})
	require.True(t, check(t, root, plan).Clean(), "the quick check believes the lock")
	report, err := Check(context.Background(), root, plan, CheckOptions{RenderAll: true})
	require.NoError(t, err)
	require.Equal(t, []string{"changed a/zz_generated_x.go"}, words(report.Findings))
}

func TestOutputIsDeterministic(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	apply(t, first, dockerPlan("one"), Options{})
	apply(t, second, dockerPlan("one"), Options{})
	require.Equal(t, snapshot(t, first), snapshot(t, second))
}

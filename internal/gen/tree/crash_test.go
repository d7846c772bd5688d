package tree

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The environment that turns the test binary into a process to be killed.
const (
	envRoot = "TREE_TEST_ROOT"
	envPlan = "TREE_TEST_PLAN" // old, new, or both for alternating for ever
	envStep = "TREE_TEST_STEP" // die at the n-th step; 0 never
)

func TestMain(m *testing.M) {
	if root := os.Getenv(envRoot); root != "" {
		os.Exit(crashChild(root))
	}
	os.Exit(m.Run())
}

// crashPlan touches every kind of change: files come, go, change and stay,
// folders appear and vanish, a block is rewritten.
func crashPlan(version string) Plan {
	plan := dockerPlan(version)
	g := Output{Owned: bytesOf("g/same.go", "same\n", "g/both.go", version+"\n")}
	for i := range 4 {
		g.Owned[fmt.Sprintf("g/%s/%d/x.go", version, i)] = []byte(version + "\n")
	}
	unit := fixed("g", version, g, nil)
	unit.OwnedPatterns = []string{"**"}
	plan.Units = append(plan.Units, unit)
	return plan
}

func crashChild(root string) int {
	var versions []string
	if v := os.Getenv(envPlan); v == "both" {
		for range 1000 {
			versions = append(versions, "old", "new")
		}
	} else {
		versions = []string{v}
	}
	die, err := strconv.Atoi(os.Getenv(envStep))
	if err != nil {
		return 3
	}
	n := 0
	step := func(string) {
		if n++; n != die {
			return
		}
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err != nil {
			os.Exit(4)
		}
		select {}
	}
	for _, v := range versions {
		if _, err := Apply(context.Background(), root, crashPlan(v), Options{step: step}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 5
		}
	}
	return 0
}

func child(ctx context.Context, root, plan string, step int) *exec.Cmd {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), envRoot+"="+root, envPlan+"="+plan, envStep+"="+strconv.Itoa(step))
	cmd.Stderr = os.Stderr
	return cmd
}

// settled returns a tree at the old plan and what both plans look like in it.
func settled(t *testing.T) (root string, old, new map[string]string) {
	t.Helper()
	root = t.TempDir()
	apply(t, root, crashPlan("new"), Options{})
	apply(t, root, crashPlan("old"), Options{})
	old = snapshot(t, root)
	apply(t, root, crashPlan("new"), Options{})
	new = snapshot(t, root)
	apply(t, root, crashPlan("old"), Options{})
	require.Equal(t, old, snapshot(t, root))
	require.NotEqual(t, old, new)
	return root, old, new
}

// afterKill asserts what holds after any kill and returns which of
// interrupted, old or new it was.
func afterKill(t *testing.T, root string, old, new map[string]string) string {
	t.Helper()
	ctx := context.Background()
	isOld, err := Check(ctx, root, crashPlan("old"), CheckOptions{RenderAll: true})
	require.NoError(t, err)
	isNew, err := Check(ctx, root, crashPlan("new"), CheckOptions{RenderAll: true})
	require.NoError(t, err)
	now := snapshot(t, root)
	for p, text := range now { // no file is half-written, whatever the moment
		require.True(t, text == old[p] || text == new[p], "%s holds %q", p, text)
	}
	switch {
	case isOld.Clean():
		require.True(t, maps.Equal(old, now))
		return "old"
	case isNew.Clean():
		require.True(t, maps.Equal(new, now))
		return "new"
	}
	require.Equal(t, []string{"interrupted " + journalPath}, words(isOld.Findings))
	require.Equal(t, []string{"interrupted " + journalPath}, words(isNew.Findings))
	return "interrupted"
}

func TestKilledAtEveryStep(t *testing.T) {
	root, old, new := settled(t)
	seen := map[string]int{}
	for n := 1; ; n++ {
		err := child(context.Background(), root, "new", n).Run()
		state := afterKill(t, root, old, new)
		if err == nil {
			require.Equal(t, "new", state)
			require.Greater(t, n, 30, "the run has that many steps")
			break
		}
		exit, ok := errors.AsType[*exec.ExitError](err)
		require.True(t, ok && exit.ExitCode() == -1, "killed, not failed: %v", err)
		seen[state]++
		// Whatever was interrupted, one Apply gives exactly the wanted plan.
		wanted, want := "new", new
		if n%2 == 0 {
			wanted, want = "old", old
		}
		r := apply(t, root, crashPlan(wanted), Options{})
		require.Equal(t, state == "interrupted", r.Recovered)
		require.Equal(t, want, snapshot(t, root), "step %d", n)
		require.True(t, check(t, root, crashPlan(wanted)).Clean())
		require.False(t, there(root, stageDir))
		apply(t, root, crashPlan("old"), Options{})
	}
	require.Positive(t, seen["old"])
	require.Positive(t, seen["interrupted"])
	require.Positive(t, seen["new"])
}

func TestKilledWhileRecovering(t *testing.T) {
	root, old, new := settled(t)
	for n := 1; ; n++ {
		// The first process dies between its renames, the second while completing.
		require.Error(t, child(context.Background(), root, "new", 22).Run())
		require.Equal(t, "interrupted", afterKill(t, root, old, new))
		err := child(context.Background(), root, "old", n).Run()
		afterKill(t, root, old, new)
		apply(t, root, crashPlan("old"), Options{})
		require.Equal(t, old, snapshot(t, root))
		if err == nil {
			require.Greater(t, n, 10)
			return
		}
	}
}

func TestKilledAtRandomMoments(t *testing.T) {
	root, old, new := settled(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond+time.Duration(random.IntN(120))*time.Millisecond)
		require.Error(t, child(ctx, root, "both", 0).Run())
		cancel()
		afterKill(t, root, old, new)
		apply(t, root, crashPlan("new"), Options{})
		require.Equal(t, new, snapshot(t, root))
	}
}

func TestIncompleteJournalIsDiscarded(t *testing.T) {
	root, old, _ := settled(t)
	require.Error(t, child(context.Background(), root, "new", 20).Run())
	raw := get(t, root, journalPath)
	put(t, root, journalPath, raw[:len(raw)-10])
	r := apply(t, root, crashPlan("old"), Options{})
	require.True(t, r.Discarded)
	require.False(t, r.Recovered)
	require.Equal(t, old, snapshot(t, root))
}

func TestCorruptStageIsDiscarded(t *testing.T) {
	root, old, _ := settled(t)
	require.Error(t, child(context.Background(), root, "new", 20).Run())
	stages, err := filepath.Glob(filepath.Join(root, stageDir, "*"))
	require.NoError(t, err)
	require.NotEmpty(t, stages)
	require.NoError(t, os.WriteFile(stages[len(stages)-1], []byte("torn"), 0o644))
	r := apply(t, root, crashPlan("old"), Options{})
	require.True(t, r.Discarded)
	require.False(t, r.Recovered)
	require.Equal(t, old, snapshot(t, root))
}

func TestRecoveryLeavesLaterEditsAlone(t *testing.T) {
	root, _, new := settled(t)
	require.Error(t, child(context.Background(), root, "new", 20).Run())
	require.Equal(t, []string{"interrupted " + journalPath}, words(check(t, root, crashPlan("new")).Findings))
	put(t, root, "p/docker/README.md", "# rewritten\n<!-- sbxgen:begin table -->\nrow old\n<!-- sbxgen:end table -->\n")
	r := apply(t, root, crashPlan("new"), Options{})
	require.Equal(t, []string{"p/docker/README.md"}, r.Skipped)
	new["p/docker/README.md"] = "# rewritten\n<!-- sbxgen:begin table -->\nrow new\n<!-- sbxgen:end table -->\n"
	require.Equal(t, new, snapshot(t, root))
}

func TestEditBetweenPlanningAndWriting(t *testing.T) {
	root, _, new := settled(t)
	step := func(name string) {
		if name == "sync work" {
			put(t, root, "g/both.go", "typed just now\n")
		}
	}
	_, err := Apply(context.Background(), root, crashPlan("new"), Options{step: step})
	skipped, ok := errors.AsType[*SkippedError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, []string{"g/both.go"}, skipped.Paths)
	require.Equal(t, "typed just now\n", get(t, root, "g/both.go"))
	require.Equal(t, []string{"hand-edited g/both.go +changed"}, words(check(t, root, crashPlan("new")).Findings))
	apply(t, root, crashPlan("new"), Options{Force: true})
	require.Equal(t, new["g/both.go"], get(t, root, "g/both.go"))
	require.True(t, check(t, root, crashPlan("new")).Clean())
}

func TestAppliesWaitForEachOther(t *testing.T) {
	root, old, new := settled(t)
	var group sync.WaitGroup
	errs := make([]error, 8)
	for i := range errs {
		group.Go(func() {
			if i%2 == 0 {
				_, errs[i] = Apply(context.Background(), root, crashPlan("new"), Options{})
				return
			}
			errs[i] = child(context.Background(), root, "old", 0).Run()
		})
	}
	group.Wait()
	require.NoError(t, errors.Join(errs...))
	require.NotEqual(t, "interrupted", afterKill(t, root, old, new))
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	root, _, _ := settled(t)
	var once sync.Once
	step := func(string) {
		once.Do(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			_, err := Apply(ctx, root, crashPlan("new"), Options{})
			require.ErrorIs(t, err, context.DeadlineExceeded)
			again, cancelAgain := context.WithTimeout(context.Background(), 200*time.Millisecond)
			defer cancelAgain()
			_, err = Check(again, root, crashPlan("new"), CheckOptions{})
			require.ErrorIs(t, err, context.DeadlineExceeded)
		})
	}
	_, err := Apply(context.Background(), root, crashPlan("new"), Options{step: step})
	require.NoError(t, err)
}

func TestFailedRenameIsCompletedLater(t *testing.T) {
	root, _, new := settled(t)
	victim := filepath.Join(root, "g/new")
	step := func(name string) {
		if name == "sync work" { // a file where a folder has to be made
			require.NoError(t, os.WriteFile(victim, nil, 0o644))
		}
	}
	_, err := Apply(context.Background(), root, crashPlan("new"), Options{step: step})
	require.Error(t, err)
	require.Equal(t, []string{"interrupted " + journalPath}, words(check(t, root, crashPlan("new")).Findings))
	require.NoError(t, os.Remove(victim))
	r := apply(t, root, crashPlan("new"), Options{})
	require.True(t, r.Recovered)
	require.Equal(t, new, snapshot(t, root))
}

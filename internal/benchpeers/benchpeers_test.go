package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agentworkforce/sbx/internal/gate"
)

const root = "../.."

func series(walls ...int) []sample {
	var out []sample
	for _, w := range walls {
		out = append(out, sample{wall: time.Duration(w) * time.Millisecond})
	}
	return out
}

// scripted is a subject whose runs take the times given, in order.
func scripted(name string, order *[]string, walls ...int) subject {
	i := 0
	return subject{name: name, run: func(context.Context) (sample, error) {
		*order = append(*order, name)
		i++
		return sample{wall: time.Duration(walls[i-1]) * time.Millisecond}, nil
	}}
}

func TestSubjectsRunInTurnAfterARoundThatDoesNotCount(t *testing.T) {
	var order []string
	ours := scripted("ours", &order, 900, 10, 20, 60)
	theirs := scripted("theirs", &order, 900, 20, 20, 20)
	rows, err := compare(t.Context(), 3, "work", ours, versus{theirs, goal{ratio: 0.99}},
		versus{subject{name: "gone", missing: "it left"}, goal{ratio: 1}})
	require.NoError(t, err)
	require.Equal(t, []string{"ours", "theirs", "ours", "theirs", "ours", "theirs", "ours", "theirs"}, order)
	require.Equal(t, spread{n: 3, median: 0.02, min: 0.01, max: 0.06}, rows[0].ours)
	require.Equal(t, spread{n: 3, median: 1, min: 0.5, max: 3}, rows[0].ratio)
	require.Equal(t, "short", rows[0].verdict())
	require.Equal(t, "not measured", rows[1].verdict())
	require.Zero(t, rows[0].cpu.n, "no processor time is known")
}

func TestAFailedRunIsNoMeasurement(t *testing.T) {
	broken := errors.New("broken")
	for name, s := range map[string]subject{
		"run":     {name: "x", run: func(context.Context) (sample, error) { return sample{wall: 1}, broken }},
		"prepare": {name: "x", prepare: func(context.Context) error { return broken }, run: func(context.Context) (sample, error) { return sample{wall: 1}, nil }},
	} {
		_, err := compare(t.Context(), 1, "work", s)
		require.ErrorIs(t, err, broken, name)
	}
	_, err := compare(t.Context(), 1, "work", subject{name: "x", run: func(context.Context) (sample, error) { return sample{}, nil }})
	require.ErrorIs(t, err, errNoTime)
	_, err = command{argv: []string{"go", "no-such-command"}}.run(t.Context())
	require.ErrorContains(t, err, "no-such-command")
}

func TestSpreads(t *testing.T) {
	require.Equal(t, spread{}, spreadOf(nil))
	require.Equal(t, spread{n: 4, median: 2.5, min: 1, max: 4}, spreadOf([]float64{4, 1, 3, 2}))
	require.Equal(t, spread{n: 1, median: 2, min: 2, max: 2}, ratios(series(4, 9), series(2), wall))
}

func TestVerdicts(t *testing.T) {
	one := spread{n: 1, median: 1, min: 1, max: 1}
	require.Equal(t, "met", row{ours: one, ratio: one, goal: goal{ratio: 1}}.verdict())
	require.Equal(t, "short", row{ours: one, ratio: one, goal: goal{ratio: 0.9}}.verdict())
	require.Equal(t, "met", row{ours: one, goal: goal{within: time.Second}}.verdict())
	require.Equal(t, "short", row{ours: one, goal: goal{within: time.Millisecond}}.verdict())
	require.Equal(t, "-", row{ours: one, ratio: one}.verdict())
	require.Equal(t, "not measured", row{goal: goal{within: time.Second}}.verdict())
}

func TestAbsentPeersAreNamedWithTheReason(t *testing.T) {
	p := peers{t.TempDir()}
	require.Equal(t, "it was not installed", p.missing("jv"))
	require.NoError(t, writeFile(filepath.Join(p.dir, "absent", "jv"), []byte("the network is down\n")))
	require.Equal(t, "the network is down", p.missing("jv"))
	require.NoError(t, writeFile(p.path("ajv"), nil))
	require.Empty(t, p.missing("ajv"))

	var out bytes.Buffer
	printRows(&out, []row{{work: "validate", ours: spread{1, 0.5, 0.5, 0.5}, peer: "jv", missing: p.missing("jv"), goal: goal{ratio: 0.9}}})
	require.Contains(t, out.String(), "absent: the network is down")
	require.Contains(t, out.String(), "not measured")
}

// Peers and sbxgen must agree that the manifests are right, or they would not
// do the same work.
func TestGeneratedManifestsPassTheGateAndDiffer(t *testing.T) {
	dir := t.TempDir()
	files, err := writeManifests(root, dir, 12)
	require.NoError(t, err)
	set, stats, err := gate.Validate(t.Context(), gate.Options{Root: dir, Strict: true, NoCache: true})
	require.NoError(t, err)
	require.NoError(t, set.Err())
	require.Equal(t, 12, stats.Files)
	seen := map[string]bool{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NotContains(t, string(text), "ACME_")
		seen[string(text)] = true
	}
	require.Len(t, seen, 12)
}

func TestFiftyProvidersDifferInNameAlone(t *testing.T) {
	b := &bench{checkout: root, dir: t.TempDir()}
	f, err := newFifty(b, 0)
	require.NoError(t, err)
	files, err := f.visible()
	require.NoError(t, err)
	require.Len(t, files, providerCount)
	first := f.dir
	require.NoError(t, f.again(t.Context()))
	require.NotEqual(t, first, f.dir)
	text, err := os.ReadFile(filepath.Join(f.providers(), "p07", "provider.yaml"))
	require.NoError(t, err)
	require.True(t, strings.Contains(string(text), "\nid: p07\n"))
}

func TestUsage(t *testing.T) {
	var out, log bytes.Buffer
	require.Equal(t, 2, run(t.Context(), []string{"-n", "0", "-peers", "x"}, &out, &log))
	require.Equal(t, 2, run(t.Context(), []string{"-no-such-flag"}, &out, &log))
	require.Equal(t, 2, run(t.Context(), nil, &out, &log))
	require.Equal(t, 0, run(t.Context(), []string{"-peers", t.TempDir(), "-checkout", root, "-run", "^$"}, &out, &log))
	require.Contains(t, out.String(), "| work")
	require.Equal(t, 1, run(t.Context(), []string{"-peers", t.TempDir(), "-checkout", root, "-run", "check"}, &out, &log), "sbxgen is not there")
}

// The peers' schema is the one the manifests are made for.
func TestTheShapeIsAManifest(t *testing.T) {
	src, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(shape)))
	require.NoError(t, err)
	require.True(t, json.Valid(src))
	_, err = manifestText([]byte(`{"id": "x"}`), 0)
	require.Error(t, err)
}

package ledger

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestScanTellsLiveFromDead(t *testing.T) {
	dirs := Dirs{Root: t.TempDir()}
	runs, err := Scan(t.Context(), dirs)
	require.NoError(t, err)
	require.Empty(t, runs)

	start := func(owner, host string) *Writer {
		w, err := Start(t.Context(), Options{Dirs: dirs, Clock: tick(), Identity: Identity{Owner: owner, Host: host, Boot: "b-1"}})
		require.NoError(t, err)
		return w
	}
	live, dead, other := start("owner-one", "m-1"), start("owner-one", "m-2"), start("owner-two", "m-1")
	require.NoError(t, dead.Close())
	require.NoError(t, other.Close())
	empty := dirs.RunFile("owner-one", "20270101T000000Z-000000000000")
	require.NoError(t, os.WriteFile(empty, []byte(`{"v":1`), 0o600))
	damaged := dirs.RunFile("owner-one", "20270101T000000Z-000000000001")
	require.NoError(t, os.WriteFile(damaged, []byte("no record\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dirs.OwnerDir("owner-one"), "notes.jsonl"), nil, 0o600))
	require.NoError(t, os.MkdirAll(dirs.Path("ledger", "Not An Owner"), 0o700))

	runs, err = Scan(t.Context(), dirs)
	require.NoError(t, err)
	byPath := map[string]RunInfo{}
	for _, r := range runs {
		byPath[r.Path] = r
	}
	require.Len(t, byPath, 5)
	require.Equal(t, Alive, byPath[live.Path()].Liveness)
	require.Equal(t, Dead, byPath[dead.Path()].Liveness)
	require.Equal(t, "m-2", byPath[dead.Path()].Host)
	require.Equal(t, "b-1", byPath[dead.Path()].Boot)
	require.Equal(t, dead.Run(), byPath[dead.Path()].Run)
	require.False(t, byPath[dead.Path()].Started.IsZero())
	require.Equal(t, "owner-two", byPath[other.Path()].Owner)
	require.Equal(t, Empty, byPath[empty].Liveness)
	var corrupt *CorruptError
	require.ErrorAs(t, byPath[damaged].Err, &corrupt)
	require.Equal(t, Dead, byPath[damaged].Liveness)

	_, err = ScanOwner(t.Context(), dirs, "../x")
	var invalid *InvalidError
	require.ErrorAs(t, err, &invalid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Scan(ctx, dirs)
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, live.Close())
}

func TestOpenDeadRefuses(t *testing.T) {
	w := startTest(t)
	by := "20270101T000000Z-0123456789ab"
	_, _, err := OpenDead(t.Context(), w.Path(), by, Options{})
	require.ErrorIs(t, err, ErrAlive)
	_, _, err = OpenDead(t.Context(), w.Path(), "me", Options{})
	var invalid *InvalidError
	require.ErrorAs(t, err, &invalid)
	_, _, err = OpenDead(t.Context(), w.Path()+"x", by, Options{})
	require.ErrorIs(t, err, os.ErrNotExist)

	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.jsonl")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	_, _, err = OpenDead(t.Context(), empty, by, Options{})
	require.ErrorIs(t, err, ErrNoRun)

	raw, err := os.ReadFile(w.Path())
	require.NoError(t, err)
	bad := filepath.Join(dir, "bad.jsonl")
	require.NoError(t, os.WriteFile(bad, append(raw, "{}\n"...), 0o600))
	for range 2 { // the refusal gives the lock back
		_, log, err := OpenDead(t.Context(), bad, by, Options{})
		var corrupt *CorruptError
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, bad, corrupt.Path)
		require.Len(t, log.Records, 1)
	}

	// A probe that never ends is waited for as long as ctx allows, and is not "alive".
	dead := filepath.Join(dir, "dead.jsonl")
	require.NoError(t, os.WriteFile(dead, raw, 0o600))
	probing := flock.New(lockName(dead))
	ok, err := probing.TryRLock()
	require.NoError(t, err)
	require.True(t, ok)
	liveness, err := probe(dead)
	require.NoError(t, err)
	require.Equal(t, Dead, liveness, "probes do not take one another for a run")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, _, err = OpenDead(ctx, dead, by, Options{})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, probing.Unlock())
	reaper, _, err := OpenDead(t.Context(), dead, by, Options{})
	require.NoError(t, err)
	_, _, err = OpenDead(t.Context(), dead, by, Options{})
	require.ErrorIs(t, err, ErrAlive, "one reaper at a time")
	require.NoError(t, reaper.Close())
	log, err := Read(dead)
	require.NoError(t, err)
	require.Len(t, log.Records, 1, "a reaper that found nothing to do writes nothing")
}

// TestProbesDisturbNobody scans without pause while runs start, end and are taken
// over: none of them may fail, and no starting or live run may ever look dead.
func TestProbesDisturbNobody(t *testing.T) {
	dirs := Dirs{Root: t.TempDir()}
	opts := Options{Dirs: dirs, Identity: testIdentity()}
	ctx, stop := context.WithCancel(t.Context())
	var ended sync.Map // runs whose Close has begun; no other may look dead
	var scanners, runs sync.WaitGroup
	for range 3 {
		scanners.Go(func() {
			for ctx.Err() == nil {
				entries, err := readDir(dirs.OwnerDir("owner-one"))
				assert.NoError(t, err)
				for _, entry := range entries {
					run := strings.TrimSuffix(entry.Name(), runExt)
					info := inspect(dirs, "owner-one", run)
					assert.NoError(t, info.Err)
					if info.Liveness == Dead {
						_, ok := ended.Load(run)
						assert.True(t, ok, "%s looked dead before its end", run)
					}
				}
			}
		})
	}
	for range 3 {
		runs.Go(func() {
			for range 15 {
				w, err := Start(context.Background(), opts)
				if !assert.NoError(t, err) {
					return
				}
				_, err = w.Append(intentRecord("i"))
				assert.NoError(t, err)
				ended.Store(w.Run(), true)
				assert.NoError(t, w.Close())
				reaper, _, err := OpenDead(context.Background(), w.Path(), "20270101T000000Z-0123456789ab", opts)
				if !assert.NoError(t, err) {
					return
				}
				_, err = reaper.Append(Record{Event: EventRecovered})
				assert.NoError(t, err)
				assert.NoError(t, reaper.Close())
			}
		})
	}
	runs.Wait()
	stop()
	scanners.Wait()
	all, err := Scan(t.Context(), dirs)
	require.NoError(t, err)
	require.Len(t, all, 45)
	for _, info := range all {
		require.Equal(t, Dead, info.Liveness)
		rep, err := Verify(info.Path)
		require.NoError(t, err)
		require.True(t, rep.OK(), "%v", rep.Findings)
	}
}

func TestFind(t *testing.T) {
	dirs := Dirs{Root: t.TempDir()}
	opts := Options{Dirs: dirs, Identity: testIdentity(), Clock: tick()}
	const id = `id-"<1>`
	var paths []string
	for range 2 {
		w, err := Start(t.Context(), opts)
		require.NoError(t, err)
		appendAll(t, w, intentRecord("a"), withID(event(EventCreated, "a"), id),
			intentRecord("b"), withID(event(EventCreated, "b"), id+"2"))
		require.NoError(t, w.Close())
		paths = append(paths, w.Path())
	}
	found, err := Find(t.Context(), dirs, "owner-one", "docker", "engine-1", id)
	require.NoError(t, err)
	require.Len(t, found, 2)
	for i, f := range found {
		require.Equal(t, paths[i], f.Path)
		require.Equal(t, "a", f.Entry.Intent)
	}
	for _, key := range [][3]string{{"docker", "engine-2", id}, {"gvisor", "engine-1", id}, {"docker", "engine-1", "id"}} {
		found, err = Find(t.Context(), dirs, "owner-one", key[0], key[1], key[2])
		require.NoError(t, err)
		require.Empty(t, found)
	}
	found, err = Find(t.Context(), dirs, "owner-two", "docker", "engine-1", id)
	require.NoError(t, err)
	require.Empty(t, found)

	// Damage in one file is said and does not hide the others.
	raw, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(paths[0], append(raw, "{}\n"...), 0o600))
	found, err = Find(t.Context(), dirs, "owner-one", "docker", "engine-1", id)
	var corrupt *CorruptError
	require.ErrorAs(t, err, &corrupt)
	require.Equal(t, paths[0], corrupt.Path)
	require.Len(t, found, 2)
}

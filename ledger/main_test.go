package ledger

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMain lets the test binary play the other process.
func TestMain(m *testing.M) {
	dirs := Dirs{Root: os.Getenv("LEDGER_TEST_ROOT")}
	var err error
	switch os.Getenv("LEDGER_TEST_CHILD") {
	case "":
		os.Exit(m.Run())
	case "append":
		err = childAppend(dirs)
	case "owner":
		var owner string
		owner, err = Owner(context.Background(), dirs, noEnv)
		fmt.Print(owner)
	case "lease":
		err = childLease(dirs)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(t *testing.T, role string, dirs Dirs) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "LEDGER_TEST_CHILD="+role, "LEDGER_TEST_ROOT="+dirs.Root)
	cmd.Stderr = os.Stderr
	return cmd
}

// childAppend appends from four goroutines until it is killed and prints each
// acknowledged seq with one write.
func childAppend(dirs Dirs) error {
	w, err := Start(context.Background(), Options{Dirs: dirs, Identity: testIdentity()})
	if err != nil {
		return err
	}
	fmt.Println(w.Path())
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := 0; err == nil; i++ {
				r, appendErr := w.Append(intentRecord(fmt.Sprintf("i-%d-%d", g, i)))
				if appendErr != nil {
					return
				}
				fmt.Printf("%d %s\n", r.Seq, r.Intent)
			}
		})
	}
	wg.Wait()
	return fmt.Errorf("an append failed")
}

func noEnv(string) string { return "" }

func testIdentity() Identity { return Identity{Owner: "owner-one", Host: "m-host", Boot: "b-boot"} }

// tick is a clock that moves one second per call.
func tick() func() time.Time {
	var mu sync.Mutex
	now := time.Date(2026, 11, 29, 14, 25, 16, 0, time.UTC)
	return func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		now = now.Add(time.Second)
		return now
	}
}

func testOptions(t testing.TB) Options {
	return Options{Dirs: Dirs{Root: t.TempDir()}, Identity: testIdentity(), Clock: tick()}
}

func startTest(t testing.TB) *Writer {
	t.Helper()
	w, err := Start(t.Context(), testOptions(t))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

func intentRecord(intent string) Record {
	return Record{Event: EventIntent, Kind: KindSandbox, Provider: "docker", Scope: "engine-1",
		Intent: intent, Name: "box-" + intent, Disposition: Scoped}
}

func event(e Event, intent string) Record { return Record{Event: e, Intent: intent} }

func withID(r Record, id string) Record { r.ID = id; return r }

func appendAll(t testing.TB, w *Writer, records ...Record) {
	t.Helper()
	for _, r := range records {
		_, err := w.Append(r)
		require.NoError(t, err)
	}
}

// script is a run with one of everything.
func script() []Record {
	kept := intentRecord("b")
	kept.Disposition, kept.Secrets = Kept, []string{"API_TOKEN"}
	kept.Labels = map[string]string{"z": "1", "a": "<&>"}
	snap := intentRecord("s")
	snap.Kind, snap.Parent = KindSnapshot, "id-a"
	adopted := withID(intentRecord("f"), "id-f")
	adopted.Event = EventAdopted
	return []Record{
		intentRecord("a"), withID(event(EventCreated, "a"), "id-a"),
		kept, withID(event(EventCreated, "b"), "id-b"),
		intentRecord("c"), event(EventCreateFailed, "c"),
		event(EventStopRequested, "a"), event(EventStopDone, "a"),
		event(EventSnapshotRequested, "a"), snap, withID(event(EventCreated, "s"), "id-s"), event(EventSnapshotDone, "a"),
		adopted, event(EventTransferred, "f"),
		event(EventDestroyRequested, "a"), event(EventDestroyed, "a"), event(EventVerifiedGone, "a"),
		event(EventDestroyRequested, "s"), event(EventDestroyFailed, "s"), event(EventLeaked, "s"),
		intentRecord("d"),
	}
}

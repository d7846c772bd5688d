package ledger

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLinesAreExactBytes(t *testing.T) {
	opts := testOptions(t)
	opts.Rand = bytes.NewReader([]byte{0, 1, 2, 3, 4, 0xab})
	w, err := Start(t.Context(), opts)
	require.NoError(t, err)
	r := intentRecord("i1")
	r.Name, r.Labels = `a<b>&"`, map[string]string{"z": "1", "a": "2"}
	r.ReapAfter = time.Date(2026, 12, 1, 1, 0, 0, 5, time.FixedZone("", 3600))
	appendAll(t, w, r)
	require.NoError(t, w.Close())

	require.Equal(t, "20261129T142517Z-0001020304ab", w.Run())
	require.Equal(t, opts.Dirs.RunFile("owner-one", w.Run()), w.Path())
	raw, err := os.ReadFile(w.Path())
	require.NoError(t, err)
	lines := bytes.SplitAfter(raw, []byte("\n"))
	require.Len(t, lines, 4)
	common := `"run":"20261129T142517Z-0001020304ab","owner":"owner-one","host":"m-host","boot":"b-boot",`
	require.Equal(t, `{"v":1,"seq":1,"prevHash":"`+strings.Repeat("0", 64)+`","at":"2026-11-29T14:25:18Z",`+
		common+`"event":"run-started"}`+"\n", string(lines[0]))
	sum := sha256.Sum256(lines[0])
	require.Equal(t, `{"v":1,"seq":2,"prevHash":"`+hex.EncodeToString(sum[:])+`","at":"2026-11-29T14:25:19Z",`+
		common+`"event":"intent","kind":"sandbox","provider":"docker","scope":"engine-1","intent":"i1",`+
		`"name":"a<b>&\"","disposition":"scoped","reapAfter":"2026-12-01T00:00:00.000000005Z",`+
		`"labels":{"a":"2","z":"1"}}`+"\n", string(lines[1]))
	require.Contains(t, string(lines[2]), `"event":"run-ended"}`)
	require.Empty(t, lines[3])
}

func TestWhatIsReadIsWhatWasAppended(t *testing.T) {
	w := startTest(t)
	var want []Record
	for _, r := range script() {
		got, err := w.Append(r)
		require.NoError(t, err)
		want = append(want, got)
	}
	log, err := Read(w.Path())
	require.NoError(t, err)
	require.Equal(t, want, log.Records[1:])
	require.False(t, log.Ended())
	require.NoError(t, w.Close())
	log, err = Read(w.Path())
	require.NoError(t, err)
	require.True(t, log.Ended())
}

func TestTextIsRedactedBeforeItIsCut(t *testing.T) {
	const secret = "dummy-credential-0123456789"
	opts := testOptions(t)
	opts.Redact = func(s string) string { return strings.ReplaceAll(s, secret, "[redacted]") }
	w, err := Start(t.Context(), opts)
	require.NoError(t, err)
	r := intentRecord("i1")
	r.Labels = map[string]string{"note": "x " + secret}
	appendAll(t, w, r)
	r = event(EventObserved, "i1")
	r.Outcome = secret
	r.Reason = strings.Repeat("x", maxText-10) + secret + strings.Repeat("y", 10) + "\xff"
	got, err := w.Append(r)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.LessOrEqual(t, len(got.Reason), maxText+len(" [cut]"))
	raw, err := os.ReadFile(w.Path())
	require.NoError(t, err)
	require.NotContains(t, string(raw), "dummy-cred")
	require.Contains(t, string(raw), "[redacted]")
	_, err = Read(w.Path())
	require.NoError(t, err)
}

func TestInvalidRecordsAreRefusedAndWriteNothing(t *testing.T) {
	w := startTest(t)
	for name, c := range map[string]struct {
		field  string
		change func(*Record)
	}{
		"event":           {"event", func(r *Record) { r.Event = "destroid" }},
		"own event":       {"event", func(r *Record) { r.Event = EventRunEnded }},
		"kind":            {"kind", func(r *Record) { r.Kind = "pod" }},
		"no kind":         {"kind", func(r *Record) { r.Kind = "" }},
		"no provider":     {"provider", func(r *Record) { r.Provider = "" }},
		"disposition":     {"disposition", func(r *Record) { r.Disposition = "keep" }},
		"no disposition":  {"disposition", func(r *Record) { r.Disposition = "" }},
		"no intent":       {"intent", func(r *Record) { r.Intent = "" }},
		"created no id":   {"id", func(r *Record) { r.Event = EventCreated }},
		"adopted no id":   {"id", func(r *Record) { r.Event = EventAdopted }},
		"recovered no id": {"id", func(r *Record) { r.Event = EventRecovered }},
		"utf-8 id":        {"id", func(r *Record) { r.ID = "a\xff" }},
		"utf-8 label":     {"labels", func(r *Record) { r.Labels = map[string]string{"\xff": ""} }},
		"huge":            {"record", func(r *Record) { r.Name = strings.Repeat("n", maxLine) }},
		"year":            {"record", func(r *Record) { r.ReapAfter = time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC) }},
	} {
		r := intentRecord("i1")
		c.change(&r)
		_, err := w.Append(r)
		var invalid *InvalidError
		require.ErrorAs(t, err, &invalid, name)
		require.Equal(t, c.field, invalid.Field, name)
	}
	appendAll(t, w, intentRecord("i1"))
	log, err := Read(w.Path())
	require.NoError(t, err)
	require.Len(t, log.Records, 2)
}

func TestConcurrentAppendsAreAllThereInOrder(t *testing.T) {
	w := startTest(t)
	const goroutines, each = 16, 25
	var wg sync.WaitGroup
	acked := make([][]Record, goroutines)
	for g := range goroutines {
		wg.Go(func() {
			for i := range each {
				r, err := w.Append(intentRecord(fmt.Sprintf("%d-%d", g, i)))
				if err != nil {
					t.Error(err)
					return
				}
				acked[g] = append(acked[g], r)
			}
		})
	}
	wg.Wait()
	log, err := Read(w.Path())
	require.NoError(t, err)
	require.Len(t, log.Records, 1+goroutines*each)
	for _, records := range acked {
		for i, r := range records {
			require.Equal(t, r, log.Records[r.Seq-1])
			require.True(t, i == 0 || records[i-1].Seq < r.Seq)
		}
	}
}

func TestCloseWaitsAndRefuses(t *testing.T) {
	w, err := Start(t.Context(), testOptions(t))
	require.NoError(t, err)
	var wg sync.WaitGroup
	var mu sync.Mutex
	var acked uint64
	for range 8 {
		wg.Go(func() {
			for i := 0; ; i++ {
				_, err := w.Append(intentRecord(fmt.Sprint(i)))
				if err != nil {
					assert.ErrorIs(t, err, ErrClosed)
					return
				}
				mu.Lock()
				acked++
				mu.Unlock()
				if i == 10 {
					assert.NoError(t, w.Close())
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, w.Close())
	log, err := Read(w.Path())
	require.NoError(t, err)
	require.True(t, log.Ended())
	require.Len(t, log.Records, int(acked)+2)
	require.Equal(t, EventRunEnded, log.Records[len(log.Records)-1].Event)
}

// An intent in a file that nobody finds any more is not durable.
func TestAFileThatIsTakenAwayTakesNoIntents(t *testing.T) {
	for name, take := range map[string]func(path string) error{
		"removed": os.Remove,
		"replaced": func(path string) error {
			return errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o600))
		},
		"with its folder": func(path string) error { return os.RemoveAll(filepath.Dir(path)) },
	} {
		t.Run(name, func(t *testing.T) {
			w, err := Start(t.Context(), testOptions(t))
			require.NoError(t, err)
			appendAll(t, w, intentRecord("i1"))
			require.NoError(t, take(w.Path()))
			var lost *LostError
			_, err = w.Append(intentRecord("i2"))
			require.ErrorAs(t, err, &lost)
			created := intentRecord("i1")
			created.Event, created.ID, created.Disposition, created.Labels = EventCreated, "box-1", "", nil
			appendAll(t, w, created)
			require.NoError(t, w.Close())
		})
	}
}

func TestStartRefuses(t *testing.T) {
	opts := testOptions(t)
	opts.Identity.Owner = "../up"
	_, err := Start(t.Context(), opts)
	var invalid *InvalidError
	require.ErrorAs(t, err, &invalid)
	_, err = Start(t.Context(), Options{Identity: testIdentity(), Dirs: Dirs{Root: "relative"}})
	require.ErrorAs(t, err, &invalid)

	// The same run cannot be made twice.
	opts = testOptions(t)
	opts.Clock = func() time.Time { return time.Unix(1e9, 0) }
	opts.Rand = bytes.NewReader(make([]byte, 2*runRandLen))
	w, err := Start(t.Context(), opts)
	require.NoError(t, err)
	_, err = Start(t.Context(), opts)
	require.ErrorIs(t, err, fs.ErrExist)
	require.NoError(t, w.Close())
}

// FuzzRecord: whatever fits into a record comes back unchanged, and the encoding
// of what came back is the same line.
func FuzzRecord(f *testing.F) {
	f.Add("id", "name\u2028<&>", "reason", "key", int64(1e9))
	f.Add("\x00", "\"\\", "a\nb", "é", int64(-1))
	f.Fuzz(func(t *testing.T, id, name, reason, key string, sec int64) {
		r := intentRecord("i")
		r.ID, r.Name, r.Reason, r.Labels = id, name, reason, map[string]string{key: reason}
		r.ReapAfter = time.Unix(sec%4e10, 7).UTC()
		var refused *InvalidError
		if err := validate(&r); err != nil { // refused by name, and nothing else is
			require.ErrorAs(t, err, &refused)
			return
		}
		clean(&r, nil)
		line, err := encode(&r)
		if err != nil {
			require.ErrorAs(t, err, &refused)
			return
		}
		if bytes.Count(line, []byte("\n")) != 1 {
			t.Fatalf("more than one line: %q", line)
		}
		var back Record
		require.NoError(t, json.Unmarshal(line, &back))
		require.Equal(t, r, back)
		again, err := encode(&back)
		require.NoError(t, err)
		require.Equal(t, line, again)
	})
}

func BenchmarkAppend(b *testing.B) {
	opts := testOptions(b)
	w, err := Start(context.Background(), opts)
	require.NoError(b, err)
	b.Run("one", func(b *testing.B) {
		for i := range b.N {
			appendAll(b, w, intentRecord(fmt.Sprint(i)))
		}
	})
	b.Run("sixteen-at-once", func(b *testing.B) {
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := w.Append(intentRecord("i")); err != nil {
					b.Error(err)
				}
			}
		})
	})
	b.Run("bare-write-and-fsync", func(b *testing.B) {
		f, err := os.Create(filepath.Join(b.TempDir(), "bare"))
		require.NoError(b, err)
		line := bytes.Repeat([]byte("x"), 460)
		for i := range b.N {
			require.NoError(b, writeBatch(f, line, int64(i*len(line)), 0))
		}
		require.NoError(b, f.Close())
	})
	require.NoError(b, w.Close())
}

func BenchmarkReplay100k(b *testing.B) {
	w := &Writer{opts: testOptions(b).withDefaults(), f: &memFile{}, prev: firstHash(), run: "r", owner: "o"}
	_, err := w.append(Record{Event: EventRunStarted}, false)
	require.NoError(b, err)
	var buf bytes.Buffer
	for i := range 50_000 {
		in := fmt.Sprintf("%032x", i)
		for _, r := range []Record{intentRecord(in), withID(event(EventCreated, in), "id-"+in)} {
			_, err := w.enqueue(&r, false)
			require.NoError(b, err)
		}
	}
	buf.Write(w.f.(*memFile).current)
	buf.Write(w.next.buf)
	b.SetBytes(int64(buf.Len()))
	for b.Loop() {
		log, err := Parse(bytes.NewReader(buf.Bytes()))
		require.NoError(b, err)
		require.Len(b, Fold(log.Records).Entries, 50_000)
	}
}

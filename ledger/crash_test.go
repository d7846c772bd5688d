package ledger

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// memFile is a disk that loses what was not synced. Before and after every
// operation it shows, to crash, each content a crash at that moment may leave.
type memFile struct {
	durable, current []byte
	crash            func(image []byte)
	fail             func(op string) error
	lyingSync        bool
}

func (m *memFile) moment() {
	if m.crash == nil {
		return
	}
	m.crash(bytes.Clone(m.durable))
	m.crash(bytes.Clone(m.current))
	if n := len(m.durable); n < len(m.current) {
		m.crash(append(bytes.Clone(m.durable), m.current[n:(n+len(m.current))/2]...))
	}
}

func (m *memFile) op(name string) error {
	m.moment()
	if m.fail != nil {
		return m.fail(name)
	}
	return nil
}

func (m *memFile) WriteAt(p []byte, off int64) (int, error) {
	err := m.op("write")
	if err != nil {
		p = p[:len(p)/2] // a failing write leaves a part behind
	}
	if end := int(off) + len(p); end > len(m.current) {
		m.current = append(m.current, make([]byte, end-len(m.current))...)
	}
	m.current = bytes.Clone(m.current)
	n := copy(m.current[off:], p)
	m.moment()
	return n, err
}

func (m *memFile) Truncate(size int64) error {
	if err := m.op("truncate"); err != nil {
		return err
	}
	m.current = m.current[:size]
	return nil
}

func (m *memFile) Sync() error {
	if err := m.op("sync"); err != nil {
		return err
	}
	if !m.lyingSync {
		m.durable = bytes.Clone(m.current)
	}
	m.moment()
	return nil
}

func (m *memFile) Close() error { m.moment(); return nil }

func memWriter(m *memFile) *Writer {
	return &Writer{opts: Options{Identity: testIdentity(), Clock: tick()}.withDefaults(),
		path: "mem", run: "20261129T142516Z-000000000000", owner: "owner-one", f: m, prev: firstHash()}
}

func TestEveryTruncationIsAPrefix(t *testing.T) {
	w := startTest(t)
	appendAll(t, w, script()...)
	raw, err := os.ReadFile(w.Path())
	require.NoError(t, err)
	full, err := Read(w.Path())
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "cut.jsonl")
	require.NoError(t, os.WriteFile(path, raw, 0o600))
	for size := len(raw); size >= 0; size-- {
		require.NoError(t, os.Truncate(path, int64(size)))
		whole := bytes.Count(raw[:size], []byte("\n"))
		tail := size - (bytes.LastIndexByte(raw[:size], '\n') + 1)
		log, err := Read(path)
		if whole == 0 {
			require.ErrorIs(t, err, ErrNoRun)
		} else {
			require.NoError(t, err, "size %d", size)
			require.Equal(t, full.Records[:whole], log.Records)
			require.Equal(t, Fold(full.Records[:whole]), Fold(log.Records))
		}
		require.Equal(t, tail > 0, log.Torn)
		require.EqualValues(t, tail, log.TornBytes)
		require.EqualValues(t, size-tail, log.Size)
		rep, err := Verify(path)
		require.NoError(t, err)
		require.Equal(t, whole > 0, rep.OK(), "size %d: %v", size, rep.Findings)
	}
}

func TestDamageIsSeen(t *testing.T) {
	w := startTest(t)
	appendAll(t, w, script()...)
	raw, err := os.ReadFile(w.Path())
	require.NoError(t, err)
	lines := bytes.SplitAfter(raw, []byte("\n"))
	lines = lines[:len(lines)-1]
	corruptAt := func(line int, parts ...[]byte) {
		t.Helper()
		log, err := Parse(bytes.NewReader(bytes.Join(parts, nil)))
		var corrupt *CorruptError
		require.ErrorAs(t, err, &corrupt)
		require.Equal(t, line, corrupt.Line)
		require.Len(t, log.Records, line-1)
	}
	for i := 1; i < len(lines)-1; i++ {
		before, after := bytes.Join(lines[:i], nil), bytes.Join(lines[i+1:], nil)
		corruptAt(i+1, before, after)                              // removed
		corruptAt(i+2, before, lines[i], lines[i], after)          // doubled
		corruptAt(i+1, before, lines[i+1], lines[i])               // swapped
		corruptAt(i+1, before, []byte("\n"), lines[i], after)      // a blank line
		corruptAt(i+1, before, lines[i][:10], []byte("\n"), after) // cut
		forged := bytes.Replace(lines[i], []byte("m-host"), []byte("m-hoax"), 1)
		require.NotEqual(t, lines[i], forged)
		corruptAt(i+2, before, forged, after) // changed
	}
	corruptAt(1, []byte("null\n"))
	corruptAt(1, bytes.Replace(lines[0], []byte(`"v":1`), []byte(`"v":2`), 1))
	corruptAt(1, bytes.Replace(lines[0], []byte(`run-started`), []byte(`intent`), 1))
	corruptAt(2, lines[0], bytes.Repeat([]byte("x"), maxLine+1), []byte("\n"))
}

// lost runs appenders over m and reports how many acknowledged records some crash
// image lacks.
func lost(t *testing.T, m *memFile, goroutines int) (missing, images int) {
	t.Helper()
	w := memWriter(m)
	_, err := w.append(Record{Event: EventRunStarted}, false)
	require.NoError(t, err)
	var acked sync.Map
	m.crash = func(image []byte) {
		images++
		var must []uint64
		acked.Range(func(k, _ any) bool { must = append(must, k.(uint64)); return true })
		log, err := Parse(bytes.NewReader(image))
		if err != nil && !errors.Is(err, ErrNoRun) {
			t.Errorf("crash image: %v", err)
		}
		for _, seq := range must {
			if seq > uint64(len(log.Records)) {
				missing++
			}
		}
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range 40 / goroutines {
				r, err := w.Append(intentRecord(fmt.Sprintf("%d-%d", g, i)))
				if err != nil {
					t.Error(err)
					return
				}
				acked.Store(r.Seq, true)
			}
		})
	}
	wg.Wait()
	require.NoError(t, w.Close())
	return missing, images
}

func TestAcknowledgedSurvivesTheLossOfUnsyncedBytes(t *testing.T) {
	for _, goroutines := range []int{1, 8} {
		missing, images := lost(t, &memFile{}, goroutines)
		require.Zero(t, missing)
		require.Greater(t, images, 20)
	}
	missing, _ := lost(t, &memFile{lyingSync: true}, 1)
	require.NotZero(t, missing, "a disk that does not sync must be noticed by this test")
}

func TestAFailedWritePoisons(t *testing.T) {
	broken := errors.New("disk is gone")
	for failAt := 1; failAt <= 12; failAt++ {
		ops := 0
		m := &memFile{}
		m.fail = func(string) error {
			if ops++; ops == failAt {
				return broken
			}
			return nil
		}
		w := memWriter(m)
		acked := 0
		for i := range 10 {
			_, err := w.append(intentRecord(fmt.Sprint(i)), false)
			if err == nil {
				acked++
				continue
			}
			var poisoned *PoisonedError
			require.ErrorAs(t, err, &poisoned)
			require.ErrorIs(t, err, broken)
		}
		require.Equal(t, (failAt-1)/2, acked)
		require.Equal(t, failAt, ops, "nothing touches the file after the failure")
		require.Equal(t, acked, bytes.Count(m.durable, []byte("\n")))
		require.NoError(t, w.Close())
		require.Equal(t, failAt, ops)
	}
}

func TestPoisonReachesEverybodyWaiting(t *testing.T) {
	var failing atomic.Bool
	m := &memFile{fail: func(string) error {
		if failing.Load() {
			return errors.New("disk is gone")
		}
		return nil
	}}
	w := memWriter(m)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i := 0; ; i++ {
				if _, err := w.append(intentRecord("i"), false); err != nil {
					var poisoned *PoisonedError
					assert.ErrorAs(t, err, &poisoned)
					return
				}
				if i == 20 {
					failing.Store(true)
				}
			}
		})
	}
	wg.Wait()
	require.NoError(t, w.Close())
}

func TestHealingATornTailAtEveryByte(t *testing.T) {
	w := startTest(t)
	appendAll(t, w, script()[:6]...)
	raw, err := os.ReadFile(w.Path())
	require.NoError(t, err)
	first := bytes.IndexByte(raw, '\n') + 1
	dir := t.TempDir()
	path := filepath.Join(dir, "20261129T142516Z-0123456789ab.jsonl")
	by := "20261130T000000Z-ba9876543210"
	for size := first; size <= len(raw); size++ {
		require.NoError(t, os.WriteFile(path, raw[:size], 0o600))
		reaper, log, err := OpenDead(t.Context(), path, by, Options{Identity: Identity{Host: "m-2"}, Clock: tick()})
		require.NoError(t, err)
		before := len(log.Records)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, raw[:size], after, "opening changes nothing")
		appendAll(t, reaper, Record{Event: EventRecovered, Reason: "x"}, Record{Event: EventRecovered})
		require.NoError(t, reaper.Close())
		healed, err := Read(path)
		require.NoError(t, err)
		require.False(t, healed.Torn)
		require.Len(t, healed.Records, before+2)
		require.Equal(t, log.TornBytes, healed.Records[before].HealedBytes)
		require.Zero(t, healed.Records[before+1].HealedBytes)
		require.Equal(t, by, healed.Records[before].By)
		require.Equal(t, w.Run(), healed.Records[before].Run)
		require.Equal(t, "m-2", healed.Records[before].Host)
	}
}

func TestACrashWhileHealingLosesNothing(t *testing.T) {
	m := &memFile{}
	w := memWriter(m)
	_, err := w.append(Record{Event: EventRunStarted}, false)
	require.NoError(t, err)
	appendAll(t, w, script()[:4]...)
	whole := bytes.Clone(m.durable)
	for _, torn := range []string{"{", `{"v":1,"seq":9}`, strings.Repeat("\x00", 5000), strings.Repeat("}", 700)} {
		images := 0
		check := func(image []byte) {
			images++
			log, err := Parse(bytes.NewReader(image))
			require.NoError(t, err)
			require.GreaterOrEqual(t, len(log.Records), 5)
		}
		content := append(bytes.Clone(whole), torn...)
		disk := &memFile{durable: content, current: content, crash: check}
		heal := memWriter(disk)
		heal.seq, heal.prev, heal.by = w.seq, w.prev, "20261130T000000Z-ba9876543210"
		heal.off, heal.torn, heal.healed = int64(len(whole)), int64(len(torn)), int64(len(torn))
		r := Record{Event: EventRecovered, Reason: "took over"}
		line := func() []byte { // the bytes that will be written, to try every partial write
			probe := *r.clone()
			twin := memWriter(&memFile{current: bytes.Clone(content)})
			twin.seq, twin.prev, twin.by = heal.seq, heal.prev, heal.by
			twin.off, twin.torn, twin.healed = heal.off, heal.torn, heal.healed
			appendAll(t, twin, probe)
			return twin.f.(*memFile).current[len(whole):]
		}()
		for n := range line {
			image := bytes.Clone(content)
			if end := len(whole) + n; end > len(image) {
				image = append(image, make([]byte, end-len(image))...)
			}
			copy(image[len(whole):], line[:n])
			check(image)
		}
		appendAll(t, heal, r)
		require.NoError(t, heal.Close())
		log, err := Parse(bytes.NewReader(disk.durable))
		require.NoError(t, err)
		require.False(t, log.Torn)
		require.Len(t, log.Records, 6)
		require.Greater(t, images, 300)
	}
}

func (r *Record) clone() *Record { c := *r; return &c }

func TestSIGKILLLosesNothingAcknowledged(t *testing.T) {
	kills := 30
	if testing.Short() {
		kills = 5
	}
	total := 0
	for range kills {
		total += killOnce(t, Dirs{Root: t.TempDir()})
	}
	require.Greater(t, total, kills)
	t.Logf("%d records acknowledged before %d kills", total, kills)
}

// killOnce kills an appending process at a random moment after a random number of
// acknowledged records and returns how many were acknowledged.
func killOnce(t *testing.T, dirs Dirs) int {
	cmd := child(t, "append", dirs)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewReader(out)
	path, err := lines.ReadString('\n')
	require.NoError(t, err)
	path = strings.TrimSpace(path)
	live, err := Scan(t.Context(), dirs)
	require.NoError(t, err)
	require.Len(t, live, 1)
	require.Equal(t, Alive, live[0].Liveness)
	_, _, err = OpenDead(t.Context(), path, "20261130T000000Z-ba9876543210", Options{})
	require.ErrorIs(t, err, ErrAlive)

	acked := map[uint64]string{}
	killAfter := rand.N(60)
	timer := time.NewTimer(time.Hour)
	for n := 0; ; n++ {
		if n == killAfter {
			timer = time.AfterFunc(rand.N(3*time.Millisecond), func() {
				if err := cmd.Process.Kill(); err != nil {
					t.Error(err)
				}
			})
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			break
		}
		var seq uint64
		var intent string
		_, err = fmt.Sscan(line, &seq, &intent)
		require.NoError(t, err)
		acked[seq] = intent
	}
	timer.Stop()
	require.Error(t, cmd.Wait())

	runs, err := Scan(t.Context(), dirs)
	require.NoError(t, err)
	require.Len(t, runs, 1)
	require.Equal(t, Dead, runs[0].Liveness)
	rep, err := Verify(path)
	require.NoError(t, err)
	require.True(t, rep.OK(), "%v", rep.Findings)
	for seq, intent := range acked {
		require.Equal(t, intent, rep.Log.Records[seq-1].Intent)
	}
	w, _, err := OpenDead(t.Context(), path, "20261130T000000Z-ba9876543210", Options{Identity: testIdentity()})
	require.NoError(t, err)
	appendAll(t, w, Record{Event: EventRecovered})
	require.NoError(t, w.Close())
	_, err = Read(path)
	require.NoError(t, err)
	return len(acked)
}

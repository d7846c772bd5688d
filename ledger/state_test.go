package ledger

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFoldOfAWholeRun(t *testing.T) {
	w := startTest(t)
	appendAll(t, w, script()...)
	rep, err := Verify(w.Path())
	require.NoError(t, err)
	require.True(t, rep.OK(), "%v", rep.Findings)
	require.Equal(t, Counts{Intended: 5, Created: 3, CreateFailed: 1, Adopted: 1, Destroyed: 1, VerifiedGone: 1,
		Leaked: 1, Transferred: 1, Unresolved: 1}, rep.Counts)
	require.False(t, rep.Balanced)
	var open []string
	for _, e := range rep.State.Open() {
		open = append(open, e.Intent)
	}
	require.Equal(t, []string{"b", "s", "d"}, open)
	b := rep.State.Entry("b")
	require.Equal(t, Kept, b.Disposition)
	require.Equal(t, "<&>", b.Labels["a"])
	require.Equal(t, "id-b", b.ID)
	require.Equal(t, "id-a", rep.State.Entry("s").Parent)
	require.Nil(t, rep.State.Entry("nobody"))
}

// Every case starts from an intent "i" unless it says otherwise.
func TestTransitions(t *testing.T) {
	i := func(events ...Event) []Record {
		records := []Record{intentRecord("i")}
		for _, e := range events {
			r := event(e, "i")
			if e == EventCreated || e == EventRecovered || e == EventAdopted {
				r.ID = "id-i"
			}
			records = append(records, r)
		}
		return records
	}
	running := event(EventObserved, "i")
	running.Outcome = "running"
	adopted := withID(intentRecord("i"), "id-i")
	adopted.Event = EventAdopted
	created, requested, done, gone := EventCreated, EventDestroyRequested, EventDestroyed, EventVerifiedGone
	for name, c := range map[string]struct {
		records  []Record
		line     int // of the transition finding; 0: none
		status   Status
		balanced bool
	}{
		"unresolved":              {i(), 0, StatusIntended, false},
		"failed":                  {i(EventCreateFailed), 0, StatusCreateFailed, true},
		"lives":                   {i(created), 0, StatusCreated, false},
		"whole life":              {i(created, requested, done, gone), 0, StatusVerifiedGone, true},
		"gone without ack":        {i(created, requested, gone), 0, StatusVerifiedGone, true},
		"retried":                 {i(created, requested, EventDestroyFailed, requested, done, gone), 0, StatusVerifiedGone, true},
		"acknowledged only":       {i(created, requested, done), 0, StatusDestroyed, false},
		"recovered":               {i(EventRecovered, requested, done, gone), 0, StatusVerifiedGone, true},
		"recovered late":          {i(created, requested, EventRecovered), 0, StatusDestroyRequested, false},
		"leaked":                  {i(created, EventLeaked), 0, StatusLeaked, false},
		"leaked unresolved":       {i(EventLeaked), 0, StatusLeaked, false},
		"leaked, then reaped":     {i(created, EventLeaked, requested, gone), 0, StatusVerifiedGone, true},
		"transferred":             {i(created, EventTransferred), 0, StatusTransferred, true},
		"stop and resume":         {i(created, EventStopRequested, EventStopDone, EventResumeRequested, EventResumeDone), 0, StatusCreated, false},
		"adopted":                 {[]Record{adopted, event(requested, "i"), event(gone, "i")}, 0, StatusVerifiedGone, true},
		"seen running":            {append(i(created), running), 0, StatusCreated, false},
		"created without intent":  {[]Record{withID(event(created, "i"), "id-i")}, 2, StatusCreated, false},
		"gone without intent":     {[]Record{event(gone, "i")}, 2, StatusIntended, false},
		"second intent":           {append(i(), intentRecord("i")), 3, StatusIntended, false},
		"created twice":           {i(created, created), 4, StatusCreated, false},
		"two ids":                 {append(i(created, requested, gone), withID(event(EventObserved, "i"), "id-2")), 6, StatusVerifiedGone, false},
		"failed after created":    {i(created, EventCreateFailed), 4, StatusCreated, false},
		"created after failed":    {i(EventCreateFailed, created), 4, StatusCreated, false},
		"gone without request":    {i(created, gone), 4, StatusCreated, false},
		"ack without request":     {i(created, done), 4, StatusCreated, false},
		"failed without request":  {i(created, EventDestroyFailed), 4, StatusCreated, false},
		"destroy of no id":        {i(requested), 3, StatusIntended, false},
		"destroy after gone":      {i(created, requested, gone, requested), 6, StatusVerifiedGone, true},
		"destroy after transfer":  {i(created, EventTransferred, requested), 5, StatusTransferred, true},
		"transfer of nothing":     {i(EventTransferred), 3, StatusIntended, false},
		"leaked after gone":       {i(created, requested, gone, EventLeaked), 6, StatusVerifiedGone, true},
		"running after gone":      {append(i(created, requested, gone), running), 6, StatusCreated, false},
		"recovered after gone":    {i(created, requested, gone, EventRecovered), 6, StatusCreated, false},
		"recovered after failed":  {i(EventCreateFailed, EventRecovered), 4, StatusCreated, false},
		"stop-done alone":         {i(created, EventStopDone), 4, StatusCreated, false},
		"stop of nothing":         {i(EventStopRequested), 3, StatusIntended, false},
		"suspend done twice":      {i(created, EventSuspendRequested, EventSuspendDone, EventSuspendDone), 6, StatusCreated, false},
		"disposition after gone":  {append(i(created, requested, gone), disposition(Kept, time.Time{})), 6, StatusVerifiedGone, true},
		"fork done, not snapshot": {i(created, EventForkRequested, EventSnapshotDone), 5, StatusCreated, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := startTest(t)
			appendAll(t, w, c.records...)
			rep, err := Verify(w.Path())
			require.NoError(t, err)
			require.Equal(t, c.line == 0, rep.OK(), "%v", rep.Findings)
			if c.line > 0 {
				require.Equal(t, RuleTransition, rep.Findings[0].Rule)
				require.Equal(t, c.line, rep.Findings[0].Line, "%v", rep.Findings)
			}
			require.Equal(t, c.status, rep.State.Entry("i").Status)
			require.Equal(t, c.balanced, rep.Balanced)
			require.Equal(t, c.status == StatusVerifiedGone, rep.Counts.VerifiedGone == 1)
		})
	}
}

func disposition(d Disposition, at time.Time) Record {
	r := event(EventDispositionChanged, "i")
	r.Disposition, r.ReapAfter = d, at
	return r
}

func TestDispositionIsTheLastOne(t *testing.T) {
	w := startTest(t)
	at := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	created := withID(event(EventCreated, "i"), "id-i")
	created.ReapAfter = at
	appendAll(t, w, intentRecord("i"), created)
	fold := func() *Entry {
		log, err := Read(w.Path())
		require.NoError(t, err)
		return Fold(log.Records).Entry("i")
	}
	require.Equal(t, at, fold().ReapAfter)
	require.Equal(t, Scoped, fold().Disposition)
	appendAll(t, w, disposition(Kept, time.Time{}))
	require.True(t, fold().ReapAfter.IsZero())
	require.Equal(t, Kept, fold().Disposition)
}

func TestVerifyNotes(t *testing.T) {
	opts := testOptions(t)
	now := time.Date(2026, 1, 1, 0, 0, 10, 0, time.UTC)
	opts.Clock = func() time.Time { now = now.Add(-time.Second); return now }
	w, err := Start(t.Context(), opts)
	require.NoError(t, err)
	appendAll(t, w, intentRecord("i"), event(EventCreateFailed, "i"))
	rep, err := Verify(w.Path())
	require.NoError(t, err)
	require.True(t, rep.OK())
	require.True(t, rep.Balanced)
	require.False(t, rep.Ended)
	rules := map[Rule]int{}
	for _, f := range rep.Findings {
		require.True(t, f.Note)
		rules[f.Rule]++
	}
	require.Equal(t, map[Rule]int{RuleClock: 2, RuleNotEnded: 1}, rules)
	require.NoError(t, w.Close())
	raw, err := os.ReadFile(w.Path())
	require.NoError(t, err)
	rep, err = VerifyReader(bytes.NewReader(raw))
	require.NoError(t, err)
	require.True(t, rep.Ended)

	// A corrupt file is never balanced, whatever its good part says.
	rep, err = VerifyReader(bytes.NewReader(append(raw, raw...)))
	require.NoError(t, err)
	require.False(t, rep.OK())
	require.False(t, rep.Balanced)
	require.Equal(t, Finding{Line: 5, Rule: RuleChain, Message: "has seq 1 instead of 5"}, rep.Findings[0])
	rep, err = VerifyReader(bytes.NewReader(nil))
	require.NoError(t, err)
	require.False(t, rep.OK())
	require.False(t, rep.Balanced)
	_, err = Verify(w.Path() + ".absent")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestWhatIsUnknownIsNeverBalanced(t *testing.T) {
	s := Fold([]Record{{Event: EventRunStarted}, {Event: "teleported", Intent: "i"}})
	require.Equal(t, 1, s.Unrecognized)
	require.False(t, s.Balanced())

	// After run-ended only another run may append.
	ended := newState()
	require.Empty(t, ended.apply(&Record{Event: EventRunStarted}, 1))
	require.Empty(t, ended.apply(&Record{Event: EventRunEnded}, 2))
	require.NotEmpty(t, ended.apply(&Record{Event: EventIntent, Intent: "i"}, 3))
	require.Empty(t, ended.apply(&Record{Event: EventRecovered, By: "other"}, 4))
	require.NotEmpty(t, ended.apply(&Record{Event: EventRecovered}, 5))
	require.NotEmpty(t, ended.apply(&Record{Event: EventObserved, By: "other"}, 6))
	require.NotEmpty(t, ended.apply(&Record{Event: EventRunStarted}, 7))
}

func FuzzRead(f *testing.F) {
	m := &memFile{}
	w := memWriter(m)
	_, err := w.append(Record{Event: EventRunStarted}, false)
	require.NoError(f, err)
	appendAll(f, w, script()[:2]...) // short: minimizing a long seed eats the time
	f.Add(m.durable)
	f.Add(m.durable[:len(m.durable)-3])
	f.Add([]byte("{}\n"))
	f.Add([]byte("\n\n\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		log, err := Parse(bytes.NewReader(raw))
		require.NotNil(t, log)
		require.LessOrEqual(t, log.Size+log.TornBytes, int64(len(raw)))
		if err == nil {
			require.EqualValues(t, len(raw), log.Size+log.TornBytes)
			require.Equal(t, bytes.Count(raw, []byte("\n")), len(log.Records))
		}
		rep, err := VerifyReader(bytes.NewReader(raw))
		require.NoError(t, err)
		if rep.Balanced {
			require.Equal(t, rep.Counts.Created+rep.Counts.Adopted, rep.Counts.VerifiedGone+rep.Counts.Transferred)
		}
		// Any order of events folds without a panic, chained or not.
		state := newState()
		for i, line := range bytes.Split(raw, []byte("\n")) {
			r := Record{Event: EventObserved, Intent: "i"}
			if len(line) > 1 {
				r.Event = Events()[int(line[0])%len(Events())]
				r.Intent, r.ID = string(line[1:min(2, len(line))]), string(line[1:min(3, len(line))])
			}
			state.apply(&r, i+1)
		}
		c := state.Counts()
		require.LessOrEqual(t, c.VerifiedGone+c.Leaked+c.Transferred+c.Unresolved+c.CreateFailed, len(state.Entries))
	})
}

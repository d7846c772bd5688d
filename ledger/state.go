package ledger

import (
	"slices"
	"time"
)

// Status is how far an entry's life is known to have come.
type Status string

const (
	StatusIntended         Status = "intended"          // may exist: no outcome was recorded
	StatusCreateFailed     Status = "create-failed"     // definitely never existed
	StatusCreated          Status = "created"           // exists, made or adopted or recovered
	StatusDestroyRequested Status = "destroy-requested" // may or may not exist
	StatusDestroyed        Status = "destroyed"         // the vendor acknowledged; may still exist
	StatusVerifiedGone     Status = "verified-gone"     // proven gone
	StatusLeaked           Status = "leaked"            // given up on while it exists or may exist
	StatusTransferred      Status = "transferred"       // another owner answers for it
)

// Settled reports whether nothing is owed any more.
func (s Status) Settled() bool {
	return s == StatusCreateFailed || s == StatusVerifiedGone || s == StatusTransferred
}

// Entry is what a ledger says about one intent.
type Entry struct {
	Intent      string
	Kind        Kind
	Provider    string
	Scope       string
	ID          string
	OtherIDs    []string // further IDs that were recorded under the same intent; a fault
	Name        string
	Parent      string
	Labels      map[string]string // of the record that opened the entry
	Disposition Disposition
	ReapAfter   time.Time // zero: none
	Status      Status
	Observed    string    // the last state an observation saw
	LastReason  string    // of the last record that had one
	Opened      time.Time // time of the first record
	Updated     time.Time // time of the last record
	Line        int       // of the first record

	Created          bool // a vendor object was made under this intent, as far as is known
	Adopted          bool // it was taken over instead
	DestroyRequested bool
	Destroyed        bool // acknowledged at least once
	VerifiedGone     bool

	pending map[Event]int // requested events without their done
}

// Counts of entries. Destroyed and VerifiedGone are apart on purpose: a difference
// is a result of its own.
type Counts struct {
	Intended     int // all that an intent was recorded for
	Created      int
	CreateFailed int
	Adopted      int
	Destroyed    int
	VerifiedGone int
	Leaked       int
	Transferred  int
	Unresolved   int // still intended: nobody knows whether it exists
}

// State is a ledger folded into entries.
type State struct {
	Run, Owner, Host, Boot string
	Started                time.Time
	Ended                  bool
	Entries                []*Entry // in the order of their first records
	Unrecognized           int      // records with an event this version does not know
	byIntent               map[string]*Entry
}

// Fold folds records, in order, into a state. Claims that are out of order are
// never believed to the better: a verified-gone without a destroy-requested before
// it leaves the entry owed. Verify names them.
func Fold(records []Record) *State {
	s := newState()
	for i := range records {
		s.apply(&records[i], i+1)
	}
	return s
}

func newState() *State { return &State{byIntent: map[string]*Entry{}} }

// Entry returns the entry of an intent, or nil.
func (s *State) Entry(intent string) *Entry { return s.byIntent[intent] }

// Open returns the entries that are owed something, in order; kept ones are among
// them.
func (s *State) Open() []*Entry {
	var open []*Entry
	for _, e := range s.Entries {
		if !e.Status.Settled() || len(e.OtherIDs) > 0 {
			open = append(open, e)
		}
	}
	return open
}

// Balanced reports whether everything this ledger ever made or adopted is proven
// gone or transferred, nothing is unresolved or leaked, and no record was beyond
// this version. A kept sandbox that still lives is no leak, and no balance either.
func (s *State) Balanced() bool { return len(s.Open()) == 0 && s.Unrecognized == 0 }

// Counts counts the entries.
func (s *State) Counts() Counts {
	var c Counts
	add := func(n *int, ok bool) {
		if ok {
			*n++
		}
	}
	for _, e := range s.Entries {
		add(&c.Intended, !e.Adopted)
		add(&c.Created, e.Created)
		add(&c.CreateFailed, e.Status == StatusCreateFailed)
		add(&c.Adopted, e.Adopted)
		add(&c.Destroyed, e.Destroyed)
		add(&c.VerifiedGone, e.VerifiedGone)
		add(&c.Leaked, e.Status == StatusLeaked)
		add(&c.Transferred, e.Status == StatusTransferred)
		add(&c.Unresolved, e.Status == StatusIntended)
	}
	return c
}

// apply folds one record and says what is wrong with its place in the sequence,
// "" when nothing is.
func (s *State) apply(r *Record, line int) string {
	problem := ""
	if s.Ended && r.By == "" {
		problem = "comes after run-ended and is not by another run"
	}
	switch r.Event {
	case EventRunStarted:
		if line != 1 {
			return "is not the first record"
		}
		s.Run, s.Owner, s.Host, s.Boot, s.Started = r.Run, r.Owner, r.Host, r.Boot, r.At
		return ""
	case EventRunEnded:
		s.Ended = true
		return problem
	}
	if !r.Event.Valid() {
		s.Unrecognized++
		return "has an event this version does not know"
	}
	if r.Intent == "" {
		if r.Event != EventRecovered {
			return "names no intent"
		}
		if r.By == "" {
			return "is recovered by nobody"
		}
		return problem
	}
	e, p := s.entry(r, line)
	if p == "" {
		p = e.apply(r)
	} else if e != nil {
		e.apply(r) // one finding per record; the first says more
	}
	if e != nil {
		e.touch(r)
	}
	if p != "" {
		return p
	}
	return problem
}

// entry finds or opens the entry of r.
func (s *State) entry(r *Record, line int) (*Entry, string) {
	e, known := s.byIntent[r.Intent]
	if known {
		if r.Event == EventIntent {
			return e, "is the second intent of this name"
		}
		return e, ""
	}
	e = &Entry{
		Intent: r.Intent, Kind: r.Kind, Provider: r.Provider, Scope: r.Scope, Name: r.Name, Parent: r.Parent,
		Labels: r.Labels, Disposition: r.Disposition, ReapAfter: r.ReapAfter, Status: StatusIntended,
		Opened: r.At, Line: line, pending: map[Event]int{},
	}
	s.byIntent[r.Intent] = e
	s.Entries = append(s.Entries, e)
	if r.Event != EventIntent && r.Event != EventAdopted {
		return e, "has no intent before it"
	}
	return e, ""
}

// touch takes over what any record of the entry may carry.
func (e *Entry) touch(r *Record) {
	e.Updated = r.At
	fill := func(to *string, v string) {
		if *to == "" {
			*to = v
		}
	}
	fill(&e.Provider, r.Provider)
	fill(&e.Scope, r.Scope)
	fill(&e.Name, r.Name)
	fill(&e.Parent, r.Parent)
	if e.Kind == "" {
		e.Kind = r.Kind
	}
	if r.Reason != "" {
		e.LastReason = r.Reason
	}
	switch r.Event {
	case EventDispositionChanged:
		e.Disposition, e.ReapAfter = r.Disposition, r.ReapAfter
	case EventCreated, EventAdopted, EventRecovered:
		if r.Disposition != "" {
			e.Disposition = r.Disposition
		}
		if !r.ReapAfter.IsZero() {
			e.ReapAfter = r.ReapAfter
		}
	}
}

// identify takes an ID over; a second one is kept apart, because it may be a
// second object that somebody pays for.
func (e *Entry) identify(id string) string {
	switch {
	case id == "" || id == e.ID:
	case e.ID == "":
		e.ID = id
	case !slices.Contains(e.OtherIDs, id):
		e.OtherIDs = append(e.OtherIDs, id)
		return "names a second ID under one intent"
	}
	return ""
}

package ledger

import (
	"slices"
	"time"
)

// Version is the value of Record.V that this package writes and reads.
const Version = 1

// Record is one line of a ledger. The writer fills V to Boot and HealedBytes;
// whatever the caller puts there is overwritten. Field order is part of the
// format: append fields at the end, never move one.
type Record struct {
	V        int       `json:"v"`
	Seq      uint64    `json:"seq"`      // 1, 2, 3, ...
	PrevHash string    `json:"prevHash"` // SHA-256 of the previous line with its newline; 64 zeros in the first
	At       time.Time `json:"at"`       // UTC
	Run      string    `json:"run"`      // the run this file belongs to
	Owner    string    `json:"owner"`
	Host     string    `json:"host"`
	Boot     string    `json:"boot,omitempty"`
	By       string    `json:"by,omitempty"` // the run that recovers this dead one; Host and Boot are then its own

	Event    Event  `json:"event"`
	Kind     Kind   `json:"kind,omitempty"`
	Provider string `json:"provider,omitempty"`
	Scope    string `json:"scope,omitempty"`  // account or engine the ID lives in
	Intent   string `json:"intent,omitempty"` // what was meant to be made; the same in all records of one thing
	ID       string `json:"id,omitempty"`     // native ID
	Name     string `json:"name,omitempty"`
	Parent   string `json:"parent,omitempty"` // native ID of what this was forked or captured from

	Disposition Disposition `json:"disposition,omitempty"`
	ReapAfter   time.Time   `json:"reapAfter,omitzero"`

	// Outcome is a word of the contract: what a destroy answered, the state an
	// observation saw, an error code. Reason is a sentence. Both are redacted.
	Outcome string            `json:"outcome,omitempty"`
	Reason  string            `json:"reason,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`  // keys sorted; values redacted
	Secrets []string          `json:"secrets,omitempty"` // names of secrets handed over, never values

	HealedBytes int64 `json:"healedBytes,omitempty"` // torn bytes that this record replaced
}

// Event says what happened or is about to.
type Event string

const (
	// EventRunStarted is the first record of a file; the writer appends it.
	EventRunStarted Event = "run-started"
	// EventRunEnded is appended by Close: the run ended in order.
	EventRunEnded Event = "run-ended"

	// EventIntent precedes every create. It opens an entry.
	EventIntent Event = "intent"
	// EventCreated: it exists and has an ID, also when the create returned an
	// error beside the ID, or returned after its caller had given up.
	EventCreated Event = "created"
	// EventCreateFailed: it definitely does not exist. An unknown outcome has no
	// record; the entry stays intended.
	EventCreateFailed Event = "create-failed"
	// EventAdopted: something that this run did not make is now ours. It opens an
	// entry of its own.
	EventAdopted Event = "adopted"
	// EventObserved: somebody looked; Outcome is the state seen.
	EventObserved Event = "observed"
	// EventDispositionChanged replaces Disposition and ReapAfter, a zero ReapAfter included.
	EventDispositionChanged Event = "disposition-changed"

	EventStopRequested     Event = "stop-requested"     // before the vendor call
	EventStopDone          Event = "stop-done"          // the vendor says so
	EventSuspendRequested  Event = "suspend-requested"  // before the vendor call
	EventSuspendDone       Event = "suspend-done"       // the vendor says so
	EventResumeRequested   Event = "resume-requested"   // before a resume or a start
	EventResumeDone        Event = "resume-done"        // the vendor says so
	EventSnapshotRequested Event = "snapshot-requested" // of the source; the snapshot has its own intent
	EventSnapshotDone      Event = "snapshot-done"      // the vendor says so
	EventForkRequested     Event = "fork-requested"     // of the source; the fork has its own intent
	EventForkDone          Event = "fork-done"          // the vendor says so

	// EventDestroyRequested precedes every destroy.
	EventDestroyRequested Event = "destroy-requested"
	// EventDestroyed: the vendor acknowledged; Outcome is its answer. Not proof.
	EventDestroyed Event = "destroyed"
	// EventDestroyFailed: the vendor did not acknowledge; it is still owed.
	EventDestroyFailed Event = "destroy-failed"
	// EventVerifiedGone: a look-up that can prove it says it is gone.
	EventVerifiedGone Event = "verified-gone"
	// EventLeaked: it exists or may exist, and this run gives up on it.
	EventLeaked Event = "leaked"
	// EventTransferred: another owner answers for it from here on.
	EventTransferred Event = "transferred"
	// EventRecovered: a reaper took over. With an intent, it found the thing: ID is set.
	EventRecovered Event = "recovered"
)

// Events lists every event of the format, in the order of a life.
func Events() []Event {
	return []Event{
		EventRunStarted, EventIntent, EventCreated, EventCreateFailed, EventAdopted, EventObserved,
		EventDispositionChanged, EventStopRequested, EventStopDone, EventSuspendRequested,
		EventSuspendDone, EventResumeRequested, EventResumeDone, EventSnapshotRequested,
		EventSnapshotDone, EventForkRequested, EventForkDone, EventDestroyRequested, EventDestroyed,
		EventDestroyFailed, EventVerifiedGone, EventLeaked, EventTransferred, EventRecovered, EventRunEnded,
	}
}

// Valid reports whether e is an event of the format.
func (e Event) Valid() bool { return slices.Contains(Events(), e) }

// Kind is what an entry is about.
type Kind string

const (
	KindSandbox  Kind = "sandbox"
	KindSnapshot Kind = "snapshot"
	KindTemplate Kind = "template"
	KindImage    Kind = "image"
)

// Kinds lists every kind of the format.
func Kinds() []Kind { return []Kind{KindSandbox, KindSnapshot, KindTemplate, KindImage} }

// Valid reports whether k is a kind of the format.
func (k Kind) Valid() bool { return slices.Contains(Kinds(), k) }

// Disposition says whether a thing may outlive its run.
type Disposition string

const (
	// Scoped things belong to their run: once it is dead, they may be reaped.
	Scoped Disposition = "scoped"
	// Kept things outlive it. Without ReapAfter nothing reaps them.
	Kept Disposition = "kept"
)

// Valid reports whether d is a disposition of the format.
func (d Disposition) Valid() bool { return d == Scoped || d == Kept }

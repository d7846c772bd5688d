package ledger

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Rule names what a finding is about.
type Rule string

const (
	RuleChain      Rule = "chain"      // a line is malformed or does not follow from the one before
	RuleTransition Rule = "transition" // an event out of its place
	RuleBalance    Rule = "balance"    // something is still owed
	RuleTorn       Rule = "torn"       // the last line is incomplete; a note
	RuleNotEnded   Rule = "not-ended"  // the run did not end in order; a note
	RuleClock      Rule = "clock"      // time went backwards; a note
)

// Finding is one thing Verify has to say.
type Finding struct {
	Line    int // 1-based; for a balance, of the record that opened the entry
	Rule    Rule
	Intent  string
	Message string
	Note    bool // true: worth knowing, no fault
}

// Report is the result of Verify.
type Report struct {
	Path      string // empty for a stream
	Log       *Log
	State     *State
	Counts    Counts
	Balanced  bool
	Findings  []Finding // in line order within each rule
	Ended     bool
	TornBytes int64
}

// OK reports whether the file is intact and its events are legal. Balance is apart:
// a live run and a kept sandbox are OK and not balanced.
func (r *Report) OK() bool {
	for _, f := range r.Findings {
		if !f.Note && f.Rule != RuleBalance {
			return false
		}
	}
	return true
}

// Verify checks a ledger file: its chain, that each event is in its place, and its
// balance. The error is about reading; what is wrong with the content is in the
// report. Of a corrupt file, the good part is judged.
func Verify(path string) (*Report, error) {
	log, err := Read(path)
	return report(path, log, err)
}

// VerifyReader is Verify of a stream.
func VerifyReader(r io.Reader) (*Report, error) {
	log, err := Parse(r)
	return report("", log, err)
}

func report(path string, log *Log, err error) (*Report, error) {
	rep := &Report{Path: path, Log: log}
	var corrupt *CorruptError
	switch {
	case errors.As(err, &corrupt):
		message := corrupt.Reason
		if corrupt.Err != nil {
			message += ": " + corrupt.Err.Error()
		}
		rep.add(Finding{Line: corrupt.Line, Rule: RuleChain, Message: message})
	case errors.Is(err, ErrNoRun):
		rep.add(Finding{Line: 1, Rule: RuleChain, Message: "has no complete first record"})
	case err != nil:
		return nil, err
	}
	rep.Ended, rep.TornBytes = log.Ended(), log.TornBytes
	rep.judge(log.Records)
	rep.Counts = rep.State.Counts()
	rep.Balanced = rep.State.Balanced() && corrupt == nil && len(log.Records) > 0
	if log.Torn {
		rep.add(Finding{Line: len(log.Records) + 1, Rule: RuleTorn, Note: true,
			Message: fmt.Sprintf("%d bytes of an incomplete record, never acknowledged", log.TornBytes)})
	}
	if !rep.Ended && corrupt == nil && len(log.Records) > 0 {
		rep.add(Finding{Line: len(log.Records), Rule: RuleNotEnded, Note: true,
			Message: "the run is alive, or died without ending; records may be missing after this one"})
	}
	return rep, nil
}

func (r *Report) add(f Finding) { r.Findings = append(r.Findings, f) }

func (r *Report) judge(records []Record) {
	r.State = newState()
	var last time.Time
	for i := range records {
		rec, line := &records[i], i+1
		if problem := r.State.apply(rec, line); problem != "" {
			r.add(Finding{Line: line, Rule: RuleTransition, Intent: rec.Intent, Message: problem})
		}
		if rec.At.Before(last) {
			r.add(Finding{Line: line, Rule: RuleClock, Note: true,
				Message: "is " + last.Sub(rec.At).String() + " earlier than the record before it"})
		}
		last = rec.At
	}
	for _, e := range r.State.Open() {
		r.add(Finding{Line: e.Line, Rule: RuleBalance, Intent: e.Intent,
			Message: fmt.Sprintf("%s %s %q is %s", e.Provider, e.Kind, e.ID, e.Status)})
	}
}

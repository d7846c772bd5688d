package evidence

import (
	"bytes"
	"path"
	"strings"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/ledger"
)

// decodeLedgers reads every ledger and says what is wrong with it by itself.
func (v *verifier) decodeLedgers() {
	for _, name := range v.b.ledgers() {
		if !known(name) {
			continue
		}
		src := v.b.Files[name]
		rep, err := ledger.VerifyReader(bytes.NewReader(src))
		if err != nil {
			v.say(KindUnreadable, name, "", "%s", err)
			continue
		}
		if line, err := v.schemas.records(src); err != nil {
			v.sayLine(KindUnreadable, name, line, "%s", err)
		}
		for _, f := range rep.Findings {
			if !f.Note && f.Rule != ledger.RuleBalance {
				v.sayLine(KindLedger, name, f.Line, "%s", f.Message)
			}
		}
		if rep.TornBytes > 0 {
			v.sayLine(KindLedger, name, len(rep.Log.Records)+1, "ends in an incomplete record")
		}
		if len(rep.Log.Records) == 0 {
			continue
		}
		if !settledEnd(rep) {
			v.sayLine(KindLedger, name, len(rep.Log.Records), "neither ended nor was recovered: records may be missing after this one")
		}
		if run := strings.TrimSuffix(path.Base(name), ".jsonl"); rep.State.Run != run {
			v.sayLine(KindLedger, name, 1, "is the ledger of run %q", rep.State.Run)
		}
		v.ledgers = append(v.ledgers, ledgerFile{name, rep})
	}
}

// settledEnd reports whether nothing can have been cut from the end without a
// trace: the run ended in order, or died and somebody took over.
func settledEnd(rep *ledger.Report) bool {
	if rep.Ended {
		return true
	}
	return rep.Log.Records[len(rep.Log.Records)-1].By != ""
}

// thing is what all ledgers together say about one ID.
type thing struct {
	made, gone bool
	file       string
	line       int
	what       string
}

// balance: what was made is proven gone, whichever run did which; nothing leaked,
// nothing that was not made here was taken.
func (v *verifier) balance() {
	things := map[string]*thing{}
	var order []string
	for _, l := range v.ledgers {
		for _, e := range l.rep.State.Entries {
			v.entry(l.name, e)
			if e.ID == "" {
				continue
			}
			key := e.Scope + "\x00" + string(e.Kind) + "\x00" + e.ID
			t := things[key]
			if t == nil {
				t = &thing{file: l.name, line: e.Line, what: string(e.Kind) + " " + e.ID}
				things[key] = t
				order = append(order, key)
			}
			t.made = t.made || e.Created
			t.gone = t.gone || e.VerifiedGone
		}
	}
	made := 0
	for _, key := range order {
		t := things[key]
		switch {
		case !t.made:
			v.sayLine(KindBalance, t.file, t.line, "%s is foreign: no run of this evidence made it", t.what)
		case !t.gone:
			v.sayLine(KindBalance, t.file, t.line, "%s was made and is not verified gone", t.what)
		}
		if t.made {
			made++
		}
	}
	if made == 0 && v.predicate().Verdict == Passed {
		v.say(KindBalance, "", "", "no ledger shows that anything was made")
	}
	v.summaries()
}

// entry judges what one ledger says about one intent.
func (v *verifier) entry(name string, e *ledger.Entry) {
	if e.Provider != "" && e.Provider != v.predicate().Provider {
		v.sayLine(KindProvider, name, e.Line, "is about %q", e.Provider)
	}
	switch {
	case e.Status == ledger.StatusLeaked:
		v.sayLine(KindBalance, name, e.Line, "%s %s leaked", e.Kind, e.ID)
	case e.Status == ledger.StatusIntended:
		v.sayLine(KindBalance, name, e.Line, "a %s was meant to be made, and nobody knows whether it was", e.Kind)
	case len(e.OtherIDs) > 0:
		v.sayLine(KindBalance, name, e.Line, "%s %s has further IDs under one intent", e.Kind, e.ID)
	}
}

// summaries compares what report and benchmark say about the ledgers. Those the
// report does not name are the benchmark's.
func (v *verifier) summaries() {
	named := map[string]bool{}
	for i, s := range v.report.Ledgers {
		name := ledgerFolder + "/" + s.File
		named[name] = true
		l, ok := v.ledger(name)
		if !ok {
			v.say(KindMissing, name, "", "is in the report and not there")
			continue
		}
		c := l.rep.Counts
		want := conformance.LedgerSummary{File: s.File, Run: l.rep.State.Run, Intact: l.rep.OK(), Balanced: l.rep.Balanced, Created: c.Created,
			Destroyed: c.Destroyed, VerifiedGone: c.VerifiedGone, Leaked: c.Leaked, Unresolved: c.Unresolved}
		if s != want {
			v.say(KindCounts, ReportName, pointerAt("/ledgers", i), "does not follow from the ledger: %d created, %d verified gone", c.Created, c.VerifiedGone)
		}
	}
	if _, ok := v.b.Files[BenchmarkName]; ok && v.benchmark == nil {
		return // it cannot be read, which has been said
	}
	made, gone := 0, 0
	for _, l := range v.ledgers {
		if named[l.name] {
			continue
		}
		for _, e := range l.rep.State.Entries { // the benchmark counts sandboxes only
			if e.Kind == ledger.KindSandbox && e.Created {
				made++
			}
			if e.Kind == ledger.KindSandbox && e.VerifiedGone {
				gone++
			}
		}
	}
	wantMade, wantGone := 0, 0
	if v.benchmark != nil {
		wantMade, wantGone = v.benchmark.Created, v.benchmark.VerifiedGone
	}
	if made != wantMade || gone != wantGone {
		v.say(KindCounts, BenchmarkName, "/created", "the ledgers that are not the report's have %d sandboxes created and %d verified gone; the benchmark says %d and %d",
			made, gone, wantMade, wantGone)
	}
}

func (v *verifier) ledger(name string) (ledgerFile, bool) {
	for _, l := range v.ledgers {
		if l.name == name {
			return l, true
		}
	}
	return ledgerFile{}, false
}

package evidence

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/agentworkforce/sbx/conformance"
)

// records judges what the artifacts show, and whether the statement says so.
func (v *verifier) records() {
	p := v.predicate()
	v.identity()
	if p.Verdict != Passed {
		v.say(KindVerdict, StatementName, "/predicate/verdict", "the run is %s%s", p.Verdict, because(p))
	}
	if p.Verdict == Blocked {
		v.blocked()
	}
	if v.report == nil {
		return
	}
	v.mode()
	v.results()
	v.counts()
	v.vendor()
	v.times()
	v.benchmarks()
	v.balance()
}

func because(p *Predicate) string {
	reasons := p.Reasons
	if p.Verdict == Blocked {
		reasons = p.Missing
	}
	if len(reasons) == 0 {
		return ""
	}
	text := ": " + reasons[0]
	if len(reasons) > 1 {
		text += fmt.Sprintf(" and %d more", len(reasons)-1)
	}
	return text
}

// blocked asks of a run that says it made nothing that it made nothing.
func (v *verifier) blocked() {
	for _, l := range v.ledgers {
		if l.rep.Counts.Intended+l.rep.Counts.Adopted > 0 {
			v.sayLine(KindBalance, l.name, 2, "a run that was blocked before mutation made or took something")
		}
	}
	if len(v.predicate().Missing) == 0 {
		v.say(KindVerdict, StatementName, "/predicate/missing", "a blocked run names what is missing")
	}
}

// identity: everything is about one run of one provider.
func (v *verifier) identity() {
	p := v.predicate()
	if p.Provider != v.b.Provider {
		v.say(KindProvider, StatementName, "/predicate/provider", "is evidence of %q in the folder of %q", p.Provider, v.b.Provider)
	}
	if v.o.Current != nil && p.Provider != v.o.Current.Provider {
		v.say(KindProvider, StatementName, "/predicate/provider", "is evidence of %q, not of %q", p.Provider, v.o.Current.Provider)
	}
	if p.Run != v.b.Run {
		v.say(KindRun, StatementName, "/predicate/run", "is about run %q in the folder of %q", p.Run, v.b.Run)
	}
	if v.report != nil {
		if v.report.Provider != p.Provider {
			v.say(KindProvider, ReportName, "/provider", "is a report about %q", v.report.Provider)
		}
		if v.report.Run != p.Run {
			v.say(KindRun, ReportName, "/run", "is a report of run %q", v.report.Run)
		}
		if v.report.Suite != p.Versions.Suite {
			v.say(KindCounts, StatementName, "/predicate/versions/suite", "the report is of suite %d", v.report.Suite)
		}
		if !reflect.DeepEqual(v.report.Environment, p.Environment) {
			v.say(KindRun, StatementName, "/predicate/environment", "is not the environment of the report")
		}
	}
	if v.benchmark != nil && v.benchmark.Provider != p.Provider {
		v.say(KindProvider, BenchmarkName, "/provider", "is a benchmark of %q", v.benchmark.Provider)
	}
	if v.report != nil && v.benchmark != nil && !sameMachine(v.report.Environment, v.benchmark.Environment) {
		v.say(KindRun, BenchmarkName, "/environment", "the benchmark ran on another machine than the checks")
	}
}

func sameMachine(a, b conformance.Environment) bool {
	return a.OS == b.OS && a.Arch == b.Arch && a.CPUs == b.CPUs && a.Go == b.Go
}

// mode is derived again.
func (v *verifier) mode() {
	p := v.predicate()
	manifest := declared(v.report.Mode)
	if v.o.Current != nil {
		manifest = v.o.Current.Endpoints
	}
	mode, reasons := DeriveMode(manifest, p.Target, v.report.Mode)
	switch {
	case mode != p.Mode:
		v.say(KindMode, StatementName, "/predicate/mode", "says %s; the records show %s%s", p.Mode, mode, list(reasons))
	case mode != Live:
		v.say(KindMode, StatementName, "/predicate/mode", "the run was %s%s", mode, list(reasons))
	}
}

// declared are the manifest's endpoints as the report has them.
func declared(m conformance.Mode) []ManifestEndpoint {
	var out []ManifestEndpoint
	for _, e := range m.Endpoints {
		out = append(out, ManifestEndpoint{e.Name, e.URL})
	}
	return out
}

func list(reasons []string) string {
	text := ""
	for i, r := range reasons {
		if i == 0 {
			text = ": "
		} else {
			text += "; "
		}
		text += r
	}
	return text
}

// counts are computed again from the results.
func (v *verifier) counts() {
	want := conformance.Counts{Reasons: map[conformance.Reason]int{}}
	for _, r := range v.report.Checks {
		switch r.Verdict {
		case conformance.Passed:
			want.Passed++
		case conformance.Failed:
			want.Failed++
		case conformance.RefusedAsDeclared:
			want.RefusedAsDeclared++
		default:
			want.Unknown++
			want.Reasons[r.Reason]++
			if r.Owed {
				want.OwedUnknown++
			}
		}
		if !r.StartedAt.IsZero() {
			want.Executed++
		}
	}
	got := v.report.Counts
	same := maps.Equal(got.Reasons, want.Reasons)
	selected := v.report.Selected != ""
	if selected {
		want.OwedUnknown = got.OwedUnknown // counts the selected ones only, which the results do not show
	}
	got.Reasons, want.Reasons = nil, nil
	if !same || !reflect.DeepEqual(got, want) {
		v.say(KindCounts, ReportName, "/counts", "do not follow from the results: %d passed, %d failed, %d refused, %d unknown, %d executed",
			want.Passed, want.Failed, want.RefusedAsDeclared, want.Unknown, want.Executed)
	}
	if want.Executed == 0 || want.Passed == 0 {
		v.say(KindNothingRun, ReportName, "/counts/executed", "%d checks were executed and %d passed: that shows nothing", want.Executed, want.Passed)
	}
	if selected {
		v.say(KindCoverage, ReportName, "/selected", "only the checks that match %q were run", v.report.Selected)
	}
	if bound := boundChecks(v.report); !slices.Equal(bound, v.predicate().Binding.Checks) {
		v.say(KindCounts, StatementName, "/predicate/binding/checks", "are not the checks of the report")
	}
}

// vendor compares the counts on the vendor's side.
func (v *verifier) vendor() {
	c := v.report.Vendor
	switch {
	case c.Problem != "":
		v.say(KindVendor, ReportName, "/vendor/problem", "the vendor's side could not be counted: %s", c.Problem)
	case c.Method == conformance.CountNone:
		if len(c.Before)+len(c.After) > 0 {
			v.say(KindVendor, ReportName, "/vendor/method", "there are counts and no method")
		}
	case c.Before == nil || c.After == nil:
		v.say(KindVendor, ReportName, "/vendor", "the vendor's side was not counted before and after")
	case !maps.Equal(c.Before, c.After):
		v.say(KindVendor, ReportName, "/vendor/after", "there is something else at the vendor than before: %v, and before %v", c.After, c.Before)
	}
}

// clockSkew is how far a machine's clock may be set back while a run goes on.
const clockSkew = 2 * time.Second

// times: everything happened within the run.
func (v *verifier) times() {
	p := v.predicate()
	if !p.FinishedAt.After(p.StartedAt) {
		v.say(KindTimes, StatementName, "/predicate/finishedAt", "the run ended before it began")
	}
	if p.FinishedAt.After(v.o.Now.Add(clockSkew)) {
		v.say(KindTimes, StatementName, "/predicate/finishedAt", "has not come yet")
	}
	start, end := v.report.StartedAt, v.report.FinishedAt
	v.within(ReportName, "/startedAt", start, p.StartedAt, p.FinishedAt, "the run")
	v.within(ReportName, "/finishedAt", end, start, p.FinishedAt, "the run")
	for i, r := range v.report.Checks {
		at := fmt.Sprintf("/checks/%d/startedAt", i)
		switch {
		case r.Duration < 0:
			v.say(KindTimes, ReportName, at, "%s took less than no time", r.ID)
		case r.StartedAt.IsZero() && r.Duration != 0:
			v.say(KindTimes, ReportName, at, "%s took time and never began", r.ID)
		case !r.StartedAt.IsZero():
			v.within(ReportName, at, r.StartedAt, start, end, "the report")
			v.within(ReportName, at, r.StartedAt.Add(r.Duration), start, end, "the report")
		}
	}
	if b := v.benchmark; b != nil {
		v.within(BenchmarkName, "/startedAt", b.StartedAt, p.StartedAt, p.FinishedAt, "the run")
		v.within(BenchmarkName, "/finishedAt", b.FinishedAt, b.StartedAt, p.FinishedAt, "the run")
	}
	for _, l := range v.ledgers {
		for i, r := range l.rep.Log.Records {
			if r.At.Before(p.StartedAt.Add(-clockSkew)) || r.At.After(p.FinishedAt.Add(clockSkew)) {
				v.sayLine(KindTimes, l.name, i+1, "%s is outside of the run", r.At.Format(time.RFC3339Nano))
				break
			}
		}
	}
}

func (v *verifier) within(file, pointer string, t, from, to time.Time, what string) {
	if t.Before(from.Add(-clockSkew)) || t.After(to.Add(clockSkew)) {
		v.say(KindTimes, file, pointer, "%s is outside of %s", t.Format(time.RFC3339Nano), what)
	}
}

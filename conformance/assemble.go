package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

func (r *runner) report() *Report {
	rep := &Report{Format: reportFormat, Suite: SuiteRevision, Provider: r.s.h.Driver.ID, Run: randomID(),
		StartedAt: r.began.UTC(), Environment: environment(r.s.opts.Parallel)}
	if r.s.opts.Run != nil {
		rep.Selected = r.s.opts.Run.String()
	}
	return rep
}

// finish puts the results into the report and counts them.
func (r *runner) finish(rep *Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rep.Counts.Reasons = map[Reason]int{}
	rep.Counts.Executed = r.executed
	for _, c := range r.checks {
		res := r.results[c.ID]
		rep.Checks = append(rep.Checks, *res)
		switch res.Verdict {
		case Passed:
			rep.Counts.Passed++
		case Failed:
			rep.Counts.Failed++
		case RefusedAsDeclared:
			rep.Counts.RefusedAsDeclared++
		default:
			rep.Counts.Unknown++
			rep.Counts.Reasons[res.Reason]++
			if res.Owed && (r.selected[c.ID] || c.run == nil && r.s.opts.Run == nil) {
				rep.Counts.OwedUnknown++
			}
		}
	}
	rep.Problems = append(rep.Problems, r.problems...)
	for _, p := range r.s.tap.orphans {
		rep.Problems = append(rep.Problems, r.s.scrub.text(p))
	}
	if r.executed == 0 {
		rep.Problems = append(rep.Problems, "no check was executed")
	}
	rep.Mode = r.s.mode()
}

// mode says how the provider was opened, in facts.
func (s *suite) mode() Mode {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := Mode{Probing: s.opts.Probing}
	keys := make([]string, 0, len(s.settings))
	for key := range s.settings {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		m.Settings = append(m.Settings, SettingSource{Key: key, Source: s.settings[key].Source})
	}
	for _, e := range s.h.Driver.Manifest.Endpoints {
		m.Endpoints = append(m.Endpoints, EndpointMode{Name: e.Name, URL: e.URL, Overridden: overridden(e, s.h.Driver.Manifest, s.settings)})
	}
	if s.scope != "" {
		sum := sha256.Sum256([]byte("sbx conformance scope\x00" + s.scope))
		m.Scope = hex.EncodeToString(sum[:8])
	}
	return m
}

// overridden reports whether the setting that holds an endpoint's address has
// another value than the manifest's.
func overridden(e contract.Endpoint, m contract.Manifest, settings port.Settings) bool {
	for _, rule := range m.Settings {
		if rule.Env != e.Env || e.Env == "" {
			continue
		}
		v := settings.String(rule.Key)
		return v != "" && v != e.URL
	}
	return false
}

func environment(parallel int) Environment {
	e := Environment{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Go: runtime.Version(), Parallel: max(parallel, 1)}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return e
	}
	e.Modules = map[string]string{}
	if info.Main.Path != "" {
		e.Modules[info.Main.Path] = info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == "github.com/agentworkforce/sbx" {
			e.Modules[d.Path] = d.Version
		}
	}
	return e
}

// CurrentEnvironment describes this machine without its name and paths.
// Parallel is how many things ran at once.
func CurrentEnvironment(parallel int) Environment { return environment(parallel) }

func (s *suite) adapterUnderTest() contract.Adapter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.adapter
}

// repro is a command for the provider's package directory.
func (r *runner) repro(id string) string {
	return fmt.Sprintf("go test -count=1 -run 'TestConformance/^%s$' -v .", regexp.QuoteMeta(id))
}

package sandbox

import (
	"context"
	"fmt"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/port"
)

// judgeAtVendor looks at what may be reaped, and whether it is still what the
// ledger is about. An error means that nobody can say. It changes nothing at the
// vendor; th gets the ID it was found by.
func (p *Provider) judgeAtVendor(ctx context.Context, th *thing, owner string) (Verdict, string, error) {
	if _, ok := p.resource(th.kind); !ok {
		return "", "", &Error{Code: port.CodeUnsupported, Outcome: port.OutcomeUnchanged,
			Reason: fmt.Sprintf("this provider has no operation that removes a %s", th.kind)}
	}
	if th.id != "" {
		return p.judgeByID(ctx, th, owner)
	}
	id, err := p.findByTags(ctx, th)
	if err != nil {
		return "", "", err
	}
	if id != "" {
		th.id = id
		return VerdictReap, "found by its tags", nil
	}
	if verdict, reason, err := p.judgeByName(ctx, th); verdict != "" || err != nil {
		return verdict, reason, err
	}
	if p.listProves(th) {
		return VerdictAbsent, "its create came to nothing: a complete list lacks it", nil
	}
	return VerdictUnknown, "its create has no recorded outcome, and nothing carries its tags or name", nil
}

// judgeByID makes sure that the ID has not come to name something of another.
// One that is not there any more is reaped too: that proves and records it.
func (p *Provider) judgeByID(ctx context.Context, th *thing, owner string) (Verdict, string, error) {
	var tags *contract.Tags
	var err error
	switch {
	case th.kind == ledger.KindSandbox:
		var i contract.Instance
		i, err = p.table.Inspect(ctx, th.id)
		tags = i.Tags
	case p.table.InspectSnapshot != nil && th.kind == ledger.KindSnapshot:
		var s contract.Snapshot
		s, err = p.table.InspectSnapshot(ctx, th.id)
		tags = s.Tags
	}
	switch {
	case port.CodeOf(err) == port.CodeNotFound:
		return VerdictReap, "it is not there any more; its absence is to be proven", nil
	case err != nil:
		return "", "", err
	case tags != nil && tags.Owner != "" && tags.Owner != owner && !th.adopted():
		return VerdictSkipTagMismatch, "it is marked as another owner's", nil
	case tags != nil && tags.Intent != "" && tags.Intent != th.tags.Intent && !th.adopted():
		return VerdictSkipTagMismatch, "it is marked with another intent", nil
	}
	return VerdictReap, "", nil
}

// adopted things carry the marks of whoever made them.
func (t *thing) adopted() bool {
	for _, l := range t.entries {
		if l.entry.Created {
			return false
		}
	}
	return true
}

// judgeByName is for vendors that store no tags, and then only for a name that
// one thing has.
func (p *Provider) judgeByName(ctx context.Context, th *thing) (Verdict, string, error) {
	res, ok := p.resource(th.kind)
	if !ok || res.list == nil || th.name == "" {
		return "", "", nil
	}
	rows, err := res.list(ctx, contract.ListRequest{})
	if err != nil {
		return "", "", err
	}
	var found []row
	for _, r := range rows {
		if r.name == th.name && r.id != "" {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 0:
		return "", "", nil
	case len(found) > 1:
		return VerdictUnknown, fmt.Sprintf("%d things have its name", len(found)), nil
	case found[0].tags != nil && found[0].tags.Owner != "":
		return VerdictSkipTagMismatch, "what has its name is marked with another intent", nil
	case p.driver.Manifest.Labels.Encoding != contract.LabelEncodingNone:
		return VerdictSkipNoAttribution, "what has its name carries no mark of an owner", nil
	}
	th.id = found[0].id
	return VerdictReap, "found by its unique name", nil
}

// strays are the things that carry the tags of an intent and that no ledger
// knows: what a composed operation, such as a fork, made before its process died.
// They share the fate of what they were made for. Only what was made out of
// something else can have any.
func (r *reaper) strays(ctx context.Context, of *thing, item ReapItem, known []*thing) ([]*thing, error) {
	p := r.providers[of.provider]
	released := item.Verdict == VerdictReap || item.Verdict == VerdictAbsent || item.Verdict == VerdictUnknown
	if p == nil || of.stray || of.kind != ledger.KindSandbox || of.parent == "" || !released {
		return nil, nil
	}
	ctx, cancel := within(ctx, limitLookup, p.opts.deadlines.Lookup)
	defer cancel()
	var out []*thing
	for _, kind := range ledger.Kinds() {
		if kind == of.kind {
			continue
		}
		rows, err := r.list(ctx, p, kind)
		if err != nil {
			return out, fmt.Errorf("%s of %s: whether run %s left any cannot be established: %w", kind, of.provider, of.opened().run.Run, err)
		}
		for _, row := range rows {
			if row.tags == nil || !sameTags(*row.tags, of.tags) || isKnown(known, of.provider, kind, row.id) {
				continue
			}
			intent, err := ledger.NewIntent()
			if err != nil {
				return out, err
			}
			t := of.target
			t.kind, t.id, t.name, t.intent, t.parent = kind, row.id, row.name, intent, first(of.id, of.intent)
			out = append(out, &thing{target: t, entries: of.entries, updated: of.updated, stray: true})
		}
	}
	return out, nil
}

// list reads every row of a kind, once per reaping. Kinds that cannot be listed
// or removed have none to show.
func (r *reaper) list(ctx context.Context, p *Provider, kind ledger.Kind) ([]row, error) {
	key := p.driver.ID + "\x00" + string(kind)
	if rows, done := r.lists[key]; done {
		return rows, nil
	}
	res, ok := p.resource(kind)
	if !ok || res.list == nil {
		return nil, nil
	}
	rows, err := res.list(ctx, contract.ListRequest{})
	if err != nil {
		return nil, p.fail(ctx, operation{name: "List", effect: contract.EffectRead}, err)
	}
	r.lists[key] = rows
	return rows, nil
}

func isKnown(things []*thing, provider string, kind ledger.Kind, id string) bool {
	for _, t := range things {
		if t.provider == provider && t.kind == kind && t.id == id {
			return true
		}
	}
	return false
}

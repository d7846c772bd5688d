package sandbox_test

import (
	"context"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/ledger"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/stretchr/testify/require"
)

// dead writes the ledger of a run that is over, as another program might have.
func (w *world) dead(host string, records ...ledger.Record) {
	w.t.Helper()
	dirs := ledger.Dirs{Root: w.state}
	who, err := ledger.Identify(w.t.Context(), dirs, func(string) string { return "" })
	require.NoError(w.t, err)
	who.Owner = "owner-a"
	if host != "" {
		who.Host = host
	}
	l, err := ledger.Start(w.t.Context(), ledger.Options{Dirs: dirs, Identity: who})
	require.NoError(w.t, err)
	for _, r := range records {
		r.Kind, r.Provider, r.Scope, r.Intent = ledger.KindSandbox, "fake", "account-1", "intent-1"
		if r.Disposition == "" {
			r.Disposition = ledger.Scoped
		}
		_, err := l.Append(r)
		require.NoError(w.t, err)
	}
	require.NoError(w.t, l.Close())
}

// place puts a box at the vendor.
func (w *world) place(id, name string) {
	w.t.Helper()
	require.NoError(w.t, w.c.put(id, box{Kind: "sandbox", Instance: contract.Instance{ID: id, Name: name,
		State: contract.StateRunning, Freshness: contract.FreshnessLive}}))
}

func TestWhatALedgerAloneForbids(t *testing.T) {
	intent, created := ledger.Record{Event: ledger.EventIntent}, ledger.Record{Event: ledger.EventCreated, ID: "box-1"}
	for want, tc := range map[sandbox.Verdict]struct {
		host    string
		records []ledger.Record
	}{
		sandbox.VerdictReap:            {"", []ledger.Record{intent, created}},
		sandbox.VerdictSkipForeignHost: {"m-other", []ledger.Record{intent, created}},
		sandbox.VerdictUnknown:         {"", []ledger.Record{intent, created, {Event: ledger.EventCreated, ID: "box-2"}}},
		sandbox.VerdictSkipMalformedDeadline: {"", []ledger.Record{{Event: ledger.EventIntent, ReapAfter: time.Unix(1, 0)},
			{Event: ledger.EventCreated, ID: "box-1", ReapAfter: time.Unix(1, 0)}}},
	} {
		w := newWorld(t)
		w.dead(tc.host, tc.records...)
		w.place("box-1", "")
		require.Equal(t, want, one(t, w.reap(true)).Verdict)
		require.Equal(t, want != sandbox.VerdictReap, len(w.c.ids(t)) == 1, want)
	}
}

// TestANameAloneIsWeak looks for an intent without an ID at a vendor whose list
// shows no tags.
func TestANameAloneIsWeak(t *testing.T) {
	encoding := func(e contract.LabelEncoding) func(*sandbox.ReapOptions) {
		return func(o *sandbox.ReapOptions) {
			inner := o.Drivers
			o.Drivers = func(id string) (sandbox.Driver, bool) {
				d, ok := inner(id)
				d.Manifest.Labels.Encoding = e
				return d, ok
			}
		}
	}
	tagged := faulty(func(tb *contract.Table) {
		inner := tb.List
		tb.List = func(ctx context.Context, _ contract.ListRequest) ([]contract.Instance, error) {
			all, err := inner(ctx, contract.ListRequest{})
			for i := range all {
				all[i].Tags = &contract.Tags{Owner: "owner-a", Run: "r", Intent: "another"}
			}
			return all, err
		}
	})
	for name, tc := range map[string]struct {
		want   sandbox.Verdict
		boxes  []string
		change []func(*sandbox.ReapOptions)
	}{
		"unique, and the vendor has no tags":  {sandbox.VerdictReap, []string{"box-1"}, []func(*sandbox.ReapOptions){encoding(contract.LabelEncodingNone)}},
		"twice":                               {sandbox.VerdictUnknown, []string{"box-1", "box-2"}, []func(*sandbox.ReapOptions){encoding(contract.LabelEncodingNone)}},
		"unique, but tags would be there":     {sandbox.VerdictSkipNoAttribution, []string{"box-1"}, nil},
		"unique, with tags of something else": {sandbox.VerdictSkipTagMismatch, []string{"box-1"}, []func(*sandbox.ReapOptions){tagged}},
		"not there, and tags are not stored":  {sandbox.VerdictUnknown, nil, []func(*sandbox.ReapOptions){encoding(contract.LabelEncodingNone)}},
		"not there":                           {sandbox.VerdictAbsent, nil, nil},
		"not there, and lists prove nothing": {sandbox.VerdictUnknown, nil, []func(*sandbox.ReapOptions){func(o *sandbox.ReapOptions) {
			inner := o.Drivers
			o.Drivers = func(id string) (sandbox.Driver, bool) {
				d, ok := inner(id)
				d.Manifest.GoneProof = contract.GoneProofInspect
				return d, ok
			}
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.dead("", ledger.Record{Event: ledger.EventIntent, Name: "my-box"})
			for _, id := range tc.boxes {
				w.place(id, "my-box")
			}
			r := w.reap(true, append([]func(*sandbox.ReapOptions){later(time.Hour)}, tc.change...)...)
			require.Equal(t, tc.want, one(t, r).Verdict, "%+v", r)
			left := len(tc.boxes)
			if tc.want == sandbox.VerdictReap {
				left--
			}
			require.Len(t, w.c.ids(t), left)
		})
	}
}

func TestTwoReapersSettleOnce(t *testing.T) {
	w := newWorld(t)
	w.killed("die-with-box")
	r := w.reap(true, func(o *sandbox.ReapOptions) {
		inner := o.Drivers
		o.Drivers = func(id string) (sandbox.Driver, bool) { // after the look at the ledgers, before the act
			require.True(t, one(t, w.reap(true)).Acted)
			return inner(id)
		}
	})
	require.False(t, one(t, r).Acted)
	require.Equal(t, 1, w.c.count("Destroy"))
	w.legal()
}

package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// replay runs one fixture.
func replay(ctx context.Context, d sandbox.Driver, op described, f fixture, stateDir string) (err error) {
	claim := d.Manifest.Claims[string(op.Capability)]
	want := fixtureDelivered
	if op.Capability != "" && claim.Support != contract.SupportSupported {
		want = fixtureUnsupported
	}
	switch {
	case f.Capability != string(op.Capability):
		return fmt.Errorf("it is of capability %q; want %q", f.Capability, op.Capability)
	case f.Want != want:
		return fmt.Errorf("it wants %q; by this manifest the call is %q", f.Want, want)
	}
	args, err := values(f.Request, op.params(), op.paramType)
	if err != nil {
		return fmt.Errorf("request: %w", err)
	}
	answers, err := values(f.Answer, op.method.Results, op.fn.Out)
	if err != nil {
		return fmt.Errorf("answer: %w", err)
	}
	rec := &recorder{op: op, answers: answers}
	p, err := rec.open(ctx, d, stateDir)
	if err != nil {
		return err
	}
	defer func() { err = joinErrors(err, p.Close()) }()
	return rec.replay(ctx, p, args, want)
}

// recorder is a Table that gives a fixture's answer and remembers what reached it.
type recorder struct {
	op      described
	answers []value
	armed   bool // the call under test has begun
	got     [][]reflect.Value
	content []byte // of a stream that was sent
	closed  bool   // whether the live handle that was answered has been closed
	gone    bool
	made    string // ID that CreateSnapshot answers before the call under test
}

const contractID = "sandbox-1"

func (r *recorder) open(ctx context.Context, d sandbox.Driver, stateDir string) (*sandbox.Provider, error) {
	opts := []sandbox.Option{sandbox.WithStateDir(stateDir), sandbox.WithOwner("contract-test"),
		sandbox.WithEnviron(func(string) (string, bool) { return "", false }),
		sandbox.WithTable(func(contract.Table) contract.Table { return r.table() })}
	for _, rule := range d.Manifest.Settings {
		opts = append(opts, sandbox.WithSecret(rule.Key, port.NewSecret(dummySetting(rule))))
	}
	d.Open = func(context.Context, port.Settings) (contract.Adapter, error) { return nobody{}, nil }
	return sandbox.Open(ctx, d, opts...)
}

func dummySetting(rule contract.SettingRule) string {
	switch rule.Type {
	case contract.SettingTypeInteger:
		return "1"
	case contract.SettingTypeBoolean:
		return "true"
	case contract.SettingTypeDuration:
		return "1s"
	case contract.SettingTypeEnum:
		if len(rule.Allowed) > 0 {
			return rule.Allowed[0]
		}
	}
	return "contract-dummy-value"
}

// table is a whole vendor that has nothing but one sandbox, and the operation
// under test.
func (r *recorder) table() contract.Table {
	var t contract.Table
	v := reflect.ValueOf(&t).Elem()
	for i := range v.NumField() {
		typ := v.Field(i).Type()
		v.Field(i).Set(reflect.MakeFunc(typ, func([]reflect.Value) []reflect.Value { return zeros(typ) }))
	}
	running := contract.Instance{ID: contractID, State: contract.StateRunning, Freshness: contract.FreshnessLive, Isolation: contract.IsolationUnknown}
	t.Scope = func(context.Context) (string, error) { return "contract", nil }
	t.Create = func(context.Context, contract.CreateRequest) (contract.Instance, error) { return running, nil }
	t.Destroy = func(context.Context, string) (port.DestroyOutcome, error) {
		r.gone = true
		return port.DestroyAccepted, nil
	}
	t.DeleteSnapshot = t.Destroy
	t.Inspect = func(context.Context, string) (contract.Instance, error) {
		if r.gone {
			return contract.Instance{}, &port.Error{Code: port.CodeNotFound}
		}
		return running, nil
	}
	t.InspectSnapshot = func(context.Context, string) (contract.Snapshot, error) {
		return contract.Snapshot{}, &port.Error{Code: port.CodeNotFound}
	}
	t.CreateSnapshot = func(context.Context, string, contract.SnapshotRequest) (contract.Snapshot, error) {
		return contract.Snapshot{ID: r.made, State: contract.SnapshotStateReady, Freshness: contract.FreshnessLive}, nil
	}
	f := v.FieldByName(r.op.Name)
	inner := reflect.ValueOf(f.Interface())
	f.Set(reflect.MakeFunc(r.op.fn, func(args []reflect.Value) []reflect.Value {
		if !r.armed {
			return inner.Call(args)
		}
		r.record(args)
		if r.op.Name == "Destroy" || r.op.Name == "DeleteSnapshot" {
			inner.Call(args) // so that absence can be proven afterwards
		}
		return r.answer()
	}))
	return t
}

func zeros(typ reflect.Type) []reflect.Value {
	out := make([]reflect.Value, typ.NumOut())
	for i := range out {
		out[i] = reflect.Zero(typ.Out(i))
	}
	return out
}

func (r *recorder) record(args []reflect.Value) {
	r.got = append(r.got, args)
	for _, a := range args {
		if w, ok := a.Interface().(port.WriteStream); ok && w.Reader != nil {
			b, err := io.ReadAll(w.Reader)
			if err != nil || int64(len(b)) != w.Size {
				b = fmt.Appendf(nil, "size %d, %d bytes, %v", w.Size, len(b), err)
			}
			r.content = b
		}
	}
}

func (r *recorder) answer() []reflect.Value {
	out := zeros(r.op.fn)
	for i, a := range r.answers {
		switch typ := r.op.fn.Out(i); {
		case typ == reflect.TypeFor[port.ReadStream]():
			s := port.ReadStream{ReadCloser: io.NopCloser(bytes.NewReader(a.content)), Size: int64(len(a.content))}
			out[i] = reflect.ValueOf(s)
		case a.live && typ == reflect.TypeFor[port.Process]():
			out[i] = reflect.ValueOf(port.Process(&handle{r: r})).Convert(typ)
		case a.live:
			out[i] = reflect.ValueOf(port.PTY(&terminal{handle{r: r}})).Convert(typ)
		default:
			out[i] = a.plain
		}
	}
	return out
}

// replay makes the call through the library.
func (r *recorder) replay(ctx context.Context, p *sandbox.Provider, args []value, want string) error {
	var sb *sandbox.Sandbox
	var err error
	if r.op.Name != "Create" {
		if sb, err = p.Create(ctx, sandbox.SkipReady()); err != nil {
			return fmt.Errorf("making the sandbox to call it on: %w", err)
		}
	}
	if r.op.Name == "DeleteSnapshot" && want == fixtureDelivered {
		r.made = args[0].plain.String()
		if _, err := sb.CreateSnapshot(ctx, contract.SnapshotRequest{}); err != nil {
			return fmt.Errorf("making the snapshot to delete: %w", err)
		}
	}
	r.armed = true
	results, err := r.call(ctx, p, sb, args)
	if want == fixtureUnsupported {
		if len(r.got) > 0 {
			return errors.New("it is not supported and reached the adapter")
		}
		return wantUnsupported(err, r.op.Capability, r.op.Name)
	}
	if err := acknowledged(p, results, err); err != nil {
		return err
	}
	if n := len(r.got); n != 1 {
		return fmt.Errorf("it reached the adapter %d times", n)
	}
	return joinErrors(r.sameRequest(p, args), r.sameAnswer(results))
}

// acknowledged passes the error of a delivered call on, except that a destroy
// has to end unverified where the manifest knows no proof of absence.
func acknowledged(p *sandbox.Provider, results []reflect.Value, err error) error {
	proof := p.Manifest().GoneProof
	if len(results) == 0 || results[0].Type() != reflect.TypeFor[sandbox.DestroyReport]() ||
		proof == contract.GoneProofInspect || proof == contract.GoneProofList || proof == contract.GoneProofBoth {
		return err
	}
	var unverified *sandbox.UnverifiedError
	if !errors.As(err, &unverified) {
		return fmt.Errorf("absence cannot be proven with goneProof %q, and the call ended with: %v", proof, err)
	}
	return nil
}

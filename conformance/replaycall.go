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

// call makes the call of a fixture with the library's method of the same name.
// Create is the one method that takes its request in another form.
func (r *recorder) call(ctx context.Context, p *sandbox.Provider, sb *sandbox.Sandbox, args []value) ([]reflect.Value, error) {
	if r.op.Name == "Create" {
		request, _ := args[0].plain.Interface().(contract.CreateRequest)
		made, err := p.Create(ctx, r.createOptions(p, request)...)
		return []reflect.Value{reflect.ValueOf(made)}, err
	}
	on := reflect.ValueOf(p)
	if r.op.onSandbox {
		on = reflect.ValueOf(sb)
	}
	m := on.MethodByName(r.op.Name)
	if !m.IsValid() || m.Type().NumIn() != len(args)+1 {
		return nil, fmt.Errorf("the library has no method %s with %d arguments", r.op.Name, len(args))
	}
	in := []reflect.Value{reflect.ValueOf(ctx)}
	for i, a := range args {
		if m.Type().In(i+1) == reflect.TypeFor[port.WriteStream]() {
			a.plain = reflect.ValueOf(port.WriteStream{Reader: bytes.NewReader(a.content), Size: int64(len(a.content))})
		}
		in = append(in, a.plain)
	}
	out := m.Call(in)
	err, _ := out[len(out)-1].Interface().(error)
	return out[:len(out)-1], err
}

// createOptions spells a request as options; what the manifest does not declare
// is left out, as create would refuse it.
func (r *recorder) createOptions(p *sandbox.Provider, q contract.CreateRequest) []sandbox.CreateOption {
	opts := []sandbox.CreateOption{sandbox.SkipReady(), sandbox.WithName(q.Name), sandbox.WithPull(q.Pull), sandbox.WithClass(q.Class)}
	if q.Image != "" {
		opts = append(opts, sandbox.WithImage(q.Image))
	}
	if len(q.Env) > 0 {
		opts = append(opts, sandbox.WithEnv(q.Env))
	}
	if q.Resources != nil {
		opts = append(opts, sandbox.WithResources(*q.Resources))
	}
	if len(q.Labels) > 0 && p.Supports(contract.CapabilityLabels) {
		opts = append(opts, sandbox.WithLabels(q.Labels))
	}
	if p.Supports(contract.CapabilityPorts) {
		for _, n := range q.Ports {
			opts = append(opts, sandbox.WithPorts(int(n)))
		}
	}
	if q.FromSnapshot != "" && p.Supports(contract.CapabilitySnapshot) {
		opts = append(opts, sandbox.WithFromSnapshot(q.FromSnapshot))
	}
	return opts
}

// sameRequest holds what reached the Table against what the fixture gave. The
// ownership marks are the library's: they have to be there, and are not compared.
func (r *recorder) sameRequest(p *sandbox.Provider, args []value) error {
	got := r.got[0][1:] // without the context
	if r.op.onSandbox {
		if id := got[0].String(); id != contractID {
			return fmt.Errorf("it reached the adapter with id %q, want %q", id, contractID)
		}
		got = got[1:]
	}
	for i, a := range args {
		if got[i].Type() == reflect.TypeFor[port.WriteStream]() {
			if err := equal("stream that reached the adapter", a.content, r.content); err != nil {
				return err
			}
			continue
		}
		want, err := r.expected(p, a.plain.Interface())
		if err != nil {
			return err
		}
		have, err := withoutTags(got[i].Interface())
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(want, have) {
			return fmt.Errorf("parameter %s reached the adapter as %+v, given was %+v", r.op.params()[i].Name, have, want)
		}
	}
	return nil
}

// expected is what a caller's argument has to be at the adapter.
func (r *recorder) expected(p *sandbox.Provider, arg any) (any, error) {
	if q, ok := arg.(contract.CreateRequest); ok {
		if !p.Supports(contract.CapabilityLabels) {
			q.Labels = nil
		}
		if !p.Supports(contract.CapabilityPorts) {
			q.Ports = nil
		}
		if q.Image == "" && q.FromSnapshot == "" {
			q.Image = p.Manifest().Image
		}
		arg = q
	}
	return withoutTags(arg)
}

func withoutTags(arg any) (any, error) {
	var tags *contract.Tags
	switch q := arg.(type) {
	case contract.CreateRequest:
		tags, arg = &q.Tags, &q
	case contract.SnapshotRequest:
		tags, arg = &q.Tags, &q
	case contract.ForkRequest:
		tags, arg = &q.Tags, &q
	default:
		return arg, nil
	}
	if tags.Owner == "" || tags.Run == "" || tags.Intent == "" {
		return nil, errors.New("ownership marks are missing")
	}
	*tags = contract.Tags{}
	return reflect.ValueOf(arg).Elem().Interface(), nil
}

// sameAnswer holds what the caller got against what the fixture answers.
func (r *recorder) sameAnswer(results []reflect.Value) error {
	if len(results) != len(r.answers) {
		return fmt.Errorf("%d results, the fixture has %d", len(results), len(r.answers))
	}
	for i, a := range r.answers {
		if err := r.sameResult(results[i].Interface(), a); err != nil {
			return fmt.Errorf("result %s: %w", r.op.method.Results[i].Name, err)
		}
	}
	return nil
}

func (r *recorder) sameResult(got any, a value) error {
	switch g := got.(type) {
	case port.ReadStream:
		b, err := io.ReadAll(g)
		return joinErrors(err, g.Close(), equal("stream", a.content, b))
	case io.Closer: // a live handle: closing it has to reach the adapter's
		if err := g.Close(); err != nil {
			return err
		}
		if !r.closed {
			return errors.New("closing the handle did not reach the adapter's")
		}
		return nil
	case *sandbox.Sandbox: // of Create and Fork
		got = g.Instance()
	case sandbox.DestroyReport:
		got = g.Outcome
	}
	want := a.plain.Interface()
	if f, ok := want.(contract.ForkResult); ok {
		want = f.Instance
	}
	if !reflect.DeepEqual(got, want) {
		return fmt.Errorf("got %+v, the adapter answered %+v", got, want)
	}
	return nil
}

// handle is a live handle that does nothing.
type handle struct{ r *recorder }

func (*handle) Stdin() io.WriteCloser             { return nil }
func (*handle) Stdout() io.Reader                 { return emptyReader{} }
func (*handle) Stderr() io.Reader                 { return nil }
func (*handle) Wait(context.Context) (int, error) { return 0, nil }
func (*handle) Kill(context.Context) error        { return nil }
func (h *handle) Close() error                    { h.r.closed = true; return nil }

type terminal struct{ handle }

func (*terminal) Read([]byte) (int, error)               { return 0, io.EOF }
func (*terminal) Write(p []byte) (int, error)            { return len(p), nil }
func (*terminal) Resize(context.Context, int, int) error { return nil }

// nobody is an adapter that is never called: the recorder's Table takes its place.
type nobody struct{}

func (nobody) Scope(context.Context) (string, error) { return "", port.NotImplemented("Scope") }
func (nobody) Create(context.Context, contract.CreateRequest) (contract.Instance, error) {
	return contract.Instance{}, port.NotImplemented("Create")
}
func (nobody) Inspect(context.Context, string) (contract.Instance, error) {
	return contract.Instance{}, port.NotImplemented("Inspect")
}
func (nobody) Exec(context.Context, string, contract.Command) (contract.ExecResult, error) {
	return contract.ExecResult{}, port.NotImplemented("Exec")
}
func (nobody) Destroy(context.Context, string) (port.DestroyOutcome, error) {
	return "", port.NotImplemented("Destroy")
}

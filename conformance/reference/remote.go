//go:build unix

package reference

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
	"github.com/agentworkforce/sbx/wire"
)

// Remote is the adapter of the vendor's HTTP interface. It has fewer capabilities
// than the one in memory: list, labels, stop, restart and snapshot. It is safe for
// concurrent use.
type Remote struct{ c *wire.Client }

// RemoteDriver makes the vendor's HTTP interface at address, host:port, available
// as provider "reference-remote", with settings token and host; the latter is
// tcp://host:port.
func (v *Vendor) RemoteDriver(address string) sandbox.Driver {
	m := v.manifest()
	m.ID, m.Name = "reference-remote", "Reference over HTTP"
	m.Settings = append(m.Settings, contract.SettingRule{Key: "host", Env: "SBX_REFERENCE_HOST", Label: "Host", Type: contract.SettingTypeString,
		Default: "tcp://" + address})
	m.ForkKeeps = ""
	for _, c := range contract.Capabilities() {
		switch c {
		case contract.CapabilityList, contract.CapabilityLabels, contract.CapabilityStop, contract.CapabilityRestart, contract.CapabilitySnapshot:
		default:
			m.Claims[string(c)] = contract.Claim{Support: contract.SupportNotExposed, Reason: "the HTTP interface leaves it out"}
		}
	}
	return sandbox.Driver{ID: m.ID, Manifest: m, Open: openRemote}
}

func openRemote(_ context.Context, s port.Settings) (contract.Adapter, error) {
	at, err := url.Parse(s.String("host"))
	if err != nil {
		return nil, fail("Open", "", port.CodeInvalidArgument, "setting host is no address")
	}
	errs := wire.CommonErrors().With(
		wire.Rule{VendorCode: string(port.CodeQuotaExceeded), Code: port.CodeQuotaExceeded, Outcome: port.OutcomeUnchanged},
		wire.Rule{VendorCode: string(port.CodeFailedPrecondition), Code: port.CodeFailedPrecondition, Outcome: port.OutcomeUnchanged},
		wire.Rule{VendorCode: string(port.CodeWorkdirUnusable), Code: port.CodeWorkdirUnusable, Outcome: port.OutcomeUnchanged})
	c, err := wire.NewClient(wire.Config{Provider: "reference-remote", BaseURL: "http://" + at.Host, Errors: errs,
		Credentials: []wire.Credential{{Header: "Authorization", Scheme: "Bearer", Value: s.Secret("token")}}})
	if err != nil {
		return nil, err
	}
	return &Remote{c: c}, nil
}

// reply is a success.
type reply[T any] struct {
	OK     bool `json:"ok"`
	Result *T   `json:"result"`
}

// Validate implements wire.Validator: a success says so, and has a result.
func (r reply[T]) Validate() error {
	if !r.OK || r.Result == nil {
		return errors.New("the answer does not say that it is a success")
	}
	return nil
}

func ask[T any](ctx context.Context, r *Remote, effect wire.Effect, op, id string, args ...any) (T, error) {
	return asked[T](ctx, r, wire.Request{Op: op, ID: id, Effect: effect, Path: []string{"v1", op}}, args)
}

func asked[T any](ctx context.Context, r *Remote, q wire.Request, args []any) (T, error) {
	var zero T
	if args == nil {
		args = []any{}
	}
	if q.Effect == wire.Read {
		b, err := json.Marshal(args)
		if err != nil {
			return zero, err
		}
		if q.Query == nil {
			q.Query = url.Values{}
		}
		q.Query.Set("args", string(b))
	} else {
		q.JSON = args
	}
	got, err := wire.Do[reply[T]](ctx, r.c, q)
	if err != nil {
		return zero, err
	}
	return *got.Result, nil
}

// Scope implements contract.Adapter.
func (r *Remote) Scope(ctx context.Context) (string, error) {
	return ask[string](ctx, r, wire.Read, "Scope", "")
}

// Create implements contract.Adapter. An image that the vendor does not have yet is
// transferred first.
func (r *Remote) Create(ctx context.Context, q contract.CreateRequest) (contract.Instance, error) {
	if q.Image == ColdImage && q.FromSnapshot == "" {
		if err := r.transfer(ctx, q.Image); err != nil {
			return contract.Instance{}, err
		}
	}
	return ask[contract.Instance](ctx, r, wire.Mutate, "Create", "", q)
}

// transfer goes on for as long as there is progress: two failures with none in
// between end it.
func (r *Remote) transfer(ctx context.Context, image string) error {
	failed := false
	for {
		p, err := ask[progress](ctx, r, wire.Read, "Transfer", "", image)
		switch {
		case err != nil && (failed || ctx.Err() != nil):
			return err
		case err == nil && p.Have >= p.Of:
			return nil
		}
		failed = err != nil
	}
}

// Inspect implements contract.Adapter.
func (r *Remote) Inspect(ctx context.Context, id string) (contract.Instance, error) {
	return ask[contract.Instance](ctx, r, wire.Read, "Inspect", id, id)
}

// Destroy implements contract.Adapter.
func (r *Remote) Destroy(ctx context.Context, id string) (port.DestroyOutcome, error) {
	return ask[port.DestroyOutcome](ctx, r, wire.Mutate, "Destroy", id, id)
}

// Exec implements contract.Adapter: it submits, and reads the output to its end mark.
func (r *Remote) Exec(ctx context.Context, id string, c contract.Command) (contract.ExecResult, error) {
	name, err := ask[string](ctx, r, wire.Mutate, "Exec", id, id, c)
	if err != nil {
		return contract.ExecResult{}, err
	}
	args, err := json.Marshal([]string{name})
	if err != nil {
		return contract.ExecResult{}, err
	}
	body, err := r.c.Stream(ctx, wire.Request{Op: "Exec", ID: id, Effect: wire.Read, Path: []string{"v1", "Output"},
		Query: url.Values{"args": {string(args)}}})
	if err != nil {
		return contract.ExecResult{}, started(ctx, id, err)
	}
	res, err := collected(body, c.OutputLimit)
	if err != nil {
		err = started(ctx, id, err)
	}
	return res, errors.Join(err, body.Close())
}

// started is an error about a command that had begun.
func started(ctx context.Context, id string, err error) error {
	if ended := wire.ContextError(ctx, "Exec", port.OutcomeUnknown); ended != nil {
		return ended
	}
	if port.CodeOf(err) == port.CodeTimeout {
		return &port.Error{Code: port.CodeTimeout, Op: "Exec", ID: id, Outcome: port.OutcomeDone, Reason: "the command's time was up"}
	}
	return &port.Error{Code: port.CodeExitUnknown, Op: "Exec", ID: id, Outcome: port.OutcomeUnknown,
		Reason: "the exit code did not arrive", Err: err}
}

// collected reads frames up to the one that ends them.
func collected(body io.Reader, limit int64) (contract.ExecResult, error) {
	if limit == 0 {
		limit = 10 << 20
	}
	res := contract.ExecResult{Streams: contract.StreamsSeparate}
	cut := false
	keep := func(to *[]byte, b []byte) {
		room := int(limit) - len(*to)
		cut = cut || len(b) > room
		*to = append(*to, b[:min(len(b), room)]...)
	}
	for frames := json.NewDecoder(body); ; {
		var f frame
		if err := frames.Decode(&f); err != nil {
			return res, err
		}
		keep(&res.Stdout, f.Out)
		keep(&res.Stderr, f.Err)
		switch {
		case f.Exit != nil:
			res.ExitCode, res.Truncated = *f.Exit, &cut
			return res, nil
		case f.Error != "":
			return res, &port.Error{Code: port.Code(f.Error), Op: "Exec", Outcome: port.OutcomeDone}
		case len(f.Out)+len(f.Err) == 0:
			return res, errors.New("a frame has neither output nor an end")
		}
	}
}

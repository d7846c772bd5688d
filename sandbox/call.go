package sandbox

import (
	"context"
	"io"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// operation is one call of the contract as the generated methods describe it.
type operation struct {
	name       string
	capability contract.Capability // empty for the core
	effect     contract.Effect
	limit      limit
	id         string        // native ID of what it is about
	args       []any         // data arguments that have rules of their own
	life       time.Duration // replaces the limit's duration when set
}

// admit refuses what the provider cannot do or the arguments do not allow.
// Nothing has been called when it returns an error.
func (p *Provider) admit(op operation) error {
	p.mu.Lock()
	closed := p.closed
	p.mu.Unlock()
	if closed {
		return p.refuse(op, port.CodeFailedPrecondition, "the provider is closed")
	}
	if op.capability != "" && (!p.callable(op.capability) || !p.table.Has(op.capability)) {
		return p.unsupported(op, op.capability)
	}
	for _, arg := range op.args {
		if reason := p.checkArgument(arg); reason != "" {
			return p.refuse(op, port.CodeInvalidArgument, reason)
		}
	}
	return nil
}

// call runs one operation that returns a value.
func call[T any](ctx context.Context, p *Provider, op operation, fn func(context.Context) (T, error)) (T, error) {
	var out, zero T
	if err := p.admit(op); err != nil {
		return zero, err
	}
	d := op.life
	if d == 0 {
		d = p.opts.deadlines.of(op.limit)
	}
	ctx, cancel := within(ctx, op.limit, d)
	defer cancel()
	err := p.observed(op, func() error {
		var err error
		out, err = fn(ctx)
		return p.fail(ctx, op, err)
	})
	if err != nil {
		return zero, err
	}
	return out, nil
}

// callNone runs one operation that returns only an error.
func callNone(ctx context.Context, p *Provider, op operation, fn func(context.Context) error) error {
	_, err := call(ctx, p, op, func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx) })
	return err
}

// open runs one operation that returns a live handle. The deadline is for
// opening it; the handle's own context ends when wrap's closer is called.
func open[T any](ctx context.Context, p *Provider, op operation, fn func(context.Context) (T, error),
	wrap func(T, context.CancelFunc) T) (T, error) {
	var out, zero T
	if err := p.admit(op); err != nil {
		return zero, err
	}
	d := p.opts.deadlines.of(op.limit)
	hctx, cancel := context.WithCancelCause(ctx)
	stop := func() { cancel(nil) }
	timer := time.AfterFunc(d, func() { cancel(&firedError{limit: op.limit, after: d}) })
	err := p.observed(op, func() error {
		var err error
		out, err = fn(hctx)
		if !timer.Stop() && err == nil && hctx.Err() != nil {
			// It opened while its context was being ended: the handle is of no use.
			err = join(context.Cause(hctx), closeHandle(out))
		}
		if err == nil && missing(out) {
			err = &Error{Code: port.CodeProvider, Outcome: port.OutcomeUnknown, Reason: "the adapter returned no handle"}
		}
		return p.fail(hctx, op, err)
	})
	if err != nil {
		stop()
		return zero, err
	}
	return wrap(out, stop), nil
}

// missing reports whether a handle is one in name only.
func missing(h any) bool {
	s, ok := h.(port.ReadStream)
	return h == nil || ok && s.ReadCloser == nil
}

func closeHandle(h any) error {
	if c, ok := h.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

func wrapReadStream(s port.ReadStream, done context.CancelFunc) port.ReadStream {
	s.ReadCloser = &readCloser{ReadCloser: s.ReadCloser, done: done}
	return s
}

type readCloser struct {
	io.ReadCloser
	done context.CancelFunc
}

func (r *readCloser) Close() error {
	defer r.done()
	return r.ReadCloser.Close()
}

func wrapProcess(h port.Process, done context.CancelFunc) port.Process {
	return &process{Process: h, done: done}
}

type process struct {
	port.Process
	done context.CancelFunc
}

func (h *process) Close() error {
	defer h.done()
	return h.Process.Close()
}

func wrapPTY(h port.PTY, done context.CancelFunc) port.PTY { return &pty{PTY: h, done: done} }

type pty struct {
	port.PTY
	done context.CancelFunc
}

func (h *pty) Close() error {
	defer h.done()
	return h.PTY.Close()
}

package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"

	"github.com/agentworkforce/sbx/port"
)

const (
	errorBodyRead = 64 << 10 // bytes of an error body that are read
	errorBodyKept = 8 << 10  // and kept after redaction
	messageKept   = 1 << 10
)

// failure is one failed attempt; repeat says that sending again is safe and sensible.
type failure struct {
	err    *port.Error
	repeat bool
}

// trip watches whether bytes of a request may have left the process.
type trip struct{ asked, got atomic.Bool }

// sent is true unless the transport was seen to look for a connection and not
// to get one. A transport that reports nothing counts as having sent.
func (t *trip) sent() bool { return t.got.Load() || !t.asked.Load() }

func (t *trip) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { t.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.got.Store(true) },
	})
}

func (c *Client) attempt(ctx context.Context, k *call) (*http.Response, *failure) {
	var t trip
	req, err := c.build(t.watch(ctx), k)
	if err != nil {
		return nil, &failure{err: &port.Error{Code: port.CodeInvalidArgument, Op: k.Op, Provider: c.cfg.Provider,
			ID: k.ID, Outcome: port.OutcomeUnchanged, Reason: err.Error()}}
	}
	resp, err := c.carrier(k).Do(req)
	if err != nil {
		if resp != nil { // a refused redirect leaves a closed response beside its error
			err = errors.Join(err, resp.Body.Close())
		}
		return nil, c.classify(ctx, k, t.sent(), err)
	}
	if k.accepts(resp.StatusCode) {
		return resp, nil
	}
	return nil, c.refused(k, resp)
}

// carrier follows redirects for reads only: a mutation that is answered with
// one would have to be sent a second time.
func (c *Client) carrier(k *call) *http.Client {
	if k.Effect != Read {
		return c.direct
	}
	for _, status := range k.Accept {
		if status >= 300 && status <= 399 {
			return c.direct
		}
	}
	return c.follow
}

// classify names a failure without an answer.
func (c *Client) classify(ctx context.Context, k *call, sent bool, err error) *failure {
	if cause := k.once.failure(); cause != nil {
		return &failure{err: c.bodyFailure(k, sent, cause)}
	}
	if ctxErr := ContextError(ctx, k.Op, k.Effect.outcome(sent)); ctxErr != nil {
		return &failure{err: c.stamp(k, ctxErr)}
	}
	return c.transportFailure(k, sent, err)
}

// bodyFailure passes on the code of the caller's own body reader, so that a
// stream of the wrong size stays the invalid argument it is.
func (c *Client) bodyFailure(k *call, sent bool, cause error) *port.Error {
	code := port.CodeOf(cause)
	if code == "" {
		code = port.CodeInvalidArgument
	}
	return &port.Error{Code: code, Op: k.Op, Provider: c.cfg.Provider, ID: k.ID, Outcome: k.Effect.outcome(sent),
		Reason: "reading what was to be uploaded failed", Err: k.redactor.Error(cause)}
}

func (c *Client) transportFailure(k *call, sent bool, err error) *failure {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err // its text repeats the URL with the query
	}
	e := &port.Error{Code: port.CodeUnavailable, Op: k.Op, Provider: c.cfg.Provider, ID: k.ID,
		Outcome: k.Effect.outcome(sent), Err: k.redactor.Error(err)}
	if redirect, ok := errors.AsType[*RedirectError](err); ok {
		e.Code, e.Err = port.CodeProvider, redirect
		e.Reason = "the vendor redirected the request"
		return &failure{err: e}
	}
	switch {
	case !sent:
		e.Reason = k.Method + " " + k.label() + ": no connection; nothing was sent"
		e.Retryable = dialFailed(err)
	case k.Effect == Read:
		e.Reason = k.Method + " " + k.label() + ": the connection failed before the answer was complete"
		e.Retryable = connectionLost(err)
	default:
		e.Code = port.CodeOutcomeUnknown
		e.Reason = k.Method + " " + k.label() + ": the connection failed after the request may have left"
	}
	return &failure{err: e, repeat: e.Retryable}
}

// dialFailed is true for refused and unreachable peers, and false for a host
// that does not exist or a certificate that is not accepted.
func dialFailed(err error) bool {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		return dns.IsTemporary || dns.IsTimeout
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "dial"
}

func connectionLost(err error) bool {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	op, ok := errors.AsType[*net.OpError](err)
	return ok && (op.Op == "read" || op.Op == "write")
}

// refused names an answer that is not a success, by the adapter's table.
func (c *Client) refused(k *call, resp *http.Response) *failure {
	raw, readErr := io.ReadAll(io.LimitReader(resp.Body, errorBodyRead))
	closeErr := resp.Body.Close()
	// The status decides; a body that cannot be read only costs its text.
	cut := readErr != nil || closeErr != nil || len(raw) == errorBodyRead
	vendor := c.cfg.ParseError(resp.StatusCode, raw)
	answer := &ResponseError{
		Method: k.Method, Path: k.label(), Status: resp.StatusCode,
		VendorCode: head(k.redactor.String(vendor.Code), messageKept),
		Message:    head(k.redactor.String(vendor.Message), messageKept),
		Body:       head(k.redactor.clean(raw, cut), errorBodyKept),
	}
	e := &port.Error{Op: k.Op, Provider: c.cfg.Provider, ID: k.ID, Err: answer,
		RetryAfter: RetryAfter(resp.Header, c.cfg.Clock.Now())}
	rule, known := c.cfg.Errors.Lookup(resp.StatusCode, vendor.Code)
	transient := rule.Transient
	switch {
	case known:
		e.Code, e.Outcome = rule.Code, rule.Outcome
	case k.Effect == Read:
		e.Code, transient = port.CodeUnavailable, unmappedTransient(resp.StatusCode)
		e.Reason = fmt.Sprintf("the vendor answered %d, which has no meaning agreed for this call", resp.StatusCode)
	default:
		e.Code = port.CodeOutcomeUnknown
		e.Reason = fmt.Sprintf("the vendor answered %d, which does not say whether the change was made", resp.StatusCode)
	}
	if k.Effect == Read {
		e.Outcome = port.OutcomeUnchanged
	} else if e.Outcome == port.OutcomeNotStated {
		e.Outcome = port.OutcomeUnknown
	}
	e.Retryable = transient && e.Outcome == port.OutcomeUnchanged
	return &failure{err: e, repeat: e.Retryable}
}

// stamp puts provider and ID on an error made without them.
func (c *Client) stamp(k *call, err error) *port.Error {
	e, ok := errors.AsType[*port.Error](err)
	if !ok {
		e = &port.Error{Code: port.CodeProvider, Op: k.Op, Outcome: k.Effect.outcome(true), Err: k.redactor.Error(err)}
	}
	e.Provider, e.ID = c.cfg.Provider, k.ID
	return e
}

// interrupted is an ended wait between two attempts.
func (c *Client) interrupted(ctx context.Context, k *call, cause error) error {
	if err := ContextError(ctx, k.Op, port.OutcomeUnchanged); err != nil {
		e := c.stamp(k, err)
		e.Err = cause
		return e
	}
	return c.stamp(k, &port.Error{Code: port.CodeCanceled, Op: k.Op, Outcome: port.OutcomeUnchanged,
		Reason: "the wait before the next attempt ended early", Err: cause})
}

func head[T string | []byte](s T, limit int) T {
	if len(s) > limit {
		return s[:limit]
	}
	return s
}

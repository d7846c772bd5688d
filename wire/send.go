package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/agentworkforce/sbx/port"
)

// Response is a success answer held in memory. Body is empty for 204.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// StreamResponse is a success answer whose body is read by the caller, who
// must close it. The body ends with the context it was asked for with.
type StreamResponse struct {
	io.ReadCloser
	Status int
	Header http.Header
	Size   int64 // bytes to come, -1 when not known
}

// Validator is implemented by results that can tell a well-formed value from
// JSON that merely decodes, for example by demanding an ID. Do calls it.
type Validator interface{ Validate() error }

// Send performs r and returns the whole answer, at most Config.MaxResponse
// bytes. It repeats what may be repeated, always under the one deadline of ctx.
//
// Every error is a *port.Error whose Outcome says what is known: a failed Read
// and a request that never left are OutcomeUnchanged; a Mutate whose bytes may
// have left is never sent again and is OutcomeUnknown unless the error table
// says otherwise.
func (c *Client) Send(ctx context.Context, r Request) (*Response, error) {
	k, err := c.prepare(r)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, k)
}

func (c *Client) send(ctx context.Context, k *call) (*Response, error) {
	ctx, cancel := c.deadline(ctx)
	defer cancel()
	resp, err := c.exchange(ctx, k)
	if err != nil {
		return nil, err
	}
	body, err := c.readAll(ctx, k, resp)
	if err != nil {
		return nil, err
	}
	return &Response{Status: resp.StatusCode, Header: resp.Header, Body: body}, nil
}

// Do performs r and decodes the JSON answer into T. An answer that is empty,
// null, not JSON, followed by more data, or refused by T's Validate method is
// an error wrapping *MalformedError: CodeProvider for a Read,
// CodeOutcomeUnknown for a Mutate. Use Send where an empty answer is right.
func Do[T any](ctx context.Context, c *Client, r Request) (T, error) {
	var out, zero T
	k, err := c.prepare(r)
	if err != nil {
		return zero, err
	}
	resp, err := c.send(ctx, k)
	if err != nil {
		return zero, err
	}
	if err := decode(resp.Body, &out); err != nil {
		return zero, c.malformed(k, resp.Status, err)
	}
	return out, nil
}

// Stream performs r and returns as soon as the answer's headers are there. It
// has no default deadline, because the body may be a log that is followed.
// Errors are those of Send; an error while reading the body is the reader's.
func (c *Client) Stream(ctx context.Context, r Request) (*StreamResponse, error) {
	k, err := c.prepare(r)
	if err != nil {
		return nil, err
	}
	resp, err := c.exchange(ctx, k)
	if err != nil {
		return nil, err
	}
	return &StreamResponse{ReadCloser: resp.Body, Status: resp.StatusCode, Header: resp.Header, Size: resp.ContentLength}, nil
}

func (c *Client) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.cfg.DefaultTimeout)
}

// exchange sends until there is an answer to accept or nothing left to try.
func (c *Client) exchange(ctx context.Context, k *call) (*http.Response, error) {
	if err := ContextError(ctx, k.Op, port.OutcomeUnchanged); err != nil {
		return nil, c.stamp(k, err)
	}
	for n := 1; ; n++ {
		resp, fail := c.attempt(ctx, k)
		if fail == nil {
			return resp, nil
		}
		wait, ok := c.wait(ctx, k, fail, n)
		if !ok {
			return nil, fail.err
		}
		if err := c.cfg.Clock.Sleep(ctx, wait); err != nil {
			// What failed before was without effect, or it would not be repeated.
			return nil, c.interrupted(ctx, k, errors.Join(err, fail.err))
		}
	}
}

// wait says how long to wait before the next attempt, and whether to make it.
// A wait that does not end before the deadline is not begun.
func (c *Client) wait(ctx context.Context, k *call, f *failure, n int) (time.Duration, bool) {
	if !f.repeat || k.once != nil || n >= c.cfg.Retry.Attempts || ctx.Err() != nil {
		return 0, false
	}
	d := c.cfg.Retry.backoff(n, c.cfg.Clock.Jitter())
	if asked := f.err.RetryAfter; asked > d {
		d = asked
	}
	if at, ok := ctx.Deadline(); ok && !c.cfg.Clock.Now().Add(d).Before(at) {
		return 0, false
	}
	return d, true
}

func (c *Client) readAll(ctx context.Context, k *call, resp *http.Response) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.cfg.MaxResponse+1))
	closeErr := resp.Body.Close()
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, c.stamp(k, ContextError(ctx, k.Op, k.Effect.outcome(true)))
	case err != nil:
		f := c.transportFailure(k, true, err)
		return nil, f.err
	case int64(len(body)) > c.cfg.MaxResponse:
		return nil, c.malformed(k, resp.StatusCode, &TooLargeError{Limit: c.cfg.MaxResponse})
	case closeErr != nil && ctx.Err() == nil:
		f := c.transportFailure(k, true, closeErr)
		return nil, f.err
	}
	return body, nil
}

func (c *Client) malformed(k *call, status int, cause error) error {
	e := &port.Error{Code: port.CodeProvider, Op: k.Op, Provider: c.cfg.Provider, ID: k.ID,
		Outcome: k.Effect.outcome(true), Reason: "the vendor reported success with an answer that cannot be used",
		Err: &MalformedError{Method: k.Method, Path: k.label(), Status: status, Err: k.redactor.Error(cause)}}
	if k.Effect == Mutate {
		e.Code = port.CodeOutcomeUnknown
	}
	return e
}

func decode[T any](body []byte, out *T) error {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) == 0 {
		return errors.New("the body is empty")
	}
	if string(trimmed) == "null" {
		return errors.New("the body is null")
	}
	if err := json.Unmarshal(trimmed, out); err != nil {
		return err
	}
	if v, ok := any(*out).(Validator); ok {
		return v.Validate()
	}
	if v, ok := any(out).(Validator); ok {
		return v.Validate()
	}
	return nil
}

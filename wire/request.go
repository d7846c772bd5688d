package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/agentworkforce/sbx/port"
)

// Request is one logical vendor call.
type Request struct {
	Op     string // operation of the contract, for errors: "Create"
	ID     string // native ID concerned, for errors
	Effect Effect // Mutate unless said otherwise
	Method string // "" means GET for a Read and POST for a Mutate
	// Path holds unescaped segments below the base URL; each is escaped. "."
	// and ".." are refused, and "" except as the last one, where it makes a
	// trailing slash. An ID therefore cannot reach another resource.
	Path        []string
	Query       url.Values // nothing secret
	Header      http.Header
	Credentials []Credential // beside those of the client; the same header replaces
	JSON        any          // body encoded as JSON; nil sends none
	// Body is a raw body for uploads, sent once and never repeated. It excludes
	// JSON. It is not closed.
	Body        io.Reader
	BodySize    int64  // exact bytes of Body; -1 when not known
	ContentType string // of Body
	// Accept lists the statuses that are a success; empty means 200 to 299. A
	// 3xx status in it is returned instead of followed.
	Accept []int
}

// call is a checked Request with everything that repeats share.
type call struct {
	Request
	url      *url.URL
	body     []byte
	redactor *Redactor
	once     *watchedBody
}

// label is how errors name the call. The query stays out of it.
func (c *call) label() string { return c.redactor.String(c.url.EscapedPath()) }

func (c *call) accepts(status int) bool {
	if len(c.Accept) == 0 {
		return status >= 200 && status <= 299
	}
	return slices.Contains(c.Accept, status)
}

func (c *Client) prepare(r Request) (*call, error) {
	out := &call{Request: r, redactor: c.redactor}
	if out.Method == "" {
		out.Method = http.MethodPost
		if r.Effect == Read {
			out.Method = http.MethodGet
		}
	}
	u, err := c.join(r.Path, r.Query)
	if err == nil && r.Body != nil && r.JSON != nil {
		err = errors.New("a request has either a JSON or a raw body")
	}
	if err == nil && r.JSON != nil {
		if out.body, err = json.Marshal(r.JSON); err != nil {
			err = fmt.Errorf("the request body cannot be encoded as JSON: %T", r.JSON)
		}
	}
	if err == nil && len(r.Credentials) > 0 {
		out.redactor, err = c.redactor.With(named(r.Credentials)...)
	}
	if err != nil {
		return nil, &port.Error{Code: port.CodeInvalidArgument, Op: r.Op, Provider: c.cfg.Provider, ID: r.ID,
			Outcome: port.OutcomeUnchanged, Reason: out.redactor.String(err.Error())}
	}
	out.url = u
	if r.Body != nil {
		out.once = &watchedBody{r: r.Body}
	}
	return out, nil
}

func (c *Client) join(segments []string, query url.Values) (*url.URL, error) {
	escaped := make([]string, 0, len(segments))
	for i, s := range segments {
		if s == "." || s == ".." || (s == "" && i != len(segments)-1) {
			return nil, fmt.Errorf("path segment %d is empty or a dot segment", i+1)
		}
		escaped = append(escaped, url.PathEscape(s))
	}
	u := *c.base
	if len(escaped) > 0 {
		raw := strings.TrimSuffix(c.base.EscapedPath(), "/") + "/" + strings.Join(escaped, "/")
		plain, err := url.PathUnescape(raw)
		if err != nil {
			return nil, errors.New("the path cannot be escaped")
		}
		u.Path, u.RawPath = plain, raw
	}
	u.RawQuery = query.Encode()
	return &u, nil
}

// build makes the http.Request of one attempt.
func (c *Client) build(ctx context.Context, k *call) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, k.Method, k.url.String(), nil)
	if err != nil {
		return nil, errors.New("the request is malformed: method or URL")
	}
	switch {
	case k.once != nil:
		req.Body, req.ContentLength = k.once, k.BodySize
		if k.BodySize == 0 {
			req.Body = http.NoBody // 0 with a body would mean "not known"
		}
	case k.body != nil:
		req.Body, req.ContentLength = io.NopCloser(bytes.NewReader(k.body)), int64(len(k.body))
	}
	c.setHeaders(req.Header, k)
	if k.Effect == Mutate {
		neverReplay(req)
	}
	return req, nil
}

func (c *Client) setHeaders(h http.Header, k *call) {
	for _, from := range []http.Header{c.cfg.Header, k.Header} {
		for name, values := range from {
			h[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
	}
	if h.Get("Accept") == "" {
		h.Set("Accept", "application/json")
	}
	if k.body != nil {
		h.Set("Content-Type", "application/json")
	} else if k.ContentType != "" {
		h.Set("Content-Type", k.ContentType)
	}
	for _, cred := range slices.Concat(c.cfg.Credentials, k.Credentials) {
		if cred.Value.IsZero() {
			continue
		}
		v := cred.Value.Reveal()
		if cred.Scheme != "" {
			v = cred.Scheme + " " + v
		}
		h.Set(cred.Header, v)
	}
}

// neverReplay keeps http.Transport from sending a mutation again by itself.
// It does so on a reused connection when it takes the request for idempotent:
// by method, or by a header with exactly these canonical names.
func neverReplay(req *http.Request) {
	for _, name := range []string{"Idempotency-Key", "X-Idempotency-Key"} {
		if v, ok := req.Header[name]; ok {
			delete(req.Header, name)
			req.Header[strings.ToLower(name)] = v
		}
	}
	switch req.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		if req.Body == nil {
			req.Body = io.NopCloser(strings.NewReader("")) // a body it cannot rewind
		}
	}
}

// watchedBody remembers why reading the caller's body failed, because the
// transport reports it only as text or not at all.
type watchedBody struct {
	r   io.Reader
	mu  sync.Mutex
	err error
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && err != io.EOF {
		b.mu.Lock()
		b.err = err
		b.mu.Unlock()
	}
	return n, err
}

// Close leaves the caller's reader open.
func (b *watchedBody) Close() error { return nil }

func (b *watchedBody) failure() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

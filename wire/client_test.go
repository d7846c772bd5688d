package wire_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
	"github.com/stretchr/testify/require"
)

const dummy = "dummy-Secret/42+=value"

// waits records the sleeps of a client instead of sleeping.
type waits struct {
	mu  sync.Mutex
	all []time.Duration
}

func (w *waits) sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, d)
	return ctx.Err()
}

func newClient(t *testing.T, base string, change ...func(*wire.Config)) (*wire.Client, *waits) {
	t.Helper()
	w := &waits{}
	cfg := wire.Config{
		Provider: "acme", BaseURL: base,
		Credentials: []wire.Credential{
			{Header: "Authorization", Scheme: "Bearer", Value: port.NewSecret(dummy)},
			{Header: "X-API-Key", Value: port.NewSecret(dummy)},
		},
		Errors: wire.CommonErrors(),
		Clock:  wire.Clock{Sleep: w.sleep, Jitter: func() float64 { return 0.5 }},
	}
	for _, f := range change {
		f(&cfg)
	}
	c, err := wire.NewClient(cfg)
	require.NoError(t, err)
	return c, w
}

func serve(t *testing.T, h http.HandlerFunc) (base string, hits *atomic.Int32) {
	t.Helper()
	hits = &atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, hits
}

func portError(t *testing.T, err error) *port.Error {
	t.Helper()
	e, ok := errors.AsType[*port.Error](err)
	require.True(t, ok, "want *port.Error, got %T: %v", err, err)
	require.NotContains(t, err.Error(), dummy)
	require.NotContains(t, err.Error(), url.QueryEscape(dummy))
	return e
}

// hijack takes the connection away and does f to it.
func hijack(t *testing.T, w http.ResponseWriter, f func(*net.TCPConn)) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		t.Errorf("hijack: %v", err)
		return
	}
	f(conn.(*net.TCPConn))
	if err := conn.Close(); err != nil {
		t.Logf("close: %v", err)
	}
}

// reset makes closing the connection send RST instead of FIN.
func reset(t *testing.T) func(*net.TCPConn) {
	return func(c *net.TCPConn) {
		if err := c.SetLinger(0); err != nil {
			t.Errorf("linger: %v", err)
		}
	}
}

type box struct {
	ID string `json:"id"`
}

func (b box) Validate() error {
	if b.ID == "" {
		return errors.New("no id")
	}
	return nil
}

func TestFaultMatrix(t *testing.T) {
	status := func(code int, body string, header ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i+1 < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(code)
			if _, err := io.WriteString(w, body); err != nil {
				t.Logf("write: %v", err)
			}
		}
	}
	resetBefore := func(w http.ResponseWriter, _ *http.Request) { hijack(t, w, reset(t)) }
	closeBefore := func(w http.ResponseWriter, _ *http.Request) { hijack(t, w, func(*net.TCPConn) {}) }
	resetAfter := func(w http.ResponseWriter, _ *http.Request) {
		hijack(t, w, func(c *net.TCPConn) {
			if _, err := io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"id\":"); err != nil {
				t.Errorf("write: %v", err)
			}
		})
	}
	html := "<html><body>502 " + dummy + "</body></html>"
	for _, tc := range []struct {
		name         string
		h            http.HandlerFunc
		read, mutate port.Code
		outcome      port.Outcome // of the mutation
		reads, muts  int32        // requests that arrive
	}{
		{"reset before headers", resetBefore, port.CodeUnavailable, port.CodeOutcomeUnknown, port.OutcomeUnknown, 4, 1},
		{"close before headers", closeBefore, port.CodeUnavailable, port.CodeOutcomeUnknown, port.OutcomeUnknown, 4, 1},
		{"cut after headers", resetAfter, port.CodeUnavailable, port.CodeOutcomeUnknown, port.OutcomeUnknown, 1, 1},
		{"malformed JSON", status(200, `{"id":`), port.CodeProvider, port.CodeOutcomeUnknown, port.OutcomeUnknown, 1, 1},
		{"trailing JSON", status(200, `{"id":"a"}{"id":"b"}`), port.CodeProvider, port.CodeOutcomeUnknown, port.OutcomeUnknown, 1, 1},
		{"null", status(200, `null`), port.CodeProvider, port.CodeOutcomeUnknown, port.OutcomeUnknown, 1, 1},
		{"empty", status(200, ``), port.CodeProvider, port.CodeOutcomeUnknown, port.OutcomeUnknown, 1, 1},
		{"no id", status(200, `{}`), port.CodeProvider, port.CodeOutcomeUnknown, port.OutcomeUnknown, 1, 1},
		{"HTML success", status(200, html), port.CodeProvider, port.CodeOutcomeUnknown, port.OutcomeUnknown, 1, 1},
		{"HTML 502", status(502, html), port.CodeUnavailable, port.CodeOutcomeUnknown, port.OutcomeUnknown, 4, 1},
		{"unmapped 500", status(500, `{}`), port.CodeUnavailable, port.CodeOutcomeUnknown, port.OutcomeUnknown, 1, 1},
		{"unmapped 418", status(418, ``), port.CodeUnavailable, port.CodeOutcomeUnknown, port.OutcomeUnknown, 1, 1},
		{"503", status(503, `{}`), port.CodeUnavailable, port.CodeOutcomeUnknown, port.OutcomeUnknown, 4, 1},
		{"429", status(429, `{}`, "Retry-After", "2"), port.CodeRateLimited, port.CodeRateLimited, port.OutcomeUnchanged, 4, 4},
		{"404", status(404, `{}`), port.CodeNotFound, port.CodeNotFound, port.OutcomeUnchanged, 1, 1},
		{"401", status(401, dummy), port.CodeUnauthenticated, port.CodeUnauthenticated, port.OutcomeUnchanged, 1, 1},
		{"over the cap", status(200, `{"id":"`+strings.Repeat("x", 5000)+`"}`), port.CodeProvider, port.CodeOutcomeUnknown, port.OutcomeUnknown, 1, 1},
	} {
		for _, effect := range []wire.Effect{wire.Read, wire.Mutate} {
			t.Run(tc.name+"/"+effect.String(), func(t *testing.T) {
				base, hits := serve(t, tc.h)
				c, _ := newClient(t, base, func(c *wire.Config) { c.MaxResponse = 4096 })
				got, err := wire.Do[box](t.Context(), c, wire.Request{Op: "Create", ID: "b1", Effect: effect, Path: []string{"v1", "boxes"}})
				e := portError(t, err)
				require.Zero(t, got)
				require.Equal(t, "acme", e.Provider)
				require.Equal(t, "b1", e.ID)
				require.Equal(t, "Create", e.Op)
				if effect == wire.Read {
					require.Equal(t, tc.read, e.Code)
					require.Equal(t, port.OutcomeUnchanged, e.Outcome)
					require.Equal(t, tc.reads, hits.Load())
				} else {
					require.Equal(t, tc.mutate, e.Code)
					require.Equal(t, tc.outcome, e.Outcome)
					require.Equal(t, tc.muts, hits.Load())
				}
				if a, ok := errors.AsType[*wire.ResponseError](err); ok {
					require.NotContains(t, string(a.Body), dummy)
				}
			})
		}
	}
}

func TestReadRecoversAndWaits(t *testing.T) {
	var n atomic.Int32
	base, hits := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+dummy || r.Header.Get("X-API-Key") != dummy {
			t.Errorf("credentials are missing")
		}
		if n.Add(1) < 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, err := io.WriteString(w, `{"id":"x"}`)
		if err != nil {
			t.Errorf("write: %v", err)
		}
	})
	c, w := newClient(t, base)
	got, err := wire.Do[box](t.Context(), c, wire.Request{Effect: wire.Read})
	require.NoError(t, err)
	require.Equal(t, "x", got.ID)
	require.EqualValues(t, 3, hits.Load())
	require.Equal(t, []time.Duration{187500 * time.Microsecond, 375 * time.Millisecond}, w.all)
}

func TestRetryAfterFitsOrEnds(t *testing.T) {
	base, hits := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	now := time.Now()
	c, w := newClient(t, base, func(c *wire.Config) {
		c.Clock.Now = func() time.Time { return now }
		c.Retry.Attempts = 2
	})
	ctx, cancel := context.WithDeadline(t.Context(), now.Add(31*time.Second))
	defer cancel()
	_, err := c.Send(ctx, wire.Request{Effect: wire.Read})
	require.Equal(t, 30*time.Second, portError(t, err).RetryAfter)
	require.Equal(t, []time.Duration{30 * time.Second}, w.all)
	require.EqualValues(t, 2, hits.Load())

	short, cancel := context.WithDeadline(t.Context(), now.Add(29*time.Second))
	defer cancel()
	_, err = c.Send(short, wire.Request{Effect: wire.Read})
	e := portError(t, err)
	require.Equal(t, port.CodeRateLimited, e.Code)
	require.True(t, e.Retryable)
	require.Len(t, w.all, 1, "a wait that does not fit must not begin")
	require.EqualValues(t, 3, hits.Load())
}

func TestTableIsSpecificAndStopsRepeats(t *testing.T) {
	base, hits := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadGateway)
		if _, err := io.WriteString(w, `{"error":{"code":"provisioning_failed","message":"over the cap"}}`); err != nil {
			t.Errorf("write: %v", err)
		}
	})
	c, _ := newClient(t, base, func(c *wire.Config) {
		c.Errors = c.Errors.With(
			wire.Rule{Status: 502, Code: port.CodeUnavailable, Transient: true},
			wire.Rule{VendorCode: "provisioning_failed", Code: port.CodeProvider})
	})
	_, err := c.Send(t.Context(), wire.Request{Effect: wire.Read})
	require.Equal(t, port.CodeProvider, portError(t, err).Code)
	require.EqualValues(t, 1, hits.Load())
	_, err = c.Send(t.Context(), wire.Request{})
	require.Equal(t, port.OutcomeUnknown, portError(t, err).Outcome)
	answer, ok := errors.AsType[*wire.ResponseError](err)
	require.True(t, ok)
	require.Equal(t, "provisioning_failed", answer.VendorCode)
	require.Equal(t, "over the cap", answer.Message)
}

func TestRefusedConnectionSendsNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	c, w := newClient(t, "http://"+l.Addr().String())
	for _, effect := range []wire.Effect{wire.Read, wire.Mutate} {
		w.all = nil
		_, err := c.Send(t.Context(), wire.Request{Effect: effect, JSON: box{ID: "a"}})
		e := portError(t, err)
		require.Equal(t, port.CodeUnavailable, e.Code)
		require.Equal(t, port.OutcomeUnchanged, e.Outcome)
		require.True(t, e.Retryable)
		require.Len(t, w.all, 3)
	}
}

type blindTransport struct{}

func (blindTransport) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.EOF }

func TestBlindTransportCountsAsSent(t *testing.T) {
	c, _ := newClient(t, "http://127.0.0.1:1", func(c *wire.Config) { c.Transport = blindTransport{} })
	_, err := c.Send(t.Context(), wire.Request{})
	require.Equal(t, port.CodeOutcomeUnknown, portError(t, err).Code)
}

func TestDeadlineAndCancel(t *testing.T) {
	for _, after := range []bool{false, true} {
		entered := make(chan struct{}, 8)
		base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if after {
				w.Header().Set("Content-Length", "100")
				w.WriteHeader(200)
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Errorf("flush: %v", err)
				}
			}
			_, err := io.Copy(io.Discard, r.Body)
			if err != nil {
				t.Logf("body: %v", err)
			}
			entered <- struct{}{}
			<-r.Context().Done()
		})
		c, _ := newClient(t, base)
		for effect, outcome := range map[wire.Effect]port.Outcome{wire.Read: port.OutcomeUnchanged, wire.Mutate: port.OutcomeUnknown} {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			_, err := c.Send(ctx, wire.Request{Effect: effect})
			cancel()
			e := portError(t, err)
			require.Equal(t, port.CodeTimeout, e.Code)
			require.Equal(t, outcome, e.Outcome)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			<-entered

			ctx, cancel = context.WithCancel(t.Context())
			go func() { <-entered; cancel() }()
			_, err = c.Send(ctx, wire.Request{Effect: effect})
			require.Equal(t, port.CodeCanceled, portError(t, err).Code)
			require.Equal(t, outcome, portError(t, err).Outcome)
		}
	}
	c, _ := newClient(t, "http://127.0.0.1:1")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Send(ctx, wire.Request{})
	require.Equal(t, port.CodeCanceled, portError(t, err).Code)
	require.Equal(t, port.OutcomeUnchanged, portError(t, err).Outcome)
}

func TestRedirectsNeverCarryCredentialsAway(t *testing.T) {
	other, otherHits := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the other host saw %v", r.Header)
	})
	base, hits := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/away":
			http.Redirect(w, r, other+"/x?token=1", http.StatusTemporaryRedirect)
		case "/near":
			http.Redirect(w, r, "/end", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		default:
			if _, err := io.WriteString(w, `{"id":"end"}`); err != nil {
				t.Errorf("write: %v", err)
			}
		}
	})
	c, _ := newClient(t, base)
	_, err := c.Send(t.Context(), wire.Request{Effect: wire.Read, Path: []string{"away"}})
	require.Equal(t, port.CodeProvider, portError(t, err).Code)
	redirect, ok := errors.AsType[*wire.RedirectError](err)
	require.True(t, ok)
	require.Equal(t, other, redirect.To)
	require.EqualValues(t, 1, hits.Load())

	got, err := wire.Do[box](t.Context(), c, wire.Request{Effect: wire.Read, Path: []string{"near"}})
	require.NoError(t, err)
	require.Equal(t, "end", got.ID)

	_, err = c.Send(t.Context(), wire.Request{Effect: wire.Read, Path: []string{"loop"}})
	require.Equal(t, port.CodeProvider, portError(t, err).Code)

	hits.Store(0)
	for _, p := range []string{"away", "near"} {
		_, err = c.Send(t.Context(), wire.Request{Path: []string{p}})
		require.Equal(t, port.CodeOutcomeUnknown, portError(t, err).Code)
	}
	require.EqualValues(t, 2, hits.Load(), "a mutation must not be sent again by a redirect")

	resp, err := c.Send(t.Context(), wire.Request{Effect: wire.Read, Path: []string{"away"}, Accept: []int{307}})
	require.NoError(t, err)
	require.Equal(t, other+"/x?token=1", resp.Header.Get("Location"))
	require.Zero(t, otherHits.Load())
}

// A kept-alive connection that dies under a request makes http.Transport send
// again what it takes for idempotent.
func TestTransportDoesNotReplayMutations(t *testing.T) {
	for _, method := range []string{"GET", "POST", "DELETE", "PUT"} {
		base, hits := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Warm") == "" {
				if r.Header.Get("Idempotency-Key") != "k1" {
					t.Errorf("no idempotency key")
				}
				hijack(t, w, func(*net.TCPConn) {})
			}
		})
		c, _ := newClient(t, base)
		_, err := c.Send(t.Context(), wire.Request{Effect: wire.Read, Header: http.Header{"Warm": {"1"}}})
		require.NoError(t, err)
		hits.Store(0)
		_, err = c.Send(t.Context(), wire.Request{Method: method, Header: http.Header{"idempotency-key": {"k1"}}})
		require.Equal(t, port.CodeOutcomeUnknown, portError(t, err).Code, method)
		require.EqualValues(t, 1, hits.Load(), method)
	}
}

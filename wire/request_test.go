package wire_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
	"github.com/stretchr/testify/require"
)

func TestPathsAreEscaped(t *testing.T) {
	var got atomic.Value
	base, hits := serve(t, func(_ http.ResponseWriter, r *http.Request) { got.Store(r.URL.EscapedPath() + "?" + r.URL.RawQuery) })
	c, _ := newClient(t, base+"/api/")
	_, err := c.Send(t.Context(), wire.Request{Path: []string{"v1", "a/../b?x#y z%2F", ""}, Query: url.Values{"q": {"1&2"}}})
	require.NoError(t, err)
	require.Equal(t, "/api/v1/a%2F..%2Fb%3Fx%23y%20z%252F/?q=1%262", got.Load())
	hits.Store(0)
	for _, bad := range [][]string{{".."}, {"."}, {"", "x"}, {"v1", "..", "x"}} {
		_, err := c.Send(t.Context(), wire.Request{Path: bad})
		require.Equal(t, port.CodeInvalidArgument, portError(t, err).Code)
	}
	require.Zero(t, hits.Load())
}

func TestUploadOfWrongSize(t *testing.T) {
	base, _ := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		if b, err := io.ReadAll(r.Body); err == nil && len(b) != 3 {
			t.Errorf("a wrong upload of %d bytes looked complete", len(b))
		}
	})
	c, _ := newClient(t, base)
	for content, ok := range map[string]bool{"abc": true, "ab": false, "abcd": false, "": false} {
		_, err := c.Send(t.Context(), wire.Request{Method: "PUT", Body: wire.ExactReader(strings.NewReader(content), 3), BodySize: 3})
		if ok {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, port.CodeInvalidArgument, portError(t, err).Code, content)
	}
}

func TestStreamAndOtherBase(t *testing.T) {
	base, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("X-Token") != "per-sandbox-token" {
			t.Errorf("wrong credentials: %v", r.Header)
		}
		if _, err := io.WriteString(w, "hello"); err != nil {
			t.Errorf("write: %v", err)
		}
	})
	first, _ := newClient(t, "http://127.0.0.1:1")
	c, err := first.WithBase(base, wire.Credential{Header: "X-Token", Value: port.NewSecret("per-sandbox-token")})
	require.NoError(t, err)
	s, err := c.Stream(t.Context(), wire.Request{Effect: wire.Read})
	require.NoError(t, err)
	b, err := io.ReadAll(s)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Equal(t, "hello", string(b))
	require.EqualValues(t, 5, s.Size)
	require.Equal(t, "[redacted] [redacted]", c.Redactor().String(dummy+" per-sandbox-token"))
}

func TestNewClientRefuses(t *testing.T) {
	good := wire.Config{Provider: "acme", BaseURL: "https://api.invalid"}
	for name, change := range map[string]func(*wire.Config){
		"no URL":       func(c *wire.Config) { c.BaseURL = "" },
		"scheme":       func(c *wire.Config) { c.BaseURL = "ftp://x" },
		"user info":    func(c *wire.Config) { c.BaseURL = "https://u:" + "pw@x" },
		"query":        func(c *wire.Config) { c.BaseURL = "https://x?a=b" },
		"short secret": func(c *wire.Config) { c.Credentials = []wire.Credential{{Header: "K", Value: port.NewSecret("short")}} },
		"twice":        func(c *wire.Config) { c.Errors = append(wire.CommonErrors(), wire.CommonErrors()...) },
		"catch-all":    func(c *wire.Config) { c.Errors = wire.ErrorTable{{Code: port.CodeProvider}} },
		"no code":      func(c *wire.Config) { c.Errors = wire.ErrorTable{{Status: 500}} },
	} {
		cfg := good
		change(&cfg)
		_, err := wire.NewClient(cfg)
		require.Equal(t, port.CodeInvalidArgument, port.CodeOf(err), name)
		require.NotContains(t, err.Error(), "pw@")
		require.NotContains(t, err.Error(), ": short:")
	}
	_, err := wire.NewClient(good)
	require.NoError(t, err)
}

func TestErrorBodies(t *testing.T) {
	for body, want := range map[string]wire.VendorError{
		`{"code":503,"message":"m","error_code":"sandbox_create_failed"}`:         {Code: "sandbox_create_failed", Message: "m"},
		`{"code":429,"message":"Rate limit exceeded"}`:                            {Message: "Rate limit exceeded"},
		`{"statusCode":404,"error":"Not Found","message":["a","b"]}`:              {Message: "a; b"},
		`{"statusCode":404,"code":"FILE_NOT_FOUND","message":"x","method":"GET"}`: {Code: "FILE_NOT_FOUND", Message: "x"},
		`{"error":{"code":"not_found","message":"m","param":"p"}}`:                {Code: "not_found", Message: "m"},
		`{"error":"upstream_unreachable"}`:                                        {Code: "upstream_unreachable"},
		`{"error":"Something bad happened"}`:                                      {Message: "Something bad happened"},
		``:                                                                        {}, `<html>`: {}, `[]`: {}, `"x"`: {}, `{`: {}, `null`: {}, `{"error":null}`: {},
	} {
		require.Equal(t, want, wire.ParseErrorBody([]byte(body)), body)
	}
}

func FuzzErrorBody(f *testing.F) {
	for _, s := range []string{`{"error":{"code":"c"}}`, `{"error":"x"}`, `<html>`, `{"message":["a"]}`, ``} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		v := wire.ParseErrorBody(b)
		if v.Code != "" && !strings.HasPrefix(strings.TrimLeft(string(b), " \t\r\n\v\f\u0085\u00a0"), "{") {
			t.Fatalf("a code %q from something else than an object", v.Code)
		}
	})
}

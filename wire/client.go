package wire

import (
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/port"
)

const (
	defaultTimeout     = time.Minute
	defaultMaxResponse = 16 << 20
	maxRedirects       = 5
)

// Credential is one secret header. Value alone is the secret; Scheme, when not
// empty, is put before it with a space ("Bearer"). An absent Value sends nothing.
type Credential struct {
	Header string
	Scheme string
	Value  port.Secret
}

// Config describes one vendor endpoint. Provider and BaseURL are required.
type Config struct {
	Provider    string      // provider ID, put in every error
	BaseURL     string      // http or https, without user info, query and fragment
	Header      http.Header // sent with every request; nothing secret
	Credentials []Credential
	Errors      ErrorTable
	// ParseError reads an error body; nil means ParseErrorBody.
	ParseError func(status int, body []byte) VendorError
	Retry      RetryPolicy
	// DefaultTimeout bounds Send and Do when the context has no deadline; 0
	// means 1 minute. A deadline that is there is never extended.
	DefaultTimeout time.Duration
	MaxResponse    int64     // bytes of a success body held in memory; 0 means 16 MiB
	Redactor       *Redactor // knows further secrets; those of Credentials are added
	// Transport carries the requests; nil means a clone of http.DefaultTransport.
	// One that does not report through httptrace makes every failed mutation
	// count as sent.
	Transport http.RoundTripper
	Clock     Clock
}

// Client talks to one vendor endpoint. It is safe for concurrent use and keeps
// nothing about the requests it sent.
type Client struct {
	cfg      Config
	base     *url.URL
	redactor *Redactor
	follow   *http.Client // same-host redirects
	direct   *http.Client // no redirects
}

// NewClient checks cfg and returns a client. Errors are CodeInvalidArgument,
// among them a credential that is too short to be redacted safely.
func NewClient(cfg Config) (*Client, error) {
	cfg.Header = cfg.Header.Clone()
	cfg.Credentials = slices.Clone(cfg.Credentials)
	cfg.Errors = slices.Clone(cfg.Errors)
	cfg.Retry = cfg.Retry.filled()
	cfg.Clock = cfg.Clock.filled()
	if cfg.DefaultTimeout <= 0 {
		cfg.DefaultTimeout = defaultTimeout
	}
	if cfg.MaxResponse <= 0 {
		cfg.MaxResponse = defaultMaxResponse
	}
	if cfg.ParseError == nil {
		cfg.ParseError = func(_ int, body []byte) VendorError { return ParseErrorBody(body) }
	}
	if cfg.Transport == nil {
		if t, ok := http.DefaultTransport.(*http.Transport); ok {
			cfg.Transport = t.Clone()
		} else {
			cfg.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}
		}
	}
	base, err := parseBase(cfg.BaseURL)
	if err == nil {
		err = cfg.Errors.check()
	}
	if err != nil {
		return nil, openError(cfg.Provider, err)
	}
	red, err := cfg.Redactor.With(named(cfg.Credentials)...)
	if err != nil {
		return nil, openError(cfg.Provider, err)
	}
	return &Client{cfg: cfg, base: base, redactor: red,
		follow: &http.Client{Transport: cfg.Transport, CheckRedirect: sameHost},
		direct: &http.Client{Transport: cfg.Transport, CheckRedirect: noRedirect},
	}, nil
}

// WithBase returns a client for another host of the same vendor, such as the
// data plane of one sandbox. It shares the connections and everything else
// except the credentials: only those given here are sent. The secrets of both
// stay redacted.
func (c *Client) WithBase(baseURL string, credentials ...Credential) (*Client, error) {
	cfg := c.cfg
	cfg.BaseURL, cfg.Credentials, cfg.Redactor = baseURL, credentials, c.redactor
	return NewClient(cfg)
}

// Redactor returns the redactor that knows this client's secrets.
func (c *Client) Redactor() *Redactor { return c.redactor }

func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return nil, errors.New("the base URL is malformed") // the parser's text would repeat it, credentials included
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return nil, errors.New("the base URL must be http:// or https:// with a host")
	case u.User != nil:
		return nil, errors.New("the base URL must not contain credentials")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the base URL must not contain a query or fragment")
	}
	return u, nil
}

func openError(provider string, err error) error {
	if _, ok := errors.AsType[*port.Error](err); ok {
		return err
	}
	return &port.Error{Code: port.CodeInvalidArgument, Op: "Open", Provider: provider,
		Outcome: port.OutcomeUnchanged, Reason: err.Error()}
}

func named(creds []Credential) []NamedSecret {
	out := make([]NamedSecret, 0, len(creds))
	for _, c := range creds {
		out = append(out, NamedSecret{Name: c.Header, Value: c.Value})
	}
	return out
}

// origin is scheme://host; it leaves out path and query, which may be long or signed.
func origin(u *url.URL) string { return strings.ToLower(u.Scheme + "://" + u.Host) }

// sameHost follows a redirect only on the very same scheme, host and port. The
// standard client would keep custom key headers when the host changes.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0].URL
	if origin(req.URL) != origin(first) || len(via) > maxRedirects {
		return &RedirectError{From: origin(first), To: origin(req.URL)}
	}
	return nil
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

package evidence

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/agentworkforce/sbx/conformance"
)

// DeriveMode says what a run tested, from the manifest's endpoints, what they
// resolved to, and how the suite opened the provider. The reasons say what speaks
// against a live run; there are none exactly when it was live.
func DeriveMode(manifest []ManifestEndpoint, target Target, opened conformance.Mode) (Mode, []string) {
	var reasons []string
	say := func(format string, args ...any) { reasons = append(reasons, fmt.Sprintf(format, args...)) }
	if opened.Scope == "" {
		say("which account or engine was used is not known")
	}
	if target.Account != opened.Scope {
		say("the statement names another account or engine than the report")
	}
	resolved := map[string]Endpoint{}
	for _, e := range target.Endpoints {
		if _, twice := resolved[e.Name]; twice {
			say("endpoint %s is resolved twice", e.Name)
		}
		resolved[e.Name] = e
	}
	used := map[string]conformance.EndpointMode{}
	for _, e := range opened.Endpoints {
		used[e.Name] = e
		if e.Overridden {
			say("endpoint %s was overridden", e.Name)
		}
	}
	if len(used) != len(manifest) || len(resolved) != len(manifest) {
		say("the manifest has %d endpoints, %d were used and %d resolved", len(manifest), len(used), len(resolved))
	}
	for _, m := range manifest {
		if used[m.Name].URL != m.URL {
			say("endpoint %s is %s in the manifest and was %q", m.Name, m.URL, used[m.Name].URL)
		}
		if why := notGenuine(m, resolved[m.Name]); why != "" {
			say("endpoint %s %s", m.Name, why)
		}
	}
	if len(reasons) > 0 {
		return Simulated, reasons
	}
	return Live, nil
}

// notGenuine says why a resolved endpoint is not the manifest's.
func notGenuine(m ManifestEndpoint, e Endpoint) string {
	want, err := Origin(m.URL)
	switch {
	case err != nil:
		return "has no origin: " + err.Error()
	case e.Origin != want:
		return fmt.Sprintf("resolved to %q, not to %s", e.Origin, want)
	case isLoopback(want):
		return "is on this machine"
	case e.TLSKey == "":
		return "has no identity: it was reached without TLS"
	}
	return ""
}

var errOrigin = errors.New("an origin needs a scheme and a host")

// Origin is scheme, host and port of an address, in lower case, the port always
// written.
func Origin(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", errOrigin // the error of url.Parse repeats the address
	}
	host, port, scheme := strings.ToLower(u.Hostname()), u.Port(), strings.ToLower(u.Scheme)
	if host == "" || scheme == "" {
		return "", errOrigin
	}
	if port == "" {
		switch scheme {
		case "https", "wss":
			port = "443"
		case "http", "ws":
			port = "80"
		default:
			return "", errOrigin
		}
	}
	return scheme + "://" + net.JoinHostPort(host, port), nil
}

func isLoopback(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return true
	}
	host := u.Hostname()
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && (addr.IsLoopback() || addr.IsUnspecified())
}

// Resolve asks the endpoints who they are: one TLS handshake each, nothing is
// sent. addresses has the address in use of each endpoint by name; the manifest's
// is used where it has none. config may be nil. An endpoint without TLS has no
// key. The error names the endpoint that cannot be reached.
func Resolve(ctx context.Context, manifest []ManifestEndpoint, addresses map[string]string, config *tls.Config) ([]Endpoint, error) {
	var out []Endpoint
	for _, m := range manifest {
		address := m.URL
		if a := addresses[m.Name]; a != "" {
			address = a
		}
		e, err := resolve(ctx, m.Name, address, config)
		if err != nil {
			return nil, fmt.Errorf("evidence: endpoint %s: %w", m.Name, err)
		}
		out = append(out, e)
	}
	return out, nil
}

func resolve(ctx context.Context, name, address string, config *tls.Config) (e Endpoint, err error) {
	origin, err := Origin(address)
	if err != nil {
		return Endpoint{}, err
	}
	e = Endpoint{Name: name, Origin: origin}
	host, secure := strings.CutPrefix(origin, "https://")
	if !secure {
		if host, secure = strings.CutPrefix(origin, "wss://"); !secure {
			return e, nil
		}
	}
	dialer := &tls.Dialer{Config: config}
	conn, err := dialer.DialContext(ctx, "tcp", host)
	if err != nil {
		return Endpoint{}, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	secured, ok := conn.(*tls.Conn)
	if !ok || len(secured.ConnectionState().PeerCertificates) == 0 {
		return Endpoint{}, errors.New("the server shows no certificate")
	}
	e.TLSKey = SHA256(secured.ConnectionState().PeerCertificates[0].RawSubjectPublicKeyInfo)
	return e, nil
}

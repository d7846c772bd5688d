package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"path/filepath"
	"time"

	"github.com/docker/go-connections/sockets"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
)

// Idle connections kept: one per command that may end at the same time.
const (
	idle     = 16
	idleTime = 30 * time.Second
)

// connect makes the engine client from explicit settings only: the client
// library's own reading of the environment is not used.
func connect(cfg Config) (*client.Client, rawClient, error) {
	switch {
	case cfg.TLSVerify && cfg.CertPath == "":
		return nil, rawClient{}, errors.New("TLS needs a folder with ca.pem, cert.pem and key.pem")
	case !cfg.TLSVerify && cfg.CertPath != "":
		return nil, rawClient{}, errors.New("certificates without verification are refused; set TLS verification")
	}
	host := cfg.Host
	if host == "" {
		host = client.DefaultDockerHost
	}
	u, err := client.ParseHostURL(host)
	if err != nil {
		return nil, rawClient{}, err
	}
	switch u.Scheme {
	case "unix", "tcp", "http", "https", "npipe":
	default:
		return nil, rawClient{}, fmt.Errorf("address scheme %q is not one of unix, tcp, npipe", u.Scheme)
	}
	// The library's own transport asks the environment for a proxy.
	transport := &http.Transport{MaxIdleConns: idle, MaxIdleConnsPerHost: idle, IdleConnTimeout: idleTime}
	if err := sockets.ConfigureTransport(transport, u.Scheme, u.Host); err != nil {
		return nil, rawClient{}, err
	}
	transport.Proxy = nil
	opts := []client.Opt{client.WithUserAgent("sbx"), client.WithHost(host), client.WithHTTPResponseHook(notePause),
		client.WithHTTPClient(&http.Client{Transport: transport, CheckRedirect: client.CheckRedirect})}
	if cfg.TLSVerify {
		opts = append(opts, client.WithTLSClientConfig(filepath.Join(cfg.CertPath, "ca.pem"),
			filepath.Join(cfg.CertPath, "cert.pem"), filepath.Join(cfg.CertPath, "key.pem")))
	}
	if cfg.APIVersion != "" {
		opts = append(opts, client.WithAPIVersion(cfg.APIVersion))
	}
	cli, err := client.New(opts...)
	if err != nil {
		return nil, rawClient{}, err
	}
	return cli, newRawClient(cli, u), nil
}

// rawClient asks the one question the client library answers wrongly: it turns
// the absent exit code of an exec into 0.
type rawClient struct {
	http *http.Client
	cli  *client.Client
	base string // path prefix of the address
}

func newRawClient(cli *client.Client, u *url.URL) rawClient {
	dial := cli.Dialer()
	return rawClient{cli: cli, base: u.Path, http: &http.Client{Transport: &http.Transport{
		// The dialer speaks TLS itself where the address wants it.
		DialContext:  func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		MaxIdleConns: idle, MaxIdleConnsPerHost: idle, IdleConnTimeout: idleTime,
	}}}
}

// execState reads one exec. A nil exit code means that the engine has none.
func (r rawClient) execState(ctx context.Context, execID string) (_ container.ExecInspectResponse, err error) {
	var out container.ExecInspectResponse
	u := url.URL{Scheme: "http", Host: client.DummyHost,
		Path: path.Join("/", r.base, "v"+r.cli.ClientVersion(), "exec", execID, "json")}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return out, err
	}
	resp, err := r.http.Do(req)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		return out, &execStateError{status: resp.StatusCode}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(body, &out); err != nil {
		return out, err
	}
	if out.ID != execID {
		return out, errors.New("the engine answered for another exec")
	}
	return out, nil
}

// execStateError is an answer other than 200 to the look-up of an exec.
type execStateError struct{ status int }

func (e *execStateError) Error() string {
	return fmt.Sprintf("the engine answered %d for the exec", e.status)
}

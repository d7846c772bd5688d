// Package faults stands between an adapter and the endpoint it talks to, and
// spoils what passes: errors in the place of answers, answers that are lost, cut
// or late, and connections that break. It speaks HTTP/1 over TCP and unix
// sockets, and lets upgraded connections through.
package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Fault is what happens to requests. The zero value changes nothing.
type Fault struct {
	// Only chooses requests by method and path; nil chooses all.
	Only func(method, path string) bool
	// Delay comes before everything else; a client that leaves ends it.
	Delay time.Duration
	// Status answers without asking the endpoint, with Body and Header.
	Status int
	Body   string
	Header map[string]string
	// Lose asks the endpoint and breaks the connection in the place of the answer.
	Lose bool
	// Cut answers with half of the body and breaks the connection.
	Cut bool
	// Repeat answers every request with what the first one with its path got.
	Repeat bool
	// Echo answers, after Body, with the request's own headers many times over, as
	// endpoints do that explain too much. It needs Status.
	Echo bool
	// After lets so many requests of each path pass before the fault begins.
	After int
}

// spoils reports whether there is anything that it does.
func (f Fault) spoils() bool {
	return f.Delay > 0 || f.Status != 0 || f.Lose || f.Cut || f.Repeat
}

// Request is one that came by.
type Request struct {
	Method, Path string
	Spoiled      bool // a fault was applied
}

// Proxy is a stand-in for an endpoint. It is safe for concurrent use.
type Proxy struct {
	address string
	dir     string
	server  *http.Server
	served  chan error
	back    *http.Transport
	reverse *httputil.ReverseProxy

	mu    sync.Mutex
	fault Fault
	seen  []Request
	first map[string]*http.Response // by path, the body read; under Repeat
	body  map[string][]byte
	conns map[net.Conn]bool // to the endpoint
}

// New stands in for the endpoint at address of network "unix" or "tcp" until
// Close.
func New(ctx context.Context, network, address string) (*Proxy, error) {
	p := &Proxy{served: make(chan error, 1), conns: map[net.Conn]bool{}}
	ln, err := p.listen(ctx, network)
	if err != nil {
		return nil, fmt.Errorf("faults: %w", err)
	}
	p.back = &http.Transport{DisableCompression: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		c, err := d.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.conns[c] = true
		return c, nil
	}}
	p.reverse = httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "endpoint"})
	p.reverse.Transport, p.reverse.FlushInterval = p.back, -1
	p.reverse.ErrorLog = log.New(io.Discard, "", 0) // connections break here on purpose
	p.reverse.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { hangUp(w) }
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: time.Minute}
	go func() { p.served <- p.server.Serve(ln) }()
	return p, nil
}

func (p *Proxy) listen(ctx context.Context, network string) (net.Listener, error) {
	var lc net.ListenConfig
	if network != "unix" {
		ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
		if err == nil {
			p.address = "tcp://" + ln.Addr().String()
		}
		return ln, err
	}
	dir, err := os.MkdirTemp("", "sbx-faults-")
	if err != nil {
		return nil, err
	}
	p.dir = dir
	socket := filepath.Join(dir, "s")
	p.address = "unix://" + socket
	ln, err := lc.Listen(ctx, "unix", socket)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return ln, nil
}

// Address is where to connect to: unix:///path or tcp://host:port.
func (p *Proxy) Address() string { return p.address }

// Set replaces the fault and forgets the requests so far.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.seen, p.first, p.body = f, nil, map[string]*http.Response{}, map[string][]byte{}
}

// Seen returns the requests since the latest Set.
func (p *Proxy) Seen() []Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Request(nil), p.seen...)
}

// Spoiled is how many of them a fault was applied to.
func (p *Proxy) Spoiled() int {
	n := 0
	for _, r := range p.Seen() {
		if r.Spoiled {
			n++
		}
	}
	return n
}

// Break ends every connection to the endpoint, live streams among them.
func (p *Proxy) Break() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var errs []error
	for c := range p.conns {
		if err := c.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
		delete(p.conns, c)
	}
	return errors.Join(errs...)
}

// Close ends the stand-in and everything that passes through it.
func (p *Proxy) Close() error {
	err := errors.Join(p.server.Close(), p.Break())
	if served := <-p.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	p.back.CloseIdleConnections()
	if p.dir != "" {
		err = errors.Join(err, os.RemoveAll(p.dir))
	}
	return err
}

// next records a request and returns what is to happen to it.
func (p *Proxy) next(r *http.Request) Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.fault
	if f.Only != nil && !f.Only(r.Method, r.URL.Path) {
		f = Fault{}
	}
	before := 0
	for _, q := range p.seen {
		if q.Path == r.URL.Path {
			before++
		}
	}
	spoiled := f.spoils() && before >= f.After
	switch {
	case f.Repeat: // the first one is what is repeated
		spoiled = spoiled && before > 0
	case !spoiled:
		f = Fault{}
	}
	p.seen = append(p.seen, Request{Method: r.Method, Path: r.URL.Path, Spoiled: spoiled})
	return f
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f := p.next(r)
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return
		}
	}
	switch {
	case f.Status != 0:
		for k, v := range f.Header {
			w.Header().Set(k, v)
		}
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(f.Status)
		body := f.Body
		if f.Echo {
			body = echo(f.Body, r)
		}
		if _, err := io.WriteString(w, body); err != nil {
			return // the client has left
		}
	case f.Repeat:
		p.repeat(w, r)
	case f.Lose || f.Cut:
		p.spoil(w, r, f)
	default:
		p.reverse.ServeHTTP(w, r)
	}
}

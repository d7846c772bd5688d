package faults

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// ask sends a request on to the endpoint.
func (p *Proxy) ask(r *http.Request) (*http.Response, error) {
	out := r.Clone(context.WithoutCancel(r.Context()))
	out.URL.Scheme, out.URL.Host, out.RequestURI = "http", "endpoint", ""
	return p.back.RoundTrip(out)
}

// spoil lets the endpoint do its work and keeps the answer, or half of it. An
// endpoint that upgrades the connection has answered all the same.
func (p *Proxy) spoil(w http.ResponseWriter, r *http.Request, f Fault) {
	res, err := p.ask(r)
	if err != nil {
		hangUp(w)
		return
	}
	defer hangUp(w)
	defer func() {
		if res.Body.Close() != nil {
			return // nobody waits for the rest
		}
	}()
	if f.Lose || res.StatusCode == http.StatusSwitchingProtocols {
		return
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return
	}
	for k, v := range res.Header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)+1))
	w.WriteHeader(res.StatusCode)
	if _, err := w.Write(body[:len(body)/2]); err != nil {
		return
	}
	if http.NewResponseController(w).Flush() != nil {
		return
	}
}

// repeat answers as the first request with this path was answered.
func (p *Proxy) repeat(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	res, body := p.first[r.URL.Path], p.body[r.URL.Path]
	p.mu.Unlock()
	if res == nil {
		var err error
		if res, err = p.ask(r); err != nil {
			hangUp(w)
			return
		}
		body, err = io.ReadAll(res.Body)
		if closeErr := res.Body.Close(); err != nil || closeErr != nil {
			hangUp(w)
			return
		}
		p.mu.Lock()
		p.first[r.URL.Path], p.body[r.URL.Path] = res, body
		p.mu.Unlock()
	}
	for k, v := range res.Header {
		w.Header()[k] = v
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Header().Del("Transfer-Encoding")
	w.WriteHeader(res.StatusCode)
	if _, err := w.Write(body); err != nil {
		return // the client has left
	}
}

// echo is an error document that says again and again what came in those of the
// request's headers that may hold a key.
func echo(before string, r *http.Request) string {
	said := ""
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		switch name {
		case "Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "User-Agent":
			continue
		}
		said += " " + name + ": " + strings.Join(r.Header[name], ", ")
	}
	const enough = 80 << 10 // more than clients keep
	said = before + strings.Repeat(said, enough/max(len(said), 1))
	b, err := json.Marshal(map[string]string{"message": said, "error": said})
	if err != nil {
		return before
	}
	return string(b)
}

// hangUp breaks the client's connection as it is.
func hangUp(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // it is broken already
	}
	if c.Close() != nil {
		return // likewise
	}
}

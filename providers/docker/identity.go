package docker

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"github.com/moby/moby/client"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/wire"
)

// identityTime is how long an answer to "which engine are you" may be used
// again. It is for the steps of one short life, not for a program's.
const identityTime = 10 * time.Second

// identity is the engine's ID and the connection it was read over. An engine
// takes longer over that one answer than over any other read. A connection to a
// socket of this machine leads to the same engine as long as it is open, so there
// the answer is used again, for a short time, while every request goes over that
// very connection. Behind a network address somebody may stand who leads the
// requests of one connection to several engines: there it is asked every time.
//
// It is forgotten by a request over another connection, by a failure of the
// engine, and whenever something was removed: proof that a thing is gone always
// rests on an ID that was read after the removal.
type identity struct {
	conn net.Conn
	id   string
	at   time.Time
}

// Scope is the engine's own ID: the same through every address it is reached
// by, and for as long as its data directory lives.
func (a *Adapter) Scope(ctx context.Context) (string, error) {
	if known := a.engine.Load(); known != nil && time.Since(known.at) < identityTime {
		return known.id, nil
	}
	var over atomic.Pointer[net.Conn]
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(g httptrace.GotConnInfo) { over.Store(&g.Conn) }})
	var id string
	err := a.do(traced, "Scope", "", wire.Read, func(ctx context.Context) error {
		info, err := a.cli.Info(ctx, client.InfoOptions{})
		id = info.Info.ID
		return err
	})
	if err == nil && id == "" {
		err = a.errorf("Scope", "", port.CodeUnavailable, port.OutcomeUnchanged, "the engine reports no ID")
	}
	if conn := over.Load(); err == nil && conn != nil && a.socket() {
		a.engine.Store(&identity{conn: *conn, id: id, at: time.Now()})
	}
	return id, err
}

// used is told of the connection of every request before it is sent.
func (a *Adapter) used(conn net.Conn) {
	if known := a.engine.Load(); known != nil && known.conn != conn {
		a.engine.CompareAndSwap(known, nil)
	}
}

// forget makes the next Scope ask the engine.
func (a *Adapter) forget() { a.engine.Store(nil) }

// socket reports whether the engine is reached over a socket of this machine.
func (a *Adapter) socket() bool {
	u, err := client.ParseHostURL(a.cli.DaemonHost())
	return err == nil && (u.Scheme == "unix" || u.Scheme == "npipe")
}

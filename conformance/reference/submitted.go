//go:build unix

package reference

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// command is one that was submitted over HTTP. It runs whoever is there to read.
type command struct {
	out, errs *os.File
	done      chan struct{}
	exit      int64
	err       error
}

// frame is a line of a command's output. The last one has exit or error.
type frame struct {
	Out   []byte `json:"out,omitempty"`
	Err   []byte `json:"err,omitempty"`
	Exit  *int64 `json:"exit,omitempty"`
	Error string `json:"error,omitempty"` // a code
}

// submit starts a command and answers with the ID that its output is asked for by.
func (f *face) submit(w http.ResponseWriter, a *Adapter, args []json.RawMessage) {
	var id string
	var c contract.Command
	if len(args) != 2 || json.Unmarshal(args[0], &id) != nil || json.Unmarshal(args[1], &c) != nil {
		refuse(w, fail("Exec", "", port.CodeInvalidArgument, "a sandbox and a command are needed"))
		return
	}
	cmd, b, err := a.prepare("Exec", id, c)
	if err != nil {
		refuse(w, err)
		return
	}
	k := &command{done: make(chan struct{})}
	var in *os.File
	for _, f := range []**os.File{&k.out, &k.errs, &in} {
		if *f, err = a.spool(); err != nil {
			refuse(w, err)
			return
		}
	}
	if _, err := in.WriteAt(c.Stdin, 0); err != nil {
		refuse(w, err)
		return
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, k.out, k.errs
	if c.Timeout == 0 {
		c.Timeout = 2 * time.Second
	}
	go func() {
		defer close(k.done)
		if k.err = a.finish(context.Background(), b, cmd, c.Timeout); k.err == nil {
			n, err := code(cmd)
			k.exit, k.err = int64(n), err
		}
		k.err = errors.Join(k.err, in.Close())
	}()
	name := newID("command")
	f.v.mu.Lock()
	f.v.ran[name] = k
	f.v.mu.Unlock()
	answer(w, http.StatusOK, map[string]any{"ok": true, "result": name})
}

// output sends what a command writes while it writes it.
func (f *face) output(w http.ResponseWriter, r *http.Request, args []json.RawMessage) {
	var name string
	if len(args) != 1 || json.Unmarshal(args[0], &name) != nil {
		refuse(w, fail("Output", "", port.CodeInvalidArgument, "a command is needed"))
		return
	}
	f.v.mu.Lock()
	k := f.v.ran[name]
	f.v.mu.Unlock()
	if k == nil {
		refuse(w, fail("Output", name, port.CodeNotFound, "there is no such command"))
		return
	}
	send := json.NewEncoder(w)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	var outAt, errAt int64
	for ended := false; !ended; {
		select {
		case <-k.done:
			ended = true
		case <-tick.C:
		case <-r.Context().Done():
			return // it runs on, and can be asked for again
		}
		line := frame{Out: more(k.out, &outAt), Err: more(k.errs, &errAt)}
		if len(line.Out)+len(line.Err) > 0 && (send.Encode(line) != nil || http.NewResponseController(w).Flush() != nil) {
			return
		}
	}
	last := frame{Exit: &k.exit}
	if k.err != nil {
		last = frame{Error: string(port.CodeOf(k.err))}
	}
	if send.Encode(last) != nil {
		return
	}
	f.v.mu.Lock()
	delete(f.v.ran, name)
	f.v.mu.Unlock()
	if errors.Join(k.out.Close(), k.errs.Close()) != nil {
		return // somebody else read it to its end at the same time
	}
}

// more is what a file has from a place on.
func more(f *os.File, at *int64) []byte {
	b, err := io.ReadAll(io.NewSectionReader(f, *at, 1<<40))
	if err != nil {
		return nil // it is asked again
	}
	*at += int64(len(b))
	return b
}

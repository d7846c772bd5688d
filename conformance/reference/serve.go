//go:build unix

package reference

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/generated/contract"
	"github.com/agentworkforce/sbx/port"
)

// Server is the vendor's HTTP interface on a port of the loopback.
type Server struct {
	address string
	server  *http.Server
	served  chan error
}

// Serve answers HTTP requests until Close. Every operation is a resource below
// /v1: those that read take GET and their arguments as a query, the others POST
// and a body. Answers are {"ok":true,"result":...} or {"error":{"code","message"}}.
func (v *Vendor) Serve(ctx context.Context) (*Server, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{address: ln.Addr().String(), served: make(chan error, 1),
		server: &http.Server{Handler: &face{v: v}, ReadHeaderTimeout: time.Minute}}
	go func() { s.served <- s.server.Serve(ln) }()
	return s, nil
}

// Address is host:port.
func (s *Server) Address() string { return s.address }

// Close breaks what is still connected.
func (s *Server) Close() error {
	err := s.server.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

// face is what answers.
type face struct{ v *Vendor }

// plain are the operations whose arguments and results are nothing but data.
func plain() []string {
	return []string{"Scope", "Create", "Inspect", "Destroy", "Stop", "Start", "Restart", "CreateSnapshot", "InspectSnapshot",
		"ListSnapshots", "DeleteSnapshot"}
}

func (f *face) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	op := strings.TrimPrefix(r.URL.Path, "/v1/")
	key, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	a := &Adapter{v: f.v, key: key}
	if err := a.pause(r.Context()); err != nil {
		refuse(w, err)
		return
	}
	var args []json.RawMessage
	var err error
	if r.Method == http.MethodGet {
		err = json.Unmarshal([]byte(r.URL.Query().Get("args")), &args)
	} else {
		err = json.NewDecoder(r.Body).Decode(&args)
	}
	if err != nil {
		refuse(w, fail(op, "", port.CodeInvalidArgument, "the arguments are not a list"))
		return
	}
	switch {
	case op == "List":
		f.list(w, args, r.URL.Query().Get("cursor"))
	case op == "Exec":
		f.submit(w, a, args)
	case op == "Output":
		f.output(w, r, args)
	case op == "Transfer":
		f.transfer(w, args)
	case slices.Contains(plain(), op):
		call(r.Context(), w, a, op, args)
	default:
		refuse(w, fail(op, "", port.CodeNotFound, "there is no such resource"))
	}
}

// call calls an operation of the adapter in memory by its name.
func call(ctx context.Context, w http.ResponseWriter, a *Adapter, op string, args []json.RawMessage) {
	method := reflect.ValueOf(a).MethodByName(op)
	in := []reflect.Value{reflect.ValueOf(ctx)}
	for i := 1; i < method.Type().NumIn(); i++ {
		v := reflect.New(method.Type().In(i))
		if len(args) < i || json.Unmarshal(args[i-1], v.Interface()) != nil {
			refuse(w, fail(op, "", port.CodeInvalidArgument, "an argument is missing or of another kind"))
			return
		}
		in = append(in, v.Elem())
	}
	out := method.Call(in)
	if err, _ := out[1].Interface().(error); err != nil {
		refuse(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]any{"ok": true, "result": out[0].Interface()})
}

// list gives one page.
func (f *face) list(w http.ResponseWriter, args []json.RawMessage, cursor string) {
	var r contract.ListRequest
	if len(args) != 1 || json.Unmarshal(args[0], &r) != nil {
		refuse(w, fail("List", "", port.CodeInvalidArgument, "there is no request"))
		return
	}
	rows, next := f.v.page(r, cursor)
	answer(w, http.StatusOK, map[string]any{"ok": true, "result": map[string]any{"rows": rows, "next": next}})
}

// ColdImage has to be transferred, in layers, before a sandbox can have it.
const ColdImage = "reference/cold:1"

const coldLayers = 3

// transfer gets one more layer of an image.
func (f *face) transfer(w http.ResponseWriter, args []json.RawMessage) {
	var image string
	if len(args) != 1 || json.Unmarshal(args[0], &image) != nil || image != ColdImage {
		refuse(w, fail("Transfer", "", port.CodeNotFound, "there is no such image"))
		return
	}
	f.v.mu.Lock()
	defer f.v.mu.Unlock()
	f.v.have[image] = min(f.v.have[image]+1, coldLayers)
	answer(w, http.StatusOK, map[string]any{"ok": true, "result": progress{Have: f.v.have[image], Of: coldLayers}})
}

// progress is how much of an image has been transferred.
type progress struct {
	Have int `json:"have"`
	Of   int `json:"of"`
}

// refuse answers with an error and a status of its kind.
func refuse(w http.ResponseWriter, err error) {
	c := port.CodeOf(err)
	status, ok := statuses()[c]
	if !ok {
		status = http.StatusInternalServerError
	}
	answer(w, status, map[string]any{"error": map[string]string{"code": string(c), "message": err.Error()}})
}

func statuses() map[port.Code]int {
	return map[port.Code]int{port.CodeNotFound: http.StatusNotFound, port.CodeInvalidArgument: http.StatusBadRequest,
		port.CodeUnauthenticated: http.StatusUnauthorized, port.CodeFailedPrecondition: http.StatusConflict,
		port.CodeWorkdirUnusable: http.StatusConflict, port.CodeTimeout: http.StatusRequestTimeout,
		port.CodeCanceled: http.StatusRequestTimeout, port.CodeQuotaExceeded: http.StatusForbidden}
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if json.NewEncoder(w).Encode(body) != nil {
		return // the client has left
	}
}

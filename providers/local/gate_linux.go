package local

import (
	"errors"
	"os"
	"sync"
)

// gate holds a command back until nothing can let it outlive its caller.
//
// bwrap arms the ties between its processes one after the other while it sets
// the sandbox up; a caller that is killed meanwhile would leave a command
// behind. So what bwrap starts, as process 1 of the namespace, is gateScript: it
// says that it is there and waits for a line. That it is there means that all is
// armed, and that the line came means that the caller was alive after that. A
// caller that died closes the pipe, and the script ends, and the namespace.
//
// It also tells a command's exit code from bwrap's own: without its word, the
// command never ran.
type gate struct {
	args, goRead, readyWrite *os.File // bwrap's
	goWrite, readyRead       *os.File // ours
	done                     chan struct{}

	mu     sync.Mutex
	killed bool
	passed bool
}

// gateScript goes on as the namespace's init: it starts the command, reaps what
// loses its parent, and ends with the command's code, which ends everything
// else. Its own stderr is shut, because shells remark on signals; the command
// gets the real one. "exec" takes programs only, never a shell's own commands.
const gateScript = `echo >&5; read -r go <&4 || exit 1
exec 4<&- 5>&- 6>&2 2>/dev/null
(exec "$@" 2>&6 6>&-)
exit $?`

func newGate(args *os.File) (*gate, error) {
	g := &gate{args: args, done: make(chan struct{})}
	var err error
	if g.goRead, g.goWrite, err = os.Pipe(); err == nil {
		g.readyRead, g.readyWrite, err = os.Pipe()
	}
	if err != nil {
		return nil, errors.Join(err, closeAll(g.goRead, g.goWrite))
	}
	return g, nil
}

// files are what bwrap inherits, from descriptor 3 on.
func (g *gate) files() []*os.File { return []*os.File{g.args, g.goRead, g.readyWrite} }

// begin gives up the ends that belong to bwrap and, when it was started, opens
// the gate as soon as the command waits at it.
func (g *gate) begin(started bool) error {
	err := closeAll(g.files()...)
	if !started {
		close(g.done)
		return errors.Join(err, closeAll(g.goWrite, g.readyRead))
	}
	go g.follow()
	return err
}

func (g *gate) follow() {
	defer close(g.done)
	var word [1]byte
	if n, err := g.readyRead.Read(word[:]); n == 1 && err == nil {
		g.open()
	}
	// Closing is all that is left to say, and a pipe's close has nothing to report.
	if err := closeAll(g.goWrite, g.readyRead); err != nil {
		return
	}
}

// open lets the command go, unless it was killed. A line that nobody reads any
// more is no failure: how the command ended says more.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.killed {
		return
	}
	g.passed = true
	if _, err := g.goWrite.Write([]byte("\n")); err != nil {
		return
	}
}

// shut keeps a gate that is not open yet from opening.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.killed = true
}

// opened reports whether the command was let go. Call it when bwrap has ended.
func (g *gate) opened() bool {
	<-g.done
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.passed
}

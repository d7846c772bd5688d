// Package formtest is a person at a terminal, for tests: it reads the screen
// and types, and never waits for time to pass.
package formtest

import (
	"bytes"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// The keys that are no letters.
const (
	Enter = "\r"
	Back  = "\x1b[Z" // shift+tab
	Down  = "\x1b[B"
	CtrlC = "\x03"
	Clear = "\x15" // ctrl+u: empty the line
)

// patience is how long a test waits for a screen that never comes.
const patience = 20 * time.Second

// Person sits at a terminal of 120 by 40 characters.
type Person struct {
	// TTY is the program's side.
	TTY *os.File

	tb     testing.TB
	master *os.File
	mu     sync.Mutex
	screen bytes.Buffer
	more   chan struct{}
}

// Sit opens a terminal. It is closed when the test ends.
func Sit(tb testing.TB) *Person {
	tb.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		tb.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 40, Cols: 120}); err != nil {
		tb.Fatal(err)
	}
	p := &Person{TTY: tty, tb: tb, master: master, more: make(chan struct{}, 1)}
	done := make(chan struct{})
	go p.watch(done)
	tb.Cleanup(func() {
		if err := tty.Close(); err != nil {
			tb.Error(err)
		}
		<-done
		if err := master.Close(); err != nil {
			tb.Error(err)
		}
	})
	return p
}

// watch collects what is written to the screen until the program's side closes.
func (p *Person) watch(done chan<- struct{}) {
	defer close(done)
	b := make([]byte, 4096)
	for {
		n, err := p.master.Read(b)
		p.mu.Lock()
		p.screen.Write(b[:n])
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
		if err != nil {
			return // EIO: nobody writes any more
		}
	}
}

// Sees waits until text has come on the screen since the last call, colours and
// cursor movements aside.
func (p *Person) Sees(text string) {
	p.tb.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		p.mu.Lock()
		seen := plain(p.screen.Bytes())
		if i := bytes.Index(seen, []byte(text)); i >= 0 {
			p.screen.Reset()
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		select {
		case <-p.more:
		case <-deadline.C:
			p.tb.Fatalf("%q did not come on the screen; there is:\n%s", text, seen)
		}
	}
}

// Types sends keys.
func (p *Person) Types(keys ...string) {
	p.tb.Helper()
	for _, k := range keys {
		if _, err := p.master.WriteString(k); err != nil {
			p.tb.Fatal(err)
		}
	}
}

// plain drops control sequences.
func plain(screen []byte) []byte {
	return regexp.MustCompile(`\x1b(\[[0-9;?]*[a-zA-Z]|\][^\a]*\a|[=>])`).ReplaceAll(screen, nil)
}

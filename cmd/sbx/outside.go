package main

import (
	"io"
	"os"
	"time"

	"github.com/agentworkforce/sbx/catalog"
	"github.com/agentworkforce/sbx/sandbox"
	"golang.org/x/term"
)

// outside is what surrounds the program, so that commands are tested in process.
type outside struct {
	in       io.Reader
	out, err io.Writer
	lookup   func(name string) (string, bool)
	driver   func(id string) (sandbox.Driver, bool)
	drivers  func() []sandbox.Driver
	catalog  func() ([]catalog.Entry, error) // what this build carries; nil: nothing
	now      func() time.Time                // nil is time.Now
	exits    *exitHooks
	// columns is the width of a terminal, 0 when w is none. Without it w is asked.
	columns func(w any) int
}

func (o outside) getenv(name string) string {
	v, ok := o.lookup(name)
	if !ok {
		return ""
	}
	return v
}

func (o outside) clock() time.Time {
	if o.now == nil {
		return time.Now()
	}
	return o.now()
}

func (o outside) all() []sandbox.Driver {
	if o.drivers == nil {
		return nil
	}
	return o.drivers()
}

// width is the number of columns of a terminal, 0 when w is none.
func (o outside) width(w any) int {
	if o.columns != nil {
		return o.columns(w)
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	columns, _, err := term.GetSize(int(f.Fd()))
	if err != nil || columns < 20 {
		return 80
	}
	return columns
}

// lively reports whether err is a terminal on which a line can be rewritten.
func (o outside) lively() bool { return o.width(o.err) > 0 && o.getenv("TERM") != "dumb" }

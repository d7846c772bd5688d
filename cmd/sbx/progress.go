package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/agentworkforce/sbx/port"
	"github.com/agentworkforce/sbx/sandbox"
)

// stopwatch keeps how long the operations of an invocation took. The zero value
// is ready; it may be used concurrently.
type stopwatch struct {
	mu     sync.Mutex
	phases []phase
	late   []sandbox.Event
}

// phase is one operation that ended.
type phase struct {
	Name string `json:"name"`
	MS   int64  `json:"ms"`
}

// observe is told every event of a provider.
func (w *stopwatch) observe(e sandbox.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch e.Kind {
	case sandbox.EventEnd:
		w.phases = append(w.phases, phase{strings.ToLower(e.Op), e.Duration.Milliseconds()})
	case sandbox.EventLate, sandbox.EventEgressWithheld, sandbox.EventLedgerUnreadable:
		w.late = append(w.late, e)
	}
}

// of are the phases with these names, in the order they ended.
func (w *stopwatch) of(names ...string) []phase {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := []phase{}
	for _, p := range w.phases {
		for _, name := range names {
			if p.Name == name {
				out = append(out, p)
			}
		}
	}
	return out
}

// told are the events that a person has to know of.
func (w *stopwatch) told() []sandbox.Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]sandbox.Event(nil), w.late...)
}

// timings tells how long things took, to a person at a terminal.
func (a *app) timings(names ...string) error {
	phases := a.watch.of(names...)
	if a.quiet || a.width(a.err) == 0 || len(phases) == 0 {
		return nil
	}
	var parts []string
	for _, p := range phases {
		parts = append(parts, fmt.Sprintf("%s %s", p.Name, time.Duration(p.MS)*time.Millisecond))
	}
	return a.note("%s", strings.Join(parts, ", "))
}

// warnings tells what went on besides: a policy that was withheld, a ledger that
// cannot be read, something created late that could not be destroyed.
func (a *app) warnings() error {
	var err error
	for _, e := range a.watch.told() {
		switch {
		case e.Kind == sandbox.EventEgressWithheld:
			err = join(err, a.note("the egress policy is withheld: %s does not enforce it, and the sandbox reaches what it likes", e.Provider))
		case e.Kind == sandbox.EventLedgerUnreadable:
			err = join(err, a.note("a ledger cannot be read: %s", e.Detail))
		case e.Code != "":
			err = join(err, a.note("what was created late is owed to sbx reap: %s", e.Detail))
		}
	}
	return err
}

// progressing shows the progress of long operations on a terminal.
func (a *app) progressing(ctx context.Context) context.Context {
	if a.quiet || a.json || !a.lively() {
		return ctx
	}
	l := &liveLine{w: a.err, width: a.width(a.err), parts: map[string]port.Progress{}}
	return port.WithProgress(context.WithValue(ctx, liveKey{}, l), l.tell)
}

type liveKey struct{}

// quietLine takes the progress line off the screen before something is printed.
func quietLine(ctx context.Context) {
	if l, ok := ctx.Value(liveKey{}).(*liveLine); ok {
		l.clear()
	}
}

// liveLine is one line of a terminal that is written again and again. It may be
// used concurrently.
type liveLine struct {
	w     io.Writer
	width int

	mu    sync.Mutex
	phase string
	parts map[string]port.Progress // of a phase, by what is worked on
	drawn time.Time
	shown bool
}

// redraw is the shortest time between two drawings.
const redraw = 100 * time.Millisecond

func (l *liveLine) tell(p port.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.Phase != l.phase {
		l.phase, l.parts, l.drawn = p.Phase, map[string]port.Progress{}, time.Time{}
	}
	l.parts[p.Detail] = p
	if now := time.Now(); now.Sub(l.drawn) >= redraw {
		l.drawn = now
		l.draw(l.text())
	}
}

// text sums up the parts whose size is known.
func (l *liveLine) text() string {
	var done, total int64
	for _, p := range l.parts {
		if p.Total > 0 {
			done, total = done+min(p.Current, p.Total), total+p.Total
		}
	}
	if total == 0 {
		return l.phase + "…"
	}
	return l.phase + " " + bar(done, total, l.width-len(l.phase)-1)
}

// draw writes over the line. A terminal that cannot be written to has nobody who
// would read it.
func (l *liveLine) draw(text string) {
	if runes := []rune(text); len(runes) >= l.width {
		text = string(runes[:l.width-1])
	}
	_, err := fmt.Fprintf(l.w, "\r\x1b[K%s", text)
	l.shown = err == nil
}

func (l *liveLine) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shown {
		l.draw("")
		l.shown = false
	}
	l.phase = ""
}

// bar is a share of total as a bar and in numbers, within so many columns.
func bar(done, total int64, columns int) string {
	numbers := fmt.Sprintf(" %3d%% %s/%s", 100*done/max(total, 1), size(done), size(total))
	room := min(columns-len(numbers)-3, 40)
	if room < 5 {
		return strings.TrimLeft(numbers, " ")
	}
	full := int(int64(room) * done / max(total, 1))
	return "[" + strings.Repeat("=", full) + strings.Repeat(" ", room-full) + "]" + numbers
}

// size is a number of bytes for a person.
func size(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, suffix := float64(n)/unit, 0
	for value >= unit && suffix < 4 {
		value, suffix = value/unit, suffix+1
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTP"[suffix])
}

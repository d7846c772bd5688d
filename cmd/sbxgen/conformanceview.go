package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/agentworkforce/sbx/conformance"
	"github.com/agentworkforce/sbx/internal/diag"
)

// checkView shows a run while it goes: a few lines that are drawn again in a
// terminal, one line for each check elsewhere.
type checkView struct {
	screen  screen
	began   time.Time
	now     func() time.Time
	running map[string]time.Time
	counts  map[conformance.Verdict]int
	done    int
	total   int
}

func newCheckView(s streams) *checkView {
	return &checkView{screen: newScreen(s), began: time.Now(), now: time.Now, running: map[string]time.Time{}, counts: map[conformance.Verdict]int{}}
}

// take shows one event.
func (v *checkView) take(e conformance.ProgressLine) {
	v.done, v.total = max(v.done, e.Done), max(v.total, e.Total)
	switch {
	case e.Check == "":
		v.screen.say(fmt.Sprintf("the vendor cannot be reached: %s", firstLine(e.Message)))
		return
	case e.Verdict == "":
		v.running[e.Check] = v.now()
		return
	}
	took := time.Duration(0)
	if at, ok := v.running[e.Check]; ok {
		took = v.now().Sub(at)
	}
	delete(v.running, e.Check)
	v.counts[e.Verdict]++
	word := string(e.Verdict)
	if e.Verdict == conformance.Unknown {
		word = fmt.Sprintf("unknown(%s)", e.Reason)
	}
	line := fmt.Sprintf("[%3d/%d %7s] %-28s %s", e.Done, e.Total, e.Elapsed.Round(100*time.Millisecond), word, e.Check)
	if took > 0 {
		line += fmt.Sprintf(" (%s)", took.Round(10*time.Millisecond))
	}
	switch {
	case !v.screen.live:
		v.screen.say(line)
	case e.Verdict == conformance.Failed:
		v.screen.say(line + ": " + firstLine(e.Message))
	}
}

// tick draws what changes with time.
func (v *checkView) tick() {
	if !v.screen.live || v.total == 0 {
		return
	}
	elapsed := v.now().Sub(v.began)
	left := "?"
	if v.done > 0 && v.done < v.total {
		left = (elapsed * time.Duration(v.total-v.done) / time.Duration(v.done)).Round(time.Second).String()
	}
	lines := []string{fmt.Sprintf("%s %d/%d  %d passed, %d refused as declared, %d failed, %d unknown  %s, about %s left", bar(v.done, v.total, 20), v.done, v.total,
		v.counts[conformance.Passed], v.counts[conformance.RefusedAsDeclared], v.counts[conformance.Failed], v.counts[conformance.Unknown],
		elapsed.Round(time.Second), left)}
	var names []string
	for name := range v.running {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return v.running[a].Compare(v.running[b]) })
	for _, name := range names[:min(len(names), 6)] {
		lines = append(lines, fmt.Sprintf("  runs  %-44s %s", name, v.now().Sub(v.running[name]).Round(100*time.Millisecond)))
	}
	v.screen.draw(lines)
}

// end takes the live lines away.
func (v *checkView) end() { v.screen.draw(nil) }

func bar(done, total, width int) string {
	full := 0
	if total > 0 {
		full = min(width, done*width/total)
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return diag.Printable(s)
}

// screen writes lines that stay and, in a terminal, lines below them that are
// drawn again.
type screen struct {
	out   io.Writer
	live  bool
	width int
	drawn int
}

func newScreen(s streams) screen {
	sc := screen{out: s.err}
	f, ok := s.err.(*os.File)
	if !ok || s.getenv("TERM") == "dumb" || !term.IsTerminal(int(f.Fd())) {
		return sc
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 20 {
		width = 80
	}
	sc.live, sc.width = true, width
	return sc
}

// say writes a line that stays.
func (sc *screen) say(line string) {
	sc.erase()
	fmt.Fprintln(sc.out, line)
}

// draw replaces the lines that do not stay.
func (sc *screen) draw(lines []string) {
	sc.erase()
	for _, line := range lines {
		if r := []rune(line); len(r) >= sc.width {
			line = string(r[:sc.width-1])
		}
		fmt.Fprintln(sc.out, line)
	}
	sc.drawn = len(lines)
}

func (sc *screen) erase() {
	if sc.drawn > 0 {
		fmt.Fprintf(sc.out, "\x1b[%dA\x1b[J", sc.drawn)
		sc.drawn = 0
	}
}

package main

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/agentworkforce/sbx/internal/diag"
)

// printer keeps the first error of a run of prints.
type printer struct {
	w   io.Writer
	err error
}

// line prints a line. Names, labels and a vendor's words are not to be trusted: no
// argument makes a terminal do anything, another column or another line.
func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", shown(args)...)
	}
}

// shown are arguments of a format with everything escaped that a terminal would
// act on instead of showing it.
func shown(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		switch reflect.ValueOf(arg).Kind() {
		case reflect.Bool, reflect.Int, reflect.Int64, reflect.Float64:
			out[i] = arg
			if text, ok := arg.(fmt.Stringer); ok { // such as a time.Duration
				out[i] = diag.Printable(text.String())
			}
		default:
			out[i] = diag.Printable(fmt.Sprint(arg))
		}
	}
	return out
}

// say prints one line that is the whole result.
func (a *app) say(result any) error {
	p := &printer{w: a.out}
	p.line("%s", result)
	return p.err
}

// block prints, after an indent, one thing as a line with its reference and lines about it, within
// the terminal's width, or 80 columns where there is no terminal. At a terminal a
// long ID is cut as everywhere; a word that is longer than a line stays whole.
func (a *app) block(p *printer, indent, ref string, about ...string) {
	width := a.width(a.out)
	if width == 0 {
		width = 80
	}
	p.line("%s%s", indent, a.short(ref))
	for _, text := range about {
		for i, line := range wrapped(text, width-len(indent)-6) {
			if line != "" {
				p.line("%s%s%s", indent, map[bool]string{true: "  ", false: "      "}[i == 0], line)
			}
		}
	}
}

// facts joins what is known; what ends in "-" is not.
func (a *app) facts(all ...string) string {
	var known []string
	for _, f := range all {
		if f != "" && f != "-" && !strings.HasSuffix(f, " -") {
			known = append(known, f)
		}
	}
	return strings.Join(known, ", ")
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func moment(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}

package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// printer keeps the first error of a run of prints.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format+"\n", args...)
	}
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

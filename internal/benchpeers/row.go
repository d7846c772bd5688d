package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// row is one goal, or one figure without a goal, beside one peer.
type row struct {
	work    string
	ours    spread // seconds
	peer    string
	theirs  spread // seconds; n is 0 when there is no peer
	missing string // why the peer was not measured
	ratio   spread
	cpu     spread // ratio of processor time
	goal    goal
}

// goal is what a row has to reach. The zero value is no goal.
type goal struct {
	ratio   float64       // at most this much of the peer's time
	within  time.Duration // or at most this long
	remains string        // or: a reason why this figure has no goal
}

func (g goal) String() string {
	switch {
	case g.ratio > 0:
		return fmt.Sprintf("<= %gx", g.ratio)
	case g.within > 0:
		return fmt.Sprintf("<= %v", g.within)
	case g.remains != "":
		return "none: " + g.remains
	}
	return "none"
}

// verdict is met, short, or why neither can be said.
func (r row) verdict() string {
	switch {
	case r.ours.n == 0 || (r.goal.ratio > 0 && r.ratio.n == 0):
		return "not measured"
	case r.goal.ratio > 0 && r.ratio.median <= r.goal.ratio, r.goal.within > 0 && r.ours.median <= r.goal.within.Seconds():
		return "met"
	case r.goal.ratio > 0 || r.goal.within > 0:
		return "short"
	}
	return "-"
}

// versus is a peer with the goal set against it.
type versus struct {
	subject
	goal goal
}

// compare measures ours and the peers in turn, n times after one uncounted
// round, and makes a row of each peer.
func compare(ctx context.Context, n int, work string, ours subject, with ...versus) ([]row, error) {
	return compareAfter(ctx, 1, n, work, ours, with...)
}

func compareAfter(ctx context.Context, uncounted, n int, work string, ours subject, with ...versus) ([]row, error) {
	subjects := []subject{ours}
	for _, v := range with {
		subjects = append(subjects, v.subject)
	}
	samples, err := alternate(ctx, uncounted, n, subjects)
	if err != nil {
		return nil, err
	}
	var rows []row
	for i, v := range with {
		rows = append(rows, row{work: work, ours: seconds(samples[0]), peer: v.name, theirs: seconds(samples[i+1]), missing: v.missing,
			ratio: ratios(samples[0], samples[i+1], wall), cpu: ratios(samples[0], samples[i+1], cpu), goal: v.goal})
	}
	return rows, nil
}

// printRows writes a Markdown table whose columns are aligned as text too.
// Times and ratios are medians with the least and the greatest of n runs; cpu is
// the ratio of processor time, which other work on the machine changes less.
func printRows(out io.Writer, rows []row) {
	w := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
	line := func(cells ...string) { fmt.Fprintln(w, "| "+strings.Join(cells, "\t| ")+"\t|") }
	line("work", "ours", "peer", "peer's", "ratio", "cpu", "goal", "result", "n")
	line("---", "---", "---", "---", "---", "---", "---", "---", "---")
	for _, r := range rows {
		theirs, ratio, cpu := "-", "-", "-"
		switch {
		case r.missing != "":
			theirs = "absent: " + r.missing
		case r.theirs.n > 0:
			theirs = timeText(r.theirs)
		}
		if r.ratio.n > 0 {
			ratio = fmt.Sprintf("%.2fx (%.2f-%.2f)", r.ratio.median, r.ratio.min, r.ratio.max)
		}
		if r.cpu.n > 0 {
			cpu = fmt.Sprintf("%.2fx", r.cpu.median)
		}
		line(r.work, timeText(r.ours), r.peer, theirs, ratio, cpu, r.goal.String(), r.verdict(), fmt.Sprint(r.ours.n))
	}
	if err := w.Flush(); err != nil {
		fmt.Fprintf(out, "\nthe table is not complete: %v\n", err)
	}
}

func timeText(s spread) string {
	if s.n == 0 {
		return "-"
	}
	if s.median < 1 {
		return fmt.Sprintf("%.1f ms (%.1f-%.1f)", s.median*1e3, s.min*1e3, s.max*1e3)
	}
	return fmt.Sprintf("%.2f s (%.2f-%.2f)", s.median, s.min, s.max)
}

package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"math"
	"slices"

	"github.com/agentworkforce/sbx/bench"
)

// Measures of the plot, in pixels.
const (
	plotWidth  = 960
	plotLeft   = 220
	plotRight  = 40
	plotTop    = 56
	plotRow    = 22
	plotBottom = 40
)

// plotSVG draws every sample of every metric on one logarithmic axis per unit; a
// metric without samples says why. The bytes follow from the artifact alone.
func plotSVG(a *bench.Artifact) []byte {
	var b bytes.Buffer
	height := plotTop + plotRow*len(a.Metrics) + plotBottom
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n", plotWidth, height, plotWidth, height)
	fmt.Fprintf(&b, "<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>\n", plotWidth, height)
	text(&b, 12, 20, "16", "#111111", "start", a.Provider+", "+a.StartedAt.UTC().Format("2006-01-02"))
	text(&b, 12, 40, "12", "#555555", "start", "every sample; the bar is the median; "+a.Method)
	low, high := decades(a)
	for d := low; d <= high; d++ {
		x := position(math.Pow(10, float64(d)), low, high)
		fmt.Fprintf(&b, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#dddddd\"/>\n", x, plotTop-6, x, height-plotBottom+4)
		text(&b, x, float64(height-plotBottom+20), "11", "#555555", "middle", fmt.Sprintf("%g ms", math.Pow(10, float64(d))))
	}
	for i, m := range a.Metrics {
		y := float64(plotTop + plotRow*i + plotRow/2)
		text(&b, plotLeft-12, y+4, "12", "#111111", "end", m.ID)
		row(&b, m, y, low, high)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

func row(b *bytes.Buffer, m bench.Metric, y float64, low, high int) {
	switch {
	case m.Stats == nil:
		text(b, plotLeft, y+4, "11", "#8a5a00", "start", fmt.Sprintf("UNKNOWN (%s)", m.Unknown))
		return
	case m.Unit != "ms":
		text(b, plotLeft, y+4, "11", "#111111", "start", fmt.Sprintf("median %s %s", short(m.Stats.Median), m.Unit))
		return
	}
	for _, s := range m.Samples {
		fmt.Fprintf(b, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#1f6feb\" fill-opacity=\"0.45\"/>\n", position(s, low, high), y)
	}
	x := position(m.Stats.Median, low, high)
	fmt.Fprintf(b, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#111111\" stroke-width=\"2\"/>\n", x, y-8, x, y+8)
	if m.Failures > 0 {
		text(b, plotWidth-plotRight, y+4, "11", "#b42318", "end", fmt.Sprintf("%d failed", m.Failures))
	}
}

// decades are the powers of ten around all samples in milliseconds.
func decades(a *bench.Artifact) (low, high int) {
	var all []float64
	for _, m := range a.Metrics {
		if m.Unit == "ms" {
			all = append(all, m.Samples...)
		}
	}
	all = slices.DeleteFunc(all, func(f float64) bool { return !(f > 0) || math.IsInf(f, 0) })
	if len(all) == 0 {
		return 0, 3
	}
	low, high = int(math.Floor(math.Log10(slices.Min(all)))), int(math.Ceil(math.Log10(slices.Max(all))))
	if low == high {
		high++
	}
	return low, high
}

func position(v float64, low, high int) float64 {
	share := 0.0
	if v > 0 {
		share = (math.Log10(v) - float64(low)) / float64(high-low)
	}
	return plotLeft + max(0, min(1, share))*(plotWidth-plotLeft-plotRight)
}

func text(b *bytes.Buffer, x, y float64, size, color, anchor, s string) {
	fmt.Fprintf(b, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%s\" fill=\"%s\" text-anchor=\"%s\">", x, y, size, color, anchor)
	if err := xml.EscapeText(b, []byte(s)); err != nil {
		return // a bytes.Buffer has no error
	}
	b.WriteString("</text>\n")
}

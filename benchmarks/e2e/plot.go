package main

import (
	"fmt"
	"html"
	"os"
	"strings"
)

// Sizes of the plot in pixels.
const (
	plotWidth, rowHeight, barHeight = 720, 24, 16

	plotLeft, plotRight, plotTop = 200, 90, 40
)

// plotBars draws million rows a second, a bar for every result.
func plotBars(path string, results []result) error {
	top := 0.0
	for _, r := range results {
		top = max(top, r.RowsPerS)
	}
	var b strings.Builder
	height := plotTop + rowHeight*len(results) + 20
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, height)
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
	}
	text(12, 22, "start", "URLs into seven columns of Parquet, million rows a second")
	for i, r := range results {
		y := float64(plotTop + i*rowHeight)
		width := (plotWidth - plotLeft - plotRight) * r.RowsPerS / top
		color := "#9aa5b1"
		if r.System == "urlmill" || r.System == compact {
			color = "#1b6ca8"
		}
		text(plotLeft-8, y+barHeight-3, "end", fmt.Sprintf("%s, %s: %s", r.Job, r.Codec, r.System))
		fmt.Fprintf(&b, `<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="%s"/>`+"\n", plotLeft, y, width, barHeight, color)
		text(plotLeft+width+6, y+barHeight-3, "start", fmt.Sprintf("%.2f", r.RowsPerS/1e6))
	}
	b.WriteString("</svg>\n")
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// Package plot draws the results of benchmarks.
package plot

import (
	"fmt"
	"html"
	"math"
	"os"
	"strings"
)

// Lines is a line chart over categories, written as SVG.
type Lines struct {
	Title, X string
	Series   []Series
}

// Series is a line of a plot.
type Series struct {
	Name   string
	Labels []string
	Values []float64
}

// Add adds a point.
func (s *Series) Add(label string, value float64) {
	s.Labels = append(s.Labels, label)
	s.Values = append(s.Values, value)
}

// Sizes of a plot in pixels.
const (
	width, height = 720, 380

	left, right, upper, lower = 64, 120, 40, 52
)

var colors = []string{"#1b6ca8", "#c8553d", "#3a7d44", "#7a4b94"}

// Write draws the plot into a file. The vertical axis begins at zero.
func (p *Lines) Write(path string) error {
	top := 0.0
	for _, s := range p.Series {
		for _, v := range s.Values {
			top = math.Max(top, v)
		}
	}
	step := niceStep(top / 5)
	top = math.Ceil(top/step) * step
	y := func(v float64) float64 {
		return upper + (height-upper-lower)*(1-v/top)
	}
	x := func(i, n int) float64 {
		return left + (width-left-right)*(float64(i)+0.5)/float64(n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	text := func(x, y float64, anchor, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s">%s</text>`+"\n", x, y, anchor, html.EscapeString(s))
	}
	text(left, 22, "start", p.Title)
	for v := 0.0; v <= top+step/2; v += step {
		fmt.Fprintf(&b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/>`+"\n", left, width-right, y(v), y(v))
		text(left-6, y(v)+4, "end", fmt.Sprintf("%g", v))
	}
	for i, s := range p.Series {
		color := colors[i%len(colors)]
		var points []string
		for j, v := range s.Values {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(j, len(s.Values)), y(v)))
			if i == 0 {
				text(x(j, len(s.Values)), height-lower+18, "middle", s.Labels[j])
			}
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), color)
		last := len(s.Values) - 1
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" fill="%s">%s</text>`+"\n", x(last, len(s.Values))+10, y(s.Values[last])+4, color, html.EscapeString(s.Name))
	}
	text(float64(left+width-right)/2, height-12, "middle", p.X)
	b.WriteString("</svg>\n")
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// niceStep rounds up to 1, 2 or 5 times a power of ten.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{1, 2, 5} {
		if v <= n*power {
			return n * power
		}
	}
	return 10 * power
}

// Package rowview shows rows as an aligned table on a terminal.
package rowview

import (
	"io"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
)

const (
	gap         = 2   // spaces between columns
	leastWidth  = 6   // of a column that has to give way
	mostPadding = 100 // a wider value does not widen its column for all rows
)

// Cell is a value as it is shown.
type Cell struct {
	Text  string
	Right bool // aligned to the right, for numbers
}

// Layout is the width of every column.
type Layout []int

// NewLayout fits columns to the rows of a sample, so that a line is not wider than width; 0 is no limit. Columns that
// are too wide together are cut to the same width, the narrow ones stay whole.
func NewLayout(header []string, sample [][]Cell, width int) Layout {
	natural := make(Layout, len(header))
	for i, name := range header {
		natural[i] = plain.Width(name)
	}
	for _, row := range sample {
		for i, c := range row {
			natural[i] = max(natural[i], min(plain.Width(c.Text), mostPadding))
		}
	}
	if width <= 0 || natural.total(mostPadding) <= width {
		return natural
	}
	limit := mostPadding
	for limit > leastWidth && natural.total(limit) > width {
		limit--
	}
	for i := range natural {
		natural[i] = min(natural[i], limit)
	}
	return natural
}

// total returns the width of a line when no column is wider than limit.
func (l Layout) total(limit int) int {
	sum := gap * (len(l) - 1)
	for _, w := range l {
		sum += min(w, limit)
	}
	return sum
}

// Write prints a header, aligned as the first value below it, and rows as WriteRow does.
func (l Layout) Write(w io.Writer, header []string, rows [][]Cell, clip bool) error {
	head := make([]Cell, len(header))
	for i, name := range header {
		first := slices.IndexFunc(rows, func(row []Cell) bool { return row[i].Text != "" })
		head[i] = Cell{Text: name, Right: first >= 0 && rows[first][i].Right}
	}
	for _, row := range append([][]Cell{head}, rows...) {
		if err := l.WriteRow(w, row, clip); err != nil {
			return err
		}
	}
	return nil
}

// WriteRow prints a row. With clip, values are cut to their columns; otherwise they push the rest of the line aside.
func (l Layout) WriteRow(w io.Writer, row []Cell, clip bool) error {
	var b strings.Builder
	for i, c := range row {
		text := c.Text
		if clip {
			text = plain.Clip(text, l[i])
		}
		pad := strings.Repeat(" ", max(0, l[i]-plain.Width(text)))
		if i > 0 {
			b.WriteString(strings.Repeat(" ", gap))
		}
		if c.Right {
			b.WriteString(pad)
		}
		b.WriteString(text)
		if !c.Right {
			b.WriteString(pad)
		}
	}
	_, err := io.WriteString(w, strings.TrimRight(b.String(), " ")+"\n")
	return err
}

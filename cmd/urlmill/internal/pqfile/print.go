package pqfile

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/rowview"
)

// Print shows what a file says of itself.
func (i Info) Print(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s in %s, %s, format version %d, created by %s\n\n", plain.Text(i.File), plain.Plural(i.Rows, "row"),
		plain.Plural(int64(len(i.Groups)), "row group"), plain.Bytes(i.Bytes), i.Version, cmp.Or(plain.Text(i.CreatedBy), "nobody knows whom"))
	fmt.Fprintf(&b, "%s\n\n", plain.Lines(i.Schema))
	if len(i.Metadata) > 0 {
		b.WriteString("metadata\n")
		for _, key := range slices.Sorted(maps.Keys(i.Metadata)) {
			const longest = 120
			fmt.Fprintf(&b, "  %s: %s\n", plain.Text(key), plain.Clip(plain.Text(i.Metadata[key]), longest))
		}
		b.WriteByte('\n')
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	for n, g := range i.Groups {
		if err := g.print(w, n); err != nil {
			return err
		}
	}
	return nil
}

var columnHeader = []string{"column", "values", "nulls", "codec", "encodings", "pages", "bytes", "ratio", "index", "bloom", "minimum", "maximum"}

func (g Group) print(w io.Writer, n int) error {
	sorted := ""
	if len(g.Sorted) > 0 {
		sorted = ", sorted by " + plain.Text(strings.Join(g.Sorted, "; "))
	}
	_, err := fmt.Fprintf(w, "row group %d: %s, %s of %s uncompressed%s\n", n, plain.Plural(g.Rows, "row"),
		plain.Bytes(g.Compressed), plain.Bytes(g.Uncompressed), sorted)
	if err != nil {
		return err
	}
	var rows [][]rowview.Cell
	for _, c := range g.Columns {
		rows = append(rows, c.cells())
	}
	if err := rowview.NewLayout(columnHeader, rows, 0).Write(w, columnHeader, rows, false); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n")
	return err
}

func (c Column) cells() []rowview.Cell {
	right := func(s string) rowview.Cell { return rowview.Cell{Text: s, Right: true} }
	nulls := ""
	if c.Nulls != nil {
		nulls = plain.Count(*c.Nulls)
	}
	ratio := ""
	if c.Compressed > 0 {
		ratio = fmt.Sprintf("%.1f", float64(c.Uncompressed)/float64(c.Compressed))
	}
	var index []string
	if c.ColumnIndex {
		index = append(index, "column")
	}
	if c.OffsetIndex {
		index = append(index, "offset")
	}
	bloom := ""
	if c.BloomFilter > 0 {
		bloom = plain.Bytes(c.BloomFilter)
	}
	pages := fmt.Sprintf("%d v%d", c.DataPages, c.PageVersion)
	if c.Checksums {
		pages += " crc"
	}
	return []rowview.Cell{
		{Text: plain.Text(c.Path)},
		right(plain.Count(c.Values)), right(nulls),
		{Text: plain.Text(c.Codec)},
		{Text: plain.Text(strings.Join(c.Encodings, ", "))},
		right(pages), right(plain.Count(c.Compressed)), right(ratio),
		{Text: strings.Join(index, ", ")},
		right(bloom), bound(c.Min, c.MinExact), bound(c.Max, c.MaxExact),
	}
}

// bound shows a minimum or maximum. One that is not exact ends with an ellipsis.
func bound(text *string, exact *bool) rowview.Cell {
	if text == nil {
		return rowview.Cell{}
	}
	const longest = 24
	shown := plain.Clip(plain.Text(*text), longest)
	if exact != nil && !*exact {
		shown += "…"
	}
	return rowview.Cell{Text: shown}
}

// Print shows what a check found: a line for a file that is right, and one more for every problem.
func (r Report) Print(w io.Writer) error {
	var b strings.Builder
	if len(r.Problems) == 0 {
		fmt.Fprintf(&b, "%s: ok, %s, %s, %s (%s with a checksum), %s, %s\n", plain.Text(r.File), plain.Plural(r.Rows, "row"),
			plain.Plural(int64(r.Groups), "row group"), plain.Plural(r.Pages, "page"), plain.Count(r.Checksums),
			plain.Plural(r.Bounds, "bound"), plain.Plural(r.BloomFilters, "bloom filter"))
	}
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "%s: %s\n", plain.Text(r.File), plain.Text(p))
	}
	if r.Dropped > 0 {
		fmt.Fprintf(&b, "%s: and %s\n", plain.Text(r.File), plain.Plural(int64(r.Dropped), "problem"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

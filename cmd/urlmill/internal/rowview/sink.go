package rowview

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/rowsink"
	"github.com/urlmill/urlmill/pipeline"
)

// sampleRows is how many rows decide the widths of the columns.
const sampleRows = 1000

// ErrorColumns are merged into one column "error" where a record has all of them.
var ErrorColumns = []string{"url_error", "url_error_pos", "url"}

// Options says how a table is shown.
type Options struct {
	// Width is that of the terminal; 0 does not cut anything.
	Width int
	// MergeErrors shows the columns ErrorColumns as one.
	MergeErrors bool
	// HideEmpty leaves out the columns that are empty in all of the first rows.
	HideEmpty bool
}

// Sink shows the rows of a pipeline as a table. The first rows, up to a thousand or to the first commit, decide the
// widths of the columns.
type Sink struct {
	w       io.Writer
	options Options

	mu      sync.Mutex
	header  []string
	columns []int // of the record, for every column that is shown; errorColumn for the merged one
	sample  [][]Cell
	layout  Layout // nil while rows are being collected
	merged  []int
}

const errorColumn = -1

// New returns a sink that shows its rows on w.
func New(w io.Writer, o Options) *Sink { return &Sink{w: w, options: o} }

// Start implements [pipeline.Sink].
func (s *Sink) Start(_ context.Context, schemas pipeline.Schemas) error {
	if schemas[pipeline.DeadLetters] != nil {
		return fmt.Errorf("a table has no place for dead letters; use the error policy keep or drop")
	}
	schema := schemas[pipeline.Rows]
	if s.options.MergeErrors {
		s.merged = indices(schema, ErrorColumns)
	}
	for i, f := range schema.Fields() {
		if !slices.Contains(s.merged, i) {
			s.header = append(s.header, strings.ToUpper(plain.Text(f.Name)))
			s.columns = append(s.columns, i)
		}
	}
	if s.merged != nil {
		s.header, s.columns = append(s.header, "ERROR"), append(s.columns, errorColumn)
	}
	return nil
}

// indices returns where the named columns are, nil unless all are there.
func indices(schema *arrow.Schema, names []string) []int {
	var out []int
	for _, name := range names {
		found := schema.FieldIndices(name)
		if len(found) != 1 {
			return nil
		}
		out = append(out, found[0])
	}
	return out
}

// Open implements [pipeline.Sink].
func (s *Sink) Open(context.Context, pipeline.LaneID) (pipeline.Writer, int64, error) {
	return rowsink.Open(s.add, s.flush)
}

// Close implements [pipeline.Sink]. It shows what was collected, and an empty table where there was nothing.
func (s *Sink) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.show()
}

// add shows the rows of r, or collects them.
func (s *Sink) add(r arrow.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range int(r.NumRows()) {
		row := s.row(r, i)
		if s.layout == nil {
			if s.sample = append(s.sample, row); len(s.sample) < sampleRows {
				continue
			}
			if err := s.show(); err != nil {
				return err
			}
			continue
		}
		if err := s.layout.WriteRow(s.w, s.visible(row), s.options.Width > 0); err != nil {
			return err
		}
	}
	return nil
}

// flush shows what was collected, if there is anything.
func (s *Sink) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.sample) == 0 {
		return nil
	}
	return s.show()
}

// row returns the cells of row i of r.
func (s *Sink) row(r arrow.Record, i int) []Cell {
	row := make([]Cell, len(s.columns))
	for c, column := range s.columns {
		switch column {
		case hidden:
		case errorColumn:
			row[c] = s.errorCell(r, i)
		default:
			row[c] = CellOf(r.Column(column), i)
		}
	}
	return row
}

// errorCell returns the error of a row in one cell: host-missing at 8 in "https://".
func (s *Sink) errorCell(r arrow.Record, i int) Cell {
	code, pos, url := r.Column(s.merged[0]), r.Column(s.merged[1]), r.Column(s.merged[2])
	if code.IsNull(i) {
		return Cell{}
	}
	text := code.(*array.String).Value(i)
	if !pos.IsNull(i) {
		text += " at " + CellOf(pos, i).Text
	}
	if !url.IsNull(i) {
		text += ` in "` + CellOf(url, i).Text + `"`
	}
	return Cell{Text: text}
}

// show prints the header and the rows that were collected, and fixes the layout.
func (s *Sink) show() error {
	if s.layout != nil {
		return nil
	}
	if s.options.HideEmpty {
		s.hideEmpty()
	}
	sample := s.sample
	s.sample = nil
	for i, row := range sample {
		sample[i] = s.visible(row)
	}
	s.layout = NewLayout(s.header, sample, s.options.Width)
	return s.layout.Write(s.w, s.header, sample, s.options.Width > 0)
}

// hidden marks columns that are not shown.
const hidden = -2

// hideEmpty leaves out the columns that are empty in the sample, unless that is all of them.
func (s *Sink) hideEmpty() {
	var header []string
	empty := make([]bool, len(s.columns))
	for c := range s.columns {
		empty[c] = true
		for _, row := range s.sample {
			empty[c] = empty[c] && row[c].Text == ""
		}
		if !empty[c] {
			header = append(header, s.header[c])
		}
	}
	if len(header) == 0 {
		return
	}
	s.header = header
	for c, e := range empty {
		if e {
			s.columns[c] = hidden
		}
	}
}

// visible returns the cells of the columns that are shown.
func (s *Sink) visible(row []Cell) []Cell {
	out := make([]Cell, 0, len(s.header))
	for c, column := range s.columns {
		if column != hidden {
			out = append(out, row[c])
		}
	}
	return out
}

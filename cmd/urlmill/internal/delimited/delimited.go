// Package delimited writes the rows of a pipeline as CSV or TSV.
package delimited

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/rowsink"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/ndjson"
)

// Sink writes a line of names and one of each row. A text is as it is, a null empty, and everything else as in NDJSON, without the
// quotes that times and binary values have there.
type Sink struct {
	w        io.Writer
	terminal bool // what a terminal could act on is shown instead

	mu    sync.Mutex
	csv   *csv.Writer
	json  []column // of the schema; without rows for texts
	row   []string
	cells [][]string // of a record, by column
	buf   []byte
	ends  []int
}

// column makes JSON of a column that has no name, so that what is around the value is known.
type column struct {
	schema *arrow.Schema // nil for a column of texts
	rows   ndjson.Rows
}

const before, behind = len(`{"":`), len(`}`)

// New returns a sink that writes to w, with tabs between values or with commas.
func New(w io.Writer, tabs, terminal bool) *Sink {
	s := &Sink{w: w, terminal: terminal, csv: csv.NewWriter(w)}
	if tabs {
		s.csv.Comma = '\t'
	}
	return s
}

// Start implements [pipeline.Sink].
func (s *Sink) Start(_ context.Context, schemas pipeline.Schemas) error {
	if schemas[pipeline.DeadLetters] != nil {
		return errors.New("dead letters have no place here; use the error policy keep or drop")
	}
	for _, f := range schemas[pipeline.Rows].Fields() {
		var c column
		if f.Type.ID() != arrow.STRING {
			var err error
			c.schema = arrow.NewSchema([]arrow.Field{{Type: f.Type, Nullable: true}}, nil)
			if c.rows, err = ndjson.NewRows(c.schema); err != nil {
				return err
			}
		}
		s.json, s.row = append(s.json, c), append(s.row, s.shown(f.Name))
	}
	s.cells = make([][]string, len(s.json))
	return s.write()
}

// Open implements [pipeline.Sink].
func (s *Sink) Open(context.Context, pipeline.LaneID) (pipeline.Writer, int64, error) {
	return rowsink.Open(s.add, s.flush)
}

// Close implements [pipeline.Sink].
func (s *Sink) Close() error { return s.flush() }

func (s *Sink) flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.csv.Flush()
	return s.csv.Error()
}

// add writes the rows of r.
func (s *Sink) add(r arrow.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.json {
		s.cells[c] = s.column(s.cells[c][:0], c, r.Column(c))
	}
	for i := range int(r.NumRows()) {
		for c := range s.row {
			s.row[c] = s.cells[c][i]
		}
		if err := s.write(); err != nil {
			return err
		}
	}
	return nil
}

// column appends the values of column c to cells.
func (s *Sink) column(cells []string, c int, a arrow.Array) []string {
	if texts, ok := a.(*array.String); ok {
		for i := range a.Len() {
			cells = append(cells, s.shown(texts.Value(i))) // a null has no bytes
		}
		return cells
	}
	r := array.NewRecord(s.json[c].schema, []arrow.Array{a}, int64(a.Len()))
	defer r.Release()
	s.buf, s.ends = s.json[c].rows.Append(s.buf[:0], s.ends[:0], r)
	start := 0
	for _, end := range s.ends {
		value := s.buf[start+before : end-behind]
		start = end
		switch {
		case string(value) == "null":
			value = nil
		case value[0] == '"': // a time or base64, which have nothing to be escaped
			value = value[1 : len(value)-1]
		}
		cells = append(cells, s.shown(string(value)))
	}
	return cells
}

func (s *Sink) shown(text string) string {
	if s.terminal {
		return plain.Text(text)
	}
	return text
}

// write writes a row. Readers pass over an empty line, so the only value of a row has quotes if it is empty.
func (s *Sink) write() error {
	if len(s.row) > 1 || s.row[0] != "" {
		return s.csv.Write(s.row)
	}
	s.csv.Flush()
	_, err := io.WriteString(s.w, "\"\"\n")
	return errors.Join(s.csv.Error(), err)
}

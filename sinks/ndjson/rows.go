package ndjson

import "github.com/apache/arrow/go/v15/arrow"

// Rows makes a JSON object of every row, for outputs other than those of this package.
type Rows struct{ names []key }

// NewRows returns the encoder for records with schema s, or an error for a type that has no form in JSON.
func NewRows(s *arrow.Schema) (Rows, error) {
	if err := check(s); err != nil {
		return Rows{}, err
	}
	return Rows{namesOf(s)}, nil
}

// Append appends the objects of r to dst without anything between them, and to ends where in dst each ends. Both are
// the caller's.
func (e Rows) Append(dst []byte, ends []int, r arrow.Record) ([]byte, []int) {
	cols := columnsOf(r)
	for i := range int(r.NumRows()) {
		dst = appendObject(dst, e.names, cols, i)
		ends = append(ends, len(dst))
	}
	return dst, ends
}

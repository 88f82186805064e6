package postgres

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/database"
)

// kind is what a column of a type is in PostgreSQL.
type kind struct {
	name string   // as format_type writes it
	also []string // what will do as well
}

var kinds = map[arrow.Type]kind{
	arrow.BOOL:              {name: "boolean"},
	arrow.INT8:              {name: "smallint", also: []string{"integer", "bigint"}},
	arrow.UINT8:             {name: "smallint", also: []string{"integer", "bigint"}},
	arrow.INT16:             {name: "smallint", also: []string{"integer", "bigint"}},
	arrow.UINT16:            {name: "integer", also: []string{"bigint"}},
	arrow.INT32:             {name: "integer", also: []string{"bigint"}},
	arrow.UINT32:            {name: "bigint"},
	arrow.INT64:             {name: "bigint"},
	arrow.FLOAT32:           {name: "real", also: []string{"double precision"}},
	arrow.FLOAT64:           {name: "double precision"},
	arrow.STRING:            {name: "text", also: []string{"character varying"}},
	arrow.LARGE_STRING:      {name: "text", also: []string{"character varying"}},
	arrow.BINARY:            {name: "bytea"},
	arrow.FIXED_SIZE_BINARY: {name: "bytea"},
	arrow.DATE32:            {name: "date"},
	arrow.MAP:               {name: "jsonb", also: []string{"json"}},
	arrow.STRUCT:            {name: "jsonb", also: []string{"json"}},
}

// kindOf returns the type of a column; database.Value knows its values.
func kindOf(t arrow.DataType) (kind, error) {
	k, ok := kinds[t.ID()]
	switch t := t.(type) {
	case *arrow.TimestampType:
		k, ok = kind{name: "timestamp without time zone"}, true
		if t.TimeZone != "" {
			k = kind{name: "timestamp with time zone"}
		}
	case *arrow.ListType:
		k, ok = kinds[arrow.STRUCT], true
		if t.Elem().ID() == arrow.STRING {
			k = kind{name: "text[]"}
		}
	}
	if !ok || database.Value(t) == nil {
		return kind{}, fmt.Errorf("PostgreSQL has no type for %s; leave the column out with columns.exclude", t)
	}
	return k, nil
}

// column is how a column's values are got.
type column struct {
	name string
	kind kind
	get  func(a arrow.Array, i int) any
}

func columnsOf(s *arrow.Schema) ([]column, error) {
	columns := make([]column, s.NumFields())
	for i, f := range s.Fields() {
		k, err := kindOf(f.Type)
		if err != nil {
			return nil, pipeline.FieldErrorf("", "column %q: %w", pipeline.Column(f.Name), err)
		}
		columns[i] = column{f.Name, k, database.Value(f.Type)}
	}
	return columns, nil
}

// CheckRows returns what is wrong with rows of a schema.
func CheckRows(s *arrow.Schema) error {
	_, err := columnsOf(s)
	return err
}

// rows are records as COPY takes them. It implements pgx.CopyFromSource.
type rows struct {
	columns []column
	left    []arrow.Record
	at      int
	values  []any
}

func newRows(columns []column, records []arrow.Record) *rows {
	return &rows{columns: columns, left: records, at: -1, values: make([]any, len(columns))}
}

// Next implements pgx.CopyFromSource.
func (r *rows) Next() bool {
	r.at++
	for len(r.left) > 0 && r.at >= int(r.left[0].NumRows()) {
		r.left, r.at = r.left[1:], 0
	}
	return len(r.left) > 0
}

// Values implements pgx.CopyFromSource.
func (r *rows) Values() ([]any, error) {
	for i, c := range r.columns {
		switch v := c.get(r.left[0].Column(i), r.at).(type) {
		case string:
			r.values[i] = clean(v)
		case []string:
			for j := range v {
				v[j] = clean(v[j])
			}
			r.values[i] = v
		case json.RawMessage:
			r.values[i] = cleanJSON(v)
		default:
			r.values[i] = v
		}
	}
	return r.values, nil
}

// Err implements pgx.CopyFromSource.
func (*rows) Err() error { return nil }

// clean puts U+FFFD in the place of NUL, which PostgreSQL does not have in texts.
func clean(s string) string {
	if strings.IndexByte(s, 0) < 0 {
		return s
	}
	return strings.ReplaceAll(s, "\x00", "\uFFFD")
}

// cleanJSON does so within JSON.
func cleanJSON(b json.RawMessage) json.RawMessage {
	nul := []byte("u0000")
	if !bytes.Contains(b, nul) {
		return b
	}
	for i := 0; i+1 < len(b); i++ {
		if b[i] != '\\' {
			continue
		}
		i++ // what is escaped
		if bytes.HasPrefix(b[i:], nul) {
			copy(b[i+1:], "fffd")
		}
	}
	return b
}

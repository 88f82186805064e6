package postgres

import (
	"fmt"

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

// kindOf returns the type of a column.
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
	if !ok || !database.Known(t) {
		return kind{}, fmt.Errorf("PostgreSQL has no type for %s; leave the column out with columns.exclude", t)
	}
	return k, nil
}

// column is a column of the rows and of the table.
type column struct {
	name string
	kind kind
	as   string // its type in the table, as format_type writes it
}

func columnsOf(s *arrow.Schema) ([]column, error) {
	columns := make([]column, s.NumFields())
	for i, f := range s.Fields() {
		k, err := kindOf(f.Type)
		if err != nil {
			return nil, pipeline.FieldErrorf("", "column %q: %w", pipeline.Column(f.Name), err)
		}
		columns[i] = column{f.Name, k, k.name}
	}
	return columns, nil
}

// CheckRows returns what is wrong with rows of a schema.
func CheckRows(s *arrow.Schema) error {
	_, err := columnsOf(s)
	return err
}

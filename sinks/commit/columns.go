package commit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/urlmill/urlmill/sinks/store"
)

// SchemasDir is the directory of a place that has the columns of its files, with a directory for each table. Its objects are
// numbered from 1, each has all columns of the one before, and none is ever removed: a number that is taken stays taken.
const SchemasDir = "_schemas"

// Column is a column of the files of a table. Its type is a text that is the same as long as readers can read the files together.
type Column struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// recorded are the columns that the files of a table have had so far.
type recorded struct {
	Version int      `json:"version"`
	Table   string   `json:"table"`
	Number  int64    `json:"number"`
	Columns []Column `json:"columns"`
	Origin
}

// CheckColumns holds the columns that files of a table in a place are to have against those of the files that are there. The
// error names the columns whose types have become others.
func (c *Chain) CheckColumns(ctx context.Context, s store.Store, table string, columns []Column) error {
	last, err := lastColumns(ctx, s, table)
	if err == nil {
		_, err = union(last.Columns, columns, s.Location())
	}
	return err
}

// RecordColumns is CheckColumns, and records the columns that are new or wider. It comes before the first commit with files of
// these columns. Several processes may do that at the same time; what they record is the columns of all of them.
//
// A place whose files are older than this record begins with the columns of the first process that commits.
func (c *Chain) RecordColumns(ctx context.Context, s store.Store, table string, columns []Column) error {
	for {
		last, err := lastColumns(ctx, s, table)
		if err != nil {
			return err
		}
		all, err := union(last.Columns, columns, s.Location())
		if err != nil {
			return err
		}
		if slices.Equal(all, last.Columns) {
			return nil
		}
		next := recorded{Version: formatVersion, Table: table, Number: last.Number + 1, Columns: all, Origin: c.newOrigin()}
		if err := s.Create(ctx, columnsKey(table, next.Number), encode(next)); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
}

// TakeColumns is RecordColumns for the files of a table that come from another place, with the columns that were recorded there.
func (c *Chain) TakeColumns(ctx context.Context, from store.Store, table string) error {
	last, err := lastColumns(ctx, from, table)
	if err == nil && last.Number > 0 {
		err = c.RecordColumns(ctx, c.root, table, last.Columns)
	}
	return err
}

func columnsKey(table string, number int64) string {
	return path.Join(SchemasDir, table, key(number)+".json")
}

// lastColumns returns what was recorded last, the zero value if nothing was.
func lastColumns(ctx context.Context, s store.Store, table string) (r recorded, err error) {
	entries, err := s.List(ctx, path.Join(SchemasDir, table), "")
	if err != nil {
		return r, err
	}
	last := int64(0)
	for _, e := range entries {
		if n, ok := position(e.Name, ".json"); ok {
			last = max(last, n)
		}
	}
	if last == 0 {
		return r, nil
	}
	at := columnsKey(table, last)
	content, err := s.Read(ctx, at)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return r, &DamagedError{at, err.Error()}
	}
	if r.Number != last {
		return r, &DamagedError{at, fmt.Sprintf("it is said to be number %d", r.Number)}
	}
	if err := checkVersion(at, r.Version); err != nil || r.Table == table {
		return r, err
	}
	return r, &DamagedError{at, fmt.Sprintf("it is that of %s and not of %s", r.Table, table)}
}

// widths are types of which each holds the values of those before it.
var widths = [][]string{{"int8", "int16", "int32", "int64"}, {"uint8", "uint16", "uint32", "uint64"}, {"float32", "float64"}}

// wider returns the one of two types that holds the values of both, "" if there is none.
func wider(a, b string) string {
	if a == b {
		return a
	}
	for _, types := range widths {
		if i, j := slices.Index(types, a), slices.Index(types, b); i >= 0 && j >= 0 {
			return types[max(i, j)]
		}
	}
	return ""
}

// union returns the columns that are there, in a place, and those that are to be, each with the wider type. The error joins
// those whose types do not go together.
func union(there, be []Column, location string) ([]Column, error) {
	var errs []error
	all := slices.Clone(there)
	for _, c := range be {
		i := slices.IndexFunc(all, func(other Column) bool { return other.Name == c.Name })
		if i < 0 {
			all = append(all, c)
			continue
		}
		if t := wider(all[i].Type, c.Type); t != "" {
			all[i].Type = t
		} else {
			errs = append(errs, fmt.Errorf("column %q is %s in the files of %s and would be %s, so that they could not be read together: "+
				"give it another name with columns.rename, or deliver to another folder", c.Name, all[i].Type, location, c.Type))
		}
	}
	return all, errors.Join(errs...)
}

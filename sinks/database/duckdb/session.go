//go:build duckdb

package duckdb

import (
	"errors"
	"fmt"
	"runtime"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	duck "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// session is the connection that loads. It is one of DuckDB's C interface, as database/sql has no way for whole columns.
type session struct {
	db   mapping.Database
	conn mapping.Connection
}

// open connects to a database that database/sql has open as well: both are of the driver's cache.
func open(path string) (*session, error) {
	var config mapping.Config
	defer mapping.DestroyConfig(&config)
	// The driver sets the same, and a database is not opened twice with different settings.
	if mapping.CreateConfig(&config) == mapping.StateError || mapping.SetConfig(config, "duckdb_api", "go") == mapping.StateError {
		return nil, errors.New("it cannot be configured")
	}
	path, _, _ = strings.Cut(path, "?")
	s, reason := new(session), ""
	if mapping.GetOrCreateFromCache(duck.GetInstanceCache(), path, &s.db, config, &reason) == mapping.StateError {
		return nil, errors.New(reason)
	}
	if mapping.Connect(s.db, &s.conn) == mapping.StateError {
		mapping.Close(&s.db)
		return nil, errors.New("it takes no connection")
	}
	// With more threads, whoever appends asks in a loop whether the others are done, at the cost of a core that parses URLs.
	if err := s.exec("SET threads TO 1"); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func (s *session) close() {
	mapping.Disconnect(&s.conn)
	mapping.Close(&s.db)
}

// exec runs a statement with texts and integers in the place of its question marks.
func (s *session) exec(statement string, args ...any) error {
	var p mapping.PreparedStatement
	defer mapping.DestroyPrepare(&p)
	if mapping.Prepare(s.conn, statement, &p) == mapping.StateError {
		return errors.New(mapping.PrepareError(p))
	}
	for i, arg := range args {
		state, at := mapping.StateError, mapping.IdxT(i+1)
		switch v := arg.(type) {
		case string:
			state = mapping.BindVarcharLength(p, at, v, mapping.IdxT(len(v)))
		case int64:
			state = mapping.BindInt64(p, at, v)
		}
		if state == mapping.StateError {
			return fmt.Errorf("%s: value %d is not taken", statement, i+1)
		}
	}
	var r mapping.Result
	defer mapping.DestroyResult(&r)
	if mapping.ExecutePrepared(p, &r) == mapping.StateError {
		return errors.New(mapping.ResultError(&r))
	}
	return nil
}

// within runs f in a transaction.
func (s *session) within(f func() error) error {
	if err := s.exec("BEGIN TRANSACTION"); err != nil {
		return err
	}
	if err := f(); err != nil {
		return errors.Join(err, s.exec("ROLLBACK"))
	}
	return s.exec("COMMIT")
}

// add appends records to a table with their columns.
func (s *session) add(t *target, records []arrow.Record) (err error) {
	var a mapping.Appender
	if mapping.AppenderCreateExt(s.conn, "", t.schema, t.name, &a) == mapping.StateError {
		err = errors.New(mapping.AppenderError(a))
		mapping.AppenderDestroy(&a)
		return err
	}
	defer func() { mapping.AppenderDestroy(&a) }()
	types := make([]mapping.LogicalType, len(t.fields))
	for i := range types {
		types[i] = mapping.AppenderColumnType(a, mapping.IdxT(i))
		defer mapping.DestroyLogicalType(&types[i])
	}
	chunk := mapping.CreateDataChunk(types)
	defer mapping.DestroyDataChunk(&chunk)
	for _, r := range records {
		if err := appendRecord(a, chunk, r); err != nil {
			return err
		}
	}
	if mapping.AppenderClose(a) == mapping.StateError {
		return errors.New(mapping.AppenderError(a))
	}
	return nil
}

// appendRecord appends a record by a chunk, which the appender copies.
func appendRecord(a mapping.Appender, chunk mapping.DataChunk, r arrow.Record) error {
	var pins runtime.Pinner
	defer pins.Unpin()
	fills := make([]fill, r.NumCols())
	for i, c := range r.Columns() {
		fills[i] = fillOf(c, &pins)
	}
	most, rows := int(mapping.VectorSize()), int(r.NumRows())
	for from := 0; from < rows; from += most {
		to := min(from+most, rows)
		mapping.DataChunkReset(chunk)
		for i, f := range fills {
			f(mapping.DataChunkGetVector(chunk, mapping.IdxT(i)), from, to)
		}
		mapping.DataChunkSetSize(chunk, mapping.IdxT(to-from))
		if mapping.AppendDataChunk(a, chunk) == mapping.StateError {
			return errors.New(mapping.AppenderError(a))
		}
	}
	return nil
}

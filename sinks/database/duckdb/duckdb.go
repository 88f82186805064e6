//go:build duckdb

package duckdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	_ "github.com/duckdb/duckdb-go/v2" // the driver of database/sql

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/database"
)

// positionsTable has the positions, in the schema of the rows' table.
const positionsTable = "urlmill_positions"

// Driver implements [database.Driver].
type Driver struct {
	path string

	mu      sync.Mutex // DuckDB writes one transaction at a time as it is
	db      *sql.DB
	conn    *sql.Conn // for queries
	loads   *session
	targets [pipeline.NumTables]*target
	places  string
	key     string
}

type target struct {
	schema, name string
	fields       []arrow.Field
}

func newDriver(path string) (database.Driver, error) { return New(path), nil }

// missing is that of the kind.
const missing = ""

// New returns a driver for a database file, which is made when it is missing.
func New(path string) *Driver { return &Driver{path: path} }

var _ database.Driver = (*Driver)(nil)

// rowGroup is how many rows a row group has. A load of as many or more becomes row groups of its own, the last of which has the
// rest; and where that is few rows, a checkpoint merges it with the full ones behind it and so writes nearly all rows again.
//
// Source: https://duckdb.org/docs/stable/internals/storage
const rowGroup = 122_880

// limits are those of timestamps and dates, whose greatest number stands for infinity.
//
// Source: https://duckdb.org/docs/stable/sql/data_types/timestamp, and the years that its driver takes
var limits = database.Limits{
	First:    time.Date(-290307, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(),
	Last:     time.Date(294247, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - 1,
	FirstDay: 1 - math.MaxInt32, LastDay: math.MaxInt32 - 1, Bytes: math.MaxUint32 / 8, Group: rowGroup,
}

// Limits implements [database.Driver].
func (*Driver) Limits() database.Limits { return limits }

func name(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func (t *target) quoted() string { return name(t.schema) + "." + name(t.name) }

// Start implements [database.Driver].
func (d *Driver) Start(ctx context.Context, tables [pipeline.NumTables]*database.Target) (err error) {
	for i, t := range tables {
		if t == nil {
			continue
		}
		if err := CheckRows(t.Schema); err != nil {
			return err
		}
		g := &target{schema: "main", name: t.Name, fields: t.Schema.Fields()}
		if schema, rest, ok := strings.Cut(t.Name, "."); ok {
			g.schema, g.name = schema, rest
		}
		d.targets[i] = g
	}
	rows := d.targets[pipeline.Rows]
	d.places, d.key = name(rows.schema)+"."+name(positionsTable), rows.name
	if d.db, err = sql.Open("duckdb", d.path); err == nil {
		d.conn, err = d.db.Conn(ctx)
	}
	if err == nil {
		d.loads, err = open(d.path)
	}
	if err == nil {
		err = d.loads.within(d.prepare)
	}
	for _, t := range d.targets {
		if t != nil && err == nil {
			err = d.check(ctx, t)
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("DuckDB: %w", err), d.Close())
	}
	return nil
}

// prepare makes tables that are missing.
func (d *Driver) prepare() error {
	err := d.loads.exec("CREATE TABLE IF NOT EXISTS " + d.places + ` (target VARCHAR, stream VARCHAR, session VARCHAR, partition INTEGER,
		next BIGINT NOT NULL, load VARCHAR NOT NULL, PRIMARY KEY (target, stream, session, partition))`)
	for _, t := range d.targets {
		if t == nil || err != nil {
			continue
		}
		var defs []string
		for _, f := range t.fields {
			defs = append(defs, name(f.Name)+" "+kindOf(f.Type))
		}
		err = d.loads.exec("CREATE TABLE IF NOT EXISTS " + t.quoted() + " (" + strings.Join(defs, ", ") + ")")
	}
	return err
}

// check refuses a table with other columns: an appender writes all of them, in their order.
func (d *Driver) check(ctx context.Context, t *target) error {
	var kinds []string
	for _, f := range t.fields {
		kinds = append(kinds, f.Name+" "+kindOf(f.Type))
	}
	var got string
	want := strings.Join(kinds, ", ")
	err := d.conn.QueryRowContext(ctx, `SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position)
		FROM information_schema.columns WHERE table_schema = ? AND table_name = ?`, t.schema, t.name).Scan(&got)
	if err == nil && got != want {
		err = fmt.Errorf("table %s: its columns are (%s), and the rows need (%s): ALTER TABLE it, or give another table", t.name, got, want)
	}
	return err
}

const where = " WHERE target = ? AND stream = ? AND session = ? AND partition = ?"

func (d *Driver) position(ctx context.Context, l database.Lane) (next int64, load string, err error) {
	err = d.conn.QueryRowContext(ctx, "SELECT next, load FROM "+d.places+where, d.key, l.Stream, l.Session, l.Partition).Scan(&next, &load)
	if errors.Is(err, sql.ErrNoRows) {
		return pipeline.Unknown, "", nil
	}
	return next, load, err
}

// Position implements [database.Driver].
func (d *Driver) Position(ctx context.Context, l database.Lane) (next int64, load string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.position(ctx, l)
}

// Lanes implements [database.Driver].
func (d *Driver) Lanes(ctx context.Context) (lanes []database.Lane, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	rows, err := d.conn.QueryContext(ctx, "SELECT stream, session, partition FROM "+d.places+" WHERE target = ? AND session <> ''", d.key)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var l database.Lane
		if err := rows.Scan(&l.Stream, &l.Session, &l.Partition); err != nil {
			return nil, err
		}
		lanes = append(lanes, l)
	}
	return lanes, rows.Err()
}

// Load implements [database.Driver].
func (d *Driver) Load(ctx context.Context, l database.Load) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	next, load, err := d.position(ctx, l.Lane) // nobody else moves it: another process cannot open the file
	switch {
	case err == nil && load == l.ID:
		return nil
	case err == nil && next != l.First:
		return database.ErrFenced
	case err == nil:
		err = d.loads.within(func() error { return d.load(l) })
	}
	if err != nil {
		err = fmt.Errorf("DuckDB: %w", err)
	}
	return err
}

func (d *Driver) load(l database.Load) error {
	err := d.loads.exec("INSERT OR REPLACE INTO "+d.places+" VALUES (?, ?, ?, ?, ?, ?)", d.key, l.Lane.Stream, l.Lane.Session, int64(l.Lane.Partition), l.Next, l.ID)
	for i, t := range d.targets {
		if t != nil && len(l.Rows[i]) > 0 && err == nil {
			err = d.loads.add(t, l.Rows[i])
		}
	}
	return err
}

// Close implements [database.Driver].
func (d *Driver) Close() error {
	var err error
	if d.loads != nil {
		d.loads.close()
	}
	if d.conn != nil {
		err = d.conn.Close()
	}
	if d.db != nil {
		err = errors.Join(err, d.db.Close())
	}
	d.loads, d.conn, d.db = nil, nil, nil
	return err
}

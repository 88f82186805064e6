// Package postgres loads rows into PostgreSQL with COPY, in one transaction with the position after them.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/database"
)

// Options are how to reach the database, and its tables.
type Options struct {
	database.Options
	// URL is a connection string, postgres://user:password@host/database or in the form of libpq. What it leaves out comes
	// from libpq's environment variables.
	URL config.Secret
	// DialTimeout bounds connecting. Default 10 s.
	DialTimeout time.Duration
}

const (
	defaultDialTimeout = 10 * time.Second
	// PositionsTable is the table with the positions, in the schema of the rows' table.
	PositionsTable = "urlmill_positions"
	// maxMessage bounds a message of the server, and maxRows the rows of an answer: there is one for each lane, or column.
	maxMessage = 4 << 20
	maxRows    = 1 << 18
)

// settings of every session: a process that is stopped within a transaction must not keep others waiting for ever.
var settings = map[string]string{
	"application_name": "urlmill", "idle_in_transaction_session_timeout": "60s", "lock_timeout": "30s", "timezone": "UTC",
}

// Validate returns what is wrong with the options, as a [*pipeline.FieldError].
func (o Options) Validate() error {
	_, err := o.config()
	return pipeline.Under("url", err)
}

func (o Options) config() (*pgxpool.Config, error) {
	c, err := pgxpool.ParseConfig(o.URL.Reveal())
	if err != nil {
		return nil, errors.New("it is not a connection string; give one such as postgres://user@host:5432/database") // the library's error has parts of it
	}
	for name, value := range settings {
		if _, given := c.ConnConfig.RuntimeParams[name]; !given {
			c.ConnConfig.RuntimeParams[name] = value
		}
	}
	c.ConnConfig.ConnectTimeout = o.DialTimeout
	if o.DialTimeout == 0 {
		c.ConnConfig.ConnectTimeout = defaultDialTimeout
	}
	c.ConnConfig.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(maxMessage)
		return f
	}
	return c, nil
}

// Driver implements [database.Driver].
type Driver struct {
	opts    Options
	pool    *pgxpool.Pool
	targets [pipeline.NumTables]*target
	places  string // the positions' table, quoted
	key     string // of the rows' table in it
}

type target struct {
	name    pgx.Identifier
	columns []column
	copy    string // the statement
}

// New returns a driver, without connecting yet.
func New(o Options) *Driver { return &Driver{opts: o} }

var _ database.Driver = (*Driver)(nil)

// limits are those of timestamps and dates, and what a value may take at most so that a row of some twenty of them stays below the
// 1 GiB that the server takes at once, JSON with its escapes included.
//
// Source: https://www.postgresql.org/docs/current/datatype-datetime.html, datatype/timestamp.h
var limits = database.Limits{First: -210_866_803_200_000_000, Last: math.MaxInt64, FirstDay: -2_440_588, LastDay: 2_145_042_905, Bytes: 32 << 20}

// Limits implements [database.Driver].
func (*Driver) Limits() database.Limits { return limits }

// Start implements [database.Driver].
func (d *Driver) Start(ctx context.Context, tables [pipeline.NumTables]*database.Target) error {
	c, err := d.opts.config()
	if err != nil {
		return err
	}
	for i, t := range tables {
		if t == nil {
			continue
		}
		columns, err := columnsOf(t.Schema)
		if err != nil {
			return err
		}
		g := &target{name: strings.Split(t.Name, "."), columns: columns}
		var names []string
		for _, c := range columns {
			names = append(names, pgx.Identifier{c.name}.Sanitize())
		}
		g.copy = "COPY " + g.name.Sanitize() + " (" + strings.Join(names, ", ") + ") FROM STDIN BINARY"
		d.targets[i] = g
	}
	rows := d.targets[pipeline.Rows].name
	d.places = append(slices.Clone(rows[:len(rows)-1]), PositionsTable).Sanitize()
	if d.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return err
	}
	if err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return d.prepare(ctx, tx) }); err != nil {
		d.pool.Close()
		d.pool = nil
		return fmt.Errorf("PostgreSQL: %w", err)
	}
	return nil
}

// prepare makes tables that are missing, one process at a time, and checks those that are there.
func (d *Driver) prepare(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(7561, 1)"); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS "+d.places+` (
		target text NOT NULL, stream text NOT NULL, session text NOT NULL, partition integer NOT NULL,
		next bigint NOT NULL, load text NOT NULL, at timestamptz NOT NULL DEFAULT now(),
		PRIMARY KEY (target, stream, session, partition))`)
	if err != nil {
		return err
	}
	for _, t := range d.targets {
		if t == nil {
			continue
		}
		var defs []string
		for _, c := range t.columns {
			defs = append(defs, pgx.Identifier{c.name}.Sanitize()+" "+c.kind.name)
		}
		if _, err := tx.Exec(ctx, "CREATE TABLE IF NOT EXISTS "+t.name.Sanitize()+" ("+strings.Join(defs, ", ")+")"); err != nil {
			return err
		}
		if err := t.check(ctx, tx); err != nil {
			return fmt.Errorf("table %s: %w", strings.Join(t.name, "."), err)
		}
	}
	// Its number would change if the table was made anew, and its name if it was renamed: the name says what the rows are for.
	d.key = d.targets[pipeline.Rows].name[len(d.targets[pipeline.Rows].name)-1]
	return nil
}

// check notes the types of the columns of a table, and refuses one that the rows do not fit into, with what would make them fit.
func (t *target) check(ctx context.Context, tx pgx.Tx) error {
	found, err := ask(ctx, tx, `SELECT attname, format_type(atttypid, NULL), attnotnull AND NOT atthasdef AND attidentity = '' AND attgenerated = ''
		FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped`, t.name.Sanitize())
	if err != nil {
		return err
	}
	defer found.Close()
	types, needed := map[string]string{}, []string{}
	for found.Next() {
		var name, kind string
		var required bool
		if err := found.Scan(&name, &kind, &required); err != nil {
			return err
		}
		types[name] = kind
		if required && !slices.ContainsFunc(t.columns, func(c column) bool { return c.name == name }) {
			needed = append(needed, name)
		}
	}
	var problems []error
	at := "ALTER TABLE " + t.name.Sanitize()
	for i, c := range t.columns {
		column := pgx.Identifier{c.name}.Sanitize()
		switch kind, ok := types[c.name]; {
		case !ok:
			problems = append(problems, fmt.Errorf("it has no column %s: %s ADD COLUMN %s %s, or leave it out with columns.exclude", column, at, column, c.kind.name))
		case kind != c.kind.name && !slices.Contains(c.kind.also, kind):
			problems = append(problems, fmt.Errorf("its column %s is of type %s, and the rows need %s: %s ALTER COLUMN %s TYPE %s, or give another table",
				column, kind, c.kind.name, at, column, c.kind.name))
		default:
			t.columns[i].as = kind
		}
	}
	for _, name := range needed {
		column := pgx.Identifier{name}.Sanitize()
		problems = append(problems, fmt.Errorf("its column %s must not be null, and the rows do not have it: %s ALTER COLUMN %s DROP NOT NULL, or give it a default", column, at, column))
	}
	return errors.Join(append(problems, found.Err())...)
}

// Position implements [database.Driver].
func (d *Driver) Position(ctx context.Context, lane database.Lane) (next int64, load string, err error) {
	next, load, err = d.position(ctx, d.pool, lane)
	return next, load, d.classify(ctx, err)
}

// Lanes implements [database.Driver].
func (d *Driver) Lanes(ctx context.Context) ([]database.Lane, error) {
	rows, err := ask(ctx, d.pool, "SELECT stream, session, partition FROM "+d.places+" WHERE target = $1 AND session <> ''", d.key)
	if err != nil {
		return nil, d.classify(ctx, err)
	}
	lanes, err := pgx.CollectRows(rows, pgx.RowToStructByName[database.Lane])
	return lanes, d.classify(ctx, err)
}

var errTooMany = fmt.Errorf("an answer of %d rows, as no query of urlmill has", maxRows)

// bounded are rows that end at [maxRows], and the connection with them: closing the rows would read all that a server sends.
type bounded struct {
	pgx.Rows
	n    int
	stop context.CancelFunc
}

// ask is Query of a pool or a transaction. The caller closes the rows.
func ask(ctx context.Context, q querier, sql string, args ...any) (pgx.Rows, error) {
	ctx, cancel := context.WithCancel(ctx)
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		cancel()
		return nil, err
	}
	return &bounded{Rows: rows, stop: cancel}, nil
}

// Next implements [pgx.Rows].
func (b *bounded) Next() bool {
	if b.n++; b.n > maxRows {
		b.stop()
		return false
	}
	return b.Rows.Next()
}

// Err implements [pgx.Rows].
func (b *bounded) Err() error {
	if b.n > maxRows {
		return errTooMany
	}
	return b.Rows.Err()
}

// Close implements [pgx.Rows].
func (b *bounded) Close() {
	b.Rows.Close()
	b.stop()
}

// querier is a pool or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

const where = " WHERE target = $1 AND stream = $2 AND session = $3 AND partition = $4"

// position reads a lane's position and the load that has set it, and waits for whoever is at it.
func (d *Driver) position(ctx context.Context, q querier, lane database.Lane) (next int64, load string, err error) {
	err = q.QueryRow(ctx, "SELECT next, load FROM "+d.places+where+" FOR UPDATE", d.key, lane.Stream, lane.Session, lane.Partition).Scan(&next, &load)
	if errors.Is(err, pgx.ErrNoRows) {
		return pipeline.Unknown, "", nil
	}
	return next, load, err
}

// Load implements [database.Driver].
func (d *Driver) Load(ctx context.Context, l database.Load) error {
	err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error { return d.load(ctx, tx, l) })
	return d.classify(ctx, err)
}

func (d *Driver) load(ctx context.Context, tx pgx.Tx, l database.Load) error {
	next, load, err := d.position(ctx, tx, l.Lane)
	switch {
	case err != nil:
		return err
	case load == l.ID:
		return nil // the answer to its commit was lost
	case next != l.First:
		return database.ErrFenced
	}
	var moved pgconn.CommandTag
	args := []any{d.key, l.Lane.Stream, l.Lane.Session, l.Lane.Partition, l.Next, l.ID}
	if l.First == pipeline.Unknown {
		moved, err = tx.Exec(ctx, "INSERT INTO "+d.places+" (target, stream, session, partition, next, load) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING", args...)
	} else {
		moved, err = tx.Exec(ctx, "UPDATE "+d.places+" SET next = $5, load = $6, at = now()"+where, args...)
	}
	if err != nil {
		return err
	}
	if moved.RowsAffected() != 1 {
		return database.ErrFenced
	}
	for i, t := range d.targets {
		if t == nil || len(l.Rows[i]) == 0 {
			continue
		}
		if _, err := tx.Conn().PgConn().CopyFrom(ctx, newRows(t.columns, l.Rows[i]), t.copy); err != nil {
			return fmt.Errorf("table %s: %w", strings.Join(t.name, "."), err)
		}
	}
	return nil
}

// passing are the codes of errors that may pass: of connections, resources and conflicts, and of a server that is shut down.
//
// Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
var passing = []string{"08", "53", "57P01", "57P02", "57P03", "40001", "40P01", "55P03", "25P03"}

// classify tells errors that may pass from others.
func (d *Driver) classify(ctx context.Context, err error) error {
	if err == nil || errors.Is(err, database.ErrFenced) || ctx.Err() != nil {
		return err
	}
	err = fmt.Errorf("PostgreSQL: %w", err)
	var answer *pgconn.PgError
	var network net.Error
	var connect *pgconn.ConnectError
	switch {
	case errors.As(err, &answer):
		if !slices.ContainsFunc(passing, func(code string) bool { return strings.HasPrefix(answer.Code, code) }) {
			return err
		}
	case errors.As(err, &network), errors.As(err, &connect), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF),
		errors.Is(err, net.ErrClosed), strings.Contains(err.Error(), "conn closed"):
	default:
		return err
	}
	return database.Temporary(err)
}

// Close implements [database.Driver].
func (d *Driver) Close() error {
	if d.pool != nil {
		d.pool.Close()
	}
	return nil
}

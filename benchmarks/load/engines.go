package main

import (
	"bytes"
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/urlmill/urlmill/benchmarks/internal/standin"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/dev/dbtest"
	"github.com/urlmill/urlmill/sinks/database"
	"github.com/urlmill/urlmill/sinks/database/clickhouse"
	"github.com/urlmill/urlmill/sinks/database/postgres"
)

type opener func(tb *standin.TB, t *table) (*engine, error)

// engines returns the databases in their order.
func engines() iter.Seq2[string, opener] {
	return func(yield func(string, opener) bool) {
		_ = yield("postgres", postgresEngine) && yield("clickhouse", clickhouseEngine) && (duckdbEngine == nil || yield("duckdb", duckdbEngine))
	}
}

// duckdbEngine is there with the build tag duckdb.
var duckdbEngine opener

// sinkWays are those of urlmill, each with a driver that connects anew.
func (t *table) sinkWays(open func() database.Driver) []way {
	return []way{
		{"rows", func(ctx context.Context) error { return t.into(ctx, open(), false) }},
		{"lines", func(ctx context.Context) error { return t.into(ctx, open(), true) }},
	}
}

func postgresEngine(tb *standin.TB, t *table) (*engine, error) {
	ctx := context.Background()
	address, name := dbtest.Postgres(tb)
	at := "postgres://urlmill@" + address + name
	open := func() database.Driver { return postgres.New(postgres.Options{URL: config.Secret(at)}) }
	c, err := pgx.Connect(ctx, at)
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { _ = c.Close(ctx) })
	if err := t.into(ctx, open(), false); err != nil {
		return nil, err
	}
	var ready bytes.Buffer
	if _, err := c.PgConn().CopyTo(ctx, &ready, "COPY clicks TO STDOUT BINARY"); err != nil {
		return nil, err
	}
	e := &engine{name: "postgres", version: c.PgConn().ParameterStatus("server_version")}
	e.version, _, _ = strings.Cut(e.version, " ")
	e.ways = append([]way{{"by hand", func(ctx context.Context) error {
		_, err := c.PgConn().CopyFrom(ctx, bytes.NewReader(ready.Bytes()), "COPY clicks FROM STDIN BINARY")
		return err
	}}}, t.sinkWays(open)...)
	e.empty = func(ctx context.Context) error {
		_, err := c.Exec(ctx, "TRUNCATE clicks, urlmill_positions; CHECKPOINT")
		return err
	}
	e.count = func(ctx context.Context) (n int, err error) {
		err = c.QueryRow(ctx, "SELECT count(*) FROM clicks").Scan(&n)
		return n, err
	}
	return e, nil
}

func clickhouseEngine(tb *standin.TB, t *table) (*engine, error) {
	ctx := context.Background()
	address := dbtest.ClickHouse(tb)
	open := func() database.Driver {
		return clickhouse.New(clickhouse.Options{URL: config.Secret("http://" + address)})
	}
	if err := t.into(ctx, open(), false); err != nil {
		return nil, err
	}
	ready, err := dbtest.QueryClickHouse(ctx, address, "SELECT * FROM clicks FORMAT Native", nil)
	if err != nil {
		return nil, err
	}
	e := &engine{name: "clickhouse"}
	version, err := dbtest.QueryClickHouse(ctx, address, "SELECT version()", nil)
	if err != nil {
		return nil, err
	}
	e.version = strings.TrimSpace(string(version))
	e.ways = append([]way{{"by hand", func(ctx context.Context) error {
		_, err := dbtest.QueryClickHouse(ctx, address, "INSERT INTO clicks FORMAT Native", ready)
		return err
	}}}, t.sinkWays(open)...)
	e.empty = func(ctx context.Context) error {
		_, err := dbtest.QueryClickHouse(ctx, address, "TRUNCATE TABLE clicks", nil)
		if err == nil {
			_, err = dbtest.QueryClickHouse(ctx, address, "TRUNCATE TABLE urlmill_positions", nil)
		}
		return err
	}
	e.count = func(ctx context.Context) (n int, err error) {
		text, err := dbtest.QueryClickHouse(ctx, address, "SELECT count() FROM clicks", nil)
		if err == nil {
			_, err = fmt.Sscan(string(text), &n)
		}
		return n, err
	}
	return e, nil
}

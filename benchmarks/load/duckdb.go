//go:build duckdb

package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"

	_ "github.com/duckdb/duckdb-go/v2" // the driver

	"github.com/urlmill/urlmill/benchmarks/internal/standin"
	"github.com/urlmill/urlmill/sinks/database"
	"github.com/urlmill/urlmill/sinks/database/duckdb"
)

func init() {
	duckdbEngine = func(tb *standin.TB, t *table) (*engine, error) {
		ctx := context.Background()
		dir := tb.TempDir()
		path, ready := filepath.Join(dir, "clicks.db"), filepath.Join(dir, "clicks.parquet")
		open := func() database.Driver { return duckdb.New(path) }
		// One process and, for each load, one that opens the file: what closing it costs is part of the load.
		with := func(ctx context.Context, f func(db *sql.DB) error) error {
			db, err := sql.Open("duckdb", path)
			if err != nil {
				return err
			}
			return errors.Join(f(db), db.Close())
		}
		exec := func(query string) func(ctx context.Context) error {
			return func(ctx context.Context) error {
				return with(ctx, func(db *sql.DB) error {
					_, err := db.ExecContext(ctx, query)
					return err
				})
			}
		}
		if err := t.into(ctx, open(), false); err != nil {
			return nil, err
		}
		e := &engine{name: "duckdb", empty: func(ctx context.Context) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return exec("CREATE TABLE clicks AS SELECT * FROM read_parquet('" + ready + "') LIMIT 0")(ctx)
		}}
		err := errors.Join(exec("COPY clicks TO '"+ready+"' (COMPRESSION uncompressed)")(ctx), with(ctx, func(db *sql.DB) error {
			return db.QueryRowContext(ctx, "SELECT version()").Scan(&e.version)
		}))
		e.ways = append([]way{{"by hand", exec("INSERT INTO clicks SELECT * FROM read_parquet('" + ready + "')")}}, t.sinkWays(open)...)
		e.count = func(ctx context.Context) (n int, err error) {
			err = with(ctx, func(db *sql.DB) error { return db.QueryRowContext(ctx, "SELECT count(*) FROM clicks").Scan(&n) })
			return n, err
		}
		return e, err
	}
}

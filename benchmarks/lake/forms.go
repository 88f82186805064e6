package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/benchmarks/internal/standin"
	"github.com/urlmill/urlmill/internal/dev/dbtest"
	"github.com/urlmill/urlmill/internal/dev/icebergtest"
	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// form is a way of being queryable.
type form struct {
	name, columns string // a profile
	// open starts what it needs.
	open func(tb *standin.TB) (*place, error)
}

// place is where rows go.
type place struct {
	// server is the address of what urlmill talks to, which a counter stands before; "" for none.
	server string
	// sink returns the section of the configuration, for the address of the counter and a new folder.
	sink func(address, out string) string
	// next returns the position of each partition that a query sees.
	next func(ctx context.Context, out string) (map[int32]int64, error)
	// empty removes what a run has left.
	empty func(ctx context.Context) error
}

func forms() []form {
	return []form{
		{"files", "compact", files},
		{"files, all columns", "", files},
		{"iceberg", "compact", iceberg},
		{"iceberg, all columns", "", iceberg},
		{"postgres", "compact", postgres},
		{"clickhouse", "compact", clickhouse},
	}
}

func files(*standin.TB) (*place, error) {
	return &place{
		sink: func(_, out string) string { return fmt.Sprintf("parquet: {path: %q}", out) },
		next: func(_ context.Context, out string) (map[int32]int64, error) { return visible(out) },
	}, nil
}

// visible returns the positions behind the files of a folder: their names have the first one, and no record is without a row.
func visible(out string) (map[int32]int64, error) {
	at := map[int32]int64{}
	names, err := filepath.Glob(filepath.Join(out, "*.parquet"))
	for _, name := range names {
		parts := strings.Split(filepath.Base(name), "-") // of the topic, the partition, the first position, and the writer
		n := len(parts)
		partition, wrong := strconv.ParseInt(parts[n-3], 10, 32)
		first, bad := strconv.ParseInt(parts[n-2], 10, 64)
		rows, unread := rowsOf(name)
		if err := errors.Join(wrong, bad, unread); err != nil {
			return nil, err
		}
		at[int32(partition)] = max(at[int32(partition)], first+rows)
	}
	return at, err
}

// known has the rows of files, which do not change.
var known = map[string]int64{}

func rowsOf(name string) (int64, error) {
	if n, ok := known[name]; ok {
		return n, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	p, err := parquet.OpenFile(f, info.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return 0, err
	}
	known[name] = p.NumRows()
	return p.NumRows(), nil
}

func iceberg(tb *standin.TB) (*place, error) {
	catalog := icebergtest.Start(tb)
	return &place{
		server: strings.TrimPrefix(catalog, "http://"),
		sink: func(address, out string) string {
			return fmt.Sprintf("parquet: {path: %q, iceberg: {table: web.%s, every: 2s, rest: {uri: %q}}}", out, filepath.Base(out), "http://"+address)
		},
		next: func(ctx context.Context, out string) (map[int32]int64, error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, catalog+"/v1/namespaces/web/tables/"+filepath.Base(out), nil)
			if err != nil {
				return nil, err
			}
			text, err := testproc.Ask(r)
			if err != nil {
				return nil, err
			}
			var table struct {
				Metadata struct{ Properties map[string]string }
			}
			positions := map[string]int64{}
			if err := json.Unmarshal(text, &table); err != nil {
				return nil, err
			}
			if p := table.Metadata.Properties["urlmill.positions"]; p != "" {
				err = json.Unmarshal([]byte(p), &positions)
			}
			at := map[int32]int64{}
			for lane, next := range positions {
				at[partitionOf(lane)] = next
			}
			return at, err
		},
	}, nil
}

// partitionOf returns the partition of a lane such as clicks/3.
func partitionOf(lane string) int32 {
	parts := strings.Split(lane, "/")
	n, _ := strconv.ParseInt(parts[1], 10, 32) // lanes of a topic have one
	return int32(n)
}

func postgres(tb *standin.TB) (*place, error) {
	address, database := dbtest.Postgres(tb)
	c, err := pgx.Connect(context.Background(), "postgres://urlmill@"+address+database)
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() { _ = c.Close(context.Background()) })
	return &place{
		server: address,
		sink: func(address, _ string) string {
			return fmt.Sprintf("postgres: {url: %q, table: clicks, batch_bytes: 128MiB}", "postgres://urlmill@"+address+database)
		},
		next: func(ctx context.Context, _ string) (map[int32]int64, error) {
			at := map[int32]int64{}
			rows, err := c.Query(ctx, "SELECT partition, next FROM urlmill_positions") // of the same transaction
			if err != nil {
				return nil, err
			}
			var p int32
			var next int64
			_, err = pgx.ForEachRow(rows, []any{&p, &next}, func() error { at[p] = next; return nil })
			return at, err
		},
		empty: func(ctx context.Context) error {
			_, err := c.Exec(ctx, "DROP TABLE IF EXISTS clicks, urlmill_positions; CHECKPOINT")
			return err
		},
	}, nil
}

func clickhouse(tb *standin.TB) (*place, error) {
	address := dbtest.ClickHouse(tb)
	return &place{
		server: address,
		sink: func(address, _ string) string {
			return fmt.Sprintf("clickhouse: {url: %q, table: clicks, batch_bytes: 128MiB}", "http://"+address)
		},
		next: func(ctx context.Context, _ string) (map[int32]int64, error) {
			text, err := dbtest.QueryClickHouse(ctx, address, "SELECT partition, max(offset) + 1 FROM clicks GROUP BY partition FORMAT TSV", nil)
			at := map[int32]int64{}
			for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
				var p int32
				var next int64
				if n, _ := fmt.Sscan(line, &p, &next); n == 2 {
					at[p] = next
				}
			}
			return at, err
		},
		empty: func(ctx context.Context) error {
			_, err := dbtest.QueryClickHouse(ctx, address, "DROP TABLE IF EXISTS clicks", nil)
			if err == nil {
				_, err = dbtest.QueryClickHouse(ctx, address, "DROP TABLE IF EXISTS urlmill_positions", nil)
			}
			return err
		},
	}, nil
}

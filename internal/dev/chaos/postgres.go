package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/jackc/pgx/v5"

	"github.com/urlmill/urlmill/internal/dev/chaos/check"
	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
	"github.com/urlmill/urlmill/internal/dev/dbtest"
)

// postgresLoads loads into PostgreSQL, which goes down with everything and comes back, and kills those who load.
func postgresLoads(r *run) {
	rounds, rows := pick(r, 24, 5), pick(r, 600_000, 60_000)
	server := dbtest.NewPostgres(r)
	where := "postgres://urlmill@" + server.Address + server.Database
	f := r.newFeed(&facts.Topic{Name: "loads", Partitions: 4, JSON: true})
	config := r.config(job{feed: f, group: "loads", postgres: fmt.Sprintf("{url: %q, table: clicks}", where), rollRows: 5000})
	f.begin(rows / (rounds * 4))
	m := r.start(config)
	for i := range rounds {
		before := r.loaded(where)
		r.awaitWith(m, "a load", func() bool { return r.loaded(where) > before })
		time.Sleep(r.randomly(300 * time.Millisecond))
		switch i % 3 {
		case 0, 1:
			server.Kill()
			r.fault("PostgreSQL killed while loading")
			time.Sleep(r.randomly(2 * time.Second))
			server.Start()
		case 2:
			m.Kill()
			r.fault("kill -9")
			m = r.start(config)
		}
	}
	f.end(int64(rows))
	r.settle(m, f)
	r.checkLoads(f, where)
}

// loaded returns how many rows there are, and 0 without a table.
func (r *run) loaded(where string) (rows int64) {
	r.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, where)
	r.must(err)
	defer c.Close(ctx)
	var there bool
	r.must(c.QueryRow(ctx, "SELECT to_regclass('clicks') IS NOT NULL").Scan(&there))
	if there {
		r.must(c.QueryRow(ctx, "SELECT count(*) FROM clicks").Scan(&rows))
	}
	return rows
}

// checkLoads reads the table back.
func (r *run) checkLoads(f *feed, where string) {
	r.Helper()
	schema, ask := tableSchema(columns(f.Topic))
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, where)
	r.must(err)
	defer c.Close(ctx)
	began := time.Now()
	rows, err := c.Query(ctx, "SELECT row_to_json(t)::text FROM (SELECT "+strings.Join(ask, ", ")+" FROM clicks) t")
	r.must(err)
	checker := check.New(check.Options{}, f.Topic)
	var lines []string
	flush := func() {
		record, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader("["+strings.Join(lines, ",")+"]"))
		r.must(err)
		table := array.NewTableFromRecords(schema, []arrow.Record{record})
		r.must(checker.Table(table))
		table.Release()
		record.Release()
		lines = lines[:0]
	}
	for rows.Next() {
		var line string
		r.must(rows.Scan(&line))
		if lines = append(lines, line); len(lines) == 20_000 {
			flush()
		}
	}
	r.must(rows.Err())
	flush()
	r.out.Checking += time.Since(began)
	r.compare(checker, want{feed: f})
	r.out.Rows += f.Rows()
}

// tableSchema returns what the rows of the table are in Arrow, and how to ask for the columns so that they can be taken for it:
// bytes in base 64, times in UTC.
func tableSchema(columns []string) (*arrow.Schema, []string) {
	text, binary := arrow.BinaryTypes.String, arrow.BinaryTypes.Binary
	pairs := func(value arrow.Field) arrow.DataType {
		return arrow.ListOfNonNullable(arrow.StructOf(arrow.Field{Name: "key", Type: text}, value))
	}
	types := map[string]arrow.DataType{
		"has_username": arrow.FixedWidthTypes.Boolean, "port": arrow.PrimitiveTypes.Int32, "url_error_pos": arrow.PrimitiveTypes.Int32,
		"partition": arrow.PrimitiveTypes.Int32, "offset": arrow.PrimitiveTypes.Int64, "number": arrow.PrimitiveTypes.Int64,
		"timestamp": arrow.FixedWidthTypes.Timestamp_us, "raw": binary, "key": binary,
		"params":  pairs(arrow.Field{Name: "value", Type: text}),
		"headers": pairs(arrow.Field{Name: "value", Type: binary, Nullable: true}),
	}
	var fields []arrow.Field
	var ask []string
	for _, name := range columns {
		column, typ := fmt.Sprintf("%q", name), types[name]
		switch {
		case typ == nil:
			typ = text
		case name == "timestamp":
			column = `to_char("timestamp" AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') AS "timestamp"`
		case typ == binary:
			column = fmt.Sprintf("translate(encode(%[1]q, 'base64'), E'\\n', '') AS %[1]q", name)
		}
		fields, ask = append(fields, arrow.Field{Name: name, Type: typ, Nullable: true}), append(ask, column)
	}
	return arrow.NewSchema(fields, nil), ask
}

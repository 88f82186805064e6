package config

import (
	"regexp"
	"slices"
	"time"
)

// Loading is what loading tables of databases has in common.
type Loading struct {
	Table       string
	DeadLetters string // table of the dead letters
	BatchBytes  int64  // that a lane holds before it is loaded
	RetryFor    time.Duration
}

// Postgres loads tables of PostgreSQL.
type Postgres struct {
	Loading
	URL         Secret
	DialTimeout time.Duration
}

// ClickHouse loads a table of ClickHouse. It has no dead letters.
type ClickHouse struct {
	Loading
	URL Secret
}

// DefaultClickHouse returns the defaults of a ClickHouse sink.
func DefaultClickHouse() ClickHouse { return ClickHouse{Loading: DefaultLoading()} }

func clickhouseSchema(c *ClickHouse) object {
	return loadSchema(&c.Loading, "web.clicks", "dead_letters", field{name: "url", value: secret(&c.URL), example: "url: ${CLICKHOUSE_URL}"})
}

// DuckDB loads tables of a database file.
type DuckDB struct {
	Loading
	Path string
}

// DefaultDuckDB returns the defaults of a DuckDB sink.
func DefaultDuckDB() DuckDB { return DuckDB{Loading: DefaultLoading()} }

func duckdbSchema(b *DuckDB) object {
	// There is no server to wait for.
	return loadSchema(&b.Loading, "main.clicks", "retry_for",
		field{name: "path", value: text(&b.Path, "/var/lib/urlmill/web.duckdb"), example: "path: web.duckdb"})
}

// DefaultLoading returns the defaults of loading tables.
func DefaultLoading() Loading { return Loading{BatchBytes: 32 << 20, RetryFor: 5 * time.Minute} }

// DefaultPostgres returns the defaults of a PostgreSQL sink.
func DefaultPostgres() Postgres {
	return Postgres{Loading: DefaultLoading(), DialTimeout: 10 * time.Second}
}

// tableName matches names of tables, with those of their schemas or databases.
var tableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

func postgresSchema(p *Postgres) object {
	return loadSchema(&p.Loading, "public.clicks", "",
		field{name: "url", value: secret(&p.URL), example: "url: ${DATABASE_URL}"},
		field{name: "dial_timeout", value: duration(&p.DialTimeout, 100*time.Millisecond, maxTimeout)})
}

// loadSchema has the fields of a database's own before those of all, of which it leaves out one that the database has no use
// for. example is the name of a table.
func loadSchema(l *Loading, example, without string, own ...field) object {
	shared := []field{
		{name: "table", value: text(&l.Table, example), example: "table: " + example},
		{name: "dead_letters", value: text(&l.DeadLetters, example+"_dead")},
		{name: "batch_bytes", value: size(&l.BatchBytes, 1<<20, 1<<30)},
		{name: "retry_for", value: duration(&l.RetryFor, 0, 24*time.Hour)},
	}
	return object{
		fields: slices.DeleteFunc(append(own, shared...), func(f field) bool { return f.name == without }),
		check: func(d *decoder, path string) {
			for key, name := range map[string]string{"table": l.Table, "dead_letters": l.DeadLetters} {
				if at := join(path, key); name != "" && !tableName.MatchString(name) {
					d.conflict(at, nil, "%s is not the name of a table; use letters, digits and _, with the schema or database before a dot, such as %s", key, example)
				}
			}
			if dead := join(path, "dead_letters"); l.DeadLetters != "" && l.DeadLetters == l.Table {
				d.conflict(dead, []string{join(path, "table")}, "dead_letters is the table of the rows; give another, as the two have different columns")
			}
		},
	}
}

// load returns what the sink loads, nil if it is another one.
func (s *Sink) load() *Loading {
	if s.Postgres != nil {
		return &s.Postgres.Loading
	}
	if s.ClickHouse != nil {
		return &s.ClickHouse.Loading
	}
	if s.DuckDB != nil {
		return &s.DuckDB.Loading
	}
	return nil
}

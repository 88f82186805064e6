package settings

import (
	"regexp"
	"slices"
	"time"

	"github.com/urlmill/urlmill/config"
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
	URL         config.Secret
	DialTimeout time.Duration
}

// ClickHouse loads a table of ClickHouse. It has no dead letters.
type ClickHouse struct {
	Loading
	URL config.Secret
}

// DefaultClickHouse returns the defaults of a ClickHouse sink.
func DefaultClickHouse() ClickHouse { return ClickHouse{Loading: DefaultLoading()} }

func clickhouseSchema(c *ClickHouse) config.Section {
	return loadSchema(&c.Loading, "web.clicks", "dead_letters", config.Field{Name: "url", Doc: "Address of the server's HTTP interface, such as https://user:password@host:8443/database, with settings as a query. Best from a variable or a file.", Value: config.SecretText(&c.URL), Example: "url: ${CLICKHOUSE_URL}"})
}

// DuckDB loads tables of a database file.
type DuckDB struct {
	Loading
	Path string
}

// DefaultDuckDB returns the defaults of a DuckDB sink.
func DefaultDuckDB() DuckDB { return DuckDB{Loading: DefaultLoading()} }

func duckdbSchema(b *DuckDB) config.Section {
	// There is no server to wait for.
	return loadSchema(&b.Loading, "main.clicks", "retry_for",
		config.Field{Name: "path", Doc: "The database file, which is made when it is missing. One process at a time has it.", Value: config.Text(&b.Path, "/var/lib/urlmill/web.duckdb"), Example: "path: web.duckdb"})
}

// DefaultLoading returns the defaults of loading tables.
func DefaultLoading() Loading { return Loading{BatchBytes: 32 << 20, RetryFor: 5 * time.Minute} }

// DefaultPostgres returns the defaults of a PostgreSQL sink.
func DefaultPostgres() Postgres {
	return Postgres{Loading: DefaultLoading(), DialTimeout: 10 * time.Second}
}

// tableName matches names of tables, with those of their schemas or databases.
var tableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)?$`)

func postgresSchema(p *Postgres) config.Section {
	return loadSchema(&p.Loading, "public.clicks", "",
		config.Field{Name: "url", Doc: "Connection string, such as postgres://user:password@host:5432/database?sslmode=verify-full. Best from a variable or a file.", Value: config.SecretText(&p.URL), Example: "url: ${DATABASE_URL}"},
		config.Field{Name: "dial_timeout", Doc: "How long connecting may take.", Value: config.Duration(&p.DialTimeout, 100*time.Millisecond, maxTimeout)})
}

// loadSchema has the fields of a database's own before those of all, of which it leaves out one that the database has no use
// for. example is the name of a table.
func loadSchema(l *Loading, example, without string, own ...config.Field) config.Section {
	shared := []config.Field{
		{Name: "table", Doc: "Name of the table, which is made when it is missing.", Value: config.Text(&l.Table, example), Example: "table: " + example},
		{Name: "dead_letters", Doc: "Table of the records without a valid URL with on_error: dead_letter.", Value: config.Text(&l.DeadLetters, example+"_dead")},
		{Name: "batch_bytes", Doc: "What a lane holds in memory before it is loaded, if roll does not end it earlier.", Value: config.Size(&l.BatchBytes, 1<<20, 1<<30)},
		{Name: "retry_for", Doc: "How long a load is tried again while the database cannot be reached, before the process stops.", Value: config.Duration(&l.RetryFor, 0, 24*time.Hour)},
	}
	return config.Section{
		Fields: slices.DeleteFunc(append(own, shared...), func(f config.Field) bool { return f.Name == without }),
		Check: func(d *config.Check) {
			for key, name := range map[string]string{"table": l.Table, "dead_letters": l.DeadLetters} {
				if at := key; name != "" && !tableName.MatchString(name) {
					d.Conflict(at, nil, "%s is not the name of a table; use letters, digits and _, with the schema or database before a dot, such as %s", key, example)
				}
			}
			if dead := "dead_letters"; l.DeadLetters != "" && l.DeadLetters == l.Table {
				d.Conflict(dead, []string{"table"}, "dead_letters is the table of the rows; give another, as the two have different columns")
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

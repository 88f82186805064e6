package iceberg

import (
	"log/slog"
	"time"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/sinks/parquet"
)

// Kind returns the tables that Parquet files can be registered in.
func Kind() parquet.TableKind {
	return parquet.TableKind{
		Name: "iceberg",
		Doc:  "An Apache Iceberg table in which the files are registered when they are committed, without being written again; see docs/warehouse.md.",
		New: func() parquet.TableOptions {
			o := Options{}.withDefaults()
			return &o
		},
	}
}

// Section implements [parquet.TableOptions].
func (o *Options) Section() config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "table", Doc: "Namespace and name of the table, with a dot between; it is made when it is missing.", Value: config.Text(&o.Table, "web.clicks"), Example: "table: web.clicks"},
			{Name: "catalog_file", Doc: "A catalog in a file of SQLite, as pyiceberg's SqlCatalog has it. Not set: _catalog.db in the output folder.", Value: config.Text(&o.CatalogFile, "/var/lib/urlmill/catalog.db")},
			{Name: "catalog_name", Doc: "Name of the catalog within catalog_file.", Value: config.Text(&o.CatalogName, defaultCatalog)},
			{Name: "rest", Doc: "A REST catalog instead.", Value: config.Optional(&o.REST, func() REST { return REST{} }, (*REST).section)},
			{Name: "every", Doc: "How long commits wait until they are in the table; those of all partitions or files are one snapshot.", Value: config.Duration(&o.Every, time.Second, 24*time.Hour)},
		},
		Check: func(c *config.Check) {
			if name, rest := "catalog_name", "rest"; c.Given(name) && c.Given(rest) {
				c.Conflict(name, []string{rest}, "catalog_name is given beside rest, which is another catalog; keep one of them")
			}
		},
	}
}

// TableName implements [parquet.TableOptions].
func (o *Options) TableName() string { return o.Table }

func (r *REST) section() config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "uri", Doc: "Its address, without /v1.", Value: config.Text(&r.URI, "https://catalog.example.com"), Example: "uri: https://catalog.example.com"},
			{Name: "warehouse", Doc: "Which of its warehouses. Not set: its default.", Value: config.Text(&r.Warehouse, "lake")},
			{Name: "token", Doc: "Token that is sent with requests.", Value: config.SecretText(&r.Token)},
			{Name: "credential", Doc: "Identifier and secret, with a colon between, or the secret alone, that are exchanged for a token.", Value: config.SecretText(&r.Credential)},
			{Name: "auth_uri", Doc: "Where they are exchanged. Not set: at the catalog.", Value: config.Text(&r.AuthURI, "https://login.example.com/oauth/tokens")},
			{Name: "scope", Doc: "What the token is asked for. Not set: catalog.", Value: config.Text(&r.Scope, "catalog")},
		},
		Check: func(c *config.Check) {
			for _, key := range []string{"auth_uri", "scope"} {
				if c.Given(key) && r.Credential == "" {
					c.Conflict(key, []string{"credential"}, "%s has no effect without credential", key)
				}
			}
		},
	}
}

// With implements [parquet.TableOptions].
func (o *Options) With(path string, partitionBy []string, log *slog.Logger) parquet.Table {
	c := *o
	c.root, c.PartitionBy = path, partitionBy
	return New(c, log)
}

// Validate implements [parquet.Table].
func (r *Follower) Validate() error { return r.opts.Validate() }

// CheckRows implements [parquet.Table].
func (r *Follower) CheckRows(rows *arrow.Schema) error { return r.opts.CheckRows(rows) }

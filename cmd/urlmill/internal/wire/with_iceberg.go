//go:build !core

package wire

import (
	"log/slog"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/iceberg"
	"github.com/urlmill/urlmill/sinks/parquet"
)

func init() {
	add("iceberg", func(r *Registry) { r.iceberg, r.inspect = icebergTable, iceberg.Inspect })
}

// icebergTable has o make a table of the files if p says so. check is [Sink.CheckRows] of it, and without rows [Sink.Validate].
func icebergTable(p *settings.Parquet, o *parquet.Options, log *slog.Logger) (check func(rows *arrow.Schema) error) {
	table, there := icebergOptions(p)
	if there {
		o.Registrar = iceberg.New(table, log)
	}
	return func(rows *arrow.Schema) error { return checkTable(table, there, rows) }
}

// icebergOptions returns the options of the table that is made of a sink's files, and whether there is one.
func icebergOptions(p *settings.Parquet) (iceberg.Options, bool) {
	i := p.Iceberg
	if i == nil {
		return iceberg.Options{}, false
	}
	o := iceberg.Options{Table: i.Table, CatalogFile: i.CatalogFile, Every: i.Every, PartitionBy: p.PartitionBy}
	if i.REST == nil {
		o.CatalogName = i.CatalogName
		return o, true
	}
	o.REST = &iceberg.REST{
		URI: i.REST.URI, Warehouse: i.REST.Warehouse, Token: i.REST.Token.Reveal(), Credential: i.REST.Credential.Reveal(),
		AuthURI: i.REST.AuthURI, Scope: i.REST.Scope,
	}
	return o, true
}

// checkTable returns what is wrong with a table's options, or with rows for it if they are given, by the keys of the sink.
func checkTable(o iceberg.Options, there bool, rows *arrow.Schema) error {
	switch {
	case !there:
		return nil
	case rows != nil:
		return pipeline.Under("iceberg", o.CheckRows(rows))
	}
	return pipeline.Under("iceberg", o.Validate())
}

package iceberg

import (
	"strings"
	"testing"
	"time"

	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/internal/kindtest"
	"github.com/urlmill/urlmill/sinks/parquet"
)

func TestSection(t *testing.T) {
	kind := parquet.Kind(nil, Kind())
	for text, want := range map[string]string{
		"{path: out, iceberg: {table: web.clicks}}":                                                  "",
		"{path: s3://a/b, iceberg: {table: web.clicks, catalog_file: /c.db}}":                        "",
		"{path: s3://a/b, iceberg: {table: web.clicks, rest: {uri: https://a, credential: a:b}}}":    "",
		"{path: s3://a/b, iceberg: {table: web.clicks}}":                                             "parquet.iceberg: the catalog cannot be a file in a bucket; give catalog_file: /var/lib/urlmill/catalog.db, or rest: {uri: https://catalog.example.com}",
		"{path: out, iceberg: {}}":                                                                   `parquet.iceberg.table: parquet.iceberg has no "table"; add it, such as table: web.clicks`,
		"{path: out, iceberg: {table: clicks}}":                                                      `parquet.iceberg.table: "clicks" has no namespace; give one before the name, such as web.clicks`,
		"{path: out, iceberg: {table: web.clicks, every: 1ms}}":                                      `parquet.iceberg.every: every is the text "1ms"; give a duration from 1s to 24h, such as 30s or 5m`,
		"{path: out, iceberg: {table: web.clicks, catalog_name: a, rest: {uri: https://a}}}":         "parquet.iceberg.catalog_name: catalog_name is given beside rest, which is another catalog; keep one of them",
		"{path: out, iceberg: {table: web.clicks, catalog_file: a, rest: {uri: https://a}}}":         "parquet.iceberg.catalog_file: cannot be given together with rest, which is another catalog; keep one of the two",
		"{path: out, iceberg: {table: web.clicks, rest: {uri: https://a, scope: b, token: c}}}":      "parquet.iceberg.rest.scope: scope has no effect without credential",
		"{path: out, iceberg: {table: web.clicks, rest: {uri: https://a, token: c, credential: d}}}": "parquet.iceberg.rest.credential: cannot be given together with token; keep one of the two",
	} {
		if got := kindtest.Problems(kind, text, sinks.Env{}); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestWith(t *testing.T) {
	o := Kind().New().(*Options)
	o.Table = "web.clicks"
	r := o.With("out", []string{"n"}, nil).(*Follower)
	if got := r.opts; got.Table != "web.clicks" || got.root != "out" || len(got.PartitionBy) != 1 || got.CatalogName != "urlmill" || got.Every != time.Minute {
		t.Errorf("%+v", got)
	}
	if o.root != "" {
		t.Error("the options have changed")
	}
	o.Table = "a/b.c"
	if err := o.With("out", nil, nil).Validate(); err == nil || !strings.Contains(err.Error(), "is not a name") {
		t.Errorf("%v", err)
	}
}

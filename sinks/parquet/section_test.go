package parquet

import (
	"log/slog"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
	"github.com/urlmill/urlmill/sinks/internal/kindtest"
)

// lake is a table that wants a name.
type lake struct {
	filesink.Follower
	Name string
	path string
	by   []string
}

func (l *lake) Section() config.Section {
	return config.Section{Fields: []config.Field{{Name: "name", Doc: "Its name.", Value: config.Text(&l.Name, "a")}}}
}

func (l *lake) TableName() string { return l.Name }

func (l *lake) With(path string, by []string, _ *slog.Logger) Table {
	c := *l
	c.path, c.by = path, by
	return &c
}

func (l *lake) Validate() error {
	if l.Name == "" {
		return pipeline.FieldErrorf("name", "missing")
	}
	return nil
}

func (l *lake) CheckRows(*arrow.Schema) error { return pipeline.FieldErrorf("", "no rows fit") }

func lakes(name string) TableKind {
	return TableKind{Name: name, Doc: "A lake.", New: func() TableOptions { return &lake{} }}
}

func TestSection(t *testing.T) {
	o, err := kindtest.Parse(Kind(nil), `{path: out, dead_letters: dead, compression: gzip, compression_level: 3, row_group_rows: 10, row_group_bytes: 1MiB,
		page_version: 2, encodings: plain, bloom_filters: [host], sort_by: [a, b]}`)
	if err != nil {
		t.Fatal(err)
	}
	c := o.With(sinks.Env{Version: "1.2", FileBytes: 5}).(configured)
	if c.Path != "out" || c.DeadLetters != "dead" || c.Compression != "gzip" || c.CompressionLevel != 3 || c.RowGroupRows != 10 || c.RowGroupBytes != 1<<20 ||
		c.PageVersion != 2 || c.Encodings != EncodingsPlain || len(c.BloomFilters) != 1 || len(c.SortBy) != 2 || c.Delivery != commit.ExactlyOnce ||
		c.Version != "1.2" || c.FileBytes != 5 {
		t.Errorf("%+v", c)
	}
}

func TestProblems(t *testing.T) {
	kind := Kind(nil, lakes("lake"), lakes("sea"))
	for text, want := range map[string]string{
		"{path: out}":                        "",
		"{path: out, compression: gzip}":     "",
		"{path: out, compression: snappy}":   "",
		"{path: out, bloom_filters: [none]}": "",
		"{path: out, lake: {name: a}}":       "",

		"{}":                      `parquet.path: parquet has no "path"; add it, such as path: out`,
		"{path: out, encoder: x}": "parquet.encoder: encoder is gone: urlmill's own encoder writes all files; take the key out",
		"{path: 'hdfs://a'}":      `parquet.path: "hdfs://a" is an address that urlmill cannot reach; give a folder, s3://bucket/prefix, gs://bucket/prefix or az://account/container/prefix`,
		"{path: out, bloom_filters: [none, host]}":                                     "parquet.bloom_filters: none stands beside columns; keep one of them",
		"{path: out, compression: snappy, compression_level: 1}":                       "parquet.compression_level: snappy has no levels; leave it out",
		"{path: out, compression: gzip, compression_level: 12}":                        "parquet.compression_level: 12 is not a level of gzip; use 1 to 9",
		"{path: out, lake: {}}":                                                        "parquet.lake.name: missing",
		"{path: out, lake: {name: a}, delivery: at_least_once}":                        "parquet.delivery: a table is made of commit records, which at_least_once does not have; leave it out",
		"{path: out, lake: {name: a}, late: {path: late}, partition_by: ['date(ts)']}": "parquet.late: puts rows into another folder, and a table has the files of one; take one of the two out",
		"{path: out, lake: {name: a}, sea: {name: b}}":                                 "parquet.sea: sea is given beside lake, and files go into one table; keep one of them",
	} {
		if got := kindtest.Problems(kind, text, sinks.Env{}); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// TestTable checks what a table is told, and that a trial has none.
func TestTable(t *testing.T) {
	o, err := kindtest.Parse(Kind(nil, lakes("sea"), lakes("lake")), "{path: out, partition_by: [n], lake: {name: a}}")
	if err != nil {
		t.Fatal(err)
	}
	c := o.With(sinks.Env{}).(configured)
	if l, ok := c.Follower.(*lake); !ok || l.Name != "a" || l.path != "out" || len(l.by) != 1 {
		t.Errorf("%+v", c.Follower)
	}
	rows := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	if err := c.CheckRows(rows); err == nil || err.Error() != "lake: no rows fit" {
		t.Errorf("%v", err)
	}
	trial := o.(sinks.Trial).IntoFolder("dir").With(sinks.Env{}).(configured)
	if err := trial.Validate(); err != nil || trial.Follower != nil || trial.Delivery != commit.AtLeastOnce {
		t.Errorf("%+v, %v", trial, err)
	}
}

func TestNoBloomFilters(t *testing.T) {
	o := Options{BloomFilters: []string{NoBloomFilters}}
	rows := arrow.NewSchema([]arrow.Field{{Name: "host", Type: arrow.BinaryTypes.String}}, nil)
	if err := o.CheckRows(rows); err != nil {
		t.Error(err)
	}
	if o = o.withDefaults().withDefaults(); len(o.BloomFilters) > 0 {
		t.Errorf("%q", o.BloomFilters)
	}
}

package iceberg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	iceberg "github.com/apache/iceberg-go"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var quiet = slog.New(slog.DiscardHandler)

// rowsSchema has a column of about every kind.
var rowsSchema = arrow.NewSchema([]arrow.Field{
	{Name: "n", Type: arrow.PrimitiveTypes.Int64},
	{Name: "host", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "ts", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}, Nullable: true},
	{Name: "kind", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
	{Name: "params", Type: arrow.ListOf(arrow.StructOf(arrow.Field{Name: "key", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "value", Type: arrow.BinaryTypes.String, Nullable: true})), Nullable: true},
	{Name: "url_key", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}, Nullable: true},
}, nil)

// row fills rows from:to of a lane.
func rowsOf(s *arrow.Schema, from, to int64) arrow.Record {
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for n := from; n < to; n++ {
		b.Field(0).(*array.Int64Builder).Append(n)
		if s.NumFields() == 1 {
			continue
		}
		if n%7 == 0 {
			b.Field(1).AppendNull()
		} else {
			b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("www.example-with-a-long-name.site%d.example", n%5))
		}
		if n%11 == 0 {
			b.Field(2).AppendNull()
			b.Field(3).AppendNull()
		} else {
			b.Field(2).(*array.TimestampBuilder).Append(arrow.Timestamp(-43_200_000_000 + n*7_200_000_000))
			b.Field(3).(*array.Int32Builder).Append(int32(n%3) - 1)
		}
		list := b.Field(4).(*array.ListBuilder)
		list.Append(true)
		pair := list.ValueBuilder().(*array.StructBuilder)
		pair.Append(true)
		pair.FieldBuilder(0).(*array.StringBuilder).Append("utm_source")
		pair.FieldBuilder(1).(*array.StringBuilder).Append("mail")
		b.Field(5).(*array.FixedSizeBinaryBuilder).Append(fmt.Appendf(nil, "%016d", n))
	}
	return b.NewRecord()
}

// process is a sink with its follower, as a process has them.
type process struct {
	sink     pipeline.Sink
	follower *Follower
}

// begin starts a process. fsys may be nil.
func begin(ctx context.Context, out string, o Options, fsys store.FS, s *arrow.Schema) (*process, error) {
	if fsys == nil {
		fsys = store.System
	}
	if o.Table == "" {
		o.Table = "web.clicks"
	}
	r := New(o, quiet)
	sink, err := parquet.New(parquet.Options{
		Path: out, Follower: r,
		Files: parquet.Files{
			PartitionBy: o.PartitionBy,
			Stores:      func(at string, log *slog.Logger) (store.Store, error) { return store.NewLocal(at, fsys, log), nil },
		},
	}, quiet)
	if err != nil {
		return nil, err
	}
	if err := sink.Start(ctx, pipeline.Schemas{s}); err != nil {
		return nil, errors.Join(err, sink.Close())
	}
	return &process{sink, r}, nil
}

// write commits rows of a lane, from where it is up to a position.
func (p *process) write(ctx context.Context, s *arrow.Schema, lane int32, to int64) error {
	w, next, err := p.sink.Open(ctx, pipeline.LaneID{Stream: "clicks", Partition: lane})
	if err != nil {
		return err
	}
	next = max(next, 0)
	if next >= to {
		return w.Abandon()
	}
	r := rowsOf(s, next, to)
	defer r.Release()
	err = w.Write(ctx, pipeline.Rows, r, pipeline.Span{First: next, Next: to})
	if err == nil {
		_, err = w.Commit(ctx)
	}
	return errors.Join(err, w.Abandon())
}

// tableFilesOf returns the files of the table's current snapshot, and what its metadata says.
func tableFilesOf(t *testing.T, out, catalog string) ([]iceberg.DataFile, *state) {
	t.Helper()
	s := store.NewLocal(out, store.System, quiet)
	base, err := locationOf(s)
	if err != nil {
		t.Fatal(err)
	}
	tab := &tableOf{id: []string{"web", "clicks"}, store: s, base: base}
	if catalog == "" {
		catalog = filepath.Join(out, catalogFile)
	}
	c, err := openSQLite(t.Context(), catalog, defaultCatalog, tab)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	tab.catalog = c
	now, err := tab.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := tab.manifestsOf(t.Context(), now.meta.snapshot(now.meta.Current))
	if err != nil {
		t.Fatal(err)
	}
	var found []iceberg.DataFile
	for _, m := range manifests {
		entries, err := tab.entriesOf(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			found = append(found, e.DataFile())
		}
	}
	return found, now
}

// checkTable checks that the table has every file of the output once, and all rows.
func checkTable(t *testing.T, out, catalog string, rows int64) *state {
	t.Helper()
	found, now := tableFilesOf(t, out, catalog)
	var have, want []string
	n := int64(0)
	for _, f := range found {
		have = append(have, strings.TrimPrefix(f.FilePath(), "file://"))
		n += f.Count()
	}
	err := filepath.WalkDir(out, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() && filepath.Ext(path) == ".parquet" {
			want = append(want, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(have)
	slices.Sort(want)
	if !slices.Equal(have, want) {
		t.Errorf("the table has %d files\n%s\nand the output %d\n%s", len(have), strings.Join(have, "\n"), len(want), strings.Join(want, "\n"))
	}
	if n != rows {
		t.Errorf("the table has %d rows, want %d", n, rows)
	}
	if s := now.meta.snapshot(now.meta.Current); s != nil && s.Summary["total-records"] != fmt.Sprint(rows) {
		t.Errorf("the summary says %v, want %d rows", s.Summary, rows)
	}
	return now
}

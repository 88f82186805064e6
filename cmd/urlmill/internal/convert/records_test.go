package convert

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"

	ours "github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/parquet/encode"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

// memoryReader hands out records.
type memoryReader struct {
	schema *arrow.Schema
	recs   []arrow.Record
}

func (m *memoryReader) Schema() *arrow.Schema { return m.schema }
func (m *memoryReader) Close() error          { return nil }
func (m *memoryReader) Next() (arrow.Record, error) {
	if len(m.recs) == 0 {
		return nil, io.EOF
	}
	r := m.recs[0]
	m.recs = m.recs[1:]
	return r, nil
}

func table(rows int) *memoryReader {
	m := &memoryReader{schema: sinktest.AllTypes()}
	for at := 0; at < rows; {
		n := min(rows-at, 1+at)
		m.recs = append(m.recs, sinktest.Random(memory.DefaultAllocator, m.schema, n, int64(at), 1,
			sinktest.Shape{Nulls: 0.2, Empty: 0.2, HugeList: 3000, HugeText: 100_000}))
		at += n
	}
	return m
}

func rowsOf(t *testing.T, r Reader) []sinktest.Row {
	t.Helper()
	var rows []sinktest.Row
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, sinktest.Rows(rec)...)
	}
}

// compare shows the first row that differs.
func compare(t *testing.T, name string, want, got []sinktest.Row) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: %d rows, want %d", name, len(got), len(want))
		return
	}
	for i := range want {
		if !reflect.DeepEqual(want[i], got[i]) {
			t.Errorf("%s: row %d: want -, got +\n%.3000s", name, i, cmp.Diff(want[i], got[i]))
			return
		}
	}
}

func read(t *testing.T, name string, o Options) (*arrow.Schema, []sinktest.Row) {
	t.Helper()
	r, err := Open(name, o)
	if err != nil {
		t.Fatal(err)
	}
	rows := rowsOf(t, r)
	schema := r.Schema()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	return schema, rows
}

func convert(t testing.TB, in Reader, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if _, err := Write(t.Context(), Target{Path: path, Format: ByName(name), Log: slog.New(slog.DiscardHandler)}, in); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestConvert sends every type through all formats in turn.
func TestConvert(t *testing.T) {
	for _, rows := range []int{0, 1, 1200} {
		dir := t.TempDir()
		want := rowsOf(t, table(rows))
		schema := sinktest.AllTypes()
		var in Reader = table(rows)
		for _, name := range []string{"a.parquet", "b.arrow", "c.arrows", "d.parquet", "e.arrows", "f.arrow", "g.parquet"} {
			path := convert(t, in, dir, name)
			got, values := read(t, path, Options{BatchRows: 700})
			compare(t, name, want, values)
			if !equalFields(schema, got) {
				t.Errorf("%s: got %v\nwant %v", name, got, schema)
			}
			next, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = next.Close() }()
			in = next
		}
	}
}

// TestMetadata converts a file with metadata of its own and of others.
func TestMetadata(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "in.parquet")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	in := table(3)
	w, err := ours.NewFile(f, in.schema, ours.Options{Version: "old"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range in.recs {
		err = errors.Join(err, w.Write(r))
	}
	err = errors.Join(err, w.Close(encode.KeyValue{Key: "note", Value: "x"}, encode.KeyValue{Key: "pandas", Value: "{}"},
		encode.KeyValue{Key: "urlmill.psl", Value: "2026"}, encode.KeyValue{Key: "urlmill.next", Value: "77"}), f.Close())
	if err != nil {
		t.Fatal(err)
	}
	for _, columns := range [][]string{nil, {"id"}} {
		for _, path := range [][]string{{"a.parquet"}, {"a.arrow", "b.parquet"}} {
			last := name
			for i, p := range path {
				in, err := Open(last, Options{Columns: columns})
				if err != nil {
					t.Fatal(err)
				}
				last = convert(t, in, dir, fmt.Sprint(len(columns), i, p))
				if err := in.Close(); err != nil {
					t.Fatal(err)
				}
			}
			checkMetadata(t, last, columns == nil)
		}
	}
}

func checkMetadata(t *testing.T, name string, all bool) {
	t.Helper()
	r, err := file.OpenParquetFile(name, false)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	got := map[string]string{}
	md := r.MetaData().KeyValueMetadata()
	for i, key := range md.Keys() {
		if _, twice := got[key]; twice {
			t.Errorf("%s: %s is there twice", name, key)
		}
		got[key] = md.Values()[i]
	}
	if _, pandas := got["pandas"]; pandas != all || got["note"] != "x" || got["urlmill.psl"] != "2026" ||
		got["urlmill.version"] == "old" || got["urlmill.next"] != "3" {
		t.Errorf("%s: %v", name, got)
	}
}

// equalFields compares columns; writers add metadata.
func equalFields(want, got *arrow.Schema) bool {
	return arrow.NewSchema(want.Fields(), nil).Equal(arrow.NewSchema(got.Fields(), nil))
}

// TestColumns picks columns in another order than the file has.
func TestColumns(t *testing.T) {
	dir := t.TempDir()
	want := rowsOf(t, table(500))
	columns := []string{"params", "id", "text"}
	for _, name := range []string{"a.parquet", "a.arrow", "a.arrows", "a.ndjson"} {
		path := convert(t, table(500), dir, name)
		schema, got := read(t, path, Options{Columns: columns, Schema: sinktest.AllTypes()})
		for i, column := range columns {
			if schema.Field(i).Name != column {
				t.Errorf("%s: column %d is %s", name, i, schema.Field(i).Name)
			}
			for row := range want {
				if !reflect.DeepEqual(want[row][column], got[row][column]) {
					t.Fatalf("%s: row %d: %v, want %v", name, row, got[row][column], want[row][column])
				}
			}
		}
		_, err := Open(path, Options{Columns: []string{"nothing"}, Schema: sinktest.AllTypes()})
		if err == nil || !strings.Contains(err.Error(), `no column "nothing"; there are id, text`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDictionaries converts a column that is a dictionary in Parquet, as pandas writes categories.
func TestDictionaries(t *testing.T) {
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}
	schema := arrow.NewSchema([]arrow.Field{{Name: "d", Type: dt, Nullable: true}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	var want []any
	for i := range 100 {
		d := b.Field(0).(*array.BinaryDictionaryBuilder)
		if i%7 == 0 {
			d.AppendNull()
			want = append(want, nil)
			continue
		}
		v := fmt.Sprint("v", i%5)
		want = append(want, v)
		if err := d.AppendString(v); err != nil {
			t.Fatal(err)
		}
	}
	rec := b.NewRecord()
	defer rec.Release()
	dir := t.TempDir()
	source := filepath.Join(dir, "dict.parquet")
	f, err := os.Create(source)
	if err != nil {
		t.Fatal(err)
	}
	w, err := pqarrow.NewFileWriter(schema, f, parquet.NewWriterProperties(), pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(rec), w.Close()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"out.parquet", "out.arrow", "out.ndjson"} {
		r, err := Open(source, Options{BatchRows: 30})
		if err != nil {
			t.Fatal(err)
		}
		_, rows := read(t, convert(t, r, dir, name), Options{})
		_ = r.Close()
		var got []any
		for _, row := range rows {
			got = append(got, row["d"])
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: %v", name, got)
		}
	}
	// JSON has their values, also by the schema of the file that has dictionaries.
	back, rows := read(t, filepath.Join(dir, "out.ndjson"), Options{Schema: schema})
	if len(rows) != len(want) || rows[1]["d"] != want[1] {
		t.Errorf("%v: %d rows, %v", back, len(rows), rows)
	}
}

// TestLocalTimes checks that timestamps that are not of UTC stay so, and that others do not become such.
func TestLocalTimes(t *testing.T) {
	local := func(u arrow.TimeUnit) arrow.DataType { return &arrow.TimestampType{Unit: u} }
	utc := &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "local", Type: local(arrow.Microsecond), Nullable: true},
		{Name: "utc", Type: utc, Nullable: true},
		{Name: "list", Type: arrow.ListOf(local(arrow.Nanosecond)), Nullable: true},
		{Name: "struct", Type: arrow.StructOf(
			arrow.Field{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
			arrow.Field{Name: "local", Type: local(arrow.Millisecond), Nullable: true},
			arrow.Field{Name: "utc", Type: utc, Nullable: true},
		), Nullable: true},
		{Name: "map", Type: arrow.MapOf(arrow.BinaryTypes.String, local(arrow.Microsecond)), Nullable: true},
		{Name: "last", Type: local(arrow.Millisecond), Nullable: true},
	}, nil)
	at := `"2026-11-22T06:00:00.123"`
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(strings.ReplaceAll(
		`[{"local": AT, "utc": AT, "list": [AT, null], "struct": {"text": "x", "local": AT, "utc": AT}, "map": [{"key": "k", "value": AT}], "last": AT},
		{"local": null, "utc": null, "list": [], "struct": null, "map": [], "last": null}]`, "AT", at)))
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Release()
	want := sinktest.Rows(rec)
	var in Reader = &memoryReader{schema, []arrow.Record{rec}}
	dir := t.TempDir()
	for _, name := range []string{"a.parquet", "b.arrow", "c.parquet", "d.parquet", "e.arrows"} {
		path := convert(t, in, dir, name)
		got, values := read(t, path, Options{})
		compare(t, name, want, values)
		if !equalFields(schema, got) {
			t.Errorf("%s: got %v\nwant %v", name, got, schema)
		}
		var err error
		if in, err = Open(path, Options{}); err != nil {
			t.Fatal(err)
		}
		defer in.Close()
	}
}

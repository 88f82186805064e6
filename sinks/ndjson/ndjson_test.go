package ndjson

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

func newSink(t *testing.T, o Options, schemas pipeline.Schemas) pipeline.Sink {
	t.Helper()
	s, err := New(o, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context(), schemas); err != nil {
		t.Fatal(err)
	}
	return s
}

func openLane(t *testing.T, s pipeline.Sink, partition int32) pipeline.Writer {
	t.Helper()
	w, _, err := s.Open(t.Context(), pipeline.LaneID{Stream: "clicks", Partition: partition})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// inJSON turns a value of a table into what encoding/json makes of its JSON form with UseNumber.
func inJSON(f arrow.Field, v any) any {
	switch v := v.(type) {
	case []byte:
		return base64.StdEncoding.EncodeToString(v)
	case int64:
		return json.Number(strconv.FormatInt(v, 10))
	case uint64:
		return json.Number(strconv.FormatUint(v, 10))
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil
		}
		text, err := json.Marshal(v)
		if f.Type.ID() == arrow.FLOAT32 {
			text, err = json.Marshal(float32(v))
		}
		if err != nil {
			panic(err)
		}
		return json.Number(text)
	case time.Time:
		switch f.Type.ID() {
		case arrow.DATE32:
			return v.Format(time.DateOnly)
		}
		if f.Type.(*arrow.TimestampType).Unit == arrow.Millisecond {
			return v.Format("2006-01-02T15:04:05.000Z")
		}
		return v.Format("2006-01-02T15:04:05.000000Z")
	case []any:
		list := []any{}
		for _, e := range v {
			list = append(list, inJSON(f.Type.(arrow.ListLikeType).ElemField(), e))
		}
		return list
	case sinktest.Row:
		row := map[string]any{}
		for _, field := range f.Type.(*arrow.StructType).Fields() {
			row[field.Name] = inJSON(field, v[field.Name])
		}
		return row
	}
	return v
}

// linesOf parses lines with encoding/json.
func linesOf(t *testing.T, data []byte) []map[string]any {
	t.Helper()
	var rows []map[string]any
	for line := range bytes.Lines(data) {
		if line[len(line)-1] != '\n' || bytes.ContainsAny(line[:len(line)-1], "\n\r") {
			t.Fatalf("%q is not a line", line)
		}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var row map[string]any
		if err := d.Decode(&row); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		rows = append(rows, row)
	}
	return rows
}

func expected(schema *arrow.Schema, r arrow.Record) []map[string]any {
	var rows []map[string]any
	for _, row := range sinktest.Rows(r) {
		want := map[string]any{}
		for _, f := range schema.Fields() {
			want[f.Name] = inJSON(f, row[f.Name])
		}
		rows = append(rows, want)
	}
	return rows
}

// TestFiles writes slices of random records of every type and reads them back with encoding/json.
func TestFiles(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	dir := filepath.Join(t.TempDir(), "out")
	schema := sinktest.AllTypes()
	s := newSink(t, Options{Path: dir}, pipeline.Schemas{schema})
	w := openLane(t, s, 0)
	var want []map[string]any
	for i := range int64(6) {
		r := sinktest.Random(mem, schema, 50, i*50, 1, sinktest.Shape{Nulls: 0.2, Empty: 0.2, HugeText: 400_000})
		slice := r.NewSlice(i, 50-i)
		want = append(want, expected(schema, slice)...)
		if err := w.Write(t.Context(), pipeline.Rows, slice, pipeline.Span{First: i, Next: i + 1}); err != nil {
			t.Fatal(err)
		}
		slice.Release()
		r.Release()
	}
	if size := w.Size(); size.Rows != int64(len(want)) || size.Bytes < 1000 {
		t.Errorf("size %+v", size)
	}
	if next, err := w.Commit(t.Context()); next != 6 || err != nil {
		t.Fatal(next, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	names, _ := filepath.Glob(filepath.Join(dir, "clicks-0-00000000000000000000-*.ndjson"))
	if len(names) != 1 {
		t.Fatalf("files %v", names)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	if got := linesOf(t, data); !reflect.DeepEqual(want, got) {
		t.Errorf("want -, got +\n%.2000s", cmp.Diff(want, got))
	}
}

func TestForm(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: `a "name"`, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "params", Type: sinktest.Params(true), Nullable: true},
		{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_us},
		{Name: "bytes", Type: arrow.BinaryTypes.Binary},
		{Name: "big", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "float", Type: arrow.PrimitiveTypes.Float64},
		{Name: "map", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int8)},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.StringBuilder).Append("tab\tquote\" back\\slash nul\x00 del\x7f ü\u2028 \xff\xc3")
	params := b.Field(1).(*array.ListBuilder)
	pair := params.ValueBuilder().(*array.StructBuilder)
	params.Append(true)
	for _, kv := range [][]string{{"q", "1"}, {"q", ""}, {"x"}} {
		pair.Append(true)
		pair.FieldBuilder(0).(*array.StringBuilder).Append(kv[0])
		if len(kv) == 1 {
			pair.FieldBuilder(1).AppendNull()
		} else {
			pair.FieldBuilder(1).(*array.StringBuilder).Append(kv[1])
		}
	}
	b.Field(2).(*array.TimestampBuilder).Append(1_700_000_000_000_001)
	b.Field(3).(*array.BinaryBuilder).Append([]byte{0xff, 0, 'a'})
	b.Field(4).(*array.Uint64Builder).Append(1<<64 - 1)
	b.Field(5).(*array.Float64Builder).Append(1e-9)
	m := b.Field(6).(*array.MapBuilder)
	m.Append(true)
	m.KeyBuilder().(*array.StringBuilder).Append("k")
	m.ItemBuilder().(*array.Int8Builder).Append(-1)
	r := b.NewRecord()
	defer r.Release()
	const want = `{"a \"name\"":"tab\tquote\" back\\slash nul\u0000 del` + "\x7f" + ` ü` + "\u2028" + ` ` + "\ufffd\ufffd" + `",` +
		`"params":[{"key":"q","value":"1"},{"key":"q","value":""},{"key":"x","value":null}],` +
		`"ts":"2023-11-14T22:13:20.000001Z","bytes":"/wBh","big":18446744073709551615,"float":1e-9,"map":[{"key":"k","value":-1}]}` + "\n"
	if got := string(appendRow(nil, namesOf(schema), columnsOf(r), 0)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(appendRow(nil, nil, nil, 0)); got != "{}\n" {
		t.Errorf("no columns: %s", got)
	}
}

// TestNames has names of all lengths around those that are copied in one piece, with room behind a row and without.
func TestNames(t *testing.T) {
	for n := range 45 {
		name := strings.Repeat("n", n)
		schema := arrow.NewSchema([]arrow.Field{
			{Name: name + "t", Type: arrow.BinaryTypes.String, Nullable: true},
			{Name: name + "i", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		}, nil)
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		b.Field(0).(*array.StringBuilder).AppendValues([]string{"", "text", "", "a text of some words"}, []bool{true, true, false, true})
		b.Field(1).(*array.Int64Builder).AppendValues([]int64{0, -1, 0, 1 << 40}, []bool{true, true, false, true})
		r := b.NewRecord()
		names, cols := namesOf(schema), columnsOf(r)
		for i, want := range [][2]string{{`""`, "0"}, {`"text"`, "-1"}, {"null", "null"}, {`"a text of some words"`, "1099511627776"}} {
			row := `{"` + name + `t":` + want[0] + `,"` + name + `i":` + want[1] + "}\n"
			for room := range 150 {
				if got := string(appendRow(make([]byte, 0, room), names, cols, i)); got != row {
					t.Fatalf("room for %d: got %s, want %s", room, got, row)
				}
			}
		}
		r.Release()
		b.Release()
	}
}

// TestStreamSideBySide has lanes write at the same time: lines stay whole and in the order of their lane.
func TestStreamSideBySide(t *testing.T) {
	schema := sinktest.AllTypes()
	var out bytes.Buffer
	s := newSink(t, Options{Stdout: &out}, pipeline.Schemas{schema})
	var wg sync.WaitGroup
	for lane := range int32(4) {
		wg.Go(func() {
			w := openLane(t, s, lane)
			for i := range int64(10) {
				r := sinktest.Random(memory.DefaultAllocator, schema, 30, int64(lane)*1000+i*30, 1, sinktest.Shape{Nulls: 0.2})
				if err := w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: i, Next: i + 1}); err != nil {
					t.Error(err)
				}
				r.Release()
			}
			if _, err := w.Commit(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	next := map[int64]int64{}
	for _, row := range linesOf(t, out.Bytes()) {
		id, err := row["id"].(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		if lane := id / 1000; id%1000 != next[lane] {
			t.Fatalf("row %d out of order, expected %d", id, next[lane])
		}
		next[id/1000]++
	}
	for lane, rows := range next {
		if rows != 300 {
			t.Errorf("lane %d: %d rows", lane, rows)
		}
	}
}

// TestRowByRow reads each row before the next is written, as a co-process does.
func TestRowByRow(t *testing.T) {
	schema := sinktest.AllTypes()
	r, w := io.Pipe()
	s := newSink(t, Options{Stdout: w}, pipeline.Schemas{schema})
	lane := openLane(t, s, 0)
	lines := bufio.NewReader(r)
	for i := range int64(20) {
		rec := sinktest.Random(memory.DefaultAllocator, schema, 1, i, 1, sinktest.Shape{})
		done := make(chan error, 1)
		go func() { done <- lane.Write(t.Context(), pipeline.Rows, rec, pipeline.Span{First: i, Next: i + 1}) }()
		line, err := lines.ReadString('\n')
		if err != nil || !strings.HasPrefix(line, `{"id":`+strconv.FormatInt(i, 10)+",") {
			t.Fatalf("%.50s, %v", line, err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		rec.Release()
	}
	if err := errors.Join(lane.Abandon(), s.Close()); err != nil {
		t.Error(err)
	}
}

// TestFullDevice writes to the device that is always full.
func TestFullDevice(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no such device: %v", err)
	}
	defer func() { _ = full.Close() }()
	schema := sinktest.AllTypes()
	s := newSink(t, Options{Stdout: full}, pipeline.Schemas{schema})
	w := openLane(t, s, 0)
	r := sinktest.Random(memory.DefaultAllocator, schema, 10, 0, 1, sinktest.Shape{})
	defer r.Release()
	err = w.Write(t.Context(), pipeline.Rows, r, pipeline.Span{First: 0, Next: 10})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space left for the output") {
		t.Errorf("got %v", err)
	}
	if _, err := w.Commit(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("commit gave %v", err)
	}
	if err := errors.Join(w.Abandon(), s.Close()); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	if _, err := New(Options{}, slog.New(slog.DiscardHandler)); err == nil || !strings.HasPrefix(err.Error(), "path: missing") {
		t.Errorf("got %v", err)
	}
	odd := arrow.NewSchema([]arrow.Field{{Name: "odd", Type: arrow.ListOf(arrow.FixedWidthTypes.Duration_s)}}, nil)
	for _, o := range []Options{{Path: t.TempDir()}, {Stdout: io.Discard}} {
		s, err := New(o, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Start(t.Context(), pipeline.Schemas{odd}); err == nil || !strings.Contains(err.Error(), "column odd: the type duration") {
			t.Errorf("got %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAllocations checks that a row costs no allocation once a buffer is there.
func TestAllocations(t *testing.T) {
	schema := sinktest.AllTypes()
	r := sinktest.Random(memory.DefaultAllocator, schema, 100, 0, 1, sinktest.Shape{Nulls: 0.2})
	defer r.Release()
	names, cols := namesOf(schema), columnsOf(r)
	var buf []byte
	if got := testing.AllocsPerRun(20, func() {
		buf = buf[:0]
		for i := range 100 {
			buf = appendRow(buf, names, cols, i)
		}
	}); got > 0 {
		t.Errorf("%v allocations for 100 rows", got)
	}
}

func BenchmarkRows(b *testing.B) {
	const rows = 8192
	r := sinktest.RandomClicks(memory.DefaultAllocator, rows, 0, 1)
	defer r.Release()
	e, err := format{}.NewEncoder(io.Discard, r.Schema())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := e.Write(r); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

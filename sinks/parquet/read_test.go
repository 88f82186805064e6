package parquet

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

// foreign has the types and forms that our own encoder never writes.
var foreign = pq.Group{
	"a_day":      pq.Optional(pq.Date()),
	"a_decimal":  pq.Decimal(2, 9, pq.Int32Type),
	"a_document": pq.JSON(),
	"a_huge":     pq.Optional(pq.Decimal(0, 60, pq.FixedLenByteArrayType(25))),
	"a_large":    pq.Decimal(0, 30, pq.FixedLenByteArrayType(13)),
	"a_list":     pq.Optional(pq.List(pq.Optional(pq.String()))),
	"a_map":      pq.Map(pq.String(), pq.Optional(pq.Uint(16))),
	"a_repeated": pq.Repeated(pq.Int(64)),
	"a_time":     pq.Time(pq.Millisecond),
	"a_uuid":     pq.UUID(),
	"an_instant": pq.Leaf(pq.Int96Type),
	"groups":     pq.Repeated(pq.Group{"name": pq.Optional(pq.String()), "sizes": pq.Repeated(pq.Int(8))}),
}

// foreignRow is what the leaves of [foreign] have, in their order.
func foreignRow(twos []byte, empty bool) pq.Row {
	huge := make([]byte, 25)
	huge[24], huge[0] = 1, 0x01
	row := pq.Row{
		pq.Int32Value(19_000).Level(0, 1, 0),
		pq.Int32Value(-12345).Level(0, 0, 1),
		pq.ByteArrayValue([]byte(`{}`)).Level(0, 0, 2),
		pq.FixedLenByteArrayValue(huge).Level(0, 1, 3),
		pq.FixedLenByteArrayValue(twos).Level(0, 0, 4),
		pq.ByteArrayValue([]byte("x")).Level(0, 3, 5), pq.NullValue().Level(1, 2, 5),
		pq.ByteArrayValue([]byte("k")).Level(0, 1, 6), pq.ByteArrayValue([]byte("l")).Level(1, 1, 6),
		pq.Int32Value(65535).Level(0, 2, 7), pq.NullValue().Level(1, 1, 7),
		pq.Int64Value(7).Level(0, 1, 8), pq.Int64Value(8).Level(1, 1, 8),
		pq.Int32Value(3_723_004).Level(0, 0, 9),
		pq.FixedLenByteArrayValue([]byte("0123456789abcdef")).Level(0, 0, 10),
		pq.Int96Value(deprecated.Int96{1_500_000_000, 0, 2440589}).Level(0, 0, 11),
		pq.NullValue().Level(0, 1, 12), pq.ByteArrayValue([]byte("n")).Level(1, 2, 12),
		pq.Int32Value(-1).Level(0, 2, 13), pq.Int32Value(-2).Level(2, 2, 13), pq.NullValue().Level(1, 1, 13),
	}
	if !empty {
		return row
	}
	var out pq.Row
	for _, v := range row {
		switch c := v.Column(); {
		case v.RepetitionLevel() > 0: // one entry is enough to say that there is nothing
		case c == 0 || c == 3 || c == 5 || c == 6 || c == 7 || c == 8 || c == 12 || c == 13:
			out = append(out, pq.NullValue().Level(0, 0, c))
		default:
			out = append(out, v)
		}
	}
	return out
}

// TestForeignFiles reads what other writers make: types and forms of lists that ours has not.
func TestForeignFiles(t *testing.T) {
	twos := bytes.Repeat([]byte{0xff}, 13) // -1
	var file bytes.Buffer
	w := pq.NewWriter(&file, pq.NewSchema("foreign", foreign))
	for _, empty := range []bool{false, true} {
		if _, err := w.WriteRows([]pq.Row{foreignRow(twos, empty)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rec, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(rec)
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{`{
		"a_day": "2022-01-08", "a_decimal": "-123.45", "a_document": "e30=", "a_large": "-1",
		"a_huge": "6277101735386680763835789423207666416102355444464034512897",
		"a_list": ["x", null], "a_map": [{"key": "k", "value": 65535}, {"key": "l", "value": null}], "a_repeated": [7, 8],
		"a_time": "01:02:03.004", "a_uuid": "MDEyMzQ1Njc4OWFiY2RlZg==", "an_instant": "1970-01-02 00:00:01.5",
		"groups": [{"name": null, "sizes": [-1, -2]}, {"name": "n", "sizes": []}]
	}`, `{
		"a_day": null, "a_decimal": "-123.45", "a_document": "e30=", "a_large": "-1", "a_huge": null,
		"a_list": null, "a_map": [], "a_repeated": [],
		"a_time": "01:02:03.004", "a_uuid": "MDEyMzQ1Njc4OWFiY2RlZg==", "an_instant": "1970-01-02 00:00:01.5", "groups": []
	}`} {
		var w map[string]any
		if err := json.Unmarshal([]byte(want), &w); err != nil {
			t.Fatal(err)
		}
		for name, v := range w {
			if !reflect.DeepEqual(got[i][name], v) {
				t.Errorf("row %d: %s is %v, want %v", i, name, got[i][name], v)
			}
		}
	}
}

// TestReaderDamage overwrites bytes of row groups one after the other: rows are those that were written, or there is an
// error. The reader of arrow v15 panics in goroutines of its own for some of them, which ends the process.
func TestReaderDamage(t *testing.T) {
	schema := sinktest.AllTypes()
	rec := sinktest.Random(memory.DefaultAllocator, schema, 60, 0, 1, sinktest.Shape{Nulls: 0.2, Empty: 0.1})
	defer rec.Release()
	want := sinktest.Rows(rec)
	step := 31
	if testing.Short() {
		step *= 7
	}
	for _, version := range []int{1, 2} {
		data := encodeFile(t, Options{PageVersion: version, PageRows: 20, RowGroupRows: 40, BloomFilters: []string{}}, schema, rec)
		footer := len(data) - 8 - int(binary.LittleEndian.Uint32(data[len(data)-8:]))
		found := 0
		for at := 4; at < footer; at += step {
			damaged := bytes.Clone(data)
			damaged[at] ^= 0x55
			rows, err := readRowsOf(damaged)
			if err != nil {
				found++
			} else if !reflect.DeepEqual(rows, want) {
				t.Fatalf("version %d: byte %d of %d is wrong, and so are the rows", version, at, footer)
			}
		}
		if found == 0 {
			t.Error("no damage was found")
		}
	}
	for _, cut := range []int{0, 4, 11, 100} {
		data := encodeFile(t, Options{}, schema, rec)
		if _, err := readRowsOf(data[:cut]); err == nil {
			t.Errorf("%d bytes are a file", cut)
		}
	}
}

func readRowsOf(data []byte) (rows []sinktest.Row, err error) {
	r, err := NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, sinktest.Rows(rec)...)
	}
}

// TestRecordsAreBounded: rows of a MiB come a few at a time, and small ones thousands.
func TestRecordsAreBounded(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	for _, c := range []struct{ rows, size, most int }{{40, 1 << 20, readBytes >> 20}, {20_000, 10, readRows}} {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		for range c.rows {
			b.Field(0).(*array.StringBuilder).Append(strings.Repeat("x", c.size))
		}
		data := encodeFile(t, Options{}, schema, b.NewRecord())
		r, err := NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		total, most := 0, 0
		if err := r.Each(t.Context(), func(rec arrow.Record) error {
			total, most = total+int(rec.NumRows()), max(most, int(rec.NumRows()))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if total != c.rows || most != c.most {
			t.Errorf("%d rows, at most %d in a record; want %d and %d", total, most, c.rows, c.most)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

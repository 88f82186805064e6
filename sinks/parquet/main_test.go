package parquet

import (
	"bytes"
	"io"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/urlmill/urlmill/internal/dev/leaktest"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var provenance = filesink.Provenance{
	Table: pipeline.Rows,
	Lane:  pipeline.LaneID{Stream: "clicks", Partition: 3},
	Span:  pipeline.Span{First: 10, Next: 99},
}

// encodeTo writes records to a file.
func encodeTo(w io.Writer, o Options, schema *arrow.Schema, recs ...arrow.Record) error {
	o = o.withDefaults()
	e, err := (&format{opts: &o}).NewEncoder(w, schema)
	if err != nil {
		return err
	}
	for _, r := range recs {
		if err := e.Write(r); err != nil {
			e.Discard()
			return err
		}
	}
	return e.Finish(provenance)
}

func encodeFile(t *testing.T, o Options, schema *arrow.Schema, recs ...arrow.Record) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := encodeTo(&buf, o, schema, recs...); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func openFile(t *testing.T, data []byte) *file.Reader {
	t.Helper()
	r, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

// decode reads a file with arrow's reader, and with ours, which finds the same rows.
func decode(t *testing.T, data []byte) []sinktest.Row {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Compression() == "lz4" {
		return readBack(t, data) // arrow v15 does not know LZ4_RAW; other libraries read it in internal/dev/itest
	}
	mem := memory.NewGoAllocator()
	fr, err := pqarrow.NewFileReader(openFile(t, data), pqarrow.ArrowReadProperties{}, mem)
	if err != nil {
		t.Fatal(err)
	}
	table, err := fr.ReadTable(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	tr := array.NewTableReader(table, 0)
	defer tr.Release()
	var rows []sinktest.Row
	for tr.Next() {
		rows = append(rows, sinktest.Rows(tr.Record())...)
	}
	compare(t, rows, readBack(t, data))
	return rows
}

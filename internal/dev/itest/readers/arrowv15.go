package readers

import (
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

// ArrowV15 reads a Parquet file with the reader of arrow v15.
func ArrowV15(tb testing.TB, path string) []Row {
	tb.Helper()
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		tb.Fatalf("arrow v15 cannot open %s: %v", path, err)
	}
	defer func() { _ = r.Close() }()
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		tb.Fatalf("arrow v15 cannot read %s: %v", path, err)
	}
	table, err := fr.ReadTable(tb.Context())
	if err != nil {
		tb.Fatalf("arrow v15 cannot read %s: %v", path, err)
	}
	defer table.Release()
	batches := array.NewTableReader(table, 0)
	defer batches.Release()
	var rows []sinktest.Row
	for batches.Next() {
		rows = append(rows, sinktest.Rows(batches.Record())...)
	}
	return Expected(rows)
}

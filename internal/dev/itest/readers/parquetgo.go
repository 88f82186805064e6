package readers

import (
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/parquet-go/parquet-go"
)

// Leaf is a column of a Parquet file as parquet-go reads it.
type Leaf struct {
	Values []parquet.Value // of all entries, nulls included, with their levels
	// PageStarts has the repetition level of the first entry of every page.
	PageStarts []int
	// Rows is the sum of the rows that page headers claim.
	Rows int64
}

// ParquetGo reads every page of every column of a file.
func ParquetGo(tb testing.TB, path string) map[string]*Leaf {
	tb.Helper()
	file, err := os.Open(path)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		tb.Fatal(err)
	}
	f, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		tb.Fatalf("parquet-go cannot open %s: %v", path, err)
	}
	leaves := map[string]*Leaf{}
	names := f.Schema().Columns()
	for _, group := range f.RowGroups() {
		for i, chunk := range group.ColumnChunks() {
			name := ""
			for _, part := range names[i] {
				name += "." + part
			}
			leaf := leaves[name[1:]]
			if leaf == nil {
				leaf = &Leaf{}
				leaves[name[1:]] = leaf
			}
			if err := leaf.read(chunk); err != nil {
				tb.Fatalf("parquet-go cannot read column %s of %s: %v", name[1:], path, err)
			}
		}
	}
	return leaves
}

// read adds the entries of a chunk.
func (l *Leaf) read(chunk parquet.ColumnChunk) error {
	pages := chunk.Pages()
	defer func() { _ = pages.Close() }()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		l.Rows += page.NumRows()
		values := make([]parquet.Value, page.NumValues())
		n, err := page.Values().ReadValues(values)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		for _, v := range values[:n] {
			l.Values = append(l.Values, v.Clone())
		}
		if n > 0 {
			l.PageStarts = append(l.PageStarts, values[0].RepetitionLevel())
		}
		parquet.Release(page)
	}
}

// LeafValue returns a value of a leaf as text that compares with [LeafExpected]. It is nil for a null.
func LeafValue(v parquet.Value) any {
	switch {
	case v.IsNull():
		return nil
	case v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray:
		return string(v.ByteArray())
	case v.Kind() == parquet.Float:
		return float(float64(v.Float()))
	case v.Kind() == parquet.Double:
		return float(v.Double())
	case v.Kind() == parquet.Boolean:
		return v.Boolean()
	case v.Kind() == parquet.Int32:
		return int64(v.Int32())
	}
	return v.Int64()
}

// LeafExpected returns a value of sinktest as Parquet stores it: numbers by their bits, times as numbers.
func LeafExpected(dt arrow.DataType, v any) any {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case float64:
		return float(v)
	case uint64:
		if dt.ID() == arrow.UINT32 {
			return int64(int32(v))
		}
		return int64(v)
	case time.Time:
		switch t := dt.(type) {
		case *arrow.Date32Type:
			return v.Unix() / 86400
		case *arrow.TimestampType:
			if t.Unit == arrow.Millisecond {
				return v.UnixMilli()
			}
			return v.UnixMicro()
		}
	}
	return v
}

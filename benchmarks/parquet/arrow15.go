package main

import (
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

//go:generate sh -c "(echo '// Code generated from arrow15.go by go generate. DO NOT EDIT.'; echo; sed -e s,apache/arrow/go/v15,apache/arrow-go/v18, -e s/15/18/g -e '/go:generate/{N;d;}' arrow15.go) >v18/arrow18.go"

// arrow15 writes with the column writers of arrow v15, which are faster than its pqarrow. Whole columns of a row group
// are written one after the other from records that stay in memory. Pages are V2: with V1 lists take forever.
type arrow15 struct {
	schema  *arrow.Schema
	records []arrow.Record
	root    *schema.GroupNode

	bytes    []parquet.ByteArray
	def, rep []int16
}

// unique are columns whose values hardly repeat: a dictionary of theirs would be given up in the end, which costs time.
var unique = []string{"href", "path", "query", "params.list.element.value", "fragment", "offset", "timestamp", "key"}

func newArrow15(s *arrow.Schema, records []arrow.Record) (*arrow15, error) {
	var fields schema.FieldList
	for _, f := range s.Fields() {
		n, err := node15(f.Name, f)
		if err != nil {
			return nil, err
		}
		fields = append(fields, n)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	return &arrow15{schema: s, records: records, root: root}, err
}

func node15(name string, f arrow.Field) (schema.Node, error) {
	rep := parquet.Repetitions.Required
	if f.Nullable {
		rep = parquet.Repetitions.Optional
	}
	var none schema.LogicalType = schema.NoLogicalType{}
	switch dt := f.Type.(type) {
	case *arrow.StringType:
		return schema.NewPrimitiveNodeLogical(name, rep, schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1)
	case *arrow.BinaryType:
		return schema.NewPrimitiveNodeLogical(name, rep, none, parquet.Types.ByteArray, -1, -1)
	case *arrow.BooleanType:
		return schema.NewPrimitiveNodeLogical(name, rep, none, parquet.Types.Boolean, -1, -1)
	case *arrow.Int32Type:
		return schema.NewPrimitiveNodeLogical(name, rep, none, parquet.Types.Int32, -1, -1)
	case *arrow.Int64Type:
		return schema.NewPrimitiveNodeLogical(name, rep, none, parquet.Types.Int64, -1, -1)
	case *arrow.TimestampType:
		logical := schema.NewTimestampLogicalTypeForce(true, schema.TimeUnitMicros)
		return schema.NewPrimitiveNodeLogical(name, rep, logical, parquet.Types.Int64, -1, -1)
	case *arrow.ListType:
		elem, err := node15("element", dt.ElemField())
		if err != nil {
			return nil, err
		}
		return schema.ListOfWithName(name, elem, rep, -1)
	case *arrow.StructType:
		var fields schema.FieldList
		for _, child := range dt.Fields() {
			n, err := node15(child.Name, child)
			if err != nil {
				return nil, err
			}
			fields = append(fields, n)
		}
		return schema.NewGroupNode(name, rep, fields, -1)
	}
	return nil, fmt.Errorf("column %s: no type for %s", f.Name, f.Type)
}

func (e *arrow15) encode(w io.Writer, codec string) error {
	props := []parquet.WriterProperty{
		parquet.WithVersion(parquet.V2_LATEST), parquet.WithDataPageVersion(parquet.DataPageV2),
		parquet.WithCompression(map[string]compress.Compression{
			"none": compress.Codecs.Uncompressed, "snappy": compress.Codecs.Snappy, "zstd": compress.Codecs.Zstd,
		}[codec]),
		parquet.WithCompressionLevel(1), parquet.WithBatchSize(math.MaxInt64 / 2),
	}
	for _, name := range unique {
		props = append(props, parquet.WithDictionaryFor(name, false))
	}
	fw := file.NewParquetWriter(w, e.root, file.WithWriterProps(parquet.NewWriterProperties(props...)))
	for from := 0; from < len(e.records); from += groupRows / batchRows {
		group := e.records[from:min(len(e.records), from+groupRows/batchRows)]
		rg := fw.AppendRowGroup()
		for i := range e.schema.Fields() {
			if err := e.column(rg, group, i); err != nil {
				return err
			}
		}
		if err := rg.Close(); err != nil {
			return err
		}
	}
	return fw.Close()
}

// column writes a column of a row group, which has one leaf, or two if it is a list of pairs.
func (e *arrow15) column(rg file.SerialRowGroupWriter, group []arrow.Record, i int) error {
	leaves := 1
	if _, ok := e.schema.Field(i).Type.(*arrow.ListType); ok {
		leaves = 2
	}
	for leaf := range leaves {
		cw, err := rg.NextColumn()
		if err != nil {
			return err
		}
		for _, r := range group {
			if leaves == 2 {
				err = e.pairs(cw, r.Column(i).(*array.List), leaf)
			} else {
				err = e.flat(cw, r.Column(i), e.schema.Field(i).Nullable)
			}
			if err != nil {
				return err
			}
		}
		if err := cw.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (e *arrow15) pairs(cw file.ColumnChunkWriter, list *array.List, leaf int) error {
	e.def, e.rep = e.def[:0], e.rep[:0]
	for i := range list.Len() {
		start, end := list.ValueOffsets(i)
		switch {
		case list.IsNull(i):
			e.def, e.rep = append(e.def, 0), append(e.rep, 0)
		case start == end:
			e.def, e.rep = append(e.def, 1), append(e.rep, 0)
		default:
			rep := int16(0)
			for range end - start {
				e.def, e.rep = append(e.def, 2), append(e.rep, rep)
				rep = 1
			}
		}
	}
	e.texts(list.ListValues().(*array.Struct).Field(leaf))
	_, err := cw.(*file.ByteArrayColumnChunkWriter).WriteBatch(e.bytes, e.def, e.rep)
	return err
}

// texts collects what is not null.
func (e *arrow15) texts(a arrow.Array) {
	e.bytes = e.bytes[:0]
	var offsets []int32
	var data []byte
	switch a := a.(type) {
	case *array.String:
		offsets, data = a.ValueOffsets(), a.Data().Buffers()[2].Bytes()
	case *array.Binary:
		offsets, data = a.ValueOffsets(), a.Data().Buffers()[2].Bytes()
	}
	for i := range a.Len() {
		if a.IsValid(i) {
			e.bytes = append(e.bytes, data[offsets[i]:offsets[i+1]])
		}
	}
}

func (e *arrow15) flat(cw file.ColumnChunkWriter, a arrow.Array, nullable bool) error {
	var def []int16
	if nullable {
		e.def = e.def[:0]
		for i := range a.Len() {
			level := int16(1)
			if a.IsNull(i) {
				level = 0
			}
			e.def = append(e.def, level)
		}
		def = e.def
	}
	var err error
	switch cw := cw.(type) {
	case *file.ByteArrayColumnChunkWriter:
		if a.NullN() == a.Len() {
			_, err = cw.WriteBatch(nil, def, nil)
			break
		}
		e.texts(a)
		_, err = cw.WriteBatch(e.bytes, def, nil)
	case *file.Int32ColumnChunkWriter:
		_, err = cw.WriteBatch(present15(a, a.(*array.Int32).Int32Values()), def, nil)
	case *file.Int64ColumnChunkWriter:
		values := arrow.Int64Traits.CastFromBytes(a.Data().Buffers()[1].Bytes())
		_, err = cw.WriteBatch(present15(a, values[:a.Len()]), def, nil)
	case *file.BooleanColumnChunkWriter:
		values := make([]bool, 0, a.Len())
		for i := range a.Len() {
			values = append(values, a.(*array.Boolean).Value(i))
		}
		_, err = cw.WriteBatch(present15(a, values), def, nil)
	default:
		err = fmt.Errorf("no writer for %T", cw)
	}
	return err
}

// present15 returns the values that are not null.
func present15[T any](a arrow.Array, values []T) []T {
	if a.NullN() == 0 {
		return values
	}
	var out []T
	for i, v := range values {
		if a.IsValid(i) {
			out = append(out, v)
		}
	}
	return out
}

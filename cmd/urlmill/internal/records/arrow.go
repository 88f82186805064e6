package records

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/pqfile"
)

// arrowFile reads an IPC file.
type arrowFile struct {
	projection
	r    *ipc.FileReader
	f    *os.File
	next int
}

func openArrow(f *os.File, o Options) (Reader, error) {
	r, err := ipc.NewFileReader(f)
	if err != nil {
		return nil, err
	}
	p, err := newProjection(r.Schema(), o.Columns)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &arrowFile{projection: p, r: r, f: f}, nil
}

func (a *arrowFile) Schema() *arrow.Schema { return a.schema }

func (a *arrowFile) Next() (arrow.Record, error) {
	if a.next == a.r.NumRecords() {
		return nil, io.EOF
	}
	r, err := a.r.Record(a.next) // the reader's until the next one
	if err != nil {
		return nil, err
	}
	a.next++
	return a.of(r), nil
}

func (a *arrowFile) Close() error {
	a.release()
	return errors.Join(a.r.Close(), a.f.Close())
}

// arrowStream reads an IPC stream.
type arrowStream struct {
	projection
	r *ipc.Reader
}

func openArrowStream(in io.Reader, o Options) (Reader, error) {
	r, err := ipc.NewReader(in)
	if err != nil {
		return nil, err
	}
	p, err := newProjection(r.Schema(), o.Columns)
	if err != nil {
		r.Release()
		return nil, err
	}
	return &arrowStream{projection: p, r: r}, nil
}

func (a *arrowStream) Schema() *arrow.Schema { return a.schema }

func (a *arrowStream) Next() (arrow.Record, error) {
	if !a.r.Next() {
		if err := a.r.Err(); err != nil {
			return nil, err
		}
		return nil, io.EOF
	}
	return a.of(a.r.Record()), nil
}

func (a *arrowStream) Close() error {
	a.release()
	a.r.Release()
	return nil
}

// parquetFile reads a Parquet file. Of a row group it holds the pages as they are in the file, and of its rows a batch.
type parquetFile struct {
	projection
	read *arrow.Schema // of the chosen columns in the order of the file
	r    *file.Reader
	now  arrow.Record
	rows pqarrow.RecordReader
}

func openParquet(ctx context.Context, f *os.File, o Options) (_ Reader, err error) {
	// Arrow's reader panics in goroutines of its own where a page does not decompress.
	if err := verify(f.Name(), o.MaxRows); err != nil {
		return nil, err
	}
	r, err := file.NewParquetReader(f)
	if err != nil {
		return nil, err
	}
	fr, err := pqarrow.NewFileReader(r, pqarrow.ArrowReadProperties{BatchSize: o.BatchRows}, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	schema, err := fr.Schema()
	if err != nil {
		return nil, err
	}
	schema = restored(schema, r)
	p, err := newProjection(schema, o.Columns)
	if err != nil {
		return nil, err
	}
	var leaves []int
	var read []arrow.Field
	for i := range fr.Manifest.Fields {
		if p.has(i) {
			leaves = appendLeaves(leaves, &fr.Manifest.Fields[i])
			read = append(read, schema.Field(i))
		}
	}
	// The record reader has the chosen columns in the order of the file.
	md := schema.Metadata()
	if p, err = newProjection(arrow.NewSchema(read, &md), o.Columns); err != nil {
		return nil, err
	}
	out := &parquetFile{projection: p, read: arrow.NewSchema(read, &md), r: r}
	if r.NumRows() == 0 { // the record reader has no schema for no rows
		return out, nil
	}
	out.rows, err = fr.GetRecordReader(ctx, leaves, nil)
	return out, err
}

func verify(name string, rows int64) error {
	f, err := pqfile.Open(name)
	if err != nil {
		return err
	}
	if rows == 0 {
		rows = -1
	}
	return errors.Join(f.Verify(rows), f.Close())
}

func appendLeaves(leaves []int, f *pqarrow.SchemaField) []int {
	if len(f.Children) == 0 { // IsLeaf takes lists for leaves
		return append(leaves, f.ColIndex)
	}
	for i := range f.Children {
		leaves = appendLeaves(leaves, &f.Children[i])
	}
	return leaves
}

func (p *parquetFile) Schema() *arrow.Schema { return p.schema }

func (p *parquetFile) Next() (arrow.Record, error) {
	if p.rows == nil {
		return nil, io.EOF
	}
	for p.rows.Next() {
		if r := p.rows.Record(); r.NumRows() > 0 {
			p.drop()
			p.now = retyped(r, p.read)
			return p.of(p.now), nil
		}
	}
	if err := p.rows.Err(); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return nil, io.EOF
}

func (p *parquetFile) drop() {
	p.release()
	if p.now != nil {
		p.now.Release()
		p.now = nil
	}
}

func (p *parquetFile) Close() error {
	p.drop()
	if p.rows != nil {
		p.rows.Release()
	}
	return p.r.Close() // closes the file
}

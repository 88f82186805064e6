package records

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/pqfile"
	"github.com/urlmill/urlmill/sinks/parquet"
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

// parquetFile reads a Parquet file, one row group at a time. (pqarrow's RecordReader panics where a batch
// ends within a page of an INT64 column that has nulls and a delta encoding: its decoder forgets where it was, arrow v15.)
type parquetFile struct {
	projection
	ctx    context.Context // that of Open, for all that is read
	read   *arrow.Schema   // of the chosen columns in the order of the file
	leaves []int
	r      *file.Reader
	fr     *pqarrow.FileReader
	batch  int64
	next   int // row group
	table  arrow.Table
	rows   *array.TableReader // of the table
	now    arrow.Record
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
	schema = parquet.Restored(schema, r)
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
	md := parquet.Lasting(r, len(o.Columns) == 0)
	if p, err = newProjection(arrow.NewSchema(read, &md), o.Columns); err != nil {
		return nil, err
	}
	return &parquetFile{
		projection: p, ctx: ctx, read: arrow.NewSchema(read, &md), leaves: leaves, r: r, fr: fr, batch: o.BatchRows,
	}, nil
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
	for {
		p.drop()
		if p.rows != nil && p.rows.Next() {
			p.now = parquet.Retyped(p.rows.Record(), p.read)
			return p.of(p.now), nil
		}
		p.dropTable()
		if p.next == p.r.NumRowGroups() {
			return nil, io.EOF
		}
		var err error
		if p.table, err = p.fr.ReadRowGroups(p.ctx, p.leaves, []int{p.next}); err != nil {
			return nil, err
		}
		p.rows = array.NewTableReader(p.table, p.batch)
		p.next++
	}
}

// drop lets go of the last record.
func (p *parquetFile) drop() {
	p.release()
	if p.now != nil {
		p.now.Release()
		p.now = nil
	}
}

// dropTable lets go of the last row group.
func (p *parquetFile) dropTable() {
	if p.rows != nil {
		p.rows.Release()
		p.table.Release()
		p.rows, p.table = nil, nil
	}
}

func (p *parquetFile) Close() error {
	p.drop()
	p.dropTable()
	return p.r.Close() // closes the file
}

package records

import (
	"errors"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

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

// parquetFile reads a Parquet file.
type parquetFile struct {
	projection
	r *parquet.Reader
	f *os.File
}

func openParquet(f *os.File, o Options) (Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := parquet.NewReader(f, info.Size())
	if err != nil {
		return nil, err
	}
	chosen, err := newProjection(r.Schema(), o.Columns)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	// What is read has the chosen columns in the order of the file.
	r.Select(chosen.has)
	md := r.Lasting(len(o.Columns) == 0)
	p, err := newProjection(arrow.NewSchema(r.Schema().Fields(), &md), o.Columns)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &parquetFile{projection: p, r: r, f: f}, nil
}

func (p *parquetFile) Schema() *arrow.Schema { return p.schema }

func (p *parquetFile) Next() (arrow.Record, error) {
	r, err := p.r.Next()
	if err != nil {
		return nil, err
	}
	return p.of(r), nil
}

func (p *parquetFile) Close() error {
	p.release()
	return errors.Join(p.r.Close(), p.f.Close())
}

package convert

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/places"
)

// Format is a file format.
type Format string

// The formats.
const (
	Parquet     Format = "parquet"
	Arrow       Format = "arrow"        // IPC file
	ArrowStream Format = "arrow-stream" // IPC stream
	NDJSON      Format = "ndjson"
	CDXJ        Format = "cdxj" // lines of an index, which are written and not read
)

// Formats are the names of all formats.
var Formats = []string{string(Parquet), string(Arrow), string(ArrowStream), string(NDJSON)}

// ByName returns the format for the extension of a file name, and "" for one that is not known.
func ByName(name string) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".parquet", ".pq":
		return Parquet
	case ".arrow", ".feather", ".ipc":
		return Arrow
	case ".arrows":
		return ArrowStream
	case ".ndjson", ".jsonl":
		return NDJSON
	case ".cdxj":
		return CDXJ
	}
	return ""
}

// Reader hands out the rows of a table.
type Reader interface {
	// Schema returns that of all rows.
	Schema() *arrow.Schema
	// Next returns the next rows, which are valid until the next call, and io.EOF after the last.
	Next() (arrow.Record, error)
	// Close gives memory and files back. What Next has returned is not valid any more.
	Close() error
}

// Options says how a table is read.
type Options struct {
	// Format is found out from the first bytes if it is empty.
	Format Format
	// Stdin is what the name - reads. It can hold a stream, not a format with a footer.
	Stdin io.Reader
	// Columns are the columns to read, in their order, all if it is empty.
	Columns []string
	// BatchRows is the number of rows that are read at a time where the format does not say it, 8192 if 0.
	BatchRows int64
	// Schema is that of NDJSON. Without it, the file is read once for the types alone.
	Schema *arrow.Schema
	// File opens files, those of this machine if it is nil.
	File func(name string) (places.File, error)
}

const defaultBatchRows = 8192

// decoder is what reads a format.
type decoder struct {
	schema *arrow.Schema
	next   func() (arrow.Record, error) // as [Reader.Next]
	close  func() error
}

// Open opens a table.
func Open(name string, o Options) (Reader, error) {
	if o.BatchRows == 0 {
		o.BatchRows = defaultBatchRows
	}
	r, err := open(name, o)
	if err == nil {
		return r, nil
	}
	if sys := (*os.PathError)(nil); errors.As(err, &sys) {
		return nil, err // which has the name
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

func open(name string, o Options) (_ Reader, err error) {
	defer decodes(&err)
	if name == "-" {
		in := bufio.NewReaderSize(o.Stdin, 1<<16)
		if o.Format == "" {
			first, _ := in.Peek(len(arrowMagic))
			o.Format = byContent(first)
		}
		d, err := openStream(in, o)
		if err != nil {
			return nil, err
		}
		return newReader(name, d, o.Columns)
	}
	if o.File == nil {
		o.File = func(name string) (places.File, error) { return places.Places{}.OpenFile(context.Background(), name) }
	}
	f, err := o.File(name)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	if o.Format == "" {
		first := make([]byte, len(arrowMagic))
		n, err := f.ReadAt(first, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		o.Format = cmp.Or(byContent(first[:n]), ByName(name))
	}
	d, err := openFile(f, o)
	if err != nil {
		return nil, err
	}
	decoded := d.close
	d.close = func() error { return errors.Join(decoded(), f.Close()) }
	return newReader(name, d, o.Columns)
}

func openFile(f places.File, o Options) (d decoder, err error) {
	switch {
	case o.Format == Parquet:
		return openParquet(f, o.Columns)
	case o.Format == Arrow:
		return openArrow(f)
	case o.Format == NDJSON && o.Schema == nil:
		if o.Schema, err = inferSchema(f); err != nil {
			return d, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return d, err
		}
	}
	return openStream(bufio.NewReaderSize(f, 1<<20), o)
}

var (
	parquetMagic = []byte("PAR1")
	arrowMagic   = []byte("ARROW1")
	streamMagic  = []byte{0xff, 0xff, 0xff, 0xff} // every message of a stream begins with it
)

// byContent tells the format by the first bytes, "" if they are of none.
func byContent(first []byte) Format {
	switch {
	case bytes.HasPrefix(first, parquetMagic):
		return Parquet
	case bytes.HasPrefix(first, arrowMagic):
		return Arrow
	case bytes.HasPrefix(first, streamMagic):
		return ArrowStream
	case bytes.HasPrefix(bytes.TrimLeft(first, " \t\r\n"), []byte("{")):
		return NDJSON
	}
	return ""
}

// openStream opens a format that is read from its beginning to its end.
func openStream(in *bufio.Reader, o Options) (decoder, error) {
	switch o.Format {
	case ArrowStream:
		return openArrowStream(in)
	case NDJSON:
		if o.Schema == nil {
			return decoder{}, errors.New("the types of NDJSON are found out by reading it twice, which a stream does not allow; " +
				"give a file, or --schema FILE with a Parquet or Arrow file that has the columns")
		}
		return newNDJSON(in, o), nil
	case Parquet, Arrow:
		return decoder{}, fmt.Errorf("%s has its table of contents at the end and cannot be read from a stream; give a file", o.Format)
	}
	return decoder{}, fmt.Errorf("it is none of the formats %s; urlmill parse reads CSV and TSV", strings.Join(Formats, ", "))
}

// reader hands out the chosen columns of what a decoder reads, and adds the name of the file to errors.
type reader struct {
	projection
	decoder
	name string
}

// newReader returns a reader that closes d, which an error has closed.
func newReader(name string, d decoder, columns []string) (Reader, error) {
	p, err := newProjection(d.schema, columns)
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return &reader{p, d, name}, nil
}

func (r *reader) Schema() *arrow.Schema { return r.projection.schema }

func (r *reader) Next() (rec arrow.Record, err error) {
	defer func() {
		if err != nil && !errors.Is(err, io.EOF) {
			rec, err = nil, fmt.Errorf("%s: %w", r.name, err)
		}
	}()
	defer decodes(&err)
	if rec, err = r.next(); err != nil {
		return nil, err
	}
	return r.of(rec), nil
}

// decodes turns a panic of a decoder over a damaged file into an error.
func decodes(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("it cannot be decoded: %v", p)
	}
}

func (r *reader) Close() error {
	r.release()
	return r.close()
}

// projection picks columns.
type projection struct {
	schema  *arrow.Schema
	columns []int // nil for all
	current arrow.Record
}

func newProjection(s *arrow.Schema, names []string) (projection, error) {
	p := projection{schema: s}
	if len(names) == 0 {
		return p, nil
	}
	var fields []arrow.Field
	for _, name := range names {
		found := s.FieldIndices(name)
		if len(found) == 0 {
			var all []string
			for _, f := range s.Fields() {
				all = append(all, f.Name)
			}
			return p, fmt.Errorf("there is no column %q; there are %s", name, strings.Join(all, ", "))
		}
		p.columns, fields = append(p.columns, found[0]), append(fields, s.Field(found[0]))
	}
	md := s.Metadata()
	p.schema = arrow.NewSchema(fields, &md)
	return p, nil
}

// of returns the chosen columns of r, valid until the next call.
func (p *projection) of(r arrow.Record) arrow.Record {
	if p.columns == nil {
		return r
	}
	p.release()
	columns := make([]arrow.Array, len(p.columns))
	for i, c := range p.columns {
		columns[i] = r.Column(c)
	}
	p.current = array.NewRecord(p.schema, columns, r.NumRows())
	return p.current
}

func (p *projection) release() {
	if p.current != nil {
		p.current.Release()
		p.current = nil
	}
}

// has reports whether a column of the file is chosen.
func (p *projection) has(column int) bool {
	return p.columns == nil || slices.Contains(p.columns, column)
}

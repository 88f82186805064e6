package records

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// Format is a file format.
type Format string

// The formats.
const (
	Parquet     Format = "parquet"
	Arrow       Format = "arrow"        // IPC file
	ArrowStream Format = "arrow-stream" // IPC stream
	NDJSON      Format = "ndjson"
)

// Formats lists all formats.
func Formats() []Format { return []Format{Parquet, Arrow, ArrowStream, NDJSON} }

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
	}
	return ""
}

// Reader hands out the rows of a table.
type Reader interface {
	Schema() *arrow.Schema
	// Next returns the next rows, which are valid until the next call, and io.EOF after the last.
	Next() (arrow.Record, error)
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
}

const defaultBatchRows = 8192

// Open opens a table.
func Open(name string, o Options) (Reader, error) {
	if o.BatchRows == 0 {
		o.BatchRows = defaultBatchRows
	}
	r, err := open(name, o)
	if err != nil {
		if sys := (*os.PathError)(nil); errors.As(err, &sys) || strings.HasPrefix(err.Error(), name+": ") {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &named{Reader: r, name: name}, nil
}

func open(name string, o Options) (_ Reader, err error) {
	if name == "-" {
		in := bufio.NewReaderSize(o.Stdin, 1<<16)
		if o.Format == "" {
			first, _ := in.Peek(len(arrowMagic))
			o.Format = byContent(first)
		}
		return openStream(in, o)
	}
	f, err := os.Open(name)
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
		if o.Format = byContent(first[:n]); o.Format == "" {
			o.Format = ByName(name)
		}
	}
	switch o.Format {
	case Parquet:
		return openParquet(f, o)
	case Arrow:
		return openArrow(f, o)
	}
	if o.Format == NDJSON && o.Schema == nil {
		if o.Schema, err = inferSchema(f); err != nil {
			return nil, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
	}
	r, err := openStream(bufio.NewReaderSize(f, 1<<20), o)
	if err != nil {
		return nil, err
	}
	return &closing{r, f}, nil
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
func openStream(in *bufio.Reader, o Options) (Reader, error) {
	switch o.Format {
	case ArrowStream:
		return openArrowStream(in, o)
	case NDJSON:
		if o.Schema == nil {
			return nil, errors.New("the types of NDJSON are found out by reading it twice, which a stream does not allow; " +
				"give a file, or --schema FILE with a Parquet or Arrow file that has the columns")
		}
		return newNDJSON(in, o)
	case Parquet, Arrow:
		return nil, fmt.Errorf("%s has its table of contents at the end and cannot be read from a stream; give a file", o.Format)
	}
	return nil, fmt.Errorf("it is none of the formats %s", list(Formats()))
}

func list(formats []Format) string {
	var names []string
	for _, f := range formats {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// named adds the name of the file to errors.
type named struct {
	Reader
	name string
}

func (n *named) Next() (r arrow.Record, err error) {
	defer func() {
		// Damaged files make decoders panic.
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("%s: it cannot be decoded: %v", n.name, p)
		}
	}()
	if r, err = n.Reader.Next(); err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("%s: %w", n.name, err)
	}
	return r, err
}

// closing closes the file below a reader, too.
type closing struct {
	Reader
	file io.Closer
}

func (c *closing) Close() error { return errors.Join(c.Reader.Close(), c.file.Close()) }

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

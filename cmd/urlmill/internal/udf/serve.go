package udf

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/urlmill/urlmill/pipeline/processor"
)

// Formats are the formats that are spoken, by ClickHouse's names, the default first.
var Formats = []string{RowBinary, Native, ArrowStream, Arrow}

// Names of [Formats].
const (
	RowBinary   = "RowBinary"
	Native      = "Native"
	ArrowStream = "ArrowStream"
	Arrow       = "Arrow"
)

const (
	// readSize is what is read at once, and batchRows and batchBytes what rows are parsed together at most.
	readSize   = 256 << 10
	batchRows  = 64 << 10
	batchBytes = 16 << 20
	// MaxText is the longest URL in RowBinary, 64 MiB: a length above it is taken for a sign of another format.
	MaxText = 64 << 20
)

// Options say what ClickHouse was told of the function.
type Options struct {
	Format string
	// Columns are what is returned, in their order.
	Columns []string
	// Base says that there is a second argument, the base URL.
	Base bool
	// Nullable says that the arguments are Nullable(String). It is for RowBinary, where that is not said anywhere.
	Nullable bool
	// ChunkHeader is send_chunk_header: a line with the number of rows comes before every block.
	ChunkHeader bool
}

// Function is a function of ClickHouse.
type Function struct {
	opts      Options
	processor *processor.Processor
	columns   []column
}

// New returns the function. The error is about the options.
func New(o Options) (*Function, error) {
	po := processor.Options{URL: "url", Include: o.Columns, Carry: []string{}}
	if o.Base {
		po.Base = "base"
	}
	if len(o.Columns) == 0 {
		return nil, errors.New("a function has to return at least one column")
	}
	p, err := processor.New(po)
	if err != nil {
		return nil, err
	}
	f := &Function{opts: o, processor: p}
	for _, field := range p.URLSchema().Fields() {
		c, err := newColumn(field)
		if err != nil {
			return nil, err
		}
		f.columns = append(f.columns, c)
	}
	return f, nil
}

// Serve answers the blocks of r on w until r ends. An error is that of w, or says why r is not in the format.
func (f *Function) Serve(r io.Reader, w io.Writer) error {
	widen(r)
	widen(w)
	serve := f.serveArrow
	switch f.opts.Format {
	case RowBinary:
		serve = f.serveRows
	case Native:
		serve = f.serveNative
	}
	err := serve(r, w)
	if err != nil {
		return fmt.Errorf("udf: %s: %w", f.opts.Format, err)
	}
	return nil
}

// readHeader reads a chunk header. It returns io.EOF where r ends instead.
func readHeader(r *bufio.Reader) (rows uint64, err error) {
	line, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF) && len(line) == 0:
		return 0, io.EOF
	case errors.Is(err, io.EOF):
		return 0, io.ErrUnexpectedEOF
	case err == nil:
		if rows, err = strconv.ParseUint(string(line[:len(line)-1]), 10, 63); err == nil {
			return rows, nil
		}
	}
	return 0, fmt.Errorf("%.40q is no chunk header: set send_chunk_header to 1 in the function's definition, or leave --chunk-header out", line)
}

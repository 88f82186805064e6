package parquet

import (
	"bytes"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/urlmill/urlmill/sinks/internal/lanesink"
	"github.com/urlmill/urlmill/sinks/internal/rowbuf"
)

// encoder writes one file with the column writers of arrow. It collects a row group in a row buffer and writes it column
// by column.
//
// The package's documentation says why pages are cut here and not by arrow.
type encoder struct {
	opts   *Options
	pool   spares // where it goes when it is done, may be nil
	schema *arrow.Schema
	root   *schema.GroupNode
	rows   *rowbuf.Buffer
	leaves []*leaf
	vals   scratch

	// Of the current file.
	out    *shield
	fw     *file.Writer // nil before the first row group
	dict   []bool       // by leaf
	groups []groupCheck

	rawBytes, fileBytes int64 // of the row groups written, to estimate what is to come
}

// newEncoder returns an encoder that has yet to be started.
func newEncoder(s *arrow.Schema, opts *Options) (*encoder, error) {
	root, err := rootOf(s)
	if err != nil {
		return nil, err
	}
	rows, err := rowbuf.New(s)
	if err != nil {
		return nil, err
	}
	e := &encoder{opts: opts, schema: s, root: root, rows: rows}
	descr := schema.NewSchema(root)
	for _, c := range rows.Columns {
		e.leaves = append(e.leaves, leavesOf([]*rowbuf.Column{c})...)
	}
	if len(e.leaves) != descr.NumColumns() {
		return nil, fmt.Errorf("%d leaves for %d columns", len(e.leaves), descr.NumColumns())
	}
	for i, l := range e.leaves {
		d := descr.Column(i)
		l.name = d.Path()
		if d.MaxDefinitionLevel() != l.maxDef || d.MaxRepetitionLevel() != l.maxRep {
			return nil, fmt.Errorf("column %s: levels do not fit the schema", l.name)
		}
	}
	return e, nil
}

// start begins a file.
func (e *encoder) start(w io.Writer) error {
	e.rows.Reset()
	e.out, e.fw, e.groups = &shield{w: w}, nil, e.groups[:0]
	e.rawBytes, e.fileBytes = 0, 0
	return nil
}

func (e *encoder) pooled(p spares) { e.pool = p }

// Write implements [lanesink.Encoder].
func (e *encoder) Write(r arrow.Record) error {
	return e.rows.Fill(r, e.opts.RowGroupRows, e.opts.RowGroupBytes, e.writeGroup)
}

// Buffered implements [lanesink.Encoder]. It expects rows to compress like those before them.
func (e *encoder) Buffered() int64 {
	if e.rawBytes == 0 {
		return e.rows.Bytes() / 3 // clickstreams with zstd, as measured
	}
	return int64(float64(e.rows.Bytes()) * float64(e.fileBytes) / float64(e.rawBytes))
}

// Memory implements [lanesink.Encoder].
func (e *encoder) Memory() int64 { return e.rows.Capacity() }

// Flush implements [lanesink.Encoder].
func (e *encoder) Flush() error {
	if e.rows.Rows() == 0 {
		return nil
	}
	err := e.writeGroup()
	e.rows.Free()
	return err
}

// Discard implements [lanesink.Encoder]. The memory goes to the next encoder, unless a few exceptional rows
// have made it much larger than is usually needed.
func (e *encoder) Discard() {
	e.out, e.fw = nil, nil
	if e.rows.Capacity() <= 2*e.opts.RowGroupBytes {
		e.pool.put(e)
	}
}

// writeGroup writes the buffered rows as a row group.
func (e *encoder) writeGroup() (err error) {
	defer recovered(&err)
	if e.fw == nil {
		e.open()
	}
	before := e.out.n
	rg := e.fw.AppendRowGroup()
	check := groupCheck{rows: int64(e.rows.Rows())}
	for i, l := range e.leaves {
		l.entries = 0
		cw, err := rg.NextColumn()
		if err != nil {
			return err
		}
		if err := e.writeChunk(cw, l, e.dict[i]); err != nil {
			return fmt.Errorf("column %s: %w", l.name, err)
		}
		if e.out.err != nil {
			return e.out.err
		}
		check.entries = append(check.entries, l.entries)
	}
	if err := rg.Close(); err != nil {
		return err
	}
	e.groups = append(e.groups, check)
	e.rawBytes += e.rows.Bytes()
	e.fileBytes += e.out.n - before
	e.rows.Reset()
	return e.out.err
}

// recovered turns a panic of arrow's encoders, which some of them use for errors, into an error.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("encoding Parquet: %v", p)
	}
}

// writeChunk writes the values of a leaf in pages of whole rows.
func (e *encoder) writeChunk(cw file.ColumnChunkWriter, l *leaf, dict bool) error {
	rows := e.rows.Rows()
	step := rows
	if !dict { // the pages of a dictionary hold indices, few bytes a row
		perRow := l.values().Bytes() / int64(rows)
		step = int(min(int64(rows), 1+e.opts.PageBytes/(1+perRow)))
	}
	flush := cw.(interface{ FlushCurrentPage() error })
	for from := 0; from < rows; from += step {
		if err := l.shred(from, min(rows, from+step)); err != nil {
			return err
		}
		if err := e.vals.writeValues(cw, l); err != nil {
			return err
		}
		if err := flush.FlushCurrentPage(); err != nil {
			return err
		}
	}
	return nil
}

// open starts the file, when the first row group is there to decide on dictionaries.
func (e *encoder) open() {
	props := []parquet.WriterProperty{
		parquet.WithAllocator(e.opts.mem),
		parquet.WithVersion(parquet.V2_LATEST),
		parquet.WithDataPageVersion(parquet.DataPageV2),
		parquet.WithCreatedBy(e.opts.createdBy()),
		parquet.WithCompression(codecs[e.opts.Compression].codec),
		parquet.WithCompressionLevel(e.opts.CompressionLevel),
		parquet.WithDictionaryDefault(false),
		// Pages and dictionaries end where writeChunk says.
		parquet.WithDataPageSize(math.MaxInt64),
		parquet.WithDictionaryPageSizeLimit(math.MaxInt64),
		parquet.WithBatchSize(math.MaxInt64 / 2),
	}
	e.dict = e.dict[:0]
	for _, l := range e.leaves {
		dict := wantsDictionary(l.values())
		e.dict = append(e.dict, dict)
		props = append(props, parquet.WithDictionaryFor(l.name, dict))
	}
	e.fw = file.NewParquetWriter(e.out, e.root, file.WithWriterProps(parquet.NewWriterProperties(props...)))
}

// Finish implements [lanesink.Encoder].
func (e *encoder) Finish(p lanesink.Provenance) (err error) {
	defer e.Discard()
	defer recovered(&err)
	if e.rows.Rows() > 0 {
		if err := e.writeGroup(); err != nil {
			return err
		}
	}
	if e.fw == nil {
		e.open()
	}
	if err := e.describe(p); err != nil {
		return err
	}
	var footer bytes.Buffer
	e.out.footer = &footer
	if err := e.fw.Close(); err != nil {
		return err
	}
	e.out.footer = nil
	m, err := correctFooter(footer.Bytes(), e.groups)
	if err != nil {
		return err
	}
	return e.out.writeFooter(m)
}

// describe adds the key-value metadata.
func (e *encoder) describe(p lanesink.Provenance) error {
	kvs, err := metadataOf(e.schema, e.opts, p)
	if err != nil {
		return err
	}
	for _, kv := range kvs {
		if err := e.fw.AppendKeyValueMetadata(kv.Key, kv.Value); err != nil {
			return err
		}
	}
	return nil
}

package parquet

import (
	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/sinks/internal/filesink"
	"github.com/urlmill/urlmill/sinks/parquet/encode"
)

// encoder writes one file after the other, see package encode. It implements [filesink.Encoder].
type encoder struct {
	opts   *Options
	pool   spares // where it goes when it is done, may be nil
	schema *arrow.Schema
	w      rowWriter
}

func newEncoder(s *arrow.Schema, o *Options) (*encoder, error) {
	w, err := newWriter(s, o)
	if err != nil {
		return nil, err
	}
	return &encoder{opts: o, schema: s, w: w}, nil
}

func newWriter(s *arrow.Schema, o *Options) (rowWriter, error) {
	root, err := rootOf(s)
	if err != nil {
		return nil, err
	}
	w, err := encode.New(s, root, encode.Options{
		Codec: codecs[o.Compression].codec, Level: o.CompressionLevel,
		PageBytes: int(o.PageBytes), PageRows: o.PageRows,
		RowGroupBytes: o.RowGroupBytes, RowGroupRows: o.RowGroupRows,
		V2: o.PageVersion == 2, Plain: o.Encodings == EncodingsPlain,
		Bloom: o.BloomFilters, Sorted: "offset", SortedBy: o.SortBy, CreatedBy: o.createdBy(),
	})
	if err != nil || len(o.SortBy) == 0 {
		return w, err
	}
	return newSorter(w, s, o)
}

func (e *encoder) Write(r arrow.Record) error { return e.w.Write(r) }

func (e *encoder) Buffered() int64 { return e.w.Pending() }

// Memory returns the bytes of memory held.
func (e *encoder) Memory() int64 { return e.w.Memory() }

// Flush ends the row group.
func (e *encoder) Flush() error { return e.w.Flush() }

func (e *encoder) Finish(p filesink.Provenance) error {
	defer e.Discard()
	kvs, err := metadataOf(e.schema, e.opts, p)
	if err != nil {
		return err
	}
	return e.w.Close(kvs)
}

func (e *encoder) Discard() {
	e.w.Discard()
	e.pool.put(e)
}

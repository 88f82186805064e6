package parquet

import (
	"cmp"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
	"github.com/urlmill/urlmill/sinks/parquet/encode"
)

// Files are the options that all sinks have that write files.
type Files = filesink.Files

// Options says where and how files are written. Zero values stand for the defaults.
type Options struct {
	Files
	// Path is the output directory. Its parent has to be there.
	Path string
	// Compression is one of none, snappy, lz4 (LZ4_RAW), gzip and zstd. Default zstd.
	Compression string
	// CompressionLevel is 1 to 22 for zstd, 1 to 9 for gzip; the others have none. Default 1 for zstd and 6
	// for gzip.
	CompressionLevel int
	// RowGroupRows bounds the rows of a row group. Default 131,072.
	RowGroupRows int
	// RowGroupBytes bounds the bytes of a row group before encoding, which is also about the memory that
	// each lane needs. Default 64 MiB, at most 512 MiB.
	RowGroupBytes int64
	// PageBytes is the size of a page before compression. Default 2 MiB.
	PageBytes int64
	// PageRows bounds the rows of a page. Default 32,768.
	PageRows int
	// PageVersion is that of data pages, 1 or 2. Default 1, which every reader knows.
	PageVersion int
	// Encodings is all, or plain for readers that do not know the delta encodings. Default all.
	Encodings string
	// BloomFilters are the columns with a bloom filter, by their paths with dots, or [NoBloomFilters] alone. Nil stands for those
	// of [DefaultBloomFilters] that are there.
	BloomFilters []string
	// SortBy are columns by which the rows of each row group are sorted, ascending, nulls last. Those that are equal in all
	// of them stay in their order.
	SortBy []string
	// Version is urlmill's version, for the metadata of the files. Default "devel".
	Version string
	// Follower makes what is committed known elsewhere, such as in an Iceberg table. It needs exactly_once.
	Follower filesink.Follower

	tables []TableKind // that a configuration may have
	table  *tableOf    // that it has, nil for none
}

const (
	defaultCompression  = "zstd"
	defaultLevel        = 1
	defaultPageVersion  = 1
	defaultRowGroupRows = 128 << 10
	defaultRowGroup     = 64 << 20
	maxRowGroup         = 512 << 20
	defaultPage         = 2 << 20
	defaultPageRows     = 32 << 10
	maxRowGroupRows     = 1 << 28
	maxLevel            = 22 // of any compression
)

// DefaultBloomFilters are the columns that get a bloom filter: what is looked for by value, in files that are not sorted by it.
var DefaultBloomFilters = []string{"host", "registrable_domain", "url_key"}

// NoBloomFilters stands for no column in [Options.BloomFilters].
const NoBloomFilters = "none"

// Sets of encodings.
const (
	EncodingsAll   = "all"
	EncodingsPlain = "plain"
)

// codecs are the supported compressions.
var codecs = map[string]struct {
	codec                  encode.Codec
	minLevel, maxLevel, or int
}{
	"none":   {encode.None, 0, 0, 0},
	"snappy": {encode.Snappy, 0, 0, 0},
	"lz4":    {encode.LZ4, 0, 0, 0},
	"gzip":   {encode.Gzip, 1, 9, 6},
	"zstd":   {encode.Zstd, 1, maxLevel, defaultLevel},
}

func (o Options) withDefaults() Options {
	o.Compression = cmp.Or(o.Compression, defaultCompression)
	o.CompressionLevel = cmp.Or(o.CompressionLevel, codecs[o.Compression].or)
	o.RowGroupRows = cmp.Or(o.RowGroupRows, defaultRowGroupRows)
	o.RowGroupBytes = cmp.Or(o.RowGroupBytes, defaultRowGroup)
	o.PageBytes = cmp.Or(o.PageBytes, defaultPage)
	o.PageRows = cmp.Or(o.PageRows, defaultPageRows)
	o.PageVersion = cmp.Or(o.PageVersion, defaultPageVersion)
	o.Encodings = cmp.Or(o.Encodings, EncodingsAll)
	if o.BloomFilters == nil {
		o.BloomFilters = DefaultBloomFilters
	} else if o.noBloomFilters() {
		o.BloomFilters = []string{} // nil would be the default again
	}
	o.Version = cmp.Or(o.Version, "devel")
	o.Provenance.Urlmill = cmp.Or(o.Provenance.Urlmill, o.Version)
	return o
}

// CheckRows returns what is wrong with the options for rows of a schema, like Validate.
func (o Options) CheckRows(s *arrow.Schema) error {
	return errors.Join(o.Files.CheckRows(s), o.checkBloomFilters(s), o.checkSortBy(s), o.table.checkRows(s))
}

func (o Options) noBloomFilters() bool {
	return len(o.BloomFilters) == 1 && o.BloomFilters[0] == NoBloomFilters
}

func (o Options) checkBloomFilters(s *arrow.Schema) error {
	root, err := rootOf(s)
	if err != nil || slices.Contains(o.BloomFilters, NoBloomFilters) {
		return nil // the former is said elsewhere, and Validate speaks of columns beside the latter
	}
	descr := schema.NewSchema(root)
	var p pipeline.Problems
	for _, name := range o.BloomFilters {
		switch i := descr.ColumnIndexByName(name); {
		case i < 0:
			p.Add("bloom_filters", "there is no column %q", pipeline.Column(name)).Advise("give the path of a column, such as host or params.list.element.key")
		case descr.Column(i).PhysicalType() == parquet.Types.Boolean:
			p.Add("bloom_filters", "%s is a boolean, for which a filter is of no use", pipeline.Column(name)).Advise("take it out")
		}
	}
	return p.Err()
}

// Validate returns every problem, joined, each a [*pipeline.FieldError].
func (o Options) Validate() error {
	o = o.withDefaults()
	shared := o.shared(nil)
	var p pipeline.Problems
	p.Join(shared.Validate())
	p.Join(o.validateSortBy())
	p.Join(o.table.validate())
	if len(o.BloomFilters) > 1 && slices.Contains(o.BloomFilters, NoBloomFilters) {
		p.Add("bloom_filters", "%s stands beside columns", NoBloomFilters).Advise("keep one of them")
	}
	if c, ok := codecs[o.Compression]; !ok {
		p.Value("compression", o.Compression, "is not known").Advise("use none, snappy, lz4, gzip or zstd")
	} else if o.CompressionLevel < c.minLevel || o.CompressionLevel > c.maxLevel {
		if c.maxLevel == 0 {
			p.Add("compression_level", "%s has no levels", o.Compression).Advise("leave it out")
		} else {
			p.Value("compression_level", o.CompressionLevel, "is not a level of %s", o.Compression).Advise("use %d to %d", c.minLevel, c.maxLevel)
		}
	}
	if o.RowGroupRows < 1 || o.RowGroupRows > maxRowGroupRows {
		p.Value("row_group_rows", o.RowGroupRows, "is out of range").Advise("use 1 to %d", maxRowGroupRows)
	}
	if o.RowGroupBytes < 1 || o.RowGroupBytes > maxRowGroup {
		p.Value("row_group_bytes", o.RowGroupBytes, "is out of range").Advise("use 1 to %d", maxRowGroup)
	}
	if o.PageBytes < 1 || o.PageBytes > maxRowGroup {
		p.Value("page_bytes", o.PageBytes, "is out of range").Advise("use 1 to %d", maxRowGroup)
	}
	if o.PageRows < 1 || o.PageRows > maxRowGroupRows {
		p.Value("page_rows", o.PageRows, "is out of range").Advise("use 1 to %d", maxRowGroupRows)
	}
	if o.PageVersion != 1 && o.PageVersion != 2 {
		p.Value("page_version", o.PageVersion, "is not known").Advise("use 1 or 2")
	}
	if o.Encodings != EncodingsAll && o.Encodings != EncodingsPlain {
		p.Value("encodings", o.Encodings, "is not known").Advise("use all or plain")
	}
	return p.Err()
}

// createdBy has the form that readers take apart: some ignore statistics of a writer that they cannot tell.
func (o *Options) createdBy() string { return "urlmill version " + o.Version }

func (o *Options) shared(log *slog.Logger) filesink.Options {
	return filesink.Options{
		Path: o.Path, Files: o.Files, Format: &format{opts: o}, Log: log, Follower: o.Follower,
	}
}

// New returns the sink.
func New(opts Options, log *slog.Logger) (pipeline.Sink, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	return filesink.New(opts.shared(log)), nil
}

// format implements [filesink.Format].
type format struct {
	opts  *Options
	pools sync.Map // *arrow.Schema to spares
}

func (*format) Ext() string { return "parquet" }

func (f *format) Check(s *arrow.Schema) error {
	_, err := newEncoder(s, f.optionsOf(s))
	return err
}

// optionsOf returns the options for rows of a schema. Dead letters lack the columns that rows are sorted by, and are in the order in which
// they come; for rows, CheckRows has refused that.
func (f *format) optionsOf(s *arrow.Schema) *Options {
	if !slices.ContainsFunc(f.opts.SortBy, func(name string) bool { return !s.HasField(name) }) {
		return f.opts
	}
	o := *f.opts
	o.SortBy = nil
	return &o
}

// spares are encoders that are done, a few of them: with thousands of partitions, those of a commit would hold as much
// again as the open ones.
type spares chan *encoder

func newSpares() spares { return make(spares, 2*runtime.GOMAXPROCS(0)) }

// put keeps an encoder if there is a place for it. There is none in nil.
func (s spares) put(e *encoder) {
	select {
	case s <- e:
	default:
	}
}

// NewEncoder takes over the memory of an encoder that is done, if there is one.
func (f *format) NewEncoder(w io.Writer, s *arrow.Schema) (filesink.Encoder, error) {
	p, ok := f.pools.Load(s)
	if !ok {
		p, _ = f.pools.LoadOrStore(s, newSpares())
	}
	pool := p.(spares)
	select {
	case e := <-pool:
		return e, e.w.Reset(w)
	default:
	}
	e, err := newEncoder(s, f.optionsOf(s))
	if err != nil {
		return nil, err
	}
	e.pool = pool
	return e, e.w.Reset(w)
}

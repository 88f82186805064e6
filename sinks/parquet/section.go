package parquet

import (
	"errors"
	"log/slog"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
	"github.com/urlmill/urlmill/sinks/internal/partition"
)

// Kind returns the sink of Parquet files, which the tables can be made of. Dead letters go to folders, or else as letters says if
// it is not nil.
func Kind(letters *sinks.Letters, tables ...TableKind) sinks.Kind {
	return sinks.Kind{Name: "parquet", Doc: "Parquet files.", New: func() sinks.Options {
		o := Options{Files: filesink.FilesWith(letters), tables: tables}
		o.Delivery = commit.ExactlyOnce
		defaults := Options{}.withDefaults()
		o.Compression, o.CompressionLevel = defaults.Compression, defaults.CompressionLevel
		o.RowGroupRows, o.RowGroupBytes = defaults.RowGroupRows, defaults.RowGroupBytes
		o.PageVersion, o.Encodings = defaults.PageVersion, defaults.Encodings
		return &o
	}}
}

// Section implements [sinks.Options].
func (o *Options) Section() config.Section {
	shared := o.Files.Fields()
	return config.Section{
		Refused: map[string]string{"encoder": "encoder is gone: urlmill's own encoder writes all files; take the key out"},
		Aliases: filesink.Aliases(map[string]string{
			"row.group.size": "row_group_rows or row_group_bytes", "max.row.group.length": "row_group_rows", "rows.per.group": "row_group_rows",
			"block.size": "row_group_bytes", "parquet.block.size": "row_group_bytes", "row.group.size.bytes": "row_group_bytes",
			"codec": "compression", "compression.codec": "compression", "parquet.compression": "compression", "level": "compression_level",
			"data.page.version": "page_version", "bloom.filter.columns": "bloom_filters",
			"sorting.columns": "sort_by", "order.by": "sort_by", "sort": "sort_by", "cluster.by": "sort_by",
		}),
		Fields: slices.Concat([]config.Field{
			{Name: "path", Doc: "Folder, or s3://bucket/prefix or the like (docs/s3.md, docs/gcs.md, docs/azure.md), that the files appear in when they are complete.", Value: config.Text(&o.Path, "/var/lib/urlmill/clicks"), Example: "path: out"},
			shared[0],
			{Name: "compression", Doc: "How pages are compressed; lz4 is LZ4_RAW.", Value: config.Names(&o.Compression, "none", "snappy", "lz4", "gzip", "zstd")},
			{Name: "compression_level", Doc: "From fast to small; gzip has 1 to 9, zstd 1 to 22.", Value: config.Int(&o.CompressionLevel, 1, maxLevel)},
			{Name: "row_group_rows", Doc: "Rows of a row group, at most.", Value: config.Int(&o.RowGroupRows, 1, 16<<20)},
			{Name: "row_group_bytes", Doc: "Bytes of a row group in memory, at most.", Value: config.Size(&o.RowGroupBytes, 1<<10, maxRowGroup)},
			{Name: "page_version", Doc: "Version of data pages; some readers know 1 alone.", Value: config.Int(&o.PageVersion, 1, 2)},
			{Name: "encodings", Doc: "plain is for readers that do not know the delta encodings.", Value: config.Names(&o.Encodings, EncodingsAll, EncodingsPlain)},
			{Name: "bloom_filters", Doc: "Columns with bloom filters, or [none]. Not set: host, registrable_domain and url_key.", Value: config.Texts(&o.BloomFilters, "[host, registrable_domain], or [none]")},
		}, shared[1:], []config.Field{
			{Name: "sort_by", Doc: "Columns by which the rows of each row group are sorted, ascending, nulls last: queries for ranges of them read less, and files are smaller.", Value: config.Texts(&o.SortBy, "[registrable_domain, path]")},
		}, o.tableFields()),
		Check: func(c *config.Check) {
			if !c.Given("compression_level") && o.Compression != defaultCompression {
				o.CompressionLevel = 0 // the codec's own
			}
			o.checkTables(c)
		},
	}
}

// Asks implements [sinks.Options].
func (o *Options) Asks() sinks.Asks { return o.Files.Asks(o.Path) }

// Described implements [sinks.Queried].
func (o *Options) Described(rows *arrow.Schema) sinks.Described {
	keys, _ := partition.ParseAll(o.PartitionBy) // checked
	d := sinks.Described{Format: "parquet", Place: o.Path, Partitions: partition.Fields(keys, rows)}
	if o.table != nil {
		d.Table = o.table.options.TableName()
	}
	return d
}

// IntoFolder implements [sinks.Trial].
func (o *Options) IntoFolder(dir string) sinks.Options {
	c := *o
	c.table, c.Path = nil, c.Files.IntoFolder(dir)
	return &c
}

// InFolder implements [sinks.Movable].
func (o *Options) InFolder(path string) (sinks.Options, error) {
	c := *o
	c.Path = path
	err := c.CheckMovable()
	if o.table != nil {
		err = errors.Join(err, pipeline.FieldErrorf(o.table.kind.Name, "a table names the files, and would name files that are gone").Advise(
			"replace partitions of the table with what maintains it, such as INSERT OVERWRITE of Spark"))
	}
	return &c, err
}

// With implements [sinks.Options].
func (o *Options) With(e sinks.Env) sinks.Sink {
	c := configured{*o, e.Log}
	c.Version = e.Version
	c.Files.With(e)
	if o.table != nil {
		t := *o.table
		t.made = t.options.With(o.Path, o.PartitionBy, e.Log)
		c.table, c.Follower = &t, t.made
	}
	return c
}

// configured implements [sinks.Sink].
type configured struct {
	Options
	log *slog.Logger
}

// Open implements [sinks.Sink].
func (c configured) Open() (pipeline.Sink, error) {
	if err := c.Files.Open(); err != nil {
		return nil, err
	}
	return New(c.Options, c.log)
}

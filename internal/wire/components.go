// Package wire puts pipelines together. [Components] says which kinds of sources, codecs and sinks a binary has. Their sections make
// the root of the configuration, which is read into a [Config]. [Prepare] compares what the chosen components ask of each other and
// makes a [Job], and [Open] a [Session], which runs.
//
// The order is the same for every command: Load or Parse, Prepare, Open, Run. Nothing outside is touched before Open, but for the
// files that say what columns there are, so that lint and dry-run check what run does.
package wire

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/urlmill/urlmill/internal/objstore"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/arrowipc"
	"github.com/urlmill/urlmill/sinks/commit/verify"
	"github.com/urlmill/urlmill/sinks/compact"
	"github.com/urlmill/urlmill/sinks/database/clickhouse"
	"github.com/urlmill/urlmill/sinks/database/duckdb"
	"github.com/urlmill/urlmill/sinks/kafka"
	"github.com/urlmill/urlmill/sinks/ndjson"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/web"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/codec/accesslog"
	"github.com/urlmill/urlmill/sources/codec/avro"
	"github.com/urlmill/urlmill/sources/codec/delimited"
	parquetcodec "github.com/urlmill/urlmill/sources/codec/parquet"
	"github.com/urlmill/urlmill/sources/codec/schema"
	"github.com/urlmill/urlmill/sources/codec/warc"
	"github.com/urlmill/urlmill/sources/file"
	"github.com/urlmill/urlmill/sources/generate"
	kafkasource "github.com/urlmill/urlmill/sources/kafka"
)

// Components has the kinds of components of a binary. It is a value that main makes.
type Components struct {
	Sources []sources.Kind
	Codecs  []codec.Kind
	Sinks   []sinks.Kind

	// What there is one kind of is nil in a binary without it; see parts.
	dedupe  func() Dedupe
	tracing func() Tracing
	stores  map[string]func() Buckets // by the names of their parts
	inspect verify.TableReader
	kept    func(in io.ReaderAt, at pipeline.Kept) ([]pipeline.Kept, error)
	keep    compact.OpenTable
	tables  []parquet.TableKind
	buckets []objstore.Kind // whose objects the source of files reads

	has map[string]bool // the parts that are not left out, by their names
}

// Standard returns the components of the command urlmill: those that every binary has, and the heavy parts that the files
// with_*.go add and the tag core leaves out.
func Standard() Components { return newComponents(heavy) }

// Light returns the components that every binary has.
func Light() Components { return newComponents(nil) }

// newComponents returns the components with those parts. Parts are added in the order of their names, since the order of kinds is that
// of the reference. Kinds that take what a part may have added, tables or buckets, are made last.
func newComponents(parts map[string]func(*Components)) Components {
	r := Components{
		Codecs: []codec.Kind{
			codec.LinesKind, codec.NDJSONKind, accesslog.Kind, delimited.Kind, parquetcodec.Kind, avro.Kind, schema.JSONKind,
			warc.Kind, warc.WATKind, warc.CDXKind,
		},
		has: map[string]bool{}, stores: map[string]func() Buckets{},
	}
	letters := kafka.Letters
	r.Sinks = []sinks.Kind{arrowipc.Kind(&letters), ndjson.Kind(&letters), kafka.Kind, clickhouse.Kind, duckdb.Kind}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		r.has[name] = true
		parts[name](&r)
	}
	r.buckets = append(r.buckets, objstore.Kind{
		Scheme: web.Scheme, Plain: web.PlainScheme, Depth: 1, Name: "http", Doc: "How to reach the server of paths that are https://server/file.",
		New: func() objstore.Options { return web.NewReader() },
	})
	r.Sources = []sources.Kind{kafkasource.Kind, file.Kind(r.buckets...), generate.Kind}
	r.Sinks = append([]sinks.Kind{parquet.Kind(&letters, r.tables...)}, r.Sinks...)
	return r
}

// codec returns the codec of c: its own, or that of its source, or lines.
func (r Components) codec(c *Config) (codec.Factory, error) {
	options := c.Codec.Options
	if options == nil {
		asks, _ := c.source()
		if asks.Codec != nil {
			return asks.Codec, nil
		}
		options = codec.LinesKind.New()
	}
	return options.Factory()
}

// OpenTable is a [compact.OpenTable] of Iceberg tables. In a binary without them it is an error.
func (r Components) OpenTable(ctx context.Context, o compact.TableOptions) (compact.TableKeeper, error) {
	if r.keep == nil {
		return nil, errWithout("iceberg")
	}
	return r.keep(ctx, o)
}

// Kept returns the files of keys that one of them lists, as [verify.Options] has it; nil in a binary without dedupe.
func (r Components) Kept() func(in io.ReaderAt, at pipeline.Kept) ([]pipeline.Kept, error) {
	return r.kept
}

// InspectTable is a [verify.TableReader] of Iceberg tables. In a binary without them it is an error that there is one.
func (r Components) InspectTable(ctx context.Context, root store.Store) (*verify.TableState, error) {
	if r.inspect != nil {
		return r.inspect(ctx, root)
	}
	return lightInspect(ctx, root)
}

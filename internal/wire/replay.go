package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/file"
)

// Replay changes c so that it reads the dead letters in a folder of Parquet files instead of its source, with the codec of that. The
// error is a [*config.Error] where the configuration cannot have that.
//
// The positions of the output are those of the files, so that every dead letter is read once, whatever dies. The rows say that they
// come from where the dead letters do. Those that a replay makes carry a mark, and a replay with the same mark leaves them out:
// it would make the same of them again.
func (c *Config) Replay(folder string) error {
	problems := problems{c: c}
	asks, _ := c.source()
	out, sink := c.sink()
	if f, err := c.components.codec(c); err == nil {
		at := "source.codec." + c.Codec.Name
		if alone, ok := f.(codec.Alone); ok && alone.NotAlone() != "" {
			problems.add(at, "a dead letter cannot be read with %s: %s", at, alone.NotAlone())
		}
		if _, ok := f.(codec.Tables); ok {
			problems.add(at, "dead letters of %s are URLs without the rest of their rows; read the files again that they are from", at)
		}
	}
	if !out.Positions {
		problems.add(sink, "%s keeps no positions, so that every replay would deliver the dead letters once more; give a sink that has every record once, such as parquet with delivery: exactly_once", sink)
	}
	if err := c.Errors(problems.all); err != nil {
		return err
	}
	c.Admin = nil // the listener is that of the pipeline, which may be running
	c.Source = Chosen[sources.Options]{"file", &replayed{Options: file.Options{Paths: []string{folder}}, of: asks}}
	return nil
}

// replayed are the options of a source of dead letters.
type replayed struct {
	file.Options
	of sources.Asks // of the source that they are from
}

// Section implements [sources.Options]: nothing of it is in a configuration.
func (r *replayed) Section() config.Section { return config.Section{} }

// Asks implements [sources.Options].
func (r *replayed) Asks() sources.Asks {
	asks := r.Options.Asks()
	asks.Origin, asks.Cluster, asks.Codec = r.of.Origin, r.of.Cluster, r.of.Codec
	return asks
}

// replayMark returns what the dead letters of a replay are known by, "" for a run that is none. A newer version may make something else of
// them, as may another configuration.
func (j *Job) replayMark() string {
	if _, ok := j.config.Source.Options.(*replayed); !ok {
		return ""
	}
	return j.setting.Version + " " + j.config.Hash()
}

// records returns the factory that the source is opened with.
func (j *Job) records() codec.Factory {
	r, ok := j.config.Source.Options.(*replayed)
	if !ok {
		return j.codec
	}
	return letterFactory{j.codec, r.of.Origin, j.replayMark(), j.setting.Log}
}

// letterFactory implements [codec.Tables] for files of dead letters, whose records another codec decodes.
type letterFactory struct {
	codec.Factory
	origin sources.Origin
	mark   string
	log    *slog.Logger
}

// OpenTable implements [codec.Tables]. Records are as long as they were let in the first time.
func (f letterFactory) OpenTable(r io.ReaderAt, size int64, _ int) (codec.Table, error) {
	reader, err := parquet.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("it is no Parquet file that can be read: %w; \"urlmill parquet lines\" prints dead letters of other formats", err)
	}
	t := &letters{codec: f.New(), Reader: reader}
	t.resolver, _ = t.codec.(codec.Resolver)
	said := map[string]string{}
	for _, kv := range reader.Metadata() {
		said[kv.Key] = kv.Value
	}
	switch {
	case said[parquet.KeyTable] != pipeline.DeadLetters.String():
		return nil, errors.New("it has no dead letters of a run")
	case said[parquet.KeyMerged] != "":
		return nil, errors.New("a compaction has merged dead letters into it, and nobody knows which of them were replayed; " +
			"\"urlmill parquet lines\" prints them, for source.file")
	}
	if t.ended = said[parquet.KeyReplay] == f.mark; t.ended {
		f.log.Info("left out: dead letters that a replay with this configuration has made; change the configuration to have them read", "rows", reader.Rows())
	}
	return t, t.choose(f.origin)
}

// letterColumns are the columns of dead letters, with their types: those of all, and those that say where they came from.
var letterColumns = []struct {
	name string
	typ  arrow.Type
	of   []sources.Origin // nil: all
}{
	{"raw", arrow.BINARY, nil},
	{"url_error", arrow.STRING, nil},
	{"file", arrow.STRING, []sources.Origin{sources.Files}},
	{"record", arrow.INT64, []sources.Origin{sources.Files}},
	{"topic", arrow.STRING, []sources.Origin{sources.Topics}},
	{"partition", arrow.INT32, []sources.Origin{sources.Topics}},
	{"offset", arrow.INT64, []sources.Origin{sources.Topics}},
	{"timestamp", arrow.TIMESTAMP, []sources.Origin{sources.Topics}},
	{"key", arrow.BINARY, []sources.Origin{sources.Topics}},
	{"headers", arrow.LIST, []sources.Origin{sources.Topics}},
}

// choose has the columns read that dead letters of an origin have. The error says which one is not there.
func (t *letters) choose(origin sources.Origin) error {
	chosen := map[int]bool{}
	for _, c := range letterColumns {
		if c.of != nil && !slices.Contains(c.of, origin) {
			continue
		}
		i := t.Schema().FieldIndices(c.name)
		if len(i) != 1 || t.Schema().Field(i[0]).Type.ID() != c.typ || c.typ == arrow.LIST && !isHeaders(t.Schema().Field(i[0]).Type) {
			return fmt.Errorf("there is no column %q as dead letters of this configuration have; replay them with the one that made them", c.name)
		}
		chosen[i[0]] = true
	}
	t.Select(func(column int) bool { return chosen[column] })
	return nil
}

func isHeaders(t arrow.DataType) bool {
	list, ok := t.(*arrow.ListType)
	if !ok {
		return false
	}
	entry, ok := list.Elem().(*arrow.StructType)
	return ok && entry.NumFields() == 2 && entry.Field(0).Type.ID() == arrow.STRING && entry.Field(1).Type.ID() == arrow.BINARY
}

// letters implements [codec.Table].
type letters struct {
	*parquet.Reader
	codec    codec.Codec
	resolver codec.Resolver // nil for a codec that needs nothing from elsewhere
	ended    bool           // nothing more is read

	record arrow.Record // the last that was read, the reader's; nil before the first
	row    int          // the next of it
	cols   letterArrays
	origin pipeline.LaneID // of the row before
}

// letterArrays are the columns of a record, nil for those that are not chosen.
type letterArrays struct {
	raw, key     *array.Binary
	why, stream  *array.String
	position     *array.Int64
	partition    *array.Int32
	time         *array.Timestamp
	headers      *array.List
	headerKeys   *array.String
	headerValues *array.Binary
}

// Skip implements [codec.Table].
func (t *letters) Skip(to int64) error {
	for to > 0 {
		if err := t.fill(); err != nil {
			return noEOF(err)
		}
		n := min(to, t.record.NumRows()-int64(t.row))
		t.row += int(n)
		to -= n
	}
	return nil
}

// fill reads the next record if there is no row left of the last. The error is io.EOF after the last.
func (t *letters) fill() error {
	for t.record == nil || t.row == int(t.record.NumRows()) {
		var err error
		if t.record, err = t.Next(); err != nil {
			t.record = nil
			return err
		}
		t.row = 0
		c := &t.cols
		*c = letterArrays{
			raw: arrayOf[*array.Binary](t.record, "raw"), why: arrayOf[*array.String](t.record, "url_error"),
			stream:    cmp.Or(arrayOf[*array.String](t.record, "topic"), arrayOf[*array.String](t.record, "file")),
			position:  cmp.Or(arrayOf[*array.Int64](t.record, "offset"), arrayOf[*array.Int64](t.record, "record")),
			partition: arrayOf[*array.Int32](t.record, "partition"), time: arrayOf[*array.Timestamp](t.record, "timestamp"),
			key: arrayOf[*array.Binary](t.record, "key"), headers: arrayOf[*array.List](t.record, "headers"),
		}
		if c.headers != nil {
			entries := c.headers.ListValues().(*array.Struct)
			c.headerKeys, c.headerValues = entries.Field(0).(*array.String), entries.Field(1).(*array.Binary)
		}
	}
	return nil
}

// arrayOf returns a column of a record, nil if it has none of that name.
func arrayOf[A any](r arrow.Record, name string) (a A) {
	if i := r.Schema().FieldIndices(name); len(i) > 0 {
		a = r.Column(i[0]).(A)
	}
	return a
}

// Append implements [codec.Table]. The rows of b have one origin.
func (t *letters) Append(ctx context.Context, b *pipeline.Batch, at int64) (int64, error) {
	for begin := at; !t.ended && !b.Full() && at-begin < int64(b.MaxRows); at++ {
		err := t.fill()
		if errors.Is(err, io.EOF) {
			t.ended = true
			break
		}
		if err != nil {
			return at, err
		}
		if origin := t.cols.origin(t.row, t.origin); origin != t.origin {
			if b.Len() > 0 {
				break
			}
			t.origin = origin
		}
		if err := t.decode(ctx, b, at); err != nil {
			return at, err
		}
		t.row++
	}
	return at, nil
}

// decode adds the next row to b, if it has one.
func (t *letters) decode(ctx context.Context, b *pipeline.Batch, at int64) error {
	i, c, row := t.row, &t.cols, true
	raw := c.raw.Value(i)
	switch why := c.why.Value(i); {
	case why == pipeline.FaultCorrupt.String():
		codec.DecodeCorrupt(t.codec, b, raw)
	case c.raw.IsNull(i):
		t.codec.DecodeNull(b)
	case why == pipeline.FaultTooLarge.String(): // the rest is lost: what is left may look whole
		codec.DecodeCut(t.codec, b, raw)
	default:
		if t.resolver != nil && !t.resolver.Resolved(raw) {
			if err := t.resolver.Resolve(ctx, raw); err != nil {
				return &codec.UnresolvedError{Err: err}
			}
		}
		row = t.codec.Decode(b, raw)
	}
	if !row {
		return nil
	}
	b.Offsets = append(b.Offsets, at)
	if c.stream != nil {
		b.Origin, b.Origins = t.origin, append(b.Origins, c.position.Value(i))
	}
	if c.time != nil {
		b.Timestamps = append(b.Timestamps, int64(c.time.Value(i)))
		if c.key.IsNull(i) {
			b.Keys.AppendNull()
		} else {
			b.Keys.Append(c.key.Value(i))
		}
		c.appendHeaders(&b.Headers, i)
	}
	return nil
}

// origin returns where a row came from: last, if it is the same.
func (c *letterArrays) origin(row int, last pipeline.LaneID) pipeline.LaneID {
	if c.stream == nil {
		return last
	}
	if stream := c.stream.Value(row); stream != last.Stream {
		last.Stream = strings.Clone(stream) // the record's memory is used again
	}
	if c.partition != nil {
		last.Partition = c.partition.Value(row)
	}
	return last
}

func (c *letterArrays) appendHeaders(h *pipeline.Headers, row int) {
	from, to := c.headers.ValueOffsets(row)
	for e := int(from); e < int(to); e++ {
		h.Keys.Append([]byte(c.headerKeys.Value(e)))
		if c.headerValues.IsNull(e) {
			h.Values.AppendNull()
		} else {
			h.Values.Append(c.headerValues.Value(e))
		}
	}
	h.EndRow()
}

// noEOF makes of the end of a file, where it has to have more rows, the error that it is.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

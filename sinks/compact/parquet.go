package compact

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sinks/parquet/encode"
	"github.com/urlmill/urlmill/sinks/store"
)

// Keys of the metadata of files, see docs/files.md.
const (
	keyVersion   = "urlmill.version"
	keyStream    = "urlmill.stream"
	keyPartition = "urlmill.partition"
	keyFirst     = "urlmill.first"
	keyNext      = "urlmill.next"
	keyPositions = "urlmill.positions"
)

// Parquet merges Parquet files. Those that are in one file have the same columns, order and compression.
type Parquet struct {
	// Options are those of the new files. What of them has its zero value is as in the files that are merged, as far as
	// these tell it.
	Options parquet.Options
}

// Ext implements [Format].
func (p Parquet) Ext() string { return "parquet" }

// Merge implements [Format].
func (p Parquet) Merge(ctx context.Context, files []Input, w io.Writer) (taken int, rows int64, err error) {
	m := &merging{opts: p.Options, w: w}
	// Nothing is written where the first two cannot be in one file, as every compaction comes by them again.
	for i, f := range files[:min(2, len(files))] {
		var now kind
		if err := read(ctx, f, func(r *parquet.Reader) error { now = kindOf(r); return nil }); err != nil {
			return 0, 0, err
		}
		if i == 0 {
			m.kind = now
		} else if !now.equal(m.kind) {
			return 1, 0, nil
		}
	}
	for _, f := range files {
		fits, err := m.take(ctx, f)
		if err != nil {
			return 0, 0, err
		}
		if !fits {
			break
		}
	}
	kvs, err := m.provenance()
	if err != nil {
		return 0, 0, err
	}
	return len(m.files), m.rows, m.out.Close(kvs...)
}

// merging is one new file.
type merging struct {
	opts parquet.Options
	w    io.Writer

	kind
	out      *parquet.File
	files    []commit.Live
	metadata []encode.KeyValue // with all values of those that differ, a comma and a space between
	rows     int64
}

// kind is what files have in common that are in one.
type kind struct {
	schema      *arrow.Schema
	compression string
	sortBy      string // as in the metadata
}

func kindOf(r *parquet.Reader) kind { return kind{r.Schema(), r.Compression(), sortBy(r.Metadata())} }

func (k kind) equal(o kind) bool {
	return k.schema.Equal(o.schema) && k.compression == o.compression && k.sortBy == o.sortBy
}

// read opens a file for a while. Its own errors are of the kind [*InputError].
func read(ctx context.Context, f Input, do func(*parquet.Reader) error) (err error) {
	o, err := f.Open(ctx)
	if err != nil {
		return &InputError{f.Path(), err}
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	r, err := parquet.NewReader(unclosed{o}, o.Size())
	if err != nil {
		return &InputError{f.Path(), err}
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return do(r)
}

// take adds the rows of a file. It returns false for one that has to go into another file.
func (m *merging) take(ctx context.Context, f Input) (fits bool, err error) {
	err = read(ctx, f, func(r *parquet.Reader) error {
		if fits = kindOf(r).equal(m.kind); !fits {
			return nil
		}
		return m.add(ctx, f, r)
	})
	return fits, err
}

func (m *merging) add(ctx context.Context, f Input, r *parquet.Reader) error {
	if m.out == nil {
		if err := m.begin(r); err != nil {
			return err
		}
	}
	if r.Rows() != f.Rows {
		return &InputError{f.Path(), fmt.Errorf("it has %d rows, and %d were committed", r.Rows(), f.Rows)}
	}
	var writing error
	err := r.Each(ctx, func(rec arrow.Record) error {
		m.rows += rec.NumRows()
		writing = m.out.Write(rec)
		return writing
	})
	switch {
	case writing != nil:
		return writing
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &InputError{f.Path(), err}
	}
	if len(f.Positions) == 0 { // whoever wants them merged does not know
		f.Positions = positionsOf(r.Metadata())
	}
	m.files = append(m.files, f.Live)
	m.describe(r.Metadata())
	return nil
}

// unclosed is a file that its reader does not close.
type unclosed struct{ store.Object }

func (unclosed) Close() error { return nil }

// begin makes the new file like the first.
func (m *merging) begin(r *parquet.Reader) error {
	m.metadata = r.Metadata()
	o := m.opts
	if o.Compression == "" {
		o.Compression = m.compression
	}
	if m.sortBy != "" {
		if err := json.Unmarshal([]byte(m.sortBy), &o.SortBy); err != nil {
			return fmt.Errorf("metadata %s: %w", parquet.KeySortBy, err)
		}
	}
	var err error
	m.out, err = parquet.NewFile(m.w, m.schema, o)
	return err
}

// sortBy returns what a file says that it is sorted by.
func sortBy(kvs []encode.KeyValue) string {
	for _, kv := range kvs {
		if kv.Key == parquet.KeySortBy {
			return kv.Value
		}
	}
	return ""
}

// describe keeps the metadata of one more file.
func (m *merging) describe(kvs []encode.KeyValue) {
	for _, kv := range kvs {
		at := slices.IndexFunc(m.metadata, func(have encode.KeyValue) bool { return have.Key == kv.Key })
		switch {
		case at < 0:
			m.metadata = append(m.metadata, kv)
		case m.metadata[at].Value != kv.Value && !slices.Contains(strings.Split(m.metadata[at].Value, ", "), kv.Value) && !own(kv.Key):
			m.metadata[at].Value += ", " + kv.Value
		}
	}
}

// own reports whether a key is said of the new file anew.
func own(key string) bool {
	return slices.Contains([]string{keyVersion, keyStream, keyPartition, keyFirst, keyNext, keyPositions, parquet.KeyMerged, parquet.KeySortBy}, key)
}

// provenance returns the metadata of the new file: which rows are in it, and what the old ones said.
func (m *merging) provenance() ([]encode.KeyValue, error) {
	var kvs []encode.KeyValue
	for _, kv := range m.metadata {
		if !own(kv.Key) {
			kvs = append(kvs, kv)
		}
	}
	kvs = append(kvs, encode.KeyValue{Key: parquet.KeyMerged, Value: strconv.Itoa(len(m.files))})
	positions := Stretches(m.files)
	if len(positions) == 0 {
		return kvs, nil
	}
	text, err := json.Marshal(positions)
	if err != nil {
		return nil, err
	}
	if p := positions[0]; len(positions) == 1 {
		kvs = append(kvs,
			encode.KeyValue{Key: keyStream, Value: p.Stream},
			encode.KeyValue{Key: keyPartition, Value: strconv.Itoa(int(p.Partition))},
			encode.KeyValue{Key: keyFirst, Value: strconv.FormatInt(p.First, 10)},
			encode.KeyValue{Key: keyNext, Value: strconv.FormatInt(p.Next, 10)})
	}
	return append(kvs, encode.KeyValue{Key: keyPositions, Value: string(text)}), nil
}

// positionsOf returns what a file says of the positions that its rows are of, nil if it says nothing of them.
func positionsOf(kvs []encode.KeyValue) (all []commit.Stretch) {
	said := map[string]string{}
	for _, kv := range kvs {
		said[kv.Key] = kv.Value
	}
	if json.Unmarshal([]byte(said[keyPositions]), &all) == nil {
		return all
	}
	partition, err := strconv.ParseInt(said[keyPartition], 10, 32)
	first, err2 := strconv.ParseInt(said[keyFirst], 10, 64)
	next, err3 := strconv.ParseInt(said[keyNext], 10, 64)
	if errors.Join(err, err2, err3) != nil {
		return nil
	}
	lane := pipeline.LaneID{Stream: said[keyStream], Partition: int32(partition)}
	return []commit.Stretch{{Lane: commit.LaneName(lane), Stream: lane.Stream, Partition: lane.Partition, First: first, Next: next}}
}

package parquet

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/urlmill/urlmill/sinks/internal/filesink"
	"github.com/urlmill/urlmill/sinks/parquet/encode"
)

// Keys of the metadata that say how rows were made. They are true of the rows in whatever file they are.
const (
	keyConfig   = "urlmill.config"
	keyPSL      = "urlmill.psl"
	keyStandard = "urlmill.standard" // the state of the URL Standard
	keyUnicode  = "urlmill.unicode"  // the version of Unicode in domains
)

// Keys of the metadata by which files are told from each other: the table of the rows, [commit.Provenance.Replay], and, in a file
// that a compaction has made, of how many files.
const (
	KeyTable  = "urlmill.table"
	KeyReplay = "urlmill.replay"
	KeyMerged = "urlmill.merged"
)

// lastingKeys are those keys.
var lastingKeys = []string{keyConfig, keyPSL, keyStandard, keyUnicode}

// Lasting returns the metadata of the file that still holds for its rows when they are in another file: how they were made,
// and what others have noted. Without all of the columns, what others note of columns does not hold.
func (r *Reader) Lasting(allColumns bool) arrow.Metadata {
	var keys, values []string
	for _, kv := range r.Metadata() {
		switch key := kv.Key; {
		case strings.HasPrefix(key, "urlmill.") && !slices.Contains(lastingKeys, key):
			continue
		case !allColumns && slices.Contains(describeColumns, key):
			continue
		}
		keys, values = append(keys, kv.Key), append(values, kv.Value)
	}
	return arrow.NewMetadata(keys, values)
}

// describeColumns are keys under which pandas, Spark, Avro and Iceberg keep schemas of their own.
var describeColumns = []string{
	"pandas", "org.apache.spark.sql.parquet.row.metadata", "parquet.avro.schema", "iceberg.schema",
}

// metadataOf returns the key-value metadata of a file of a lane: what it holds and how it was made.
func metadataOf(s *arrow.Schema, o *Options, p filesink.Provenance) ([]encode.KeyValue, error) {
	kvs, err := describe(s, o)
	return append(kvs,
		encode.KeyValue{Key: KeyTable, Value: p.Table.String()},
		encode.KeyValue{Key: "urlmill.stream", Value: strings.ToValidUTF8(p.Lane.Stream, "\ufffd")},
		encode.KeyValue{Key: "urlmill.partition", Value: strconv.Itoa(int(p.Lane.Partition))},
		encode.KeyValue{Key: "urlmill.first", Value: strconv.FormatInt(p.Span.First, 10)},
		encode.KeyValue{Key: "urlmill.next", Value: strconv.FormatInt(p.Span.Next, 10)},
	), err
}

// describe returns the metadata that does not depend on a lane, in which that of the schema comes last.
func describe(s *arrow.Schema, o *Options) ([]encode.KeyValue, error) {
	arrowSchema, err := serialize(s)
	if err != nil {
		return nil, err
	}
	kvs := []encode.KeyValue{
		// Tells arrow's readers what the format's own types do not, such as the names of list elements.
		{Key: "ARROW:schema", Value: arrowSchema},
		{Key: "urlmill.version", Value: o.Version},
	}
	if len(o.SortBy) > 0 {
		kvs = append(kvs, encode.KeyValue{Key: KeySortBy, Value: sortedBy(o.SortBy)})
	}
	md, provenance := s.Metadata(), o.Provenance.Now()
	for _, kv := range []encode.KeyValue{
		{Key: keyConfig, Value: provenance.Config},
		{Key: keyPSL, Value: provenance.PSL},
		{Key: keyStandard, Value: provenance.Standard},
		{Key: keyUnicode, Value: provenance.Unicode},
		{Key: KeyReplay, Value: provenance.Replay},
	} {
		if kv.Value != "" && md.FindKey(kv.Key) < 0 {
			kvs = append(kvs, kv)
		}
	}
	for i, key := range md.Keys() {
		// Arrow files from here have the version in their schema, too.
		if !slices.ContainsFunc(kvs, func(kv encode.KeyValue) bool { return kv.Key == key }) {
			kvs = append(kvs, encode.KeyValue{Key: key, Value: md.Values()[i]})
		}
	}
	return kvs, nil
}

// serialize returns the schema as an Arrow IPC message in base64.
func serialize(s *arrow.Schema) (string, error) {
	var buf bytes.Buffer
	if err := ipc.NewWriter(&buf, ipc.WithSchema(s)).Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(buf.Bytes()), nil
}

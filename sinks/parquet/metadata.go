package parquet

import (
	"bytes"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"github.com/urlmill/urlmill/sinks/internal/lanesink"
	"github.com/urlmill/urlmill/sinks/parquet/encode"
)

// metadataOf returns the key-value metadata of a file of a lane: what it holds and how it was made.
func metadataOf(s *arrow.Schema, o *Options, p lanesink.Provenance) ([]encode.KeyValue, error) {
	kvs, err := describe(s, o)
	return append(kvs,
		encode.KeyValue{Key: "urlmill.table", Value: p.Table.String()},
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
		{Key: "urlmill.config", Value: provenance.Config},
		{Key: "urlmill.psl", Value: provenance.PSL},
	} {
		if kv.Value != "" && md.FindKey(kv.Key) < 0 {
			kvs = append(kvs, kv)
		}
	}
	for i, key := range md.Keys() {
		kvs = append(kvs, encode.KeyValue{Key: key, Value: md.Values()[i]})
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

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

// metadataOf returns the key-value metadata of a file: what it holds and how it was made.
func metadataOf(s *arrow.Schema, o *Options, p lanesink.Provenance) ([]encode.KeyValue, error) {
	arrowSchema, err := serialize(s)
	if err != nil {
		return nil, err
	}
	kvs := []encode.KeyValue{
		// Tells arrow's readers what the format's own types do not, such as the names of list elements.
		{Key: "ARROW:schema", Value: arrowSchema},
		{Key: "urlmill.version", Value: o.Version},
		{Key: "urlmill.table", Value: p.Table.String()},
		{Key: "urlmill.stream", Value: strings.ToValidUTF8(p.Lane.Stream, "\ufffd")},
		{Key: "urlmill.partition", Value: strconv.Itoa(int(p.Lane.Partition))},
		{Key: "urlmill.first", Value: strconv.FormatInt(p.Span.First, 10)},
		{Key: "urlmill.next", Value: strconv.FormatInt(p.Span.Next, 10)},
	}
	md := s.Metadata()
	add := func(key, value string) {
		if value != "" && md.FindKey(key) < 0 {
			kvs = append(kvs, encode.KeyValue{Key: key, Value: value})
		}
	}
	add("urlmill.config", o.Provenance.Config)
	add("urlmill.psl", o.Provenance.PSL)
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

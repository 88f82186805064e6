package kafka

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
)

// HeaderPrefix begins the headers that a dead letter has beside those of the record.
const HeaderPrefix = "urlmill."

// Values of the header urlmill.reason: what of the record is wrong.
const (
	ReasonRecord = "record"   // it could not be read, or taken apart
	ReasonBase   = "base-url" // its base URL is none
	ReasonURL    = "url"      // its URL is none
	ReasonField  = "field"    // a carried field is not of its type
)

// Stream is what the sinks that write files take for their dead letters.
type Stream = filesink.Stream

// DeadLetters produces a dead letter for each row: the record as it was received, with its key and its headers. What was
// wrong with it and where it came from are headers beside those: urlmill.reason, urlmill.error (as in the column
// url_error), urlmill.position (in bytes, where the error has one), and urlmill.topic, urlmill.partition, urlmill.offset,
// urlmill.timestamp (RFC 3339), or urlmill.file and urlmill.record. It implements [Stream].
type DeadLetters struct {
	out     *producer
	columns []deadColumn
}

// deadColumn is a column of the table of dead letters and what becomes of it.
type deadColumn struct {
	role   string // "raw", "key", "headers", "error"; a header otherwise
	header string
}

// NewDeadLetters returns the output. It connects to no broker before Start.
func NewDeadLetters(t Target, log *slog.Logger) (*DeadLetters, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	out, err := newProducer(t, log)
	return &DeadLetters{out: out}, err
}

// Start waits for the topic.
func (d *DeadLetters) Start(ctx context.Context, s *arrow.Schema) error {
	d.columns = nil
	for _, f := range s.Fields() {
		c := deadColumn{header: HeaderPrefix + f.Name}
		switch f.Name {
		case "raw", "key", "headers":
			c.role = f.Name
		case "url_error":
			c.role, c.header = "error", HeaderPrefix+"error"
		case "url_error_pos":
			c.header = HeaderPrefix + "position"
		}
		d.columns = append(d.columns, c)
	}
	return d.out.start(ctx)
}

// Write produces the dead letters of r and returns when they are acknowledged.
func (d *DeadLetters) Write(ctx context.Context, r arrow.Record) (int64, error) {
	messages := make([]message, r.NumRows())
	for i := range messages {
		m := &messages[i]
		for j, c := range d.columns {
			if err := d.add(m, c, r.Column(j), i); err != nil {
				return 0, err
			}
		}
	}
	n, _, err := d.out.send(ctx, messages)
	return n, err
}

// add adds value i of a column to a message. The memory of the column is not the message's.
func (d *DeadLetters) add(m *message, c deadColumn, column arrow.Array, i int) error {
	if column.IsNull(i) {
		return nil
	}
	switch c.role {
	case "raw":
		m.value = copied(column.(*array.Binary).Value(i))
		return nil
	case "key":
		m.key = copied(column.(*array.Binary).Value(i))
		return nil
	case "headers":
		m.headers = append(m.headers, headersOf(column.(*array.List), i)...)
		return nil
	}
	text, err := text(column, i)
	if err != nil {
		return fmt.Errorf("dead letters: %s: %w", c.header, err)
	}
	if c.role == "error" {
		m.headers = append(m.headers, kafkago.Header{Key: HeaderPrefix + "reason", Value: []byte(reason(text))})
	}
	m.headers = append(m.headers, kafkago.Header{Key: c.header, Value: []byte(text)})
	return nil
}

// copied is not nil for an empty value.
func copied(b []byte) []byte {
	if len(b) == 0 {
		return []byte{}
	}
	return bytes.Clone(b)
}

// headersOf returns the headers of the record in row i.
func headersOf(column *array.List, i int) []kafkago.Header {
	from, to := column.ValueOffsets(i)
	pairs := column.ListValues().(*array.Struct)
	names, values := pairs.Field(0).(*array.String), pairs.Field(1).(*array.Binary)
	var headers []kafkago.Header
	for j := int(from); j < int(to); j++ {
		h := kafkago.Header{Key: strings.Clone(names.Value(j))}
		if !values.IsNull(j) {
			h.Value = copied(values.Value(j))
		}
		headers = append(headers, h)
	}
	return headers
}

// text returns value i as it stands in a header.
func text(column arrow.Array, i int) (string, error) {
	switch a := column.(type) {
	case *array.String:
		return strings.Clone(a.Value(i)), nil
	case *array.Int32:
		return strconv.FormatInt(int64(a.Value(i)), 10), nil
	case *array.Int64:
		return strconv.FormatInt(a.Value(i), 10), nil
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return a.Value(i).ToTime(unit).UTC().Format(time.RFC3339Nano), nil
	}
	return "", fmt.Errorf("no text for a %s", column.DataType())
}

// reason tells what is wrong with a record by the name of its error.
func reason(name string) string {
	switch {
	case pipeline.KindOf(name) == pipeline.OfRecord:
		return ReasonRecord
	case pipeline.KindOf(name) == pipeline.OfField:
		return ReasonField
	case strings.HasPrefix(name, "base-"):
		return ReasonBase
	}
	return ReasonURL
}

// Commit has nothing to do: what was written is acknowledged.
func (d *DeadLetters) Commit() error { return nil }

// Close closes the connections.
func (d *DeadLetters) Close() error {
	d.out.close()
	return nil
}

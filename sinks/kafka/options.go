// Package kafka is the sink that produces to Kafka topics: rows as JSON objects, as Avro
// records by a schema registry or as Arrow IPC streams, and, for any other sink, dead letters.
//
// Delivery is at least once. What Write took is acknowledged by all in-sync replicas when it returns, so before the
// position of it is committed. A process that dies, or a lane that is lost, between the two has its successor produce the
// same records again; and so does a request that is tried again because its acknowledgement did not arrive, for kafka-go
// has neither producer ids for brokers to know such a request by, nor transactions.
//
// Records with a key go to the partition that Java's default partitioner chooses, so those of one key are in the order in
// which their lane wrote them, repetitions aside. Records without keys go to the partitions in turn, a batch at a time.
package kafka

import (
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/avrorow"
	"github.com/urlmill/urlmill/sinks/internal/lanesink"
)

// Formats of values.
const (
	// JSON is an object a row, as the sink ndjson writes it.
	JSON = "json"
	// Avro is a record a row, in Avro's binary encoding, behind the header of a schema registry that speaks Confluent's
	// protocol: a byte 0 and the id of the schema in four bytes, the highest first. The schema follows from the columns.
	Avro = "avro"
	// Arrow is an Arrow IPC stream a value, with its schema and as many rows of a batch as fit.
	Arrow = "arrow"
)

// Target is a topic to produce to. All but Brokers and Topic have defaults.
type Target struct {
	// Brokers are the addresses, host:port, to learn the cluster from.
	Brokers []string
	// Topic has to be there: it is not created.
	Topic string
	// ClientID is how the brokers' logs and quotas call this client. Default "urlmill".
	ClientID string
	TLS      kafkaconn.TLS
	SASL     kafkaconn.SASL
	// Compression is one of none, gzip, snappy, lz4 and zstd, the default.
	Compression string
	// MaxMessageBytes bounds a batch before compression, and a record with it: at most max.message.bytes of the
	// topic, less 1 KiB for what surrounds it. Default 1,000,000, which brokers take by default.
	MaxMessageBytes int
	// DialTimeout bounds connecting to a broker, with TLS handshake and login. Default 10 s.
	DialTimeout time.Duration
	// StartTimeout is how long a start waits for a broker and the topic, and then for a schema registry, and a run for a
	// topic that is gone. Default 30 s. Brokers that are down later are waited for as long as it takes.
	StartTimeout time.Duration
}

// Options describes the sink.
type Options struct {
	Target
	// Format of the rows: JSON, the default, Avro or Arrow.
	Format string
	// Avro is needed with that format.
	Avro *AvroOptions
	// Key is the column that records are keyed by, as text, bytes or a number in decimal; "" for none. It has to be
	// among the columns that are written: "key" is the key of the record that was read.
	Key string
	// DeadLetters is where dead letters go. It is needed only with that error policy.
	DeadLetters *Target
}

const (
	defaultMaxMessageBytes = 1_000_000
	leastMaxMessageBytes   = 16 << 10
	mostMaxMessageBytes    = 1 << 30
)

var compressions = map[string]kafkago.Compression{
	"none": 0, "gzip": kafkago.Gzip, "snappy": kafkago.Snappy, "lz4": kafkago.Lz4, "zstd": kafkago.Zstd,
}

func (t Target) withDefaults() Target {
	defaultTo(&t.ClientID, "urlmill")
	defaultTo(&t.Compression, "zstd")
	defaultTo(&t.MaxMessageBytes, defaultMaxMessageBytes)
	defaultTo(&t.DialTimeout, 10*time.Second)
	defaultTo(&t.StartTimeout, 30*time.Second)
	return t
}

func defaultTo[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

// Validate returns every problem, joined, each on a line that starts with the field's name and a colon.
func (t Target) Validate() error { return errors.Join(t.problems()...) }

func (t Target) problems() kafkaconn.Problems {
	t = t.withDefaults()
	var p kafkaconn.Problems
	p.Addresses("Brokers", t.Brokers)
	if !kafkaconn.IsTopic(t.Topic) {
		p.Add("Topic", "%q is no topic name: those have 1 to 249 of a-z A-Z 0-9 . _ -", t.Topic)
	}
	p.TLS(t.TLS)
	p.SASL(t.SASL)
	if _, ok := compressions[t.Compression]; !ok {
		p.Add("Compression", "%q is not known; use none, gzip, snappy, lz4 or zstd", t.Compression)
	}
	if t.MaxMessageBytes < leastMaxMessageBytes || t.MaxMessageBytes > mostMaxMessageBytes {
		p.Add("MaxMessageBytes", "%d is out of range; want 16 KiB to 1 GiB", t.MaxMessageBytes)
	}
	if t.DialTimeout < 0 {
		p.Add("DialTimeout", "%v is negative", t.DialTimeout)
	}
	if t.StartTimeout < 0 {
		p.Add("StartTimeout", "%v is negative", t.StartTimeout)
	}
	return p
}

// Validate returns every problem, joined, each on a line that starts with the field's name and a colon. Those of the
// target of the dead letters are not among them.
func (o Options) Validate() error {
	p := o.problems()
	if o.Format != "" && o.Format != JSON && o.Format != Avro && o.Format != Arrow {
		p.Add("Format", "%q is not known; use %s, %s or %s", o.Format, JSON, Avro, Arrow)
	}
	if o.Format == Avro {
		o.Avro.addProblems(&p)
	}
	if o.Format == Arrow && o.Key != "" {
		p.Add("Key", "a record holds many rows with the format %s, so there is no key for it; leave it out, or choose %s or %s", Arrow, JSON, Avro)
	}
	return errors.Join(p...)
}

// CheckRows returns what is wrong with the options for rows of a schema, like Validate.
func (o Options) CheckRows(schema *arrow.Schema) error {
	var p kafkaconn.Problems
	if o.Key != "" {
		if _, err := keyOf(schema, o.Key); err != nil {
			p.Add("Key", "%v", err)
		}
	}
	if o.Format == Avro && o.Avro != nil {
		if _, err := avrorow.New(schema, o.Avro.withDefaults().Record); err != nil {
			for line := range strings.Lines(err.Error()) {
				p.Add("Format", "%s", strings.TrimSuffix(line, "\n"))
			}
		}
	}
	return errors.Join(p...)
}

// New returns the sink.
func New(opts Options, log *slog.Logger) (pipeline.Sink, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	shared := lanesink.Options{Log: log}
	out, err := newProducer(opts.Target, log)
	if err != nil {
		return nil, err
	}
	switch opts.Format {
	case Arrow:
		shared.Stream = &arrowRows{out: out}
	case Avro:
		form, err := newAvroForm(*opts.Avro, opts.Target, log)
		if err != nil {
			return nil, err
		}
		shared.Stream = &rowRecords{out: out, form: form, keyName: opts.Key}
	default:
		shared.Stream = &rowRecords{out: out, form: &jsonForm{}, keyName: opts.Key}
	}
	if opts.DeadLetters != nil {
		dead, err := NewDeadLetters(*opts.DeadLetters, log)
		if err != nil {
			return nil, err
		}
		shared.DeadLetterStream = dead
	}
	return lanesink.New(shared), nil
}

// listed names things for a message.
func listed(names []string) string { return strings.Join(slices.Sorted(slices.Values(names)), ", ") }

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
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	kafkago "github.com/segmentio/kafka-go"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/internal/avrorow"
	"github.com/urlmill/urlmill/sinks/internal/filesink"
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
	d := DefaultTarget()
	defaultTo(&t.ClientID, d.ClientID)
	defaultTo(&t.Compression, d.Compression)
	defaultTo(&t.MaxMessageBytes, d.MaxMessageBytes)
	defaultTo(&t.DialTimeout, d.DialTimeout)
	defaultTo(&t.StartTimeout, d.StartTimeout)
	return t
}

func defaultTo[T comparable](v *T, value T) {
	var zero T
	if *v == zero {
		*v = value
	}
}

// Validate returns every problem, joined, each a [*pipeline.FieldError]. It does not look at the files of TLS.
func (t Target) Validate() error {
	t = t.withDefaults()
	var p pipeline.Problems
	p.Join(kafkaconn.CheckAddresses(t.Brokers))
	if !kafkaconn.IsTopic(t.Topic) {
		p.Value("topic", t.Topic, kafkaconn.NoTopic)
	}
	p.Join(t.TLS.Validate())
	p.Join(t.SASL.Validate())
	if _, ok := compressions[t.Compression]; !ok {
		p.Value("compression", t.Compression, "is not known").Advise("use none, gzip, snappy, lz4 or zstd")
	}
	if t.MaxMessageBytes < leastMaxMessageBytes || t.MaxMessageBytes > mostMaxMessageBytes {
		p.Value("max_message_bytes", t.MaxMessageBytes, "is out of range").Advise("use 16 KiB to 1 GiB")
	}
	if t.DialTimeout < 0 {
		p.Value("dial_timeout", t.DialTimeout, "is negative")
	}
	if t.StartTimeout < 0 {
		p.Value("start_timeout", t.StartTimeout, "is negative")
	}
	return p.Err()
}

// Keys of a configuration. deadLettersKey is that of [Options.DeadLetters].
const (
	brokersKey     = "brokers"
	topicKey       = "topic"
	avroKey        = "avro"
	deadLettersKey = "dead_letters.kafka"
)

// Validate returns every problem, joined, each a [*pipeline.FieldError]. It does not look at the files of TLS; [New] does.
func (o Options) Validate() error {
	var p pipeline.Problems
	p.Join(o.Target.Validate())
	if dead := o.DeadLetters; dead != nil {
		p.Join(pipeline.Under(deadLettersKey, dead.Validate()))
		if dead.Topic == o.Topic && slices.ContainsFunc(dead.Brokers, func(b string) bool { return slices.Contains(o.Brokers, b) }) {
			p.Add(deadLettersKey+"."+topicKey, "it is that of the rows").Advise("give dead letters another, as they look different")
		}
	}
	if o.Format != "" && o.Format != JSON && o.Format != Avro && o.Format != Arrow {
		p.Value("format", o.Format, "is not known").Advise("use %s, %s or %s", JSON, Avro, Arrow)
	}
	switch {
	case o.Format == Avro && o.Avro == nil:
		p.Add("format", "%s needs the schema registry", Avro).Advise("add avro: {registry: {urls: [http://localhost:8081]}}")
	case o.Format == Avro:
		p.Join(pipeline.Under(avroKey, o.Avro.validate()))
	}
	if o.Format == Arrow && o.Key != "" {
		p.Add("key", "a record holds many rows with the format %s, so there is no key for it", Arrow).Advise("leave it out, or choose %s or %s", JSON, Avro)
	}
	return p.Err()
}

// CheckRows returns what is wrong with the options for rows of a schema, like Validate.
func (o Options) CheckRows(schema *arrow.Schema) error {
	var p pipeline.Problems
	if o.Key != "" {
		if _, err := keyOf(schema, o.Key); err != nil {
			p.Add("key", "%w", err)
		}
	}
	if o.Format == Avro && o.Avro != nil {
		_, err := avrorow.New(schema, o.Avro.withDefaults().Record)
		p.Join(pipeline.Under("format", err))
	}
	return p.Err()
}

// New returns the sink, or what is wrong with opts and the files that it names.
func New(opts Options, log *slog.Logger) (pipeline.Sink, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	shared := filesink.Options{Log: log}
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
			return nil, pipeline.Under(avroKey, err)
		}
		shared.Stream = &rowRecords{out: out, form: form, keyName: opts.Key}
	default:
		shared.Stream = &rowRecords{out: out, form: &jsonForm{}, keyName: opts.Key}
	}
	if opts.DeadLetters != nil {
		dead, err := NewDeadLetters(*opts.DeadLetters, log)
		if err != nil {
			return nil, pipeline.Under(deadLettersKey, err)
		}
		shared.DeadLetterStream = dead
	}
	return filesink.New(shared), nil
}

// listed names things for a message.
func listed(names []string) string { return strings.Join(slices.Sorted(slices.Values(names)), ", ") }

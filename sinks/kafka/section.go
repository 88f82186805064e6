package kafka

import (
	"log/slog"
	"slices"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/internal/schemaregistry"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/commit"
)

// Kind is the sink of topics.
var Kind = sinks.Kind{Name: "kafka", Doc: "A topic, at least once.", New: func() sinks.Options {
	return &Options{Target: DefaultTarget(), Format: JSON}
}}

// Letters are dead letters in a topic, which sinks of files take beside folders.
var Letters = sinks.Letters{
	Name: "kafka", Doc: "A topic for them, each with the record as its value and the reason in its headers.",
	Want: "a topic such as {kafka: {topic: clicks.dead}}",
	New:  func() sinks.LetterOptions { return &letters{DefaultTarget()} },
}

// DefaultTarget returns the options of a configuration that says nothing.
func DefaultTarget() Target {
	return Target{
		ClientID: kafkaconn.DefaultClientID, Compression: "zstd", MaxMessageBytes: defaultMaxMessageBytes,
		DialTimeout: kafkaconn.DefaultDialTimeout, StartTimeout: 30 * time.Second,
	}
}

// DefaultAvro returns the same of the format [Avro].
func DefaultAvro() AvroOptions {
	return AvroOptions{Registry: schemaregistry.Defaults(), Subject: TopicName, Register: true}
}

// Section returns the section of a topic to write to.
func (t *Target) Section() config.Section {
	return config.Section{
		Fields: slices.Concat([]config.Field{
			kafkaconn.Brokers(&t.Brokers),
			{Name: topicKey, Doc: "The topic; it has to be there.", Value: config.Text(&t.Topic, "clicks.parsed"), Example: "topic: clicks.parsed"},
			kafkaconn.ClientID(&t.ClientID),
		}, kafkaconn.Security(&t.TLS, &t.SASL), []config.Field{
			{Name: "compression", Doc: "How batches are compressed.", Value: config.Names(&t.Compression, "none", "gzip", "snappy", "lz4", "zstd")},
			{Name: "max_message_bytes", Doc: "Size of a batch before compression.", Value: config.Size(&t.MaxMessageBytes, leastMaxMessageBytes, mostMaxMessageBytes)},
			kafkaconn.DialTimeout(&t.DialTimeout),
			{Name: "start_timeout", Doc: "How long to wait for brokers and the topic.", Value: config.Duration(&t.StartTimeout, 100*time.Millisecond, time.Hour)},
		}),
		Aliases: kafkaconn.Aliases(map[string]string{
			"topics": topicKey, "topic.name": topicKey,
			"compression.type": "compression", "compression.codec": "compression",
			"message.max.bytes": "max_message_bytes", "max.request.size": "max_message_bytes", "batch.size": "max_message_bytes",
		}),
		Check: func(c *config.Check) {
			for _, key := range []string{"tls", "sasl"} {
				if c.Given(key) && !c.Given(brokersKey) {
					c.Conflict(key, []string{brokersKey}, "%s is given without brokers: both are those of source.kafka then; add brokers, or take %s out", key, key)
				}
			}
		},
	}
}

// in returns the target in a process: without brokers it is in the cluster that is read.
func (t Target) in(e sinks.Env) Target {
	if c := e.Cluster; len(t.Brokers) == 0 && c != nil {
		t.Brokers, t.TLS, t.SASL = c.Brokers, c.TLS, c.SASL
	}
	return t
}

// Section implements [sinks.Options].
func (o *Options) Section() config.Section {
	s := o.Target.Section()
	delivery := commit.AtLeastOnce // the only one that there is
	how := config.Names(&delivery, delivery)
	how.Wanted = string(delivery) + ", since what was produced cannot be taken back"
	s.Fields = append(s.Fields,
		config.Field{Name: "format", Doc: "A JSON object or an Avro record for each row, or an Arrow IPC stream for each batch.", Value: config.Names(&o.Format, JSON, Avro, Arrow)},
		config.Field{Name: avroKey, Doc: `How rows are written with format: avro. Their schema follows from the columns; "urlmill config avro-schema" prints it.`, Value: config.Optional(&o.Avro, DefaultAvro, (*AvroOptions).section)},
		config.Field{Name: "key", Doc: "Column that is the key of the record. Not set: none.", Value: config.Text(&o.Key, "host")},
		config.Field{Name: "dead_letters", Doc: "Where records without a valid URL go with on_error: dead_letter.", Value: config.TextOr(nil, config.Field{
			Name: Letters.Name, Doc: Letters.Doc, Value: config.Optional(&o.DeadLetters, DefaultTarget, (*Target).Section),
		}, Letters.Want)},
		config.Field{Name: "delivery", Doc: "Whether files hold every record once whatever dies, or may hold some twice after a crash. What goes to standard output or a topic is at_least_once.", Value: how},
	)
	check := s.Check
	s.Check = func(c *config.Check) {
		check(c)
		if o.Format != Avro && o.Avro != nil {
			c.Conflict(avroKey, []string{"format"}, "avro is given, but format is %s; add format: avro, or take avro out", o.Format)
		}
	}
	return s
}

func (o *AvroOptions) section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: registryKey, Doc: "The schema registry, which speaks Confluent's protocol. It is asked at the start, for as long as start_timeout says.", Value: config.Map(o.Registry.Section()), Example: "registry: {urls: [http://localhost:8081]}"},
		{Name: "record", Doc: "Full name of the record that a row is. Not set: urlmill.Row.", Value: config.Text(&o.Record, "org.example.Click")},
		{Name: "subject", Doc: "What the subject of the schema is called: the topic and -value, the record's name, or both with a hyphen between.", Value: config.Names(&o.Subject, TopicName, RecordName, TopicRecordName)},
		{Name: "register", Doc: "Whether the schema is registered at the start; else it has to be there.", Value: config.Bool(&o.Register)},
	}}
}

// Asks implements [sinks.Options].
func (o *Options) Asks() sinks.Asks {
	a := sinks.Asks{
		Place: "topic " + o.Topic, Topics: []sinks.Topic{{Topic: o.Topic, Brokers: o.Brokers}},
		DeadLetters: sinks.DeadLetters{Key: "dead_letters", Given: o.DeadLetters != nil, Want: "the topic for the dead letters there, such as {kafka: {topic: clicks.dead}}"},
	}
	if dead := o.DeadLetters; dead != nil {
		a.Topics = append(a.Topics, sinks.Topic{Key: deadLettersKey, Topic: dead.Topic, Brokers: dead.Brokers})
	}
	return a
}

// With implements [sinks.Options].
func (o *Options) With(e sinks.Env) sinks.Sink {
	c := configured{*o, e.Log}
	c.Target = o.Target.in(e)
	if o.DeadLetters != nil {
		dead := o.DeadLetters.in(e)
		c.DeadLetters = &dead
	}
	return c
}

// configured implements [sinks.Sink].
type configured struct {
	Options
	log *slog.Logger
}

// Open implements [sinks.Sink].
func (c configured) Open() (pipeline.Sink, error) { return New(c.Options, c.log) }

// letters implements [sinks.LetterOptions].
type letters struct{ target Target }

func (l *letters) Section() config.Section { return l.target.Section() }

func (l *letters) Topic() sinks.Topic {
	return sinks.Topic{Topic: l.target.Topic, Brokers: l.target.Brokers}
}

func (l *letters) With(e sinks.Env) sinks.LetterBox { return letterBox{l.target.in(e), e.Log} }

// letterBox implements [sinks.LetterBox].
type letterBox struct {
	Target
	log *slog.Logger
}

func (b letterBox) Open() (sinks.Stream, error) { return NewDeadLetters(b.Target, b.log) }

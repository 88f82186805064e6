package settings

import (
	"fmt"
	"slices"
	"time"

	"github.com/urlmill/urlmill/config"
)

// KafkaTopic is a topic to write to.
type KafkaTopic struct {
	// Brokers are nil for those of the Kafka source, whose TLS and SASL then count as well.
	Brokers  []string
	Topic    string
	ClientID string
	TLS      TLS
	SASL     *SASL

	Compression     string // "none", "gzip", "snappy", "lz4" or "zstd"
	MaxMessageBytes int    // of a batch, before compression
	DialTimeout     time.Duration
	StartTimeout    time.Duration // for a broker and the topic to be there
}

// KafkaOut writes rows to a topic.
type KafkaOut struct {
	KafkaTopic
	Format          string   // "json", "avro" or "arrow"
	Avro            *AvroOut // with that format
	Key             string   // name of a column, "" for none
	DeadLetterTopic *KafkaTopic
	Delivery        string // "at_least_once"
}

// AvroOut says how rows are written in Avro.
type AvroOut struct {
	Registry Registry
	Record   string // full name, "" for the default
	Subject  string // "topic_name", "record_name" or "topic_record_name"
	Register bool   // else the schema is looked up
}

// DefaultAvroOut returns the defaults of the format avro.
func DefaultAvroOut() AvroOut {
	return AvroOut{Registry: DefaultRegistry(), Subject: "topic_name", Register: true}
}

func avroOutSchema(a *AvroOut) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "registry", Doc: "The schema registry, which speaks Confluent's protocol. It is asked at the start, for as long as start_timeout says.", Value: config.Map(registrySchema(&a.Registry)), Example: "registry: {urls: [http://localhost:8081]}"},
			{Name: "record", Doc: "Full name of the record that a row is. Not set: urlmill.Row.", Value: config.Text(&a.Record, "org.example.Click")},
			{Name: "subject", Doc: "What the subject of the schema is called: the topic and -value, the record's name, or both with a hyphen between.", Value: config.Names(&a.Subject, "topic_name", "record_name", "topic_record_name")},
			{Name: "register", Doc: "Whether the schema is registered at the start; else it has to be there.", Value: config.Bool(&a.Register)},
		},
		Check: func(d *config.Check) {
			if at := "subject"; a.Subject != "topic_name" && a.Record == "" {
				d.Conflict(at, []string{"record"}, "subject: %s needs record beside it, the name that the subject has; add record: org.example.Click", a.Subject)
			}
		},
	}
}

// DefaultKafkaTopic returns the defaults of a topic to write to.
func DefaultKafkaTopic() KafkaTopic {
	return KafkaTopic{
		ClientID: "urlmill", Compression: "zstd", MaxMessageBytes: 1_000_000,
		DialTimeout: 10 * time.Second, StartTimeout: 30 * time.Second,
	}
}

// DefaultKafkaOut returns the defaults of the sink kafka.
func DefaultKafkaOut() KafkaOut {
	return KafkaOut{KafkaTopic: DefaultKafkaTopic(), Format: "json", Delivery: AtLeastOnce}
}

func kafkaOutSchema(k *KafkaOut) config.Section {
	o := kafkaTopicSchema(&k.KafkaTopic)
	o.Fields = append(o.Fields,
		config.Field{Name: "format", Doc: "A JSON object or an Avro record for each row, or an Arrow IPC stream for each batch.", Value: config.Names(&k.Format, "json", "avro", "arrow")},
		config.Field{Name: "avro", Doc: `How rows are written with format: avro. Their schema follows from the columns; "urlmill config avro-schema" prints it.`, Value: config.Optional(&k.Avro, DefaultAvroOut, avroOutSchema)},
		config.Field{Name: "key", Doc: "Column that is the key of the record. Not set: none.", Value: config.Text(&k.Key, "host")},
		config.Field{Name: "dead_letters", Doc: "Where records without a valid URL go with on_error: dead_letter.", Value: deadLettersValue(nil, &k.DeadLetterTopic)},
		config.Field{Name: "delivery", Doc: "Whether files hold every record once whatever dies, or may hold some twice after a crash. What goes to standard output or a topic is at_least_once.", Value: kafkaDelivery(&k.Delivery)},
	)
	check := o.Check
	o.Check = func(d *config.Check) {
		check(d)
		if at := "key"; k.Format == "arrow" && k.Key != "" {
			d.Conflict(at, []string{at, "format"}, "key is given, but with format: arrow a record holds many rows; take it out, or give format: json or avro")
		}
		switch at := "avro"; {
		case k.Format == "avro" && k.Avro == nil && !d.Given(at):
			d.Conflict("format", []string{at}, "format: avro needs the schema registry; add avro: {registry: {urls: [http://localhost:8081]}}")
		case k.Format != "avro" && k.Avro != nil:
			d.Conflict(at, []string{"format"}, "avro is given, but format is %s; add format: avro, or take avro out", k.Format)
		}
	}
	return o
}

// kafkaDelivery is the only one that there is.
func kafkaDelivery(p *string) config.Value {
	v := config.Names(p, AtLeastOnce)
	v.Wanted = AtLeastOnce + ", since what was produced cannot be taken back"
	return v
}

func kafkaTopicSchema(t *KafkaTopic) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "brokers", Doc: "Addresses of brokers to begin with; the others are learned from them. A topic to write to takes those of source.kafka when they are left out.", Value: config.Texts(&t.Brokers, "[kafka-1:9092, kafka-2:9092]")},
			{Name: "topic", Doc: "The topic; it has to be there.", Value: config.Text(&t.Topic, "clicks.parsed"), Example: "topic: clicks.parsed"},
			{Name: "client_id", Doc: "What brokers call this client in their logs and quotas.", Value: config.Text(&t.ClientID, "urlmill")},
			{Name: "tls", Doc: "Encryption of the connections to brokers.", Value: config.Map(tlsSchema(&t.TLS))},
			{Name: "sasl", Doc: "How to log in at brokers.", Value: config.Optional(&t.SASL, func() SASL { return SASL{} }, saslSchema)},
			{Name: "compression", Doc: "How batches are compressed.", Value: config.Names(&t.Compression, "none", "gzip", "snappy", "lz4", "zstd")},
			{Name: "max_message_bytes", Doc: "Size of a batch before compression.", Value: config.Size(&t.MaxMessageBytes, 16<<10, 1<<30)},
			{Name: "dial_timeout", Doc: "How long connecting to a broker may take.", Value: config.Duration(&t.DialTimeout, 100*time.Millisecond, maxTimeout)},
			{Name: "start_timeout", Doc: "How long to wait for brokers and the topic.", Value: config.Duration(&t.StartTimeout, 100*time.Millisecond, maxTimeout)},
		},
		Check: func(d *config.Check) { checkBrokers(d, t.Brokers) },
	}
}

const topicExample = "{kafka: {topic: clicks.dead}}"

// deadLettersValue is where dead letters go: a folder, or a topic. folder is nil where only a topic will do.
func deadLettersValue(folder *string, topic **KafkaTopic) config.Value {
	wanted := "a topic such as " + topicExample
	if folder != nil {
		wanted = "a folder such as /var/lib/urlmill/dead, or " + wanted
	}
	return config.TextOr(folder, config.Field{
		Name: "kafka", Doc: "A topic for them, each with the record as its value and the reason in its headers.",
		Value: config.Optional(topic, DefaultKafkaTopic, kafkaTopicSchema),
	}, wanted)
}

// kafkaTargets returns the topics that c writes to, by their path.
func kafkaTargets(c *Config) map[string]*KafkaTopic {
	all := map[string]*KafkaTopic{}
	if k := c.Sink.Kafka; k != nil {
		all["sink.kafka"] = &k.KafkaTopic
	}
	if at, dead := deadLetters(c); dead.topic != nil {
		all[at+".kafka"] = dead.topic
	}
	return all
}

// checkTargets reports topics that nobody knows the brokers of, and such as would be read again.
func checkTargets(d *config.Check, c *Config) {
	for path, t := range kafkaTargets(c) {
		brokers, topic := config.Join(path, "brokers"), config.Join(path, "topic")
		if !d.Given(brokers) {
			if c.Source.Kafka == nil {
				d.Conflict(path, []string{"source", brokers}, "%s has no brokers, and there is no source.kafka to take them from; add brokers: [localhost:9092]", path)
			}
			for _, name := range []string{"tls", "sasl"} {
				if at := config.Join(path, name); d.Given(at) {
					d.Conflict(at, []string{brokers}, "%s is given without brokers: both are those of source.kafka then; add brokers, or take %s out", name, name)
				}
			}
		}
		if k := c.Source.Kafka; k != nil && slices.Contains(k.Topics, t.Topic) && sameCluster(t, k.Brokers) {
			d.Conflict(topic, []string{"source.kafka.topics", brokers}, "topic is one that source.kafka reads: what is written there would be read again; give another")
		}
	}
	if k := c.Sink.Kafka; k != nil && k.DeadLetterTopic != nil && k.DeadLetterTopic.Topic == k.Topic && sameCluster(k.DeadLetterTopic, k.Brokers) {
		d.Conflict("sink.kafka.dead_letters.kafka.topic", []string{"sink.kafka.topic"}, "topic is that of the rows; give dead letters another, as they look different")
	}
}

// sameCluster reports whether t is written to one of those brokers, or, where one of both names none, by the same words.
func sameCluster(t *KafkaTopic, brokers []string) bool {
	if len(t.Brokers) == 0 || len(brokers) == 0 {
		return true
	}
	return slices.ContainsFunc(t.Brokers, func(b string) bool { return slices.Contains(brokers, b) })
}

// checkBrokers reports addresses that are none.
func checkBrokers(d *config.Check, brokers []string) {
	for i, broker := range brokers {
		if hint := brokerProblem(broker); hint != "" {
			d.Conflict(fmt.Sprintf("brokers[%d]", i), nil, "brokers: item %d %s; give host:port, such as kafka-1:9092", i+1, hint)
		}
	}
}

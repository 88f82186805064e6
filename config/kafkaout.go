package config

import (
	"fmt"
	"slices"
	"time"

	"github.com/goccy/go-yaml/ast"
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

func avroOutSchema(a *AvroOut) object {
	return object{
		fields: []field{
			{name: "registry", value: section(&a.Registry, registrySchema), example: "registry: {urls: [http://localhost:8081]}"},
			{name: "record", value: text(&a.Record, "org.example.Click")},
			{name: "subject", value: names(&a.Subject, "topic_name", "record_name", "topic_record_name")},
			{name: "register", value: boolean(&a.Register)},
		},
		check: func(d *decoder, path string) {
			if at := join(path, "subject"); a.Subject != "topic_name" && a.Record == "" {
				d.conflict(at, []string{join(path, "record")}, "subject: %s needs record beside it, the name that the subject has; add record: org.example.Click", a.Subject)
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

func kafkaOutSchema(k *KafkaOut) object {
	o := kafkaTopicSchema(&k.KafkaTopic)
	o.fields = append(o.fields,
		field{name: "format", value: names(&k.Format, "json", "avro", "arrow")},
		field{name: "avro", value: optional(&k.Avro, DefaultAvroOut, avroOutSchema)},
		field{name: "key", value: text(&k.Key, "host")},
		field{name: "dead_letters", value: deadLettersValue{topic: &k.DeadLetterTopic}},
		field{name: "delivery", value: kafkaDelivery(&k.Delivery)},
	)
	check := o.check
	o.check = func(d *decoder, path string) {
		check(d, path)
		if at := join(path, "key"); k.Format == "arrow" && k.Key != "" {
			d.conflict(at, []string{at, join(path, "format")}, "key is given, but with format: arrow a record holds many rows; take it out, or give format: json or avro")
		}
		switch at := join(path, "avro"); {
		case k.Format == "avro" && k.Avro == nil && !d.given(at):
			d.conflict(join(path, "format"), []string{at}, "format: avro needs the schema registry; add avro: {registry: {urls: [http://localhost:8081]}}")
		case k.Format != "avro" && k.Avro != nil:
			d.conflict(at, []string{join(path, "format")}, "avro is given, but format is %s; add format: avro, or take avro out", k.Format)
		}
	}
	return o
}

// kafkaDelivery is the only one that there is.
func kafkaDelivery(p *string) value {
	v := names(p, AtLeastOnce).(scalarValue)
	v.wanted = AtLeastOnce + ", since what was produced cannot be taken back"
	return v
}

func kafkaTopicSchema(t *KafkaTopic) object {
	return object{
		fields: []field{
			{name: "brokers", value: texts(&t.Brokers, "[kafka-1:9092, kafka-2:9092]")},
			{name: "topic", value: text(&t.Topic, "clicks.parsed"), example: "topic: clicks.parsed"},
			{name: "client_id", value: text(&t.ClientID, "urlmill")},
			{name: "tls", value: section(&t.TLS, tlsSchema)},
			{name: "sasl", value: optional(&t.SASL, func() SASL { return SASL{} }, saslSchema)},
			{name: "compression", value: names(&t.Compression, "none", "gzip", "snappy", "lz4", "zstd")},
			{name: "max_message_bytes", value: size(&t.MaxMessageBytes, 16<<10, 1<<30)},
			{name: "dial_timeout", value: duration(&t.DialTimeout, 100*time.Millisecond, maxTimeout)},
			{name: "start_timeout", value: duration(&t.StartTimeout, 100*time.Millisecond, maxTimeout)},
		},
		check: func(d *decoder, path string) { checkBrokers(d, path, t.Brokers) },
	}
}

// deadLettersValue is where dead letters go: a folder, or a topic.
type deadLettersValue struct {
	folder *string // nil where only a topic will do
	topic  **KafkaTopic
}

const topicExample = "{kafka: {topic: clicks.dead}}"

func (v deadLettersValue) want() string {
	if v.folder == nil {
		return "a topic such as " + topicExample
	}
	return "a folder such as /var/lib/urlmill/dead, or a topic such as " + topicExample
}

func (v deadLettersValue) object() object {
	return object{
		fields: []field{{name: "kafka", value: optional(v.topic, DefaultKafkaTopic, kafkaTopicSchema)}},
	}
}

func (v deadLettersValue) decode(d *decoder, n ast.Node, path string) {
	m, mapping := n.(*ast.MappingNode)
	switch {
	case mapping && slices.ContainsFunc(d.entries(m, path), func(e entry) bool { return e.key == "kafka" }):
		d.decodeObject(n, d.at[path], path, v.object())
	case mapping:
		d.report(positionOf(n), path, "dead_letters is a mapping without kafka; give %s", v.want())
	case v.folder == nil:
		d.report(positionOf(n), path, "%s is %s; give %s", leaf(path), describe(n), v.want())
	default:
		folder := text(v.folder, "").(scalarValue)
		folder.wanted = v.want()
		folder.decode(d, n, path)
	}
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
func checkTargets(d *decoder, c *Config) {
	for path, t := range kafkaTargets(c) {
		brokers, topic := join(path, "brokers"), join(path, "topic")
		if !d.given(brokers) {
			if c.Source.Kafka == nil {
				d.conflict(path, []string{"source", brokers}, "%s has no brokers, and there is no source.kafka to take them from; add brokers: [localhost:9092]", path)
			}
			for _, name := range []string{"tls", "sasl"} {
				if at := join(path, name); d.given(at) {
					d.conflict(at, []string{brokers}, "%s is given without brokers: both are those of source.kafka then; add brokers, or take %s out", name, name)
				}
			}
		}
		if k := c.Source.Kafka; k != nil && slices.Contains(k.Topics, t.Topic) && sameCluster(t, k.Brokers) {
			d.conflict(topic, []string{"source.kafka.topics", brokers}, "topic is one that source.kafka reads: what is written there would be read again; give another")
		}
	}
	if k := c.Sink.Kafka; k != nil && k.DeadLetterTopic != nil && k.DeadLetterTopic.Topic == k.Topic && sameCluster(k.DeadLetterTopic, k.Brokers) {
		d.conflict("sink.kafka.dead_letters.kafka.topic", []string{"sink.kafka.topic"}, "topic is that of the rows; give dead letters another, as they look different")
	}
}

// sameCluster tells whether t is written to one of those brokers, or, where one of both names none, by the same words.
func sameCluster(t *KafkaTopic, brokers []string) bool {
	if len(t.Brokers) == 0 || len(brokers) == 0 {
		return true
	}
	return slices.ContainsFunc(t.Brokers, func(b string) bool { return slices.Contains(brokers, b) })
}

// checkBrokers reports addresses that are none.
func checkBrokers(d *decoder, path string, brokers []string) {
	for i, broker := range brokers {
		at := fmt.Sprintf("%s.brokers[%d]", path, i)
		if hint := brokerProblem(broker); hint != "" {
			d.report(d.at[at], at, "brokers: item %d %s; give host:port, such as kafka-1:9092", i+1, hint)
		}
	}
}

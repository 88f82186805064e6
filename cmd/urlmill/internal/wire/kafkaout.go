package wire

import (
	"errors"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/kafka"
)

var kafkaSink = SinkKind{
	Name: "kafka",
	Configure: func(c *settings.Config, s Setting) (Sink, bool) {
		k := c.Sink.Kafka
		if k == nil {
			return Sink{}, false
		}
		options := kafkaOut(c, k)
		if k.DeadLetterTopic != nil {
			dead := kafkaTarget(c, k.DeadLetterTopic)
			options.DeadLetters = &dead
		}
		return Sink{
			Place:     "topic " + k.Topic,
			Validate:  options.Validate,
			CheckRows: options.CheckRows,
			Open:      func() (pipeline.Sink, error) { return kafka.New(options, s.Log) },
		}, true
	},
}

// kafkaOut returns the options of the sink without those of dead letters.
func kafkaOut(c *settings.Config, k *settings.KafkaOut) kafka.Options {
	o := kafka.Options{Target: kafkaTarget(c, &k.KafkaTopic), Format: k.Format, Key: k.Key}
	if a := k.Avro; a != nil {
		o.Avro = &kafka.AvroOptions{Registry: registryOptions(&a.Registry), Record: a.Record, Subject: a.Subject, LookUp: !a.Register}
	}
	return o
}

// AvroSchema returns the schema that rows of a job have in the topic that it writes to, and the subject of the registry
// that it belongs to.
func (j *Job) AvroSchema() (text, subject string, err error) {
	k := j.config.Sink.Kafka
	if k == nil {
		return "", "", errors.New("there is no sink.kafka")
	}
	return kafkaOut(j.config, k).AvroSchema(j.Rows)
}

// kafkaTarget returns the options of a topic to write to. If it has no brokers of its own, those of the source are taken, with
// their TLS and SASL.
func kafkaTarget(c *settings.Config, t *settings.KafkaTopic) kafka.Target {
	brokers, encryption, login := t.Brokers, t.TLS, t.SASL
	if len(brokers) == 0 && c.Source.Kafka != nil {
		brokers, encryption, login = c.Source.Kafka.Brokers, c.Source.Kafka.TLS, c.Source.Kafka.SASL
	}
	return kafka.Target{
		Brokers: brokers, Topic: t.Topic, ClientID: t.ClientID, TLS: kafkaTLS(encryption), SASL: kafkaSASL(login),
		Compression: t.Compression, MaxMessageBytes: t.MaxMessageBytes, DialTimeout: t.DialTimeout, StartTimeout: t.StartTimeout,
	}
}

func kafkaTLS(t settings.TLS) kafkaconn.TLS {
	return kafkaconn.TLS{
		Enabled: t.Enabled, CAFile: t.CAFile, CertFile: t.CertFile, KeyFile: t.KeyFile,
		ServerName: t.ServerName, InsecureSkipVerify: t.InsecureSkipVerify,
	}
}

func kafkaSASL(s *settings.SASL) kafkaconn.SASL {
	if s == nil {
		return kafkaconn.SASL{}
	}
	return kafkaconn.SASL{Mechanism: s.Mechanism, Username: s.Username, Password: s.Password.Reveal()}
}

// deadLetterOutput is where the dead letters of a sink that writes files go, when that is a topic.
type deadLetterOutput struct{ target *kafka.Target }

func newDeadLetterOutput(c *settings.Config, t *settings.KafkaTopic) deadLetterOutput {
	if t == nil {
		return deadLetterOutput{}
	}
	target := kafkaTarget(c, t)
	return deadLetterOutput{&target}
}

func (o deadLetterOutput) validate() error {
	if o.target == nil {
		return nil
	}
	return pipeline.Under("dead_letters.kafka", o.target.Validate())
}

// open sets stream, but for a sink whose dead letters go to a folder.
func (o deadLetterOutput) open(stream *kafka.Stream, s Setting) error {
	if o.target == nil {
		return nil
	}
	dead, err := kafka.NewDeadLetters(*o.target, s.Log)
	if err == nil {
		*stream = dead
	}
	return pipeline.Under("dead_letters.kafka", err)
}

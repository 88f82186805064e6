package wire

import (
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/file"
	"github.com/urlmill/urlmill/sources/kafka"
)

var fileSource = SourceKind{
	Name: "file",
	Configure: func(c *config.Config, s Setting) (Source, bool) {
		f := c.Source.File
		if f == nil {
			return Source{}, false
		}
		options := file.Options{Paths: f.Paths, Parallel: f.Parallel, MaxRecordBytes: f.MaxRecordBytes, Stdin: s.In}
		return Source{
			Validate:   options.Validate,
			Open:       func(f codec.Factory) (pipeline.Source, error) { return file.New(options, f, s.Log) },
			Provenance: urlcols.FileProvenance,
		}, true
	},
}

var kafkaSource = SourceKind{
	Name: "kafka",
	Configure: func(c *config.Config, s Setting) (Source, bool) {
		if c.Source.Kafka == nil {
			return Source{}, false
		}
		options := kafkaOptions(c.Source.Kafka)
		return Source{
			Validate:   options.Validate,
			Open:       func(f codec.Factory) (pipeline.Source, error) { return kafka.New(options, f, s.Log) },
			Provenance: urlcols.KafkaProvenance,
		}, true
	},
}

func kafkaOptions(k *config.Kafka) kafka.Options {
	o := kafka.Options{
		Brokers: k.Brokers, Topics: k.Topics, Group: k.Group, ClientID: k.ClientID, Start: kafkaStart(k.Start),
		TLS: kafka.TLS{
			Enabled: k.TLS.Enabled, CAFile: k.TLS.CAFile, CertFile: k.TLS.CertFile, KeyFile: k.TLS.KeyFile,
			ServerName: k.TLS.ServerName, InsecureSkipVerify: k.TLS.InsecureSkipVerify,
		},
		SessionTimeout: k.SessionTimeout, HeartbeatInterval: k.HeartbeatInterval, RebalanceTimeout: k.RebalanceTimeout,
		MaxWait: k.MaxWait, MinBytes: k.MinBytes, MaxBytes: k.MaxBytes, MaxRecordBytes: k.MaxRecordBytes,
		DialTimeout: k.DialTimeout, ConnectTimeout: k.ConnectTimeout, TopicTimeout: k.TopicTimeout,
	}
	if o.TopicTimeout == 0 {
		o.TopicTimeout = -1 // for ever; 0 is the default there
	}
	if k.SASL != nil {
		o.SASL = kafka.SASL{Mechanism: k.SASL.Mechanism, Username: k.SASL.Username, Password: k.SASL.Password.Reveal()}
	}
	return o
}

func kafkaStart(s config.Start) string {
	if s.Policy == config.StartTime {
		return s.Time.Format(time.RFC3339Nano)
	}
	return s.Policy
}

package wire

import (
	"time"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/file"
	"github.com/urlmill/urlmill/sources/generate"
	"github.com/urlmill/urlmill/sources/kafka"
)

var fileSource = SourceKind{
	Name: "file",
	Configure: func(c *settings.Config, s Setting) (Source, bool) {
		f := c.Source.File
		if f == nil {
			return Source{}, false
		}
		options := file.Options{Paths: f.Paths, Parallel: f.Parallel, MaxRecordBytes: f.MaxRecordBytes, OnChanged: f.OnChanged, Stdin: s.In}
		return Source{
			Validate:   options.Validate,
			Open:       func(f codec.Factory) (pipeline.Source, error) { return file.New(options, f, s.Log) },
			Provenance: urlcols.FileProvenance,
		}, true
	},
}

var kafkaSource = SourceKind{
	Name: "kafka",
	Configure: func(c *settings.Config, s Setting) (Source, bool) {
		if c.Source.Kafka == nil {
			return Source{}, false
		}
		options := kafkaOptions(c.Source.Kafka)
		options.FetchMemory = int(s.memory.Fetch)
		return Source{
			Validate:   options.Validate,
			Open:       func(f codec.Factory) (pipeline.Source, error) { return kafka.New(options, f, s.Log) },
			Provenance: urlcols.KafkaProvenance,
		}, true
	},
}

func kafkaOptions(k *settings.Kafka) kafka.Options {
	o := kafka.Options{
		Brokers: k.Brokers, Topics: k.Topics, Group: k.Group, ClientID: k.ClientID, Start: kafkaStart(k.Start),
		TLS: kafkaTLS(k.TLS), SASL: kafkaSASL(k.SASL),
		SessionTimeout: k.SessionTimeout, HeartbeatInterval: k.HeartbeatInterval, RebalanceTimeout: k.RebalanceTimeout,
		Isolation: k.Isolation, OnAhead: k.OnAhead, OnTruncated: k.OnTruncated, OnRecreated: k.OnRecreated, OnCorrupt: k.OnCorrupt,
		MaxWait: k.MaxWait, MinBytes: k.MinBytes, MaxBytes: k.MaxBytes, FetchMemory: k.FetchMemory, MaxRecordBytes: k.MaxRecordBytes,
		DialTimeout: k.DialTimeout, ConnectTimeout: k.ConnectTimeout, TopicTimeout: k.TopicTimeout,
	}
	if o.TopicTimeout == 0 {
		o.TopicTimeout = -1 // for ever; 0 is the default there
	}
	return o
}

func kafkaStart(s settings.Start) string {
	if s.Policy == settings.StartTime {
		return s.Time.Format(time.RFC3339Nano)
	}
	return s.Policy
}

var generateSource = SourceKind{
	Name: "generate",
	Configure: func(c *settings.Config, _ Setting) (Source, bool) {
		g := c.Source.Generate
		if g == nil {
			return Source{}, false
		}
		options := generate.Options{
			Records: g.Records, Seed: g.Seed, Lanes: g.Lanes, Rate: g.Rate,
			Format: generate.Format(g.Format), Profile: generate.Profile(g.Profile),
			Repeats: g.Repeats, RepeatsWithin: g.RepeatsWithin,
		}
		source := Source{
			Validate: options.Validate,
			Open:     func(f codec.Factory) (pipeline.Source, error) { return generate.New(options, f) },
		}
		if options.Format == generate.NDJSON && c.Source.Codec.NDJSON == nil {
			source.Codec = clickCodec()
		}
		return source, true
	},
}

// clickCodec is the codec of the generator's clicks when none is given.
func clickCodec() codec.Factory {
	f, err := codec.NewNDJSON(codec.NDJSONOptions{
		URL: "/url", Base: "/referer",
		Carry: []codec.CarriedField{
			{Name: "ts", Pointer: "/ts", Type: pipeline.Timestamp},
			{Name: "user_id", Pointer: "/user_id", Type: pipeline.Int64},
			{Name: "session", Pointer: "/session"},
			{Name: "status", Pointer: "/status", Type: pipeline.Int64},
			{Name: "country", Pointer: "/country"},
		},
	})
	if err != nil {
		panic(err) // the options are constant
	}
	return f
}

package config

import (
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// rootSchema binds the keys of a configuration to c.
func rootSchema(c *Config) object {
	return object{
		fields: []field{
			{name: "source", value: section(&c.Source, sourceSchema), example: "source: {file: {paths: [urls.txt]}}"},
			{name: "columns", value: section(&c.Columns, columnsSchema)},
			{name: "on_error", value: enum(&c.OnError,
				[]string{"keep", "drop", "dead_letter", "fail"},
				[]pipeline.OnError{pipeline.Keep, pipeline.Drop, pipeline.ToDeadLetters, pipeline.Fail})},
			{name: "dedupe", value: optional(&c.Dedupe, DefaultDedupe, dedupeSchema)},
			{name: "sink", value: section(&c.Sink, sinkSchema), example: "sink: {parquet: {path: out}}"},
			{name: "pipeline", value: section(&c.Pipeline, pipelineSchema)},
			{name: "memory_limit", value: size(&c.MemoryLimit, 64<<20, 1<<50)},
			{name: "log", value: section(&c.Log, logSchema)},
			{name: "admin", value: optional(&c.Admin, DefaultAdmin, adminSchema)},
			{name: "tracing", value: optional(&c.Tracing, DefaultTracing, tracingSchema)},
		},
		check: func(d *decoder, _ string) { checkRoot(d, c) },
	}
}

func sourceSchema(s *Source) object {
	return object{
		fields: []field{
			{name: "kafka", value: optional(&s.Kafka, DefaultKafka, kafkaSchema)},
			{name: "file", value: optional(&s.File, DefaultFile, fileSchema)},
			{name: "generate", value: optional(&s.Generate, DefaultGenerate, generateSchema)},
			{name: "codec", value: section(&s.Codec, codecSchema)},
		},
		oneOf: []string{"kafka", "file", "generate"},
		check: func(d *decoder, path string) {
			checkGenerate(d, path, s)
			checkSchemaRecords(d, path, s)
		},
	}
}

// maxTimeout bounds durations that somebody waits for.
const maxTimeout = time.Hour

func kafkaSchema(k *Kafka) object {
	return object{
		fields: []field{
			{name: "brokers", value: texts(&k.Brokers, "[kafka-1:9092, kafka-2:9092]"), example: "brokers: [localhost:9092]"},
			{name: "topics", value: texts(&k.Topics, "[clicks]"), example: "topics: [clicks]"},
			{name: "group", value: text(&k.Group, "urlmill-clicks"), example: "group: urlmill-clicks"},
			{name: "client_id", value: text(&k.ClientID, "urlmill")},
			{name: "start", value: startValue(&k.Start)},
			{name: "isolation", value: names(&k.Isolation, "read_committed", "read_uncommitted")},
			{name: "on_ahead", value: names(&k.OnAhead, "stop", "rewind", "skip")},
			{name: "on_truncated", value: names(&k.OnTruncated, "stop", "skip")},
			{name: "on_recreated", value: names(&k.OnRecreated, "stop", "restart")},
			{name: "on_corrupt", value: names(&k.OnCorrupt, "stop", "dead_letter")},
			{name: "tls", value: section(&k.TLS, tlsSchema)},
			{name: "sasl", value: optional(&k.SASL, func() SASL { return SASL{} }, saslSchema)},
			{name: "session_timeout", value: duration(&k.SessionTimeout, time.Second, maxTimeout)},
			{name: "heartbeat_interval", value: duration(&k.HeartbeatInterval, 100*time.Millisecond, maxTimeout)},
			{name: "rebalance_timeout", value: duration(&k.RebalanceTimeout, time.Second, maxTimeout)},
			{name: "dial_timeout", value: duration(&k.DialTimeout, 100*time.Millisecond, maxTimeout)},
			{name: "max_wait", value: duration(&k.MaxWait, time.Millisecond, time.Minute)},
			{name: "min_bytes", value: size(&k.MinBytes, 1, 1<<30)},
			{name: "max_bytes", value: size(&k.MaxBytes, 1<<10, 1<<30)},
			{name: "fetch_memory", value: size(&k.FetchMemory, 1<<20, 1<<30)},
			{name: "max_record_bytes", value: size(&k.MaxRecordBytes, 1<<10, 128<<20)},
			{name: "connect_timeout", value: duration(&k.ConnectTimeout, 0, 24*time.Hour)},
			{name: "topic_timeout", value: duration(&k.TopicTimeout, 0, 24*time.Hour)},
		},
		check: func(d *decoder, path string) { checkKafka(d, path, k) },
	}
}

func tlsSchema(t *TLS) object {
	return object{
		fields: []field{
			{name: "enabled", value: boolean(&t.Enabled)},
			{name: "ca_file", value: text(&t.CAFile, "/etc/urlmill/ca.pem")},
			{name: "cert_file", value: text(&t.CertFile, "/etc/urlmill/client.pem")},
			{name: "key_file", value: text(&t.KeyFile, "/etc/urlmill/client.key")},
			{name: "server_name", value: text(&t.ServerName, "kafka.example.com")},
			{name: "insecure_skip_verify", value: boolean(&t.InsecureSkipVerify)},
		},
		check: func(d *decoder, path string) { checkTLS(d, path, t) },
	}
}

func saslSchema(s *SASL) object {
	return object{fields: []field{
		{name: "mechanism", value: names(&s.Mechanism, "plain", "scram-sha-256", "scram-sha-512"), example: "mechanism: scram-sha-512"},
		{name: "username", value: text(&s.Username, "urlmill"), example: "username: urlmill"},
		{name: "password", value: secret(&s.Password), example: `password: "${KAFKA_PASSWORD}"`},
	}}
}

func fileSchema(f *File) object {
	return object{fields: []field{
		{name: "paths", value: texts(&f.Paths, "[logs/, 'more/*.gz']"), example: "paths: [urls.txt]"},
		{name: "parallel", value: integer(&f.Parallel, 1, 1024)},
		{name: "max_record_bytes", value: size(&f.MaxRecordBytes, 1<<10, 128<<20)},
		{name: "on_changed", value: names(&f.OnChanged, "stop", "whole", "skip")},
	}}
}

func generateSchema(g *Generate) object {
	return object{fields: []field{
		{name: "records", value: integer(&g.Records, 0, math.MaxInt64)},
		{name: "seed", value: integer(&g.Seed, 0, math.MaxUint64)},
		{name: "lanes", value: integer(&g.Lanes, 1, 1024)},
		{name: "rate", value: rate(&g.Rate)},
		{name: "format", value: names(&g.Format, "ndjson", "lines")},
		{name: "profile", value: names(&g.Profile, "clickstream", "crawl")},
		{name: "repeats", value: share(&g.Repeats, 0.9)},
		{name: "repeats_within", value: integer(&g.RepeatsWithin, 1, 1<<32)},
	}}
}

func codecSchema(c *Codec) object {
	return object{
		fields: []field{
			{name: "lines", value: optional(&c.Lines, func() Lines { return Lines{} }, linesSchema)},
			{name: "ndjson", value: optional(&c.NDJSON, func() NDJSON { return NDJSON{} }, ndjsonSchema)},
			{name: "access_log", value: optional(&c.AccessLog, func() AccessLog { return AccessLog{} }, accessLogSchema)},
			{name: "delimited", value: optional(&c.Delimited, DefaultDelimited, delimitedSchema)},
			{name: "parquet", value: optional(&c.Parquet, func() ParquetTable { return ParquetTable{} }, parquetTableSchema)},
			{name: "avro", value: optional(&c.Avro, func() SchemaRecords { return SchemaRecords{} }, avroSchema)},
			{name: "protobuf", value: optional(&c.Protobuf, func() SchemaRecords { return SchemaRecords{} }, protobufSchema)},
			{name: "jsonschema", value: optional(&c.JSONSchema, func() SchemaRecords { return SchemaRecords{} }, jsonSchemaSchema)},
		},
		oneOf: []string{"lines", "ndjson", "access_log", "delimited", "parquet", "avro", "protobuf", "jsonschema"},
	}
}

func accessLogSchema(a *AccessLog) object {
	return object{
		fields: []field{
			{name: "format", value: names(&a.Format, "alb", "caddy", "cloudfront_realtime", "combined", "common", "elb", "haproxy", "s3", "vhost_combined", "w3c")},
			{name: "nginx", value: text(&a.Nginx, `'$remote_addr [$time_local] "$request" $status'`)},
			{name: "apache", value: text(&a.Apache, `'%h %l %u %t "%r" %>s %b'`)},
			{name: "base", value: text(&a.Base, "https://www.example.com")},
			{name: "scheme", value: names(&a.Scheme, "https", "http")},
			{name: "fields", value: texts(&a.Fields, "[x-my-field]")},
		},
		oneOf: []string{"format", "nginx", "apache"},
	}
}

func delimitedSchema(d *Delimited) object {
	return object{
		fields: []field{
			{name: "separator", value: separator(&d.Separator)},
			{name: "columns", value: texts(&d.Columns, "[time, url, user]")},
			{name: "url", value: text(&d.URL, "url"), example: "url: url"},
			{name: "base", value: text(&d.Base, "page")},
			{name: "carry", value: list(&d.Carry, DefaultCarryColumn, "[{name: user_id, type: int64}]", carryColumnSchema)},
		},
		check: func(dec *decoder, path string) { checkCarriedColumns(dec, path, d.Carry) },
	}
}

// parquetTableSchema is that of delimited lines, without what lines need.
func parquetTableSchema(p *ParquetTable) object {
	return object{
		fields: []field{
			{name: "url", value: text(&p.URL, "url"), example: "url: url"},
			{name: "base", value: text(&p.Base, "page")},
			{name: "carry", value: list(&p.Carry, DefaultCarryColumn, "[{name: user_id, type: int64}]", tableColumnSchema)},
		},
		check: func(dec *decoder, path string) { checkCarriedColumns(dec, path, p.Carry) },
	}
}

// tableColumnSchema allows JSON as well: some columns can be nothing else.
func tableColumnSchema(c *CarryColumn) object {
	return object{fields: []field{
		{name: "name", value: text(&c.Name, "user_id"), example: "name: user_id"},
		{name: "column", value: text(&c.Column, "user")},
		{name: "type", value: enum(&c.Type,
			[]string{"string", "int64", "float64", "bool", "timestamp", "json"},
			[]pipeline.FieldType{pipeline.String, pipeline.Int64, pipeline.Float64, pipeline.Bool, pipeline.Timestamp, pipeline.JSON})},
		{name: "time", value: names(&c.Time, "rfc3339", "s", "ms", "us", "ns")},
	}}
}

// checkCarriedColumns reports formats of times that are none, and names columns of the input after those of the output.
func checkCarriedColumns(dec *decoder, path string, carry []CarryColumn) {
	for i, c := range carry {
		if at := fmt.Sprintf("%s.carry[%d].time", path, i); dec.given(at) && c.Type != pipeline.Timestamp {
			dec.conflict(at, nil, "time is for timestamps only; take it out, or give type: timestamp")
		}
		if c.Column == "" {
			carry[i].Column = c.Name
		}
	}
}

func carryColumnSchema(c *CarryColumn) object {
	return object{fields: []field{
		{name: "name", value: text(&c.Name, "user_id"), example: "name: user_id"},
		{name: "column", value: text(&c.Column, "user")},
		{name: "type", value: enum(&c.Type,
			[]string{"string", "int64", "float64", "bool", "timestamp"},
			[]pipeline.FieldType{pipeline.String, pipeline.Int64, pipeline.Float64, pipeline.Bool, pipeline.Timestamp})},
		{name: "time", value: names(&c.Time, "rfc3339", "s", "ms", "us", "ns")},
	}}
}

func linesSchema(l *Lines) object {
	return object{fields: []field{
		{name: "skip_empty", value: boolean(&l.SkipEmpty)},
		{name: "trim", value: boolean(&l.Trim)},
	}}
}

func ndjsonSchema(n *NDJSON) object {
	return object{
		fields: []field{
			{name: "url", value: pointer(&n.URL, false), example: "url: /url"},
			{name: "base", value: pointer(&n.Base, false)},
			{name: "host", value: pointer(&n.Host, false)},
			{name: "scheme", value: text(&n.Scheme, "https, or /scheme")},
			{name: "carry", value: list(&n.Carry, DefaultCarry, "[{name: user_id, pointer: /user/id, type: int64}]", carrySchema)},
			{name: "skip_empty", value: boolean(&n.SkipEmpty)},
		},
		check: func(d *decoder, path string) { checkCarry(d, path, n.Carry) },
	}
}

func carrySchema(c *Carry) object {
	return object{
		fields: []field{
			{name: "name", value: text(&c.Name, "user_id"), example: "name: user_id"},
			{name: "pointer", value: pointer(&c.Pointer, true), example: "pointer: /user/id"},
			{name: "type", value: enum(&c.Type,
				[]string{"string", "int64", "float64", "bool", "timestamp", "json"},
				[]pipeline.FieldType{pipeline.String, pipeline.Int64, pipeline.Float64, pipeline.Bool, pipeline.Timestamp, pipeline.JSON})},
			{name: "time", value: names(&c.Time, "rfc3339", "s", "ms", "us", "ns")},
		},
		check: func(d *decoder, path string) {
			if d.given(join(path, "time")) && c.Type != pipeline.Timestamp {
				d.conflict(join(path, "time"), []string{join(path, "type")},
					"time is for timestamps only; take it out, or give type: timestamp")
			}
		},
	}
}

func columnsSchema(c *Columns) object {
	return object{
		fields: []field{
			{name: "include", value: texts(&c.Include, "[href, host, registrable_domain]")},
			{name: "exclude", value: texts(&c.Exclude, "[params, headers]")},
			{name: "rename", value: pairsValue{&c.Rename, "{href: url_clean}"}},
			{name: "profile", value: names(&c.Profile, urlcols.Profiles()...)},
			{name: "canonical", value: optional(&c.Canonical, func() Canonical { return Canonical{Form: "dedupe"} }, canonicalSchema)},
			{name: "promote", value: list(&c.Promote, func() Promote { return Promote{Take: "first"} }, "[{param: utm_source}]", promoteSchema)},
			{name: "tracking", value: names(&c.Tracking, "keep", "separate")},
			{name: "tracking_rules", value: text(&c.TrackingRules, "/etc/urlmill/tracking.txt")},
			{name: "public_suffix_list", value: text(&c.PublicSuffixList, "/usr/share/publicsuffix/public_suffix_list.dat")},
			{name: "params", value: names(&c.Params, "list", "map")},
			{name: "also", value: list(&c.Also, func() Also { return Also{} }, "[{field: referer}]", alsoSchema)},
		},
		check: func(d *decoder, path string) { checkColumns(d, path, c) },
	}
}

func canonicalSchema(c *Canonical) object {
	return object{fields: []field{
		{name: "form", value: names(&c.Form, canon.Forms()...)},
		{name: "with", value: texts(&c.With, "[https]")},
		{name: "without", value: texts(&c.Without, "[www, documents]")},
	}}
}

func promoteSchema(p *Promote) object {
	return object{fields: []field{
		{name: "param", value: text(&p.Param, "utm_source"), example: "param: utm_source"},
		{name: "or", value: texts(&p.Or, "[source]")},
		{name: "name", value: text(&p.Name, "campaign_source")},
		{name: "take", value: names(&p.Take, "first", "last", "all")},
	}}
}

func alsoSchema(a *Also) object {
	return object{fields: []field{
		{name: "field", value: text(&a.Field, "referer"), example: "field: referer"},
		{name: "prefix", value: text(&a.Prefix, "referer_")},
		{name: "include", value: texts(&a.Include, "[host, registrable_domain]")},
	}}
}

func sinkSchema(s *Sink) object {
	return object{
		fields: []field{
			{name: "parquet", value: optional(&s.Parquet, DefaultParquet, parquetSchema)},
			{name: "arrowipc", value: optional(&s.ArrowIPC, DefaultArrowIPC, arrowSchema)},
			{name: "ndjson", value: optional(&s.NDJSON, func() NDJSONOut { return NDJSONOut{} }, func(n *NDJSONOut) object { return outputSchema(&n.Output) })},
			{name: "kafka", value: optional(&s.Kafka, DefaultKafkaOut, kafkaOutSchema)},
			{name: "postgres", value: optional(&s.Postgres, DefaultPostgres, postgresSchema)},
			{name: "clickhouse", value: optional(&s.ClickHouse, DefaultClickHouse, clickhouseSchema)},
			{name: "duckdb", value: optional(&s.DuckDB, DefaultDuckDB, duckdbSchema)},
			{name: "roll", value: section(&s.Roll, rollSchema)},
			{name: "s3", value: section(&s.S3, s3Schema)},
		},
		oneOf: []string{"parquet", "arrowipc", "ndjson", "kafka", "postgres", "clickhouse", "duckdb"},
		check: func(d *decoder, path string) { checkS3(d, path, s) },
	}
}

// partitionExample is how directories of partitions may be asked for.
const partitionExample = `["date(timestamp)", registrable_domain]`

func parquetSchema(p *Parquet) object {
	return object{
		fields: []field{
			{name: "path", value: text(&p.Path, "/var/lib/urlmill/clicks"), example: "path: out"},
			{name: "dead_letters", value: deadLettersValue{&p.DeadLetters, &p.DeadLetterTopic}},
			{name: "compression", value: names(&p.Compression, "none", "snappy", "gzip", "zstd")},
			{name: "compression_level", value: integer(&p.CompressionLevel, 1, 22)},
			{name: "row_group_rows", value: integer(&p.RowGroupRows, 1, 16<<20)},
			{name: "row_group_bytes", value: size(&p.RowGroupBytes, 1<<10, 512<<20)},
			{name: "encoder", value: names(&p.Encoder, "urlmill", "arrow")},
			{name: "page_version", value: integer(&p.PageVersion, 1, 2)},
			{name: "encodings", value: names(&p.Encodings, "all", "plain")},
			{name: "bloom_filters", value: texts(&p.BloomFilters, "[host, registrable_domain], or [none]")},
			{name: "delivery", value: names(&p.Delivery, ExactlyOnce, AtLeastOnce)},
			{name: "partition_by", value: texts(&p.PartitionBy, partitionExample)},
			{name: "late", value: optional(&p.Late, DefaultLate, lateSchema)},
			{name: "sort_by", value: texts(&p.SortBy, "[registrable_domain, path]")},
			{name: "iceberg", value: optional(&p.Iceberg, DefaultIceberg, icebergSchema)},
		},
		check: func(d *decoder, path string) {
			checkParquet(d, path, p)
			checkIceberg(d, path, p)
		},
	}
}

func arrowSchema(a *ArrowIPC) object {
	o := outputSchema(&a.Output)
	o.fields = append(o.fields,
		field{name: "compression", value: names(&a.Compression, "none", "lz4", "zstd")},
		field{name: "dictionaries", value: texts(&a.Dictionaries, "[host, registrable_domain]")})
	return o
}

func outputSchema(o *Output) object {
	return object{
		fields: []field{
			{name: "path", value: text(&o.Path, "/var/lib/urlmill/clicks")},
			{name: "stdout", value: boolean(&o.Stdout)},
			{name: "dead_letters", value: deadLettersValue{&o.DeadLetters, &o.DeadLetterTopic}},
			{name: "delivery", value: names(&o.Delivery, ExactlyOnce, AtLeastOnce)},
			{name: "partition_by", value: texts(&o.PartitionBy, partitionExample)},
			{name: "late", value: optional(&o.Late, DefaultLate, lateSchema)},
		},
		check: func(d *decoder, path string) { checkOutput(d, path, o) },
	}
}

func lateSchema(l *Late) object {
	return object{fields: []field{
		{name: "path", value: text(&l.Path, "/var/lib/urlmill/clicks-late"), example: "path: out-late"},
		{name: "after", value: duration(&l.After, 0, 10*365*24*time.Hour)},
	}}
}

func rollSchema(r *Roll) object {
	return object{fields: []field{
		{name: "rows", value: integer(&r.Rows, 0, 1<<40)},
		{name: "bytes", value: size(&r.Bytes, 0, 1<<40)},
		{name: "every", value: duration(&r.Every, 0, 24*time.Hour)},
	}}
}

func pipelineSchema(p *Pipeline) object {
	return object{fields: []field{
		{name: "batch_rows", value: integer(&p.BatchRows, 1, 1<<17)},
		{name: "batch_bytes", value: size(&p.BatchBytes, 1<<10, 64<<20)},
		{name: "workers", value: integer(&p.Workers, 1, 1024)},
		{name: "buffers", value: integer(&p.Buffers, 1, 64)},
		{name: "drain_timeout", value: duration(&p.DrainTimeout, time.Second, maxTimeout)},
		{name: "rate", value: rate(&p.Rate)},
	}}
}

func logSchema(l *Log) object {
	return object{fields: []field{
		{name: "level", value: enum(&l.Level,
			[]string{"debug", "info", "warn", "error"},
			[]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError})},
		{name: "format", value: names(&l.Format, "text", "json")},
	}}
}

// schemaHomes maps every key to the mappings that have it.
var schemaHomes = sync.OnceValue(func() map[string][]string {
	homes := map[string][]string{}
	var visit func(path string, o object)
	visit = func(path string, o object) {
		for _, f := range o.fields {
			homes[f.name] = append(homes[f.name], title(path))
			if s, ok := f.value.(sectionValue); ok {
				visit(join(path, f.name), s.object())
			}
		}
	}
	c := Default()
	visit("", rootSchema(&c))
	return homes
})

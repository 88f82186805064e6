package settings

import (
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// Section binds the keys of a configuration to c.
func (c *Config) Section() config.Section {
	return config.Section{
		Fields: []config.Field{
			{
				Name: "source", Doc: "Where records come from.",
				Fixed: "connections, positions and lanes were made with it",
				Value: config.Map(sourceSchema(&c.Source)), Example: "source: {file: {paths: [urls.txt]}}",
			},
			{
				Name: "columns", Doc: "Which columns the rows have, and what they are called.",
				Fixed: "open files have the columns that there were when they were opened",
				Value: config.Map(columnsSchema(&c.Columns)),
			},
			{Name: "on_error", Doc: "What becomes of a record without a valid URL: a row with its error, nothing, a dead letter, or the end of the run.", Fixed: "rows that are under way were sorted by it", Value: config.Enum(&c.OnError,
				[]string{"keep", "drop", "dead_letter", "fail"},
				[]pipeline.OnError{pipeline.Keep, pipeline.Drop, pipeline.ToDeadLetters, pipeline.Fail})},
			{
				Name: "dedupe", Doc: "Finds rows whose canonical URL was there before; see docs/dedupe.md. Needs columns.canonical.",
				Fixed: "the state on disk is open and was made with it",
				Value: config.Optional(&c.Dedupe, DefaultDedupe, dedupeSchema),
			},
			{
				Name: "sink", Doc: "Where rows go.",
				Fixed: "files are open and positions kept where it says",
				Value: config.Map(sinkSchema(&c.Sink)), Example: "sink: {parquet: {path: out}}",
			},
			{
				Name: "pipeline", Doc: "How much is on its way between source and sink.",
				Fixed: "batches and goroutines were made by it",
				Value: config.Map(pipelineSchema(&c.Pipeline)),
			},
			{
				Name: "memory_limit", Doc: "What the whole process may take. Not set: 80 % of the container's memory, or half of the machine's.",
				Fixed: "all memory was divided by it",
				Value: config.Size(&c.MemoryLimit, 64<<20, 1<<50),
			},
			{
				Name: "log", Doc: "What is logged, to standard error. The command line's --log-level and --log-format win.",
				Fixed: "the log has begun in that format",
				Value: config.Map(logSchema(&c.Log)),
			},
			{
				Name: "admin", Doc: "A listener with metrics (/metrics), probes (/livez, /readyz), a status page and a URL inspector. Left out: none; admin: {} is one with all defaults.",
				Fixed: "the listener is open",
				Value: config.Optional(&c.Admin, DefaultAdmin, adminSchema),
			},
			{
				Name: "tracing", Doc: "Spans of batches and commits for an OpenTelemetry collector, by OTLP over HTTP. Left out: none.",
				Fixed: "the exporter is running",
				Value: config.Optional(&c.Tracing, DefaultTracing, tracingSchema),
			},
		},
		Check: func(d *config.Check) { checkRoot(d, c) },
	}
}

func sourceSchema(s *Source) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "kafka", Doc: "Topics, read as a member of a consumer group.", Value: config.Optional(&s.Kafka, DefaultKafka, kafkaSchema)},
			{Name: "file", Doc: "Files, or standard input.", Value: config.Optional(&s.File, DefaultFile, fileSchema)},
			{Name: "generate", Doc: "A made-up clickstream or crawl, the same for the same seed.", Value: config.Optional(&s.Generate, DefaultGenerate, generateSchema)},
			{Name: "codec", Doc: "How a record holds its URL. Left out: a line is a URL.", Value: config.Map(codecSchema(&s.Codec))},
		},
		OneOf: []string{"kafka", "file", "generate"},
		Check: func(d *config.Check) {
			checkGenerate(d, s)
			checkSchemaRecords(d, s)
		},
	}
}

// maxTimeout bounds durations that somebody waits for.
const maxTimeout = time.Hour

func kafkaSchema(k *Kafka) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "brokers", Doc: "Addresses of brokers to begin with; the others are learned from them. A topic to write to takes those of source.kafka when they are left out.", Value: config.Texts(&k.Brokers, "[kafka-1:9092, kafka-2:9092]"), Example: "brokers: [localhost:9092]"},
			{Name: "topics", Doc: "Topics to read; each partition is a lane of its own.", Value: config.Texts(&k.Topics, "[clicks]"), Example: "topics: [clicks]"},
			{Name: "group", Doc: "The consumer group; processes with the same one share the partitions.", Value: config.Text(&k.Group, "urlmill-clicks"), Example: "group: urlmill-clicks"},
			{Name: "client_id", Doc: "What brokers call this client in their logs and quotas.", Value: config.Text(&k.ClientID, "urlmill")},
			{Name: "start", Doc: "Where a partition begins for which there is no position yet.", Value: startValue(&k.Start)},
			{Name: "isolation", Doc: "Whether records of aborted and open transactions are left out.", Value: config.Names(&k.Isolation, "read_committed", "read_uncommitted")},
			{Name: "on_ahead", Doc: "What to do when the group has committed more than the output holds: stop, rewind to what the output holds, or skip to the group's offset.", Value: config.Names(&k.OnAhead, "stop", "rewind", "skip")},
			{Name: "on_truncated", Doc: "What to do when retention has deleted records that were not read yet.", Value: config.Names(&k.OnTruncated, "stop", "skip")},
			{Name: "on_recreated", Doc: "What to do when the topic is another one than the output has read, made anew or of another cluster: stop, or restart with its first record.", Value: config.Names(&k.OnRecreated, "stop", "restart")},
			{Name: "on_corrupt", Doc: "What to do with a batch that cannot be read.", Value: config.Names(&k.OnCorrupt, "stop", "dead_letter")},
			{Name: "tls", Doc: "Encryption of the connections to brokers.", Value: config.Map(tlsSchema(&k.TLS))},
			{Name: "sasl", Doc: "How to log in at brokers.", Value: config.Optional(&k.SASL, func() SASL { return SASL{} }, saslSchema)},
			{Name: "session_timeout", Doc: "After how long without a heartbeat the group takes a member for dead.", Value: config.Duration(&k.SessionTimeout, time.Second, maxTimeout)},
			{Name: "heartbeat_interval", Doc: "How often the group is told that this member lives; at most a third of session_timeout.", Value: config.Duration(&k.HeartbeatInterval, 100*time.Millisecond, maxTimeout)},
			{Name: "rebalance_timeout", Doc: "How long a rebalance waits for members to commit; pipeline.drain_timeout has to be shorter.", Value: config.Duration(&k.RebalanceTimeout, time.Second, maxTimeout)},
			{Name: "dial_timeout", Doc: "How long connecting to a broker may take.", Value: config.Duration(&k.DialTimeout, 100*time.Millisecond, maxTimeout)},
			{Name: "max_wait", Doc: "How long a broker may wait for min_bytes.", Value: config.Duration(&k.MaxWait, time.Millisecond, time.Minute)},
			{Name: "min_bytes", Doc: "How much a broker collects before it answers.", Value: config.Size(&k.MinBytes, 1, 1<<30)},
			{Name: "max_bytes", Doc: "How much of a partition a broker sends at a time.", Value: config.Size(&k.MaxBytes, 1<<10, 1<<30)},
			{Name: "fetch_memory", Doc: "What all partitions together have fetched and not read yet. Not set: a share of memory_limit, at most this.", Value: config.Size(&k.FetchMemory, 1<<20, 1<<30)},
			{Name: "max_record_bytes", Doc: "The longest record; a longer one is a row with the error record-too-large.", Value: config.Size(&k.MaxRecordBytes, 1<<10, 128<<20)},
			{Name: "connect_timeout", Doc: "How long the start waits for a broker; 0s is for ever.", Value: config.Duration(&k.ConnectTimeout, 0, 24*time.Hour)},
			{Name: "topic_timeout", Doc: "How long the start waits for topics to be created; 0s is for ever.", Value: config.Duration(&k.TopicTimeout, 0, 24*time.Hour)},
		},
		Check: func(d *config.Check) { checkKafka(d, k) },
	}
}

func tlsSchema(t *TLS) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "enabled", Doc: "Whether connections are encrypted.", Value: config.Bool(&t.Enabled)},
			{Name: "ca_file", Doc: "Certificates (PEM) that the other side's are signed by. Not set: those of the system.", Value: config.Text(&t.CAFile, "/etc/urlmill/ca.pem")},
			{Name: "cert_file", Doc: "Certificate (PEM) to show; needs key_file.", Value: config.Text(&t.CertFile, "/etc/urlmill/client.pem")},
			{Name: "key_file", Doc: "Key (PEM) of cert_file.", Value: config.Text(&t.KeyFile, "/etc/urlmill/client.key")},
			{Name: "server_name", Doc: "Name in the other side's certificates, when it is not the one that they are reached by.", Value: config.Text(&t.ServerName, "kafka.example.com")},
			{Name: "insecure_skip_verify", Doc: "Whether certificates are taken unseen. For tests alone.", Value: config.Bool(&t.InsecureSkipVerify)},
		},
		Check: func(d *config.Check) { checkTLS(d, t) },
	}
}

func saslSchema(s *SASL) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "mechanism", Doc: "How the password is proved.", Value: config.Names(&s.Mechanism, "plain", "scram-sha-256", "scram-sha-512"), Example: "mechanism: scram-sha-512"},
		{Name: "username", Doc: "Who logs in.", Value: config.Text(&s.Username, "urlmill"), Example: "username: urlmill"},
		{Name: "password", Doc: "The password; it is never printed. Best from a variable or a file.", Value: config.SecretText(&s.Password), Example: `password: "${KAFKA_PASSWORD}"`},
	}}
}

func fileSchema(f *File) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "paths", Doc: "Files, folders with all below them, patterns (** is any number of folders), and - for standard input.", Value: config.Texts(&f.Paths, "[logs/, 'more/*.gz']"), Example: "paths: [urls.txt]"},
		{Name: "parallel", Doc: "Files that are read at a time. Not set: one for each CPU.", Value: config.Int(&f.Parallel, 1, 1024)},
		{Name: "max_record_bytes", Doc: "The longest record; a longer one is a row with the error record-too-large.", Value: config.Size(&f.MaxRecordBytes, 1<<10, 128<<20)},
		{Name: "on_changed", Doc: "What to do with a file whose content is not that any more which was delivered: stop (the others are read), read the whole of it as a new file, or skip it.", Value: config.Names(&f.OnChanged, "stop", "whole", "skip")},
	}}
}

func generateSchema(g *Generate) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "records", Doc: "How many records there are; 0 is without end.", Value: config.Int(&g.Records, 0, math.MaxInt64)},
		{Name: "seed", Doc: "What the records are made from.", Value: config.Int(&g.Seed, 0, math.MaxUint64)},
		{Name: "lanes", Doc: "Lanes side by side.", Value: config.Int(&g.Lanes, 1, 1024)},
		{Name: "rate", Live: true, Doc: "Records per second over all lanes; 0 is as fast as they are taken.", Value: config.Number(&g.Rate, 0, 1e9, "a number of records per second from 0 (no limit) to 1e9")},
		{Name: "format", Doc: "JSON objects, or plain URLs.", Value: config.Names(&g.Format, "ndjson", "lines")},
		{Name: "profile", Doc: "What the records look like.", Value: config.Names(&g.Profile, "clickstream", "crawl")},
		{Name: "repeats", Doc: "Share of records that repeat the page of an earlier one, in the same words or others; 0 is what the profile has, which is 0.1 in a crawl.", Value: config.Number(&g.Repeats, 0, 0.9, "a share from 0 to 0.9")},
		{Name: "repeats_within", Doc: "How many records back the page is that is repeated, at most.", Value: config.Int(&g.RepeatsWithin, 1, 1<<32)},
	}}
}

func codecSchema(c *Codec) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "lines", Doc: "The whole line is the URL.", Value: config.Optional(&c.Lines, func() Lines { return Lines{} }, linesSchema)},
			{Name: "ndjson", Doc: "A record is a JSON value, and pointers say where things are.", Value: config.Optional(&c.NDJSON, func() NDJSON { return NDJSON{} }, ndjsonSchema)},
			{Name: "access_log", Doc: "A line of a web server's, proxy's or load balancer's log.", Value: config.Optional(&c.AccessLog, func() AccessLog { return AccessLog{} }, accessLogSchema)},
			{Name: "delimited", Doc: "A line of values with a separator between, such as CSV.", Value: config.Optional(&c.Delimited, DefaultDelimited, delimitedSchema)},
			{Name: "parquet", Doc: "Rows of Parquet files; only the columns that are named are read.", Value: config.Optional(&c.Parquet, func() ParquetTable { return ParquetTable{} }, parquetTableSchema)},
			{Name: "avro", Doc: "A record in Avro's binary encoding, by a schema from a registry or a file.", Value: config.Optional(&c.Avro, func() SchemaRecords { return SchemaRecords{} }, avroSchema)},
			{Name: "protobuf", Doc: "A record in Protobuf's wire format, by a schema from a registry or a file.", Value: config.Optional(&c.Protobuf, func() SchemaRecords { return SchemaRecords{} }, protobufSchema)},
			{Name: "jsonschema", Doc: "A record of JSON behind the header of a schema registry.", Value: config.Optional(&c.JSONSchema, func() SchemaRecords { return SchemaRecords{} }, jsonSchemaSchema)},
		},
		OneOf: []string{"lines", "ndjson", "access_log", "delimited", "parquet", "avro", "protobuf", "jsonschema"},
	}
}

func accessLogSchema(a *AccessLog) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "format", Doc: "A format by its name.", Value: config.Names(&a.Format, "alb", "caddy", "cloudfront_realtime", "combined", "common", "elb", "haproxy", "s3", "vhost_combined", "w3c")},
			{Name: "nginx", Doc: "A format in the words of nginx's directive log_format.", Value: config.Text(&a.Nginx, `'$remote_addr [$time_local] "$request" $status'`)},
			{Name: "apache", Doc: "A format in the words of Apache's directive LogFormat.", Value: config.Text(&a.Apache, `'%h %l %u %t "%r" %>s %b'`)},
			{Name: "base", Doc: "Origin of requests whose log does not say the host.", Value: config.Text(&a.Base, "https://www.example.com")},
			{Name: "scheme", Doc: "Scheme of requests whose log says the host alone.", Value: config.Names(&a.Scheme, "https", "http")},
			{Name: "fields", Doc: "w3c: further fields that become columns. cloudfront_realtime: the fields of the log, in CloudFront's order, if not all.", Value: config.Texts(&a.Fields, "[x-my-field]")},
		},
		OneOf: []string{"format", "nginx", "apache"},
	}
}

func delimitedSchema(d *Delimited) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "separator", Doc: "What stands between values.", Value: separator(&d.Separator)},
			{Name: "columns", Doc: "Names of the columns. Not set: the first line has them.", Value: config.Texts(&d.Columns, "[time, url, user]")},
			{Name: "url", Doc: "Column with the URL.", Value: config.Text(&d.URL, "url"), Example: "url: url"},
			{Name: "base", Doc: "Column with what a relative URL is resolved against.", Value: config.Text(&d.Base, "page")},
			{Name: "carry", Doc: "Values that go along as columns of their own.", Value: config.List(&d.Carry, DefaultCarryColumn, "[{name: user_id, type: int64}]", carryColumnSchema)},
		},
		Check: func(dec *config.Check) { checkCarriedColumns(dec, d.Carry) },
	}
}

// parquetTableSchema is that of delimited lines, without what lines need.
func parquetTableSchema(p *ParquetTable) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "url", Doc: "Column with the URL; one within groups has a dot between the names.", Value: config.Text(&p.URL, "url"), Example: "url: url"},
			{Name: "base", Doc: "Column with what a relative URL is resolved against.", Value: config.Text(&p.Base, "page")},
			{Name: "carry", Doc: "Columns that go along, in the types given.", Value: config.List(&p.Carry, DefaultCarryColumn, "[{name: user_id, type: int64}]", tableColumnSchema)},
		},
		Check: func(dec *config.Check) { checkCarriedColumns(dec, p.Carry) },
	}
}

// tableColumnSchema allows JSON as well: some columns can be nothing else.
func tableColumnSchema(c *CarryColumn) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "name", Doc: "Name of the column.", Value: config.Text(&c.Name, "user_id"), Example: "name: user_id"},
		{Name: "column", Doc: "Column of the input. Not set: the one called as name.", Value: config.Text(&c.Column, "user")},
		{Name: "type", Doc: "Type of the column.", Value: config.Enum(&c.Type,
			[]string{"string", "int64", "float64", "bool", "timestamp", "json"},
			[]pipeline.FieldType{pipeline.String, pipeline.Int64, pipeline.Float64, pipeline.Bool, pipeline.Timestamp, pipeline.JSON})},
		{Name: "time", Doc: "How a timestamp is written: RFC 3339, or a number since 1970 in that unit.", Value: config.Names(&c.Time, "rfc3339", "s", "ms", "us", "ns")},
	}}
}

// checkCarriedColumns reports formats of times that are none, and names columns of the input after those of the output.
func checkCarriedColumns(dec *config.Check, carry []CarryColumn) {
	for i, c := range carry {
		if at := fmt.Sprintf("carry[%d].time", i); dec.Given(at) && c.Type != pipeline.Timestamp {
			dec.Conflict(at, nil, "time is for timestamps only; take it out, or give type: timestamp")
		}
		if c.Column == "" {
			carry[i].Column = c.Name
		}
	}
}

func carryColumnSchema(c *CarryColumn) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "name", Doc: "Name of the column.", Value: config.Text(&c.Name, "user_id"), Example: "name: user_id"},
		{Name: "column", Doc: "Column of the input. Not set: the one called as name.", Value: config.Text(&c.Column, "user")},
		{Name: "type", Doc: "Type of the column.", Value: config.Enum(&c.Type,
			[]string{"string", "int64", "float64", "bool", "timestamp"},
			[]pipeline.FieldType{pipeline.String, pipeline.Int64, pipeline.Float64, pipeline.Bool, pipeline.Timestamp})},
		{Name: "time", Doc: "How a timestamp is written: RFC 3339, or a number since 1970 in that unit.", Value: config.Names(&c.Time, "rfc3339", "s", "ms", "us", "ns")},
	}}
}

func linesSchema(l *Lines) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "skip_empty", Doc: "Whether empty records are left out instead of being rows with an error.", Value: config.Bool(&l.SkipEmpty)},
		{Name: "trim", Doc: "Whether white space around the URL is taken away.", Value: config.Bool(&l.Trim)},
	}}
}

func ndjsonSchema(n *NDJSON) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "url", Doc: "Pointer to the URL.", Value: config.Pointer(&n.URL, false), Example: "url: /url"},
			{Name: "base", Doc: "Pointer to what a relative URL is resolved against.", Value: config.Pointer(&n.Base, false)},
			{Name: "host", Doc: "Pointer to the host of URLs that begin with a slash.", Value: config.Pointer(&n.Host, false)},
			{Name: "scheme", Doc: "Scheme of such URLs, or a pointer to it.", Value: config.Text(&n.Scheme, "https, or /scheme")},
			{Name: "carry", Doc: "Fields that go along as columns of their own.", Value: config.List(&n.Carry, DefaultCarry, "[{name: user_id, pointer: /user/id, type: int64}]", carrySchema)},
			{Name: "skip_empty", Doc: "Whether empty records are left out instead of being rows with an error.", Value: config.Bool(&n.SkipEmpty)},
		},
		Check: func(d *config.Check) { checkCarry(d, n.Carry) },
	}
}

func carrySchema(c *Carry) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "name", Doc: "Name of the column.", Value: config.Text(&c.Name, "user_id"), Example: "name: user_id"},
			{Name: "pointer", Doc: "Pointer to the value.", Value: config.Pointer(&c.Pointer, true), Example: "pointer: /user/id"},
			{Name: "type", Doc: "Type of the column.", Value: config.Enum(&c.Type,
				[]string{"string", "int64", "float64", "bool", "timestamp", "json"},
				[]pipeline.FieldType{pipeline.String, pipeline.Int64, pipeline.Float64, pipeline.Bool, pipeline.Timestamp, pipeline.JSON})},
			{Name: "time", Doc: "How a timestamp is written: RFC 3339, or a number since 1970 in that unit.", Value: config.Names(&c.Time, "rfc3339", "s", "ms", "us", "ns")},
		},
		Check: func(d *config.Check) {
			if d.Given("time") && c.Type != pipeline.Timestamp {
				d.Conflict("time", []string{"type"},
					"time is for timestamps only; take it out, or give type: timestamp")
			}
		},
	}
}

func columnsSchema(c *Columns) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "include", Doc: "Columns to have. Not set: all that there are.", Value: config.Texts(&c.Include, "[href, host, registrable_domain]")},
			{Name: "exclude", Doc: "Columns to leave out.", Value: config.Texts(&c.Exclude, "[params, headers]")},
			{Name: "rename", Doc: "Other names for columns in the output.", Value: config.Pairs(&c.Rename, "{href: url_clean}")},
			{Name: "profile", Doc: "Which set of names the URL's columns have.", Value: config.Names(&c.Profile, urlcols.Profiles()...)},
			{Name: "canonical", Doc: "Adds canonical_url and its key url_key, by which duplicates are found.", Value: config.Optional(&c.Canonical, func() Canonical { return Canonical{Form: "dedupe"} }, canonicalSchema)},
			{Name: "promote", Doc: "Parameters of the query that have columns of their own.", Value: config.List(&c.Promote, func() Promote { return Promote{Take: "first"} }, "[{param: utm_source}]", promoteSchema)},
			{Name: "tracking", Doc: "Whether tracking parameters stay in params or go to tracking_params.", Value: config.Names(&c.Tracking, "keep", "separate")},
			{Name: "tracking_rules", Live: true, Doc: "File of tracking rules. Not set: those that are built in.", Value: config.Text(&c.TrackingRules, "/etc/urlmill/tracking.txt")},
			{Name: "public_suffix_list", Live: true, Doc: "File with the Public Suffix List, as publicsuffix.org has it. Not set: the one that is built in.", Value: config.Text(&c.PublicSuffixList, "/usr/share/publicsuffix/public_suffix_list.dat")},
			{Name: "params", Doc: "Type of the column params; a map loses nothing, but not all readers have one.", Value: config.Names(&c.Params, "list", "map")},
			{Name: "also", Doc: "Carried fields that are URLs as well and are parsed too.", Value: config.List(&c.Also, func() Also { return Also{} }, "[{field: referer}]", alsoSchema)},
		},
		Check: func(d *config.Check) { checkColumns(d, c) },
	}
}

func canonicalSchema(c *Canonical) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "form", Doc: "How much is taken for equal; from RFC 3986's own equivalences to what crawlers dedupe by.", Value: config.Names(&c.Form, canon.Forms()...)},
		{Name: "with", Doc: "Steps that the form dedupe does not have by itself.", Value: config.Texts(&c.With, "[https]")},
		{Name: "without", Doc: "Steps of the form dedupe to leave out.", Value: config.Texts(&c.Without, "[www, documents]")},
	}}
}

func promoteSchema(p *Promote) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "param", Doc: "Name of the parameter.", Value: config.Text(&p.Param, "utm_source"), Example: "param: utm_source"},
		{Name: "or", Doc: "Other names to look for when it is not there.", Value: config.Texts(&p.Or, "[source]")},
		{Name: "name", Doc: "Name of the column. Not set: that of the parameter.", Value: config.Text(&p.Name, "campaign_source")},
		{Name: "take", Doc: "Which of several values; all makes a list.", Value: config.Names(&p.Take, "first", "last", "all")},
	}}
}

func alsoSchema(a *Also) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "field", Doc: "Name of the carried field.", Value: config.Text(&a.Field, "referer"), Example: "field: referer"},
		{Name: "prefix", Doc: "What its columns begin with. Not set: its name and an underscore.", Value: config.Text(&a.Prefix, "referer_")},
		{Name: "include", Doc: "Which of its columns to have.", Value: config.Texts(&a.Include, "[host, registrable_domain]")},
	}}
}

func sinkSchema(s *Sink) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "parquet", Doc: "Parquet files.", Value: config.Optional(&s.Parquet, DefaultParquet, parquetSchema)},
			{Name: "arrowipc", Doc: "Arrow IPC files, or a stream.", Value: config.Optional(&s.ArrowIPC, DefaultArrowIPC, arrowSchema)},
			{Name: "ndjson", Doc: "JSON objects, one a line.", Value: config.Optional(&s.NDJSON, func() NDJSONOut { return NDJSONOut{} }, func(n *NDJSONOut) config.Section { return outputSchema(&n.Output) })},
			{Name: "kafka", Doc: "A topic, at least once.", Value: config.Optional(&s.Kafka, DefaultKafkaOut, kafkaOutSchema)},
			{Name: "postgres", Doc: "A table of PostgreSQL, by COPY in one transaction with the positions; see docs/warehouse.md.", Value: config.Optional(&s.Postgres, DefaultPostgres, postgresSchema)},
			{Name: "clickhouse", Doc: "A table of ClickHouse, each load one block; see docs/warehouse.md.", Value: config.Optional(&s.ClickHouse, DefaultClickHouse, clickhouseSchema)},
			{Name: "duckdb", Doc: "A table in a database file of DuckDB, in one transaction with the positions; see docs/warehouse.md. Needs an urlmill that is built with it.", Value: config.Optional(&s.DuckDB, DefaultDuckDB, duckdbSchema)},
			{Name: "roll", Doc: "When files are finished and positions committed: at the first of the limits.", Value: config.Map(rollSchema(&s.Roll))},
			{Name: "s3", Doc: "How to reach the buckets of folders that are s3://bucket/prefix.", Value: config.Map(s3Schema(&s.S3))},
		},
		OneOf: []string{"parquet", "arrowipc", "ndjson", "kafka", "postgres", "clickhouse", "duckdb"},
		Check: func(d *config.Check) { checkS3(d, s) },
	}
}

// partitionExample is how directories of partitions may be asked for.
const partitionExample = `["date(timestamp)", registrable_domain]`

func parquetSchema(p *Parquet) config.Section {
	return config.Section{
		Gone: map[string]string{"encoder": "urlmill's own encoder writes all files; take the key out"},
		Fields: []config.Field{
			{Name: "path", Doc: "Folder, or s3://bucket/prefix, that the files appear in when they are complete.", Value: config.Text(&p.Path, "/var/lib/urlmill/clicks"), Example: "path: out"},
			{Name: "dead_letters", Doc: "Where records without a valid URL go with on_error: dead_letter.", Value: deadLettersValue(&p.DeadLetters, &p.DeadLetterTopic)},
			{Name: "compression", Doc: "How pages are compressed.", Value: config.Names(&p.Compression, "none", "snappy", "gzip", "zstd")},
			{Name: "compression_level", Doc: "From fast to small; gzip has 1 to 9, zstd 1 to 22.", Value: config.Int(&p.CompressionLevel, 1, 22)},
			{Name: "row_group_rows", Doc: "Rows of a row group, at most.", Value: config.Int(&p.RowGroupRows, 1, 16<<20)},
			{Name: "row_group_bytes", Doc: "Bytes of a row group in memory, at most.", Value: config.Size(&p.RowGroupBytes, 1<<10, 512<<20)},
			{Name: "page_version", Doc: "Version of data pages; some readers know 1 alone.", Value: config.Int(&p.PageVersion, 1, 2)},
			{Name: "encodings", Doc: "plain is for readers that do not know the delta encodings.", Value: config.Names(&p.Encodings, "all", "plain")},
			{Name: "bloom_filters", Doc: "Columns with bloom filters, or [none]. Not set: host, registrable_domain and url_key.", Value: config.Texts(&p.BloomFilters, "[host, registrable_domain], or [none]")},
			{Name: "delivery", Doc: "Whether files hold every record once whatever dies, or may hold some twice after a crash. What goes to standard output or a topic is at_least_once.", Value: config.Names(&p.Delivery, ExactlyOnce, AtLeastOnce)},
			{Name: "partition_by", Doc: "Directories in Hive's form, by columns, month(column), date(column), hour(column) and bucket(N, column).", Value: config.Texts(&p.PartitionBy, partitionExample)},
			{Name: "late", Doc: "Rows that come too late for the directory of their time, by date(column) and hour(column) of partition_by, go into files of their own: one for each commit, instead of one for each old directory.", Value: config.Optional(&p.Late, DefaultLate, lateSchema)},
			{Name: "sort_by", Doc: "Columns by which the rows of each row group are sorted, ascending, nulls last: queries for ranges of them read less, and files are smaller.", Value: config.Texts(&p.SortBy, "[registrable_domain, path]")},
			{Name: "iceberg", Doc: "An Apache Iceberg table in which the files are registered when they are committed, without being written again; see docs/warehouse.md.", Value: config.Optional(&p.Iceberg, DefaultIceberg, icebergSchema)},
		},
		Check: func(d *config.Check) {
			checkParquet(d, p)
			checkIceberg(d, p)
		},
	}
}

func arrowSchema(a *ArrowIPC) config.Section {
	o := outputSchema(&a.Output)
	o.Fields = append(o.Fields,
		config.Field{Name: "compression", Doc: "How buffers are compressed.", Value: config.Names(&a.Compression, "none", "lz4", "zstd")},
		config.Field{Name: "dictionaries", Doc: "Columns of text that a stream writes as growing dictionaries.", Value: config.Texts(&a.Dictionaries, "[host, registrable_domain]")})
	return o
}

func outputSchema(o *Output) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "path", Doc: "Folder, or s3://bucket/prefix, for files; or give stdout.", Value: config.Text(&o.Path, "/var/lib/urlmill/clicks")},
			{Name: "stdout", Doc: "Whether rows go to standard output instead.", Value: config.Bool(&o.Stdout)},
			{Name: "dead_letters", Doc: "Where records without a valid URL go with on_error: dead_letter.", Value: deadLettersValue(&o.DeadLetters, &o.DeadLetterTopic)},
			{Name: "delivery", Doc: "Whether files hold every record once whatever dies, or may hold some twice after a crash. What goes to standard output or a topic is at_least_once.", Value: config.Names(&o.Delivery, ExactlyOnce, AtLeastOnce)},
			{Name: "partition_by", Doc: "Directories in Hive's form, by columns, month(column), date(column), hour(column) and bucket(N, column).", Value: config.Texts(&o.PartitionBy, partitionExample)},
			{Name: "late", Doc: "Rows that come too late for the directory of their time, by date(column) and hour(column) of partition_by, go into files of their own: one for each commit, instead of one for each old directory.", Value: config.Optional(&o.Late, DefaultLate, lateSchema)},
		},
		Check: func(d *config.Check) { checkOutput(d, o) },
	}
}

func lateSchema(l *Late) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "path", Doc: "Folder, or s3://bucket/prefix, for them, beside that of the other rows.", Value: config.Text(&l.Path, "/var/lib/urlmill/clicks-late"), Example: "path: out-late"},
		{Name: "after", Doc: "How far the time of a row is before the newest directory of its lane.", Value: config.Duration(&l.After, 0, 10*365*24*time.Hour)},
	}}
}

func rollSchema(r *Roll) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "rows", Doc: "Rows of a file; 0 is no limit.", Value: config.Int(&r.Rows, 0, 1<<40)},
		{Name: "bytes", Doc: "Size of a file; 0 is no limit.", Value: config.Size(&r.Bytes, 0, 1<<40)},
		{Name: "every", Doc: "Age of a file, and so the longest time between commits; 0s is no limit.", Value: config.Duration(&r.Every, 0, 24*time.Hour)},
	}}
}

func pipelineSchema(p *Pipeline) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "batch_rows", Doc: "Rows that are parsed at once.", Value: config.Int(&p.BatchRows, 1, 1<<17)},
		{Name: "batch_bytes", Doc: "Bytes that are parsed at once; less where memory_limit is small.", Value: config.Size(&p.BatchBytes, 1<<10, 64<<20)},
		{Name: "workers", Doc: "Goroutines that parse and write. Not set: one for each CPU.", Value: config.Int(&p.Workers, 1, 1024)},
		{Name: "buffers", Doc: "Batches in flight in one lane. Not set: two more than workers.", Value: config.Int(&p.Buffers, 1, 64)},
		{Name: "drain_timeout", Doc: "How long writing and committing may take after SIGTERM, or when a partition moves.", Value: config.Duration(&p.DrainTimeout, time.Second, maxTimeout)},
		{Name: "rate", Live: true, Doc: "Records a second that are read at most, over all lanes; 0 is no limit. For backfills that others are not to suffer from.", Value: config.Number(&p.Rate, 0, 1e9, "a number of records per second from 0 (no limit) to 1e9")},
	}}
}

func logSchema(l *Log) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "level", Live: true, Doc: "Least level that is logged.", Value: config.Enum(&l.Level,
			[]string{"debug", "info", "warn", "error"},
			[]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError})},
		{Name: "format", Doc: "Lines for people, or JSON objects.", Value: config.Names(&l.Format, "text", "json")},
	}}
}

package wire

import (
	"log/slog"
	"slices"
	"time"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/admin"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/privacy"
)

// Section returns the keys of a configuration, bound to c: those of the components that the binary has, and what there is once.
func (c *Config) Section() config.Section {
	r := c.components
	root := config.Section{
		Fields: []config.Field{
			{
				Name: "source", Doc: "Where records come from.",
				Fixed: "connections, positions and lanes were made with it",
				Value: config.Map(c.sourceSection()), Example: "source: {file: {paths: [urls.txt]}}",
			},
			{
				Name: "columns", Doc: "Which columns the rows have, and what they are called.",
				Fixed: "open files have the columns that there were when they were opened",
				Value: config.Map(c.Columns.section()),
			},
			{
				Name: "enrich", Doc: "What else is said of a record; see docs/enrich.md.",
				Fixed: "open files have the columns that there were when they were opened",
				Value: config.Map(c.Enrich.Section()),
			},
			{
				Name: "privacy", Doc: "What is removed before anything is stored; see docs/privacy.md. Left out: nothing; privacy: {} removes what its defaults say.",
				Fixed: "rows that are stored were made with it",
				Value: config.Optional(&c.Privacy, privacy.Default, (*privacy.Options).Section),
			},
			{
				Name: "on_error", Doc: "What becomes of a record without a valid URL: a row with its error, nothing, a dead letter, or the end of the run.",
				Fixed: "rows that are under way were sorted by it",
				Value: config.Stringers(&c.OnError, pipeline.Keep, pipeline.Drop, pipeline.ToDeadLetters, pipeline.Fail),
			},
			{
				Name: "on_field_error", Doc: "What becomes of a record with a carried field that is not of its type: a row in which it is null, with its error in field_error; an error of the row, for on_error; or a dead letter.",
				Fixed: "rows that are under way were sorted by it",
				Value: config.Stringers(&c.OnFieldError, pipeline.OnFieldErrors()...),
			},
		},
		Refused: map[string]string{},
		Aliases: map[string]string{
			"input": "source", "inputs": "source", "from": "source", "output": "sink", "outputs": "sink", "destination": "sink", "to": "sink",
			"logging": "log", "http": "admin", "metrics": "admin", "max.memory": "memory_limit",
		},
		Check: c.check,
	}
	if r.dedupe != nil {
		root.Fields = append(root.Fields, part(&c.Dedupe, "dedupe", "Finds rows whose canonical URL was there before; see docs/dedupe.md. Needs columns.canonical.",
			"the state on disk is open and was made with it", r.dedupe))
	}
	root.Fields = append(root.Fields,
		config.Field{
			Name: "sink", Doc: "Where rows go.",
			Fixed: "files are open and positions kept where it says",
			Value: config.Map(c.sinkSection()), Example: "sink: {parquet: {path: out}}",
		},
		config.Field{
			Name: "pipeline", Doc: "How much is on its way between source and sink.",
			Fixed: "batches and goroutines were made by it",
			Value: config.Map(c.pipelineSection()),
		},
		config.Field{
			Name: "memory_limit", Doc: "What the whole process may take. Not set: 80 % of the container's memory, or half of the machine's.",
			Fixed: "all memory was divided by it",
			Value: config.Size(&c.MemoryLimit, 64<<20, 1<<50),
		},
		config.Field{
			Name: "log", Doc: "What is logged, to standard error. The command line's --log-level and --log-format win.",
			Fixed: "the log has begun in that format",
			Value: config.Map(c.Log.section()),
		},
		config.Field{
			Name: "admin", Doc: "A listener with metrics (/metrics), probes (/livez, /readyz), a status page and a URL inspector. Left out: none; admin: {} is one with all defaults.",
			Fixed: "the listener is open",
			Value: config.Optional(&c.Admin, admin.Default, (*admin.Options).Section),
		},
	)
	if r.tracing != nil {
		root.Fields = append(root.Fields, part(&c.Tracing, "tracing", "Spans of batches and commits for an OpenTelemetry collector, by OTLP over HTTP. Left out: none.",
			"the exporter is running", r.tracing))
	}
	r.refuse(&root, "")
	return root
}

func (c *Config) sourceSection() config.Section {
	var kinds []config.Field
	for _, k := range c.components.Sources {
		kinds = append(kinds, choice(c.components, &c.Source, "source", k.Name, k.Doc, k.New))
	}
	return config.Section{
		Fields: append(kinds, config.Field{
			Name: "codec", Doc: "How a record holds its URL. Left out: a line is a URL.", Value: config.Map(c.codecSection()),
		}),
		OneOf: names(kinds),
		Check: c.checkCodec,
	}
}

func (c *Config) codecSection() config.Section {
	var kinds []config.Field
	for _, k := range c.components.Codecs {
		kinds = append(kinds, choice(c.components, &c.Codec, "source.codec", k.Name, k.Doc, k.New))
	}
	s := config.Section{Fields: kinds, OneOf: names(kinds), Aliases: map[string]string{
		"json": "ndjson", "jsonl": "ndjson", "jsonlines": "ndjson", "csv": "delimited", "tsv": "delimited",
		"text": "lines", "plain": "lines", "raw": "lines", "nginx": "access_log", "apache": "access_log", "combined": "access_log",
		"common": "access_log", "clf": "access_log", "log": "access_log", "logs": "access_log",
	}}
	c.components.refuse(&s, "source.codec")
	return s
}

func (c *Config) sinkSection() config.Section {
	var kinds []config.Field
	for _, k := range c.components.Sinks {
		kinds = append(kinds, choice(c.components, &c.Sink, "sink", k.Name, k.Doc, k.New))
	}
	s := config.Section{
		Fields: append(slices.Clip(kinds), config.Field{
			Name: "roll", Doc: "When files are finished and positions committed: at the first of the limits.", Value: config.Map(rollSection(&c.Pipeline.Roll)),
		}),
		OneOf: names(kinds),
		Aliases: map[string]string{
			"json": "ndjson", "jsonl": "ndjson", "jsonlines": "ndjson", "arrow": "arrowipc", "ipc": "arrowipc", "feather": "arrowipc",
			"pg": "postgres", "postgresql": "postgres", "iceberg": "parquet.iceberg", "files": "parquet, ndjson or arrowipc", "file": "parquet, ndjson or arrowipc",
		},
		Check: c.checkBuckets,
	}
	for _, k := range stores {
		if b := c.Buckets[k.name]; b != nil {
			s.Fields = append(s.Fields, config.Field{Name: k.name, Doc: k.doc, Value: config.Map(b.Section())})
		}
	}
	c.components.refuse(&s, "sink")
	return s
}

func rollSection(r *pipeline.Roll) config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "rows", Doc: "Rows of a file; 0 is no limit.", Value: config.Int(&r.Rows, 0, 1<<40)},
		{Name: "bytes", Doc: "Size of a file; 0 is no limit.", Value: config.Size(&r.Bytes, 0, 1<<40)},
		{Name: "every", Doc: "Age of a file, and so the longest time between commits; 0s is no limit.", Value: config.Duration(&r.Every, 0, 24*time.Hour)},
	}}
}

func (c *Config) pipelineSection() config.Section {
	p := &c.Pipeline
	return config.Section{Fields: []config.Field{
		{Name: "batch_rows", Doc: "Rows that are parsed at once.", Value: config.Int(&p.BatchRows, 1, 1<<17)},
		{Name: "batch_bytes", Doc: "Bytes that are parsed at once; less where memory_limit is small.", Value: config.Size(&p.BatchBytes, 1<<10, 64<<20)},
		{Name: "workers", Doc: "Goroutines that parse and write. Not set: one for each CPU.", Value: config.Int(&p.Workers, 1, 1024)},
		{Name: "buffers", Doc: "Batches between reading and writing of one partition or file. Not set: two more than workers.", Value: config.Int(&p.Buffers, 1, 64)},
		{Name: "drain_timeout", Doc: "How long writing and committing may take after SIGTERM, or when a partition moves.", Value: config.Duration(&p.DrainTimeout, time.Second, time.Hour)},
		{Name: "rate", Live: true, Doc: "The most records that are read a second, in all; 0 is no limit. For backfills that must not slow others down.", Value: config.Number(&c.Rate, 0, 1e9, "a number of records per second from 0 (no limit) to 1e9")},
	}}
}

func (l *Log) section() config.Section {
	return config.Section{Fields: []config.Field{
		{Name: "level", Live: true, Doc: "Least level that is logged.", Value: config.Enum(&l.Level,
			[]string{"debug", "info", "warn", "error"},
			[]slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError})},
		{Name: "format", Doc: "Lines for people, or JSON objects.", Value: config.Names(&l.Format, "text", "json")},
	}}
}

package wire

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/budget"
	"github.com/urlmill/urlmill/pipeline/throttle"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sources/codec"
)

// Job is a checked configuration.
type Job struct {
	// Plan is the plan of the columns.
	Plan *urlcols.Plan
	// Rows is the schema of the rows that the sink gets, which dedupe may have changed.
	Rows *arrow.Schema

	config     *settings.Config
	codec      codec.Factory
	source     Source
	sink       Sink
	sourcePath string // "source.kafka"
	sinkPath   string
	memory     budget.Shares
	files      *budget.Ledger
	dedupe     *duplicates // nil without
	dedupeStep func(string) error
	limiter    *throttle.Limiter
	lists      Lists
	parts      Registry
	tracer     tracer // nil: no spans
	buckets    *buckets
	log        *slog.Logger
}

// Check returns what is wrong with a configuration, a [*config.Error] with every problem, without touching anything outside but
// the files that say what columns there are: schemas, and lists of rules and suffixes.
func (r Registry) Check(c *settings.Config) error {
	_, err := r.Prepare(c, Setting{Log: slog.New(slog.DiscardHandler), In: io.MultiReader(), Out: io.Discard})
	return err
}

// Prepare checks c and returns its job. The error is a [*config.Error] with every problem.
//
// It collects problems instead of stopping at the first, so each part is checked as far as the parts that it depends on are
// there: the plan of the columns needs a codec, and the sink's check of rows needs a plan. It makes neither source nor sink;
// Open does.
func (r Registry) Prepare(c *settings.Config, s Setting) (*Job, error) {
	if err := r.CheckParts(c); err != nil {
		return nil, err
	}
	j := &Job{config: c, log: s.Log, parts: r, dedupeStep: s.DedupeStep, limiter: throttle.New(c.Pipeline.Rate)}
	var problems []config.Problem
	note := func(path string, err error) { problems = append(problems, fieldProblems(c, path, err)...) }
	j.memory, problems = memoryOf(c)
	j.files = budget.New(j.memory.Files)
	s.memory, s.files, s.parts = j.memory, j.files, r
	if r.s3 != nil {
		s.buckets = r.s3(c.Sink.S3, s.Log)
		j.buckets = s.buckets
		note("sink.s3", s.buckets.validate())
	}

	source, ok := r.chooseSource(c, s, j)
	if !ok {
		problems = append(problems, c.Problem("source", "this urlmill has no source of that kind"))
	}
	j.source = source
	if ok {
		note(j.sourcePath, source.Validate())
	}
	lists, problem := ReadLists(c)
	if j.lists = lists; problem != nil {
		problems = append(problems, *problem)
	}
	var codecErr error
	if j.codec, codecErr = r.newCodec(c, source); codecErr != nil {
		note("source.codec."+codecName(c), codecErr)
	}
	sink, ok := r.chooseSink(c, s, j)
	if !ok {
		problems = append(problems, c.Problem("sink", "this urlmill has no sink of that kind"))
	} else {
		note(j.sinkPath, sink.Validate())
	}
	j.sink = sink
	if codecErr == nil {
		plan, columnProblems := newPlan(c, source, j.codec, j.lists)
		j.Plan = plan
		problems = append(problems, columnProblems...)
		if plan != nil {
			rows := plan.Schemas()[pipeline.Rows]
			if c.Dedupe != nil {
				options, rowsOut, err := r.dedupe(c, rows, lists, sink)
				note("dedupe", err)
				j.dedupe, rows = options, rowsOut
			}
			j.Rows = rows
			if ok && sink.CheckRows != nil {
				note(j.sinkPath, sink.CheckRows(rows))
			}
		}
	}
	if err := c.Errors(problems); err != nil {
		return nil, err
	}
	return j, nil
}

func (r Registry) chooseSource(c *settings.Config, s Setting, j *Job) (Source, bool) {
	for _, kind := range r.Sources {
		if source, ok := kind.Configure(c, s); ok {
			j.sourcePath = "source." + kind.Name
			return source, true
		}
	}
	return Source{}, false
}

func (r Registry) chooseSink(c *settings.Config, s Setting, j *Job) (Sink, bool) {
	for _, kind := range r.Sinks {
		if sink, ok := kind.Configure(c, s); ok {
			j.sinkPath = "sink." + kind.Name
			return sink, true
		}
	}
	return Sink{}, false
}

// newCodec returns the codec of source, and else the one that c asks for.
func (r Registry) newCodec(c *settings.Config, source Source) (codec.Factory, error) {
	if source.Codec != nil {
		return source.Codec, nil
	}
	for _, kind := range r.Codecs {
		if build, ok := kind.Configure(c); ok {
			return build()
		}
	}
	return nil, errors.New("this urlmill has no codec of that kind")
}

func codecName(c *settings.Config) string {
	switch k := c.Source.Codec; {
	case k.NDJSON != nil:
		return "ndjson"
	case k.AccessLog != nil:
		return "access_log"
	case k.Delimited != nil:
		return "delimited"
	case k.Parquet != nil:
		return "parquet"
	case k.Avro != nil:
		return "avro"
	case k.Protobuf != nil:
		return "protobuf"
	case k.JSONSchema != nil:
		return "jsonschema"
	default:
		return "lines"
	}
}

// Open makes source and sink, and sets the lists of the configuration for the whole process. The error is a [*config.Error]
// when it is about options, such as a file that is not there.
func (j *Job) Open() (pipeline.Source, pipeline.Sink, error) {
	var problems []config.Problem
	if opener, ok := j.codec.(codec.Opener); ok {
		problems = append(problems, fieldProblems(j.config, "source.codec."+codecName(j.config), opener.Open())...)
	}
	source, err := j.source.Open(j.codec)
	problems = append(problems, fieldProblems(j.config, j.sourcePath, err)...)
	sink, err := j.sink.Open()
	problems = append(problems, fieldProblems(j.config, j.sinkPath, err)...)
	if j.dedupe != nil && err == nil {
		sink, err = j.dedupe.open(sink, j.log, j.dedupeStep)
		problems = append(problems, fieldProblems(j.config, "dedupe", err)...)
	}
	if err := j.config.Errors(problems); err != nil {
		return nil, nil, err
	}
	j.Use(j.lists)
	return source, sink, nil
}

// StartTracing starts sending spans of batches and commits, if the configuration asks for it. It has to be called before Run.
// closeTracer sends what is left, and is never nil without an error.
func (j *Job) StartTracing(ctx context.Context, version string) (closeTracer func(context.Context) error, err error) {
	t := j.config.Tracing
	if t == nil {
		return func(context.Context) error { return nil }, nil
	}
	tracer, err := j.parts.tracing(ctx, t, version, j.log)
	if err != nil {
		return nil, err
	}
	j.tracer = tracer
	return tracer.Close, nil
}

// tracer makes spans of what a pipeline does.
type tracer interface {
	Sink(inner pipeline.Sink) pipeline.Sink
	Transforms(inner func() pipeline.Transform) func() pipeline.Transform
	Close(ctx context.Context) error
}

// Run runs a pipeline between source and sink as configured; see [pipeline.Run].
func (j *Job) Run(ctx context.Context, drain <-chan struct{}, source pipeline.Source, sink pipeline.Sink, stats *pipeline.Stats) error {
	p := j.config.Pipeline
	transform := j.Plan.NewTransform
	if j.tracer != nil {
		sink, transform = j.tracer.Sink(sink), j.tracer.Transforms(transform)
	}
	return pipeline.Run(ctx, drain, throttle.NewSource(source, j.limiter), sink, pipeline.Options{
		Schemas:      j.Plan.Schemas(),
		NewTransform: transform,
		BatchRows:    p.BatchRows,
		BatchBytes:   j.memory.BatchBytes,
		Workers:      p.Workers,
		Buffers:      p.Buffers,
		Batches:      j.memory.Batches,
		BatchMemory:  j.memory.BatchMemory,
		Roll:         roll(j.config.Sink.Roll),
		DrainTimeout: p.DrainTimeout,
		Stats:        stats,
	})
}

// roll translates limits: 0 is none in a configuration and the default in the pipeline.
func roll(r settings.Roll) pipeline.Roll {
	out := pipeline.Roll{Rows: r.Rows, Bytes: r.Bytes, Every: r.Every}
	if out.Bytes == 0 {
		out.Bytes = -1
	}
	if out.Every == 0 {
		out.Every = -1
	}
	return out
}

package wire

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/budget"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/privacy"
	"github.com/urlmill/urlmill/pipeline/throttle"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sinks"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/bucket"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// Setting is what a process has beside a configuration.
type Setting struct {
	Log *slog.Logger
	// In and Out are standard input and output.
	In      io.Reader
	Out     io.Writer
	Version string // urlmill's
	// Standard is the state of the URL Standard, for commit records and the metadata of files.
	Standard string
	// Stores opens the folders of sinks. Default are directories and, with the options of the configuration, places in buckets.
	Stores store.Opener
	// DedupeStep is asked before every step of a commit of rows without duplicates; see [DedupeEnv].
	DedupeStep func(string) error
	// HideKey and AnyOutput are those of [DedupeEnv].
	HideKey, AnyOutput bool
	// Sample, if not 0, has a source read a sample of at most so many records without a trace; see [sources.Sampler].
	Sample int64
}

// Job is a checked configuration.
type Job struct {
	// Plan is the plan of the columns.
	Plan *urlcols.Plan
	// Rows is the schema of the rows that the sink gets, which dedupe may have changed.
	Rows *arrow.Schema

	config   *Config
	setting  Setting
	codec    codec.Factory
	sink     sinks.Sink
	dedupe   Dedupe // nil without
	identity string // of its keys
	memory   budget.Shares
	files    *budget.Ledger // for the open files of sinks
	limiter  *throttle.Limiter
	privacy  *privacy.Policy // nil: nothing is removed
	lists    Lists
	acquired atomic.Pointer[enrich.Rules]   // of lists, for commit records, which other goroutines write
	clients  atomic.Pointer[enrich.Clients] // the same
	trouble  *bucket.Trouble                // of requests to object stores
	tracer   Tracer                         // nil: no spans
}

// Check returns what is wrong with a configuration, a [*config.Error] with every problem, without touching anything outside but
// the files that say what columns there are: schemas, and lists of rules and suffixes.
func Check(c *Config) error {
	_, err := Prepare(c, Setting{Log: slog.New(slog.DiscardHandler), In: io.MultiReader(), Out: io.Discard})
	return err
}

// Prepare checks c and returns its job. The error is a [*config.Error] with every problem.
//
// It collects problems instead of stopping at the first, so each part is checked as far as the parts that it depends on are
// there: the sink's check of rows needs a plan of the columns. Where a codec is wrong, the plan is made with what is known of its
// fields; see carried. Of a configuration that could be read in part alone, what rests on the rest is left out. It makes neither source nor sink; Open does.
func Prepare(c *Config, s Setting) (*Job, error) {
	j := &Job{config: c, setting: s, limiter: throttle.New(c.Rate), trouble: new(bucket.Trouble)}
	problems := problems{c: c}
	c.checkParts(&problems)
	j.memory = memoryOf(c, &problems)
	j.files = budget.New(j.memory.Files)
	for _, k := range stores {
		if b := c.Buckets[k.name]; b != nil {
			problems.note("sink."+k.name, b.Validate())
		}
	}
	asks, source := c.source()
	if c.Source.Options != nil {
		problems.note(source, c.Source.Options.Validate())
	}
	j.lists = readLists(c, &problems)
	var codecErr error
	if j.codec, codecErr = c.components.codec(c); codecErr != nil {
		problems.note("source.codec."+c.Codec.Name, codecErr)
	}
	_, sink := c.sink()
	if c.Sink.Options != nil {
		j.sink = c.Sink.Options.With(j.sinkEnv(asks))
		problems.note(sink, j.sink.Validate())
	}
	in := newCarried(c, j.codec, &problems)
	j.privacy = newPrivacy(c, in, &problems)
	if c.Source.Options != nil && c.Sound("columns", "enrich", "on_field_error") {
		if j.Plan = newPlan(c, asks, &in, j.lists, j.guards(in.fields), &problems); j.Plan != nil {
			j.Rows = j.Plan.Schemas()[pipeline.Rows]
			if s, ok := j.codec.(codec.Sparing); ok && len(in.fields) == len(j.codec.Fields()) {
				s.Spare(j.Plan.Unused())
			}
		}
	}
	j.addDedupe(in, &problems)
	if j.sink != nil && j.Rows != nil {
		problems.note(sink, in.sure(j.Rows, j.sink.CheckRows(j.Rows)))
	}
	return j, c.Errors(problems.all)
}

// problems collects what is wrong with a configuration.
type problems struct {
	c   *Config
	all []config.Problem
}

// add adds a problem of the value at path, unless the value has one.
func (p *problems) add(path, format string, args ...any) {
	if p.c.Sound(path) {
		p.all = append(p.all, p.c.Problem(path, format, args...))
	}
}

// note adds what a component says of the options whose section is at path, but not what follows from a problem there.
func (p *problems) note(path string, err error) {
	for _, e := range pipeline.FieldErrors(err) {
		if at := p.c.Problem(e.In(path), "%v", e); !p.c.Follows(path, at.Path, at.Message) {
			at.Cause = e
			p.all = append(p.all, at)
		}
	}
}

// sinkEnv returns what the process has for the sink.
func (j *Job) sinkEnv(source sources.Asks) sinks.Env {
	c, s := j.config, j.setting
	cluster, _ := source.Cluster.(*kafkaconn.Cluster)
	e := sinks.Env{
		Log: s.Log, Out: s.Out, Version: s.Version, Stores: openWith(c.Buckets, s.Log, j.trouble), CheckPlace: c.checkPlace, FileBytes: c.Pipeline.Roll.Bytes, OpenFiles: j.files,
		Memory: j.memory.Files, Cluster: cluster,
		Provenance: commit.Provenance{Urlmill: s.Version, Config: c.Hash(), Versions: j.versions, Standard: s.Standard, Unicode: urlcore.UnicodeVersion, Replay: j.replayMark()},
	}
	if s.Stores != nil {
		e.Stores = s.Stores
	}
	return e
}

// versions returns those of the lists that are in use.
func (j *Job) versions() (suffixes, acquisition, clients string) {
	if r := j.acquired.Load(); r != nil {
		acquisition = r.Version()
	}
	if c := j.clients.Load(); c != nil {
		clients = c.Version()
	}
	return psl.Version(), acquisition, clients
}

// addDedupe checks how duplicates are found, and changes Rows, if they are known, to what comes out.
func (j *Job) addDedupe(in carried, problems *problems) {
	c := j.config
	if c.Dedupe == nil {
		return
	}
	source, _ := c.source()
	asks, _ := c.sink()
	j.identity = identity(c, j.lists)
	j.dedupe = c.Dedupe.With(DedupeEnv{
		Log: j.setting.Log, Key: c.Columns.called("url_key"), Timestamp: c.Columns.called("timestamp"), Identity: j.identity, Sink: asks,
		HideKey: j.setting.HideKey, AnyOutput: j.setting.AnyOutput, Step: j.setting.DedupeStep,
		Objects: source.Objects, Topics: source.Origin == sources.Topics,
	})
	rows, err := j.dedupe.Validate(j.Rows)
	problems.note("dedupe", in.sure(j.Rows, err))
	j.Rows = rows
}

// Open makes source and sink, and sets the lists of the configuration for the whole process. The error is a [*config.Error]
// when it is about options, such as a file that is not there.
func (j *Job) Open() (pipeline.Source, pipeline.Sink, error) {
	problems := problems{c: j.config}
	if opener, ok := j.codec.(codec.Opener); ok {
		problems.note("source.codec."+j.config.Codec.Name, opener.Open())
	}
	_, path := j.config.source()
	if logger, ok := j.codec.(codec.Logger); ok {
		logger.SetLog(j.setting.Log)
	}
	source, err := j.openSource()
	problems.note(path, err)
	_, path = j.config.sink()
	sink, err := j.sink.Open()
	problems.note(path, err)
	if j.dedupe != nil && err == nil {
		sink, err = j.dedupe.Open(sink)
		problems.note("dedupe", err)
	}
	if err := j.config.Errors(problems.all); err != nil {
		return nil, nil, err
	}
	j.Use(j.lists)
	return source, sink, nil
}

func (j *Job) openSource() (pipeline.Source, error) {
	e := sources.Env{Log: j.setting.Log, In: j.setting.In, FetchMemory: j.memory.Fetch}
	if sampler, ok := j.config.Source.Options.(sources.Sampler); ok && j.setting.Sample > 0 {
		return sampler.OpenSample(e, j.codec, j.setting.Sample)
	}
	return j.config.Source.Options.Open(e, j.records())
}

// AvroSchema returns the schema that the rows have in the topic that they go to, and the subject of the registry that it belongs to.
func (j *Job) AvroSchema() (text, subject string, err error) {
	avro, ok := j.sink.(sinks.AvroSchemer)
	if !ok {
		return "", "", errors.New("there is no sink.kafka")
	}
	return avro.AvroSchema(j.Rows)
}

// SinkTrouble is that of requests to object stores.
func (j *Job) SinkTrouble() *bucket.Trouble { return j.trouble }

// StartTracing starts sending spans of batches and commits, if the configuration asks for it. It has to be called before Run.
// closeTracer sends what is left, and is never nil without an error.
func (j *Job) StartTracing(ctx context.Context) (closeTracer func(context.Context) error, err error) {
	if j.config.Tracing == nil {
		return func(context.Context) error { return nil }, nil
	}
	if j.tracer, err = j.config.Tracing.Start(ctx, j.setting.Version, j.setting.Log); err != nil {
		return nil, err
	}
	return j.tracer.Close, nil
}

// Session is a job whose source and sink are open. Others may be put around them before it runs.
type Session struct {
	*Job
	Source pipeline.Source
	Sink   pipeline.Sink
	Stats  *pipeline.Stats
}

// Open prepares c and opens its source and its sink; see [Prepare] and [Job.Open]. Go's runtime is told the limit of memory.
func Open(c *Config, s Setting) (*Session, error) {
	j, err := Prepare(c, s)
	if err != nil {
		return nil, err
	}
	source, sink, err := j.Open()
	if err != nil {
		return nil, err
	}
	j.limitMemory()
	return &Session{Job: j, Source: source, Sink: sink, Stats: new(pipeline.Stats)}, nil
}

// Run runs the pipeline as configured; see [pipeline.Run].
func (s *Session) Run(ctx context.Context, drain <-chan struct{}) error {
	j, sink, o := s.Job, s.Sink, s.config.Pipeline
	o.Schemas, o.NewTransform, o.Stats = j.Plan.Schemas(), j.Plan.NewTransform, s.Stats
	if j.privacy != nil {
		o.NewTransform = j.privacy.Transforms(o.NewTransform)
	}
	o.BatchBytes, o.Batches, o.BatchMemory = j.memory.BatchBytes, j.memory.Batches, j.memory.BatchMemory
	if o.Roll.Bytes == 0 { // none in a configuration, and the default there
		o.Roll.Bytes = -1
	}
	if o.Roll.Every == 0 {
		o.Roll.Every = -1
	}
	if j.tracer != nil {
		sink, o.NewTransform = j.tracer.Sink(sink), j.tracer.Transforms(o.NewTransform)
	}
	return pipeline.Run(ctx, drain, throttle.NewSource(s.Source, j.limiter), sink, o)
}

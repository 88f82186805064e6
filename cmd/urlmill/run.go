package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/report"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/wire"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
)

func newRun(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run CONFIG",
		Short: "Run the pipeline that a configuration describes",
		Long: `Run the pipeline that a YAML file describes: from a source (Kafka, files, a generator) through the URL parser into a
sink (files of Parquet, Arrow IPC or NDJSON, a topic, or a table of PostgreSQL, ClickHouse or DuckDB).

It runs until the source ends, which Kafka never does, or until SIGINT or SIGTERM: then it writes and commits what it
has read, within pipeline.drain_timeout. A second signal stops at once; what was not committed is read again by the
next run.

Files in a folder have every record exactly once, whatever happens, and however often the command is run: the folder
keeps the positions, in _commits. A file that was delivered is not delivered again unless it has changed; standard input
is new each time. A topic as the sink may have records more than once after a crash.

SIGHUP reads the configuration again, and the files that it names. At once change log.level, pipeline.rate,
source.generate.rate, columns.tracking_rules and columns.public_suffix_list; with dedupe the tracking rules do not, where
its keys rest on them. Everything else needs a restart: the log names every key that has changed, with the reason.`,
		Example: `  urlmill run examples/clickstream.yaml
  KAFKA_BROKERS=kafka-1:9092,kafka-2:9092 urlmill run clickstream.yaml --log-format json`,
		Args: args(1, 1, "one configuration"),
	}
	cmd.RunE = func(cmd *cobra.Command, files []string) error {
		c, err := loadConfig(files[0])
		if err != nil {
			return err
		}
		if !cmd.Flags().Changed("log-level") {
			a.logLevel = strings.ToLower(c.Log.Level.String())
		}
		if !cmd.Flags().Changed("log-format") {
			a.logFormat = c.Log.Format
		}
		log, level := a.liveLogger()
		r := &reload{
			load:  func() (*settings.Config, error) { return settings.Load(files[0], config.OSEnv()) },
			check: a.registry.Check, level: level, fixedLevel: cmd.Flags().Changed("log-level"), log: log,
		}
		r.begin(c)
		return a.runJob(cmd.Context(), c, a.registry, log, view{progress: true, summary: true, reload: r})
	}
	return cmd
}

// view says what of a pipeline shows on the console.
type view struct {
	progress, summary bool
	reload            *reload // nil: SIGHUP ends the process
}

// setting is what the components of a pipeline are given.
func (a *app) setting(log *slog.Logger) wire.Setting {
	b := readBuild()
	return wire.Setting{Log: log, In: a.in, Out: a.out, Version: b.Version, Standard: b.Standard, Stores: a.stores, DedupeStep: a.dedupeStep}
}

// runJob runs a configuration to its end.
func (a *app) runJob(parent context.Context, c *settings.Config, registry wire.Registry, log *slog.Logger, v view) error {
	listener := newListener(c, log)
	log = listener.log
	job, err := registry.Prepare(c, a.setting(log))
	if err != nil {
		return err
	}
	source, sink, err := job.Open()
	if err != nil {
		return err
	}
	job.LimitMemory()
	if parent == nil {
		parent = context.Background()
	}
	ctx, drain, release := watchSignals(parent, log)
	defer release()
	if v.reload != nil {
		defer v.reload.watch(job, source)()
		listener.config = v.reload.current.Load
	}
	closeTracing, err := job.StartTracing(ctx, readBuild().Version)
	if err != nil {
		return err
	}
	defer endTracing(closeTracing, log)
	stats := new(pipeline.Stats)
	stopListening, err := listener.start(job, source, sink, stats)
	if err != nil {
		return err
	}
	began := time.Now()
	stopProgress := func() {}
	if v.progress {
		stopProgress = a.startProgress(stats, source, log).stop
	}
	err = job.Run(ctx, drain, source, sink, stats)
	stopProgress()
	stopListening(ctx, drain, err)
	if cause := context.Cause(ctx); errors.Is(cause, errInterrupted) {
		return cause // nothing else matters
	}
	if v.summary {
		a.summarize(report.New(stats.Totals(), sink, time.Since(began)), log)
	}
	return err
}

// endTracing sends the spans that are left.
func endTracing(closeTracing func(context.Context) error, log *slog.Logger) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := closeTracing(ctx); err != nil {
		log.Warn("the last spans were not sent", "error", err)
	}
}

// summarize prints what a pipeline did.
func (a *app) summarize(s report.Summary, log *slog.Logger) {
	if a.logFormat == "json" {
		s.Log(log)
		return
	}
	s.Print(a.console)
}

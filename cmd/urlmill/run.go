package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/report"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources"
	"github.com/urlmill/urlmill/sources/file"
)

func newRun(a *app) *cobra.Command {
	v := view{progress: true, summary: true}
	summary, replay, replace := "", "", false
	cmd := &cobra.Command{
		Use:   "run CONFIG",
		Short: "Run the pipeline that a configuration describes",
		Long: `Run the pipeline that a YAML file describes: from a source (Kafka, files, a generator) through the URL parser into a
sink (files of Parquet, Arrow IPC or NDJSON, a topic, or a table of PostgreSQL, ClickHouse or DuckDB).

It runs until the source ends, which Kafka never does, or until SIGINT or SIGTERM: then it writes and commits what it
has read, within pipeline.drain_timeout. A second signal stops at once; what was not committed is read again by the
next run.

--until end stops when everything that there is at the start is committed: the records of all partitions, the files
that are there. --until TIME stops each partition before its first record of that time or later, and --for after a
while. The exit code is 0 when that is done and 4 when a signal, or --for, came before the end that --until names; the
same command then goes on where this one stopped. --summary json prints what was done to standard output.

--replace-partitions writes into a folder of files again, such as the days that --until ends: when all is read, the new files
take the place of all others in the directories of partition_by that they are in, at one moment. Until then nothing of it can
be seen; the same command goes on after a crash, and replaces everything again when it is done.

--replay FOLDER reads the dead letters in a folder of Parquet files instead of the source, with the codec of the configuration and into
its sink, as if they came from where they came from at first, and ends. Each is delivered once, however often the command is run. Dead
letters that it makes are left out by the next replay with the same configuration, and read by one with another.

Files in a folder have every record exactly once, whatever happens, and however often the command is run: the folder
keeps the positions, in _commits. A file that was delivered is not delivered again unless it has changed; standard input
is new each time. A topic as the sink may have records more than once after a crash.

SIGHUP reads the configuration again, and the files that it names. At once change log.level, pipeline.rate,
source.generate.rate, columns.tracking_rules and columns.public_suffix_list; with dedupe the tracking rules do not, where
its keys rest on them. Everything else needs a restart: the log names every key that has changed, with the reason.`,
		Example: `  urlmill run examples/clickstream.yaml
  urlmill run clickstream.yaml --until end --summary json
  urlmill run again.yaml --until 2026-07-06T00:00:00Z --replace-partitions
  urlmill run clickstream.yaml --replay dead-letters/
  KAFKA_BROKERS=kafka-1:9092,kafka-2:9092 urlmill run clickstream.yaml --log-format json`,
		Args: args(1, 1, "one configuration"),
	}
	cmd.RunE = func(cmd *cobra.Command, files []string) (err error) {
		if _, err := v.bound.time(); err != nil {
			return err
		}
		if replace && v.bound.until == "" {
			return usagef("--replace-partitions replaces when all is read: say where that is with --until end or --until TIME")
		}
		if replace && replay != "" {
			return usagef("--replay adds what was missing, and --replace-partitions takes out what is there: give one of them")
		}
		c, err := a.loadConfig(files[0])
		if err != nil {
			return err
		}
		if replay != "" {
			if err := errors.Join(checkFolder("--replay", replay), wire.Check(c)); err != nil {
				return err
			}
			if err := c.Replay(replay); err != nil {
				return err
			}
			v.replay = true
		}
		if summary == summaryJSON {
			if c.Sink.Options.Asks().Place == "" {
				return usagef("--summary json is written to standard output, where sink.%s writes the rows: write them into files, or leave it out", c.Sink.Name)
			}
			v.account = newAccount(c)
			defer func() { err = a.tell(v.account, err) }()
		}
		if !cmd.Flags().Changed("log-level") {
			a.logLevel = strings.ToLower(c.Log.Level.String())
		}
		if !cmd.Flags().Changed("log-format") {
			a.logFormat = c.Log.Format
		}
		log, level := a.liveLogger()
		r := &reload{
			load:  func() (*wire.Config, error) { return a.components.Load(files[0], config.OSEnv()) },
			level: level, fixedLevel: cmd.Flags().Changed("log-level"), log: log,
		}
		r.begin(c)
		v.reload = r
		if replace {
			return a.replacePartitions(cmd.Context(), c, a.setting(log), v)
		}
		return a.runJob(cmd.Context(), c, a.setting(log), v)
	}
	v.bound.flags(cmd)
	cmd.Flags().BoolVar(&replace, "replace-partitions", false, "with --until: the rows take the place of all others in the partitions that they are in")
	cmd.Flags().StringVar(&replay, "replay", "", "read the dead letters in this folder of Parquet files instead of the source")
	summaryFlag(cmd, &summary)
	return cmd
}

// checkFolder returns what is wrong with a folder that a flag names, or with the files that a pattern does.
func checkFolder(flag, place string) error {
	files, err := file.Expand([]string{place})
	if err != nil {
		return usagef("%s: %v", flag, err)
	}
	if _, err = os.Stat(files[0]); errors.Is(err, fs.ErrNotExist) {
		return usagef("%s: %s is not there; give the folder that has the dead letters", flag, files[0])
	}
	return nil
}

// view says what of a pipeline shows on the console.
type view struct {
	progress, summary bool
	replay            bool // dead letters are read, which are files
	bound             bound
	// judge says what the rows as a whole mean for the outcome of a pipeline that had no error; nil: nothing.
	judge  func(pipeline.Totals) error
	reload *reload // nil: SIGHUP ends the process
	// account, if not nil, gets what the pipeline did when it has ended in order. A second signal leaves it as it was.
	account *report.Account
	// replace, if not nil, comes after a run that was not stopped before its end.
	replace func(context.Context) error
}

// setting is what the components of a pipeline are given.
func (a *app) setting(log *slog.Logger) wire.Setting {
	b := readBuild()
	return wire.Setting{Log: log, In: a.in, Out: a.out, Version: b.Version, Standard: b.Standard, Stores: a.stores, DedupeStep: a.dedupeStep}
}

// runJob runs a configuration to its end.
func (a *app) runJob(parent context.Context, c *wire.Config, setting wire.Setting, v view) error {
	listener := newListener(c, setting.Log)
	log := listener.log
	setting.Log = log
	s, err := wire.Open(c, setting)
	if err != nil {
		return err
	}
	if err := v.bound.set(c, s.Source); err != nil {
		return err
	}
	if v.account != nil {
		s.Stats.Positions = map[pipeline.LaneID]int64{}
	}
	ctx, drain, release := watchSignals(parent, log)
	defer release()
	soft, stopClock := v.bound.within(drain)
	defer stopClock()
	if v.reload != nil {
		v.reload.log, v.reload.refused = log, listener.refused
		defer v.reload.watch(s)()
		listener.settings = v.reload.counts
	}
	closeTracing, err := s.StartTracing(ctx)
	if err != nil {
		return err
	}
	defer endTracing(closeTracing, log)
	stopListening, err := listener.start(s)
	if err != nil {
		return err
	}
	began := time.Now()
	stopProgress := func() {}
	if v.progress {
		stopProgress = a.startProgress(s.Stats, s.Source, log).stop
	}
	err = s.Run(ctx, soft.Done())
	stopProgress()
	stopListening(ctx, drain, err)
	if cause := context.Cause(ctx); errors.Is(cause, errInterrupted) {
		return cause // nothing else matters
	}
	totals := s.Stats.Totals()
	why, err := v.bound.ended(drain, soft, err)
	if err == nil && v.replace != nil {
		if err = v.replace(ctx); err != nil {
			why = report.ByError
		}
	}
	r := report.New(totals, s.Sink, time.Since(began))
	r.FromFiles = why == report.AtEnd && (v.replay || fromFiles(c, s.Source))
	if v.summary {
		a.summarize(r, log)
	}
	if v.account != nil {
		v.account.Started, v.account.Ended, v.account.Summary, v.account.Positions = began, why, r, s.Stats.Positions
	}
	if err == nil && v.judge != nil {
		err = v.judge(totals)
	}
	return err
}

// fromFiles reports whether all that a source reads is in files, and some of them are not empty.
func fromFiles(c *wire.Config, source pipeline.Source) bool {
	p := pipeline.CountsOf(source, nil).Progress
	return c.Source.Options.Asks().Origin == sources.Files && p != nil && p.Total > 0
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

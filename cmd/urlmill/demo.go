package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/demo"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/producer"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/report"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/examples"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
)

const (
	demoTopic      = "clicks"
	demoPartitions = 4
	demoConfig     = "examples/clickstream.yaml"
)

// demoFlags are the flags of "urlmill demo".
type demoFlags struct {
	records int64
	seed    uint64
	out     string
	keep    bool
}

func newDemo(a *app) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a million clicks through Kafka into Parquet, with nothing installed",
		Long: `Start a Kafka broker within this process (an imitation, on 127.0.0.1), fill a topic of four partitions with a made-up
clickstream, run ` + demoConfig + ` on it with the real Kafka source into Parquet files, and show what is in them.`,
		Example: `  urlmill demo
  urlmill demo --records 100000 --out demo-out`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd, f) },
	}
	flags := cmd.Flags()
	flags.Int64Var(&f.records, "records", 1_000_000, "records to produce")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the records")
	flags.StringVar(&f.out, "out", "", "folder for the Parquet files, which stay there (default: a temporary one)")
	flags.BoolVar(&f.keep, "keep", false, "keep the temporary folder")
	cmd.PreRun = func(cmd *cobra.Command, _ []string) {
		if !cmd.Flags().Changed("log-level") {
			a.logLevel = "warn" // the demo tells its story itself
		}
	}
	return cmd
}

// demo runs the command.
func (a *app) demo(cmd *cobra.Command, f demoFlags) error {
	if f.records < 1 {
		return usagef("--records is %d; give at least 1", f.records)
	}
	log := a.flagLogger()
	ctx, drain, release := watchSignals(cmd.Context(), log)
	defer release()
	out, cleanup, err := demoFolder(f)
	if err != nil {
		return err
	}
	defer cleanup()
	broker, err := demo.StartBroker(demoTopic, demoPartitions)
	if err != nil {
		return err
	}
	defer broker.Close()
	a.say("%s clicks through Kafka into Parquet, in this process alone.\n", plain.Count(f.records))

	if err := a.demoProduce(ctx, drain, f, broker.Addr); err != nil {
		return interruptedOr(ctx, err)
	}
	c, err := demoConfiguration(broker.Addr, out)
	if err != nil {
		return err
	}
	summary, err := a.demoRun(ctx, drain, f, c, log)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	return a.demoShow(ctx, f, out, summary)
}

// interruptedOr returns the reason why ctx ended, if a signal has ended it, and else err.
func interruptedOr(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errInterrupted) {
		return cause
	}
	return err
}

// say prints a line of the demo's story.
func (a *app) say(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// demoFolder returns the folder for the files, and what removes it in the end.
func demoFolder(f demoFlags) (out string, cleanup func(), err error) {
	if f.out != "" {
		if _, err := os.Stat(filepath.Join(f.out, commit.Dir)); err == nil {
			return "", nil, usagef("--out %s has the output of an earlier run, which would not be delivered again: give another folder, or remove that one", f.out)
		}
		return f.out, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "urlmill-demo-")
	if err != nil {
		return "", nil, fmt.Errorf("temporary folder of the demo: %w; name another one by --out", err)
	}
	if f.keep {
		return filepath.Join(dir, "clicks"), func() {}, nil
	}
	return filepath.Join(dir, "clicks"), func() { _ = os.RemoveAll(dir) }, nil
}

// demoProduce fills the topic.
func (a *app) demoProduce(ctx context.Context, drain <-chan struct{}, f demoFlags, addr string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := afterClose(drain, func() { cancel(errStopped) })
	defer stop()
	options, err := produceFlags{
		brokers: []string{addr}, topic: demoTopic, partitions: demoPartitions, records: f.records, seed: f.seed,
		format: "ndjson", profile: "clickstream", compression: "zstd", wait: 10 * time.Second,
	}.options()
	if err != nil {
		return err
	}
	stats := new(producer.Stats)
	began := time.Now()
	stopLine := a.showProduced(stats, f.records, began)
	err = producer.Run(ctx, options, stats)
	stopLine()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err != nil {
		return err
	}
	records, bytes := stats.Totals()
	a.say("1. produced %s (%s) to topic %s of the broker at %s, %d partitions, in %.1f s\n",
		plain.Plural(records, "record"), plain.Bytes(bytes), demoTopic, addr, demoPartitions, time.Since(began).Seconds())
	return nil
}

// errStopped ends a demo that was told to stop before it had anything to show.
var errStopped = &codeError{code: exitFailure, err: errors.New("stopped before the demo was through")}

// afterClose calls f when c is closed, unless stop is called before.
func afterClose(c <-chan struct{}, f func()) (stop func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-c:
			f()
		case <-done:
		}
	}()
	return func() { close(done) }
}

// demoConfiguration reads the example configuration with the broker and the folder of the demo.
func demoConfiguration(addr, out string) (*config.Config, error) {
	env := config.OSEnv()
	env.Lookup = func(name string) (string, bool) {
		switch name {
		case "KAFKA_BROKERS":
			return addr, true
		case "KAFKA_TOPIC":
			return demoTopic, true
		case "OUTPUT":
			return out, true
		}
		return "", false
	}
	return config.Parse(demoConfig, examples.Clickstream, env)
}

// demoRun runs the configuration until all records are read.
func (a *app) demoRun(ctx context.Context, drain <-chan struct{}, f demoFlags, c *config.Config, log *slog.Logger) (report.Summary, error) {
	job, err := a.registry.Prepare(c, a.setting(log))
	if err != nil {
		return report.Summary{}, err
	}
	source, sink, err := job.Open()
	if err != nil {
		return report.Summary{}, err
	}
	stats := new(pipeline.Stats)
	allRead := make(chan struct{})
	watch := watchRows(stats, f.records, drain, allRead)
	progress := a.startProgress(stats, rowCount{stats, f.records}, log)
	began := time.Now()
	err = job.Run(ctx, allRead, source, sink, stats)
	ended := time.Now()
	progress.stop()
	firstRow := watch()
	if err != nil {
		return report.Summary{}, err
	}
	if got := stats.Totals().Rows; got < f.records {
		return report.Summary{}, fmt.Errorf("%w: %s of %s records were read", errStopped, plain.Count(got), plain.Count(f.records))
	}
	a.say("2. ran %s: from Kafka through the URL parser into %s, in %.1f s, %.1f s of which to join the group\n",
		demoConfig, c.Sink.Parquet.Path, ended.Sub(began).Seconds(), firstRow.Sub(began).Seconds())
	return report.New(stats.Totals(), sink, ended.Sub(firstRow)), nil
}

// rowCount is the progress of a source whose number of rows is known.
type rowCount struct {
	stats *pipeline.Stats
	total int64
}

// Progress implements finite.
func (r rowCount) Progress() (done, total int64) { return r.stats.Totals().Rows, r.total }

// watchRows closes full when a pipeline has read so many rows, or drain is closed. The function that it returns ends
// that, and returns the time of about the first row.
func watchRows(stats *pipeline.Stats, rows int64, drain <-chan struct{}, full chan<- struct{}) (stop func() time.Time) {
	done := make(chan struct{})
	first := make(chan time.Time, 1)
	go func() {
		defer close(first)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		started := false
		for {
			read := stats.Totals().Rows
			if read > 0 && !started {
				started = true
				first <- time.Now()
			}
			if read >= rows {
				close(full)
				return
			}
			select {
			case <-tick.C:
			case <-drain:
				close(full)
				return
			case <-done:
				return
			}
		}
	}()
	return func() time.Time {
		close(done)
		return <-first
	}
}

// demoShow shows what is in the files.
func (a *app) demoShow(ctx context.Context, f demoFlags, folder string, s report.Summary) error {
	files, err := demo.Files(folder)
	if err != nil {
		return err
	}
	top, rows, err := demo.Top(ctx, files, "registrable_domain", 10)
	if err != nil {
		return err
	}
	var size int64
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		size += info.Size()
	}
	a.say("3. read the files back: %s\n\n", plain.Plural(rows, "row"))
	a.say("rows           %s, %s rows/s\n", plain.Count(s.Totals.Rows), plain.Count(int64(s.RowsPerSecond())))
	a.say("files          %d Parquet files, %s (%.1f bytes a row; read from Kafka: %s)\n", len(files), plain.Bytes(size),
		float64(size)/float64(max(rows, 1)), plain.Bytes(s.Totals.Bytes))
	a.say("without a URL  %s (%.2f %%), kept with their error:\n", plain.Plural(s.Totals.Invalid, "row"), 100*float64(s.Totals.Invalid)/float64(max(rows, 1)))
	const mostReasons = 8
	for i, r := range s.Reasons {
		if i == mostReasons {
			a.say("               %8s  %d other errors\n", plain.Count(sumRows(s.Reasons[i:])), len(s.Reasons)-i)
			break
		}
		a.say("               %8s  %s\n", plain.Count(r.Rows), r.Code)
	}
	a.say("\ntop registrable domains\n")
	for _, d := range top {
		a.say("%10s  %s\n", plain.Count(d.Rows), plain.Text(d.Value))
	}
	a.say("\nfive rows of %s\n", filepath.Base(files[0]))
	columns := []string{"user_id", "country", "host", "path", "params"}
	if err := demo.Sample(ctx, a.out, files[0], columns, 5, demoWidth(a)); err != nil {
		return err
	}
	a.demoNext(f, folder)
	return nil
}

func sumRows(reasons []report.Reason) (sum int64) {
	for _, r := range reasons {
		sum += r.Rows
	}
	return sum
}

// demoWidth is the width of the sample rows.
func demoWidth(a *app) int {
	const otherwise = 120
	if width := terminalWidth(a.out); width > 0 {
		return width
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return width
	}
	return otherwise
}

// demoNext says what to do next.
func (a *app) demoNext(f demoFlags, folder string) {
	a.say("\nwhat to do next\n")
	if f.out == "" && !f.keep {
		a.say("  keep the files and query them   urlmill demo --out demo-out\n")
		folder = "demo-out"
	}
	a.say("  ask DuckDB                      duckdb -c \"select country, count(*) from '%s/*.parquet' group by 1 order by 2 desc\"\n", folder)
	a.say("  parse a file of your own        urlmill parse urls.txt\n")
	a.say("  look at one URL                 urlmill url 'https://user@example.co.uk/?a=1'\n")
	a.say("  read your own topic             KAFKA_BROKERS=host:9092 KAFKA_TOPIC=clicks OUTPUT=out urlmill run %s\n", demoConfig)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/report"
	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/examples"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sinks/commit"
)

// demoFlags are the flags of "urlmill demo".
type demoFlags struct {
	use     string
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
		Long: `Run one of the example configurations on made-up data, and show what came out:

  clickstream  clicks from Kafka into Parquet files, with campaigns (examples/clickstream.yaml)
  dedupe       a crawl from files into Parquet files, with duplicates marked (examples/dedupe.yaml)
  warehouse    clicks from Kafka into partitions by day and an Iceberg table (examples/warehouse.yaml)

Kafka is an imitation of a broker within this process, on 127.0.0.1, with a topic of four partitions; the source that
reads it is the real one.`,
		Example: `  urlmill demo
  urlmill demo --use dedupe
  urlmill demo --records 100000 --out demo-out`,
		Args: args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd, f) },
	}
	flags := cmd.Flags()
	choiceFlag(cmd, flags, &f.use, "use", examples.Clickstream, "what to show: "+strings.Join(examples.Uses(), ", "), examples.Uses()...)
	flags.Int64Var(&f.records, "records", 1_000_000, "records to make")
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
	d, cleanup, err := demoFolders(f)
	if err != nil {
		return err
	}
	defer cleanup()
	c, err := a.demoConfig(d, nil)
	if err != nil {
		return err
	}
	if err := wire.Check(c); err != nil { // before records are made for it
		return err
	}
	if f.use == examples.Dedupe {
		err = a.demoCrawl(ctx, drain, d, log)
	} else {
		err = a.demoClicks(ctx, drain, d, log)
	}
	return interruptedOr(ctx, err)
}

// demonstration is a run of the command.
type demonstration struct {
	demoFlags
	config string // the name of the configuration
	folder string // for the Parquet files
	work   string // for everything else; temporary, unless it is to be kept
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

// demoFolders chooses the folders, and returns what removes the temporary ones in the end.
func demoFolders(f demoFlags) (d demonstration, cleanup func(), err error) {
	if f.out != "" {
		if _, err := os.Stat(filepath.Join(f.out, commit.Dir)); err == nil {
			return d, nil, usagef("--out %s has the output of an earlier run, which would not be delivered again: give another folder, or remove that one", f.out)
		}
	}
	dir, err := os.MkdirTemp("", "urlmill-demo-")
	if err != nil {
		return d, nil, fmt.Errorf("temporary folder of the demo: %w; name another one by TMPDIR", err)
	}
	d = demonstration{demoFlags: f, config: "examples/" + f.use + ".yaml", folder: f.out, work: dir}
	if f.out == "" {
		d.folder = filepath.Join(dir, map[string]string{examples.Clickstream: "clicks", examples.Dedupe: "pages", examples.Warehouse: "warehouse"}[f.use])
		if f.keep {
			return d, func() {}, nil
		}
	}
	return d, func() { _ = os.RemoveAll(dir) }, nil
}

// errStopped ends a demo that was told to stop before it had anything to show.
var errStopped = &codeError{code: exitFailure, err: errors.New("stopped before the demo was through")}

// making returns the context in which the records of a demo are made, which ends with ctx or drain.
func making(ctx, drain context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(drain, func() { cancel(errStopped) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// demoConfig reads the example configuration with values for its variables.
func (a *app) demoConfig(d demonstration, variables map[string]string) (*wire.Config, error) {
	env := config.OSEnv()
	env.Lookup = func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}
	return a.components.Parse(d.config, examples.Use(d.use), env)
}

// demoRun runs the configuration until all records are read.
func (a *app) demoRun(ctx, drain context.Context, d demonstration, c *wire.Config, log *slog.Logger) (report.Summary, error) {
	s, err := wire.Open(c, a.setting(log))
	if err != nil {
		return report.Summary{}, err
	}
	stats := s.Stats
	allRead, firstRead := untilRows(drain, stats, d.records)
	progress := a.startProgress(stats, rowCount{s.Source, stats, d.records}, log)
	began := time.Now()
	err = s.Run(ctx, allRead.Done())
	ended := time.Now()
	progress.stop()
	firstRow := firstRead()
	if err != nil {
		return report.Summary{}, err
	}
	if got := stats.Totals().Rows; got < d.records {
		return report.Summary{}, fmt.Errorf("%w: %s of %s records were read", errStopped, plain.Count(got), plain.Count(d.records))
	}
	a.say("2. ran %s: through the URL parser into %s, in %.1f s, %.1f s of which until the first row\n",
		d.config, d.folder, ended.Sub(began).Seconds(), firstRow.Sub(began).Seconds())
	return report.New(stats.Totals(), s.Sink, ended.Sub(firstRow)), nil
}

// rowCount is a source whose number of rows is known, and of which nothing else is shown.
type rowCount struct {
	pipeline.Source
	stats *pipeline.Stats
	total int64
}

// Count implements [pipeline.Counter].
func (r rowCount) Count(c *pipeline.Counts) {
	c.Progress = &pipeline.Progress{Done: r.stats.Totals().Rows, Total: r.total}
}

// untilRows returns a context that ends when a pipeline has read so many rows, or with drain. The function that it returns
// ends it, and returns the time of about the first row.
func untilRows(drain context.Context, stats *pipeline.Stats, rows int64) (full context.Context, stop func() time.Time) {
	full, cancel := context.WithCancel(drain)
	var first time.Time
	var watch sync.WaitGroup
	watch.Go(func() {
		defer cancel()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for full.Err() == nil {
			read := stats.Totals().Rows
			if read > 0 && first.IsZero() {
				first = time.Now()
			}
			if read >= rows {
				return
			}
			select {
			case <-tick.C:
			case <-full.Done():
			}
		}
	})
	return full, func() time.Time {
		cancel()
		watch.Wait()
		return first
	}
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

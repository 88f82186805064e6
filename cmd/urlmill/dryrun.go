package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/report"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/rowview"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/sample"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/sources"
)

type dryRunFlags struct {
	records, show int64
	timeout       time.Duration
}

func newDryRun(a *app) *cobra.Command {
	var f dryRunFlags
	cmd := &cobra.Command{
		Use:   "dry-run CONFIG",
		Short: "Try a configuration with a sample, without writing or committing anything",
		Long: `Read a sample as a configuration says, and show what would become of it: the schema, the first rows, the errors by
code, and how large the files would be.

Nothing is written to the output, and nothing is committed. Of a topic, records are read without joining the consumer
group, from the partitions that answer first until there are enough; they begin where source.kafka.start says (latest: at
the last ones), not where the group is. The last lines say how many partitions or files the sample is from. The files that
are measured are made in a temporary folder, which is removed. With dedupe, duplicates are those within the sample. What
came from standard input is gone.`,
		Example: "  urlmill dry-run clickstream.yaml\n  urlmill dry-run clickstream.yaml --records 100000 --show 3",
		Args:    args(1, 1, "one configuration"),
		RunE: func(cmd *cobra.Command, files []string) error {
			switch {
			case f.records < 1:
				return usagef("--records is %d; give a number from 1 on", f.records)
			case f.show < 0:
				return usagef("--show is %d; give a number from 0 on", f.show)
			case f.timeout <= 0:
				return usagef("--timeout is %s; give a duration such as 30s", f.timeout)
			}
			c, err := a.loadConfig(files[0])
			if err != nil {
				return err
			}
			return a.dryRun(cmd.Context(), c, f)
		},
	}
	cmd.Flags().Int64Var(&f.records, "records", 10_000, "how many records to read")
	cmd.Flags().Int64Var(&f.show, "show", 10, "how many rows to show")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 30*time.Second, "how long to wait for that many")
	return cmd
}

// dryRun runs c with a sample into a temporary folder, and reports.
func (a *app) dryRun(parent context.Context, c *wire.Config, f dryRunFlags) (err error) {
	if err := wire.Check(c); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "urlmill-dry-run-")
	if err != nil {
		return fmt.Errorf("dry-run: %w", err)
	}
	// A pipe that is cut, as by head, would end the process before the folder is removed. Now it is an error of writing.
	signal.Ignore(syscall.SIGPIPE)
	defer func() {
		signal.Reset(syscall.SIGPIPE)
		if errors.Is(err, syscall.EPIPE) {
			err = &codeError{code: exitFailure} // the reader has what it wanted
		}
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	partitioned := c.Sink.Options.Asks().Partitioned
	c.IntoFolder(dir)
	log := a.flagLogger()
	setting := a.setting(log)
	setting.Stores, setting.Sample = nil, f.records
	s, err := wire.Open(c, setting)
	if err != nil {
		return err
	}
	sink, limit := s.Sink, sample.NewLimit(s.Source, f.records)
	preview := rowview.NewPreview(sink, rowview.New(a.out, rowview.Options{Width: terminalWidth(a.out), MergeErrors: true, HideEmpty: true}), f.show)
	ctx, drain, release := watchSignals(parent, log)
	defer release()
	soft, cancel := context.WithTimeout(drain, f.timeout)
	defer cancel()
	timedOut := func() bool { return errors.Is(soft.Err(), context.DeadlineExceeded) }
	s.Source, s.Sink = limit, preview
	began := time.Now()
	runErr := s.Run(ctx, soft.Done())
	if cause := context.Cause(ctx); errors.Is(cause, errInterrupted) {
		return cause
	}
	r := sampleReport{
		summary: report.New(s.Stats.Totals(), sink, time.Since(began)), schema: s.Rows,
		whole: f.whole(limit.Reached(), timedOut(), from(c, limit.Lanes())), partitioned: partitioned,
	}
	if runErr != nil && r.summary.Totals.Rows == 0 {
		return runErr // there was nothing to try: a report would stand between the command and what is wrong
	}
	r.printSchema(a)
	if f.show > 0 && r.summary.Totals.Rows > 0 {
		fmt.Fprintf(a.out, "\nfirst rows, without columns that are empty\n\n")
		if err := preview.Show(); err != nil {
			return err
		}
	}
	r.printTotals(a)
	if runErr == nil && r.summary.Totals.Rows == 0 && timedOut() {
		return fmt.Errorf("no record came within %s: the log says what was waited for, such as brokers that do not answer; --timeout waits longer", f.timeout)
	}
	return runErr
}

// from says how many partitions or files a sample is from, "" for other sources.
func from(c *wire.Config, lanes int64) string {
	switch c.Source.Options.Asks().Origin {
	case sources.Topics:
		return " from " + plain.Plural(lanes, "partition")
	case sources.Files:
		return " from " + plain.Plural(lanes, "file")
	}
	return ""
}

// whole says how much of what there is was read.
func (f dryRunFlags) whole(enough, timedOut bool, from string) string {
	switch {
	case enough:
		return "a sample" + from + "; there is more, or may be"
	case timedOut:
		return fmt.Sprintf("what came within --timeout %s", f.timeout)
	}
	return "all that there was"
}

// sampleReport is what a dry run says.
type sampleReport struct {
	summary     report.Summary
	schema      *arrow.Schema
	whole       string // how much of what there is was read
	partitioned bool
}

func (r sampleReport) printSchema(a *app) {
	fmt.Fprintf(a.out, "schema\n\n")
	width := 0
	for _, f := range r.schema.Fields() {
		width = max(width, plain.Width(plain.Text(f.Name)))
	}
	for _, f := range r.schema.Fields() {
		null := ""
		if !f.Nullable {
			null = ", never null"
		}
		name := plain.Text(f.Name)
		fmt.Fprintf(a.out, "  %s%s  %s%s\n", name, strings.Repeat(" ", width-plain.Width(name)), plain.Text(f.Type.String()), null)
	}
}

func (r sampleReport) printTotals(a *app) {
	t := r.summary.Totals
	fmt.Fprintf(a.out, "\n%s read (%s), %s; nothing was written or committed\n", plain.Plural(t.Rows, "record"), plain.Bytes(t.Bytes), r.whole)
	if t.Rows == 0 {
		return
	}
	r.summary.PrintErrors(a.out, false)
	files := ""
	if r.partitioned {
		files = fmt.Sprintf(" in %s", plain.Plural(r.summary.Files, "file"))
	}
	const fewRows = 5000
	note := ""
	if t.Rows < fewRows {
		note = " or less: so few rows are mostly what every file has"
	}
	fmt.Fprintf(a.out, "output: %s%s, %.1f bytes a record; a million records are about %s%s\n", plain.Bytes(r.summary.Written), files,
		float64(r.summary.Written)/float64(t.Rows), plain.Bytes(int64(float64(r.summary.Written)/float64(t.Rows)*1e6)), note)
}

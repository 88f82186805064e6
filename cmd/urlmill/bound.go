package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/report"
	"github.com/urlmill/urlmill/internal/wire"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources"
)

// bound is where a run is to end by itself.
type bound struct {
	until string        // "end", a time, or "" for where the source ends
	limit time.Duration // 0: none
}

// untilEnd is the value of --until for what there is at the start.
const untilEnd = "end"

func (b *bound) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&b.until, "until", "", `stop at what there is now ("end"), or before records of this TIME and later (RFC 3339)`)
	cmd.Flags().DurationVar(&b.limit, "for", 0, "stop after this time, such as 50m")
	completeFlag(cmd, "until", untilEnd)
}

// time returns the time that is given, zero for none. One that is yet to come is refused: whether a partition has reached it could
// only be told by a record that may never come.
func (b bound) time() (time.Time, error) {
	if b.limit < 0 {
		return time.Time{}, usagef("--for is %s; give a duration such as 50m", b.limit)
	}
	if b.until == "" || b.until == untilEnd {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, b.until)
	switch {
	case err != nil:
		return t, usagef("--until is %q; give \"end\" or a time such as 2026-07-01T00:00:00Z", b.until)
	case t.UnixMilli() < 0:
		return t, usagef("--until is %s, before 1970, where Kafka's time begins; give a later time", b.until)
	case t.After(time.Now()):
		return t, usagef("--until is %s, which is yet to come; give a time that has passed, or --for to stop after a while", b.until)
	}
	return t, nil
}

// set tells a source where it is to end, if it has no end of its own.
func (b bound) set(c *wire.Config, source pipeline.Source) error {
	at, err := b.time()
	if err != nil || b.until == "" {
		return err
	}
	if s, ok := pipeline.As[pipeline.Bounded](source); ok {
		s.EndAt(at)
		return nil
	}
	p := pipeline.CountsOf(source, nil).Progress
	switch made := c.Source.Options.Asks().Origin == sources.Nowhere; {
	case !at.IsZero():
		return usagef("--until %s: source.%s has no times to stop at; give --until end, or choose the files by their names", b.until, c.Source.Name)
	case made && (p == nil || p.Total == 0):
		return usagef("--until end: source.%s goes on for ever; set source.%s.records, or give --for", c.Source.Name, c.Source.Name)
	}
	return nil
}

// within returns a context that ends with drain, and when the time is up.
func (b bound) within(drain context.Context) (context.Context, context.CancelFunc) {
	if b.limit == 0 {
		return drain, func() {}
	}
	return context.WithTimeout(drain, b.limit)
}

// errNotAtEnd is the error of a run that was stopped before the end that --until names.
var errNotAtEnd = &codeError{code: exitIncomplete, err: errors.New(
	"stopped before the end that --until names; what was read is committed, and the same command goes on there",
)}

// ended says why a run has ended that returned err. drain was told to stop by a signal, and soft by that or when the time was up.
// The error is what the command is to end with.
func (b bound) ended(drain, soft context.Context, err error) (report.End, error) {
	why := report.AtEnd
	switch {
	case err != nil:
		return report.ByError, err
	case drain.Err() != nil:
		why = report.BySignal
	case soft.Err() != nil:
		why = report.AtTime
	}
	if why != report.AtEnd && b.until != "" {
		err = errNotAtEnd
	}
	return why, err
}

package database

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/urlmill/urlmill/pipeline"
)

// Options are those that all databases share.
type Options struct {
	// Table is the table of the rows, and DeadLetters that of the dead letters, "" where there are none.
	Table, DeadLetters string
	// BatchBytes is how much of a lane is held in memory before it is loaded, whatever the limits of commits say. Default
	// 32 MiB.
	BatchBytes int64
	// BatchRows does the same for rows. Default 500,000.
	BatchRows int64
	// Memory bounds what all lanes hold together: above half of it, lanes load early. 0: no bound.
	Memory int64
	// RetryFor is how long a load is tried again while the database cannot be reached. Default 5 minutes; less than nothing is
	// not at all.
	RetryFor time.Duration
	Log      *slog.Logger
}

const (
	defaultBatchBytes = 32 << 20
	defaultBatchRows  = 500_000
	defaultRetryFor   = 5 * time.Minute
	never             = -1 // for RetryFor
)

func (o Options) withDefaults() Options {
	o.BatchBytes = cmp.Or(o.BatchBytes, defaultBatchBytes)
	o.BatchRows = cmp.Or(o.BatchRows, defaultBatchRows)
	o.RetryFor = cmp.Or(o.RetryFor, defaultRetryFor)
	return o
}

// Sink implements [pipeline.Sink].
type Sink struct {
	opts    Options
	driver  Driver
	run     string
	schemas pipeline.Schemas
	flat    pipeline.Schemas // of what drivers get
	held    atomic.Int64     // bytes of rows that are not loaded
	seq     atomic.Uint64
	loads   atomic.Int64
	retries atomic.Int64
	nulled  atomic.Int64 // values beyond the database's [Limits]
}

// New returns a sink. The options have been validated.
func New(o Options, d Driver) *Sink {
	return &Sink{opts: o.withDefaults(), driver: d, run: rand.Text()}
}

// Start implements [pipeline.Sink].
func (s *Sink) Start(ctx context.Context, schemas pipeline.Schemas) error {
	s.schemas = schemas
	if schemas[pipeline.DeadLetters] != nil && s.opts.DeadLetters == "" {
		return errors.New("the error policy is dead_letter, but there is no place for dead letters: " +
			"set dead_letters of this sink to a table, or choose another on_error")
	}
	var targets [pipeline.NumTables]*Target
	for t, name := range [pipeline.NumTables]string{pipeline.Rows: s.opts.Table, pipeline.DeadLetters: s.opts.DeadLetters} {
		if schemas[t] != nil {
			targets[t], s.flat[t] = &Target{Name: name, Schema: schemas[t]}, flat(schemas[t])
		}
	}
	return s.driver.Start(ctx, targets)
}

// Open implements [pipeline.Sink].
func (s *Sink) Open(ctx context.Context, id pipeline.LaneID) (pipeline.Writer, int64, error) {
	at, err := s.Position(ctx, id)
	return &writer{sink: s, id: id, lane: laneOf(id), next: at.Next}, at.Next, err
}

// Position implements [pipeline.Positions].
func (s *Sink) Position(ctx context.Context, id pipeline.LaneID) (m pipeline.Mark, err error) {
	err = s.retry(ctx, id, func() (err error) {
		var load string
		m.Next, load, err = s.driver.Position(ctx, laneOf(id))
		_, m.Of, _ = strings.Cut(load, " ")
		return err
	})
	return m, err
}

// Lanes implements [pipeline.Lister].
func (s *Sink) Lanes(ctx context.Context) (ids []pipeline.LaneID, err error) {
	var lanes []Lane
	err = s.retry(ctx, pipeline.LaneID{}, func() (err error) {
		lanes, err = s.driver.Lanes(ctx)
		return err
	})
	for _, l := range lanes {
		stream, bad := url.PathUnescape(l.Stream)
		if id := (pipeline.LaneID{Stream: stream, Session: l.Session, Partition: l.Partition}); bad == nil && laneOf(id) == l {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Count implements [pipeline.Counter].
func (s *Sink) Count(c *pipeline.Counts) {
	c.Loads = &pipeline.LoadCounts{Loads: s.loads.Load(), Retries: s.retries.Load(), Nulled: s.nulled.Load()}
}

// Close implements [pipeline.Sink].
func (s *Sink) Close() error { return s.driver.Close() }

// retry tries until it works, the error cannot pass, or it has taken too long.
func (s *Sink) retry(ctx context.Context, id pipeline.LaneID, try func() error) error {
	const least, most = 100 * time.Millisecond, 10 * time.Second
	start := time.Now()
	for pause := least; ; pause = min(most, 2*pause) {
		err := try()
		var t temporary
		if !errors.As(err, &t) {
			return err
		}
		if s.opts.RetryFor < 0 {
			return fmt.Errorf("%s: %w", id, err)
		}
		if time.Since(start) > s.opts.RetryFor {
			return fmt.Errorf("%s: tried again for %s: %w", id, s.opts.RetryFor, err)
		}
		s.retries.Add(1)
		s.opts.Log.Warn("the database cannot be reached; trying again", "lane", id.String(), "error", err, "in", pause)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

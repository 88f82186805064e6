package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/urlmill/urlmill/internal/kafkaconn"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/kafka/internal/recordbatch"
)

const (
	// partitionWatchInterval is the time between two looks for partitions that were added, and topics that were made anew.
	partitionWatchInterval = 5 * time.Second
	// leaveTimeout is how long leaving the group may take.
	leaveTimeout = 5 * time.Second
)

// Source reads topics as a member of a consumer group. It implements [pipeline.Source].
type Source struct {
	opts  Options
	start start
	codec codec.Factory
	log   *slog.Logger
	watch time.Duration // partitionWatchInterval, or less in tests

	positions pipeline.Positions // of the sink, nil for one that keeps none
	until     *start             // what lanes are read up to, as of the start of a Run; nil for ever

	mu     sync.Mutex         // guards the next two
	lanes  map[*lane]struct{} // being read
	memory *fetchMemory       // of the latest Run

	trouble trouble // with the group, or with all brokers
	retries atomic.Int64

	unreadable atomic.Int64
}

// New returns a source, or every problem of opts and of the files that it names. It connects to no broker before Run or Survey.
func New(opts Options, factory codec.Factory, log *slog.Logger) (*Source, error) {
	if err := opts.Validate(); err != nil {
		return nil, err
	}
	if _, err := opts.TLS.Config(); err != nil { // read again by every Run, so that a restart finds what has been renewed
		return nil, err
	}
	opts = opts.withDefaults()
	from, err := parseStart(opts.Start)
	if err != nil {
		return nil, err
	}
	s := &Source{
		opts: opts, start: from, codec: factory, watch: partitionWatchInterval,
		log:   log.With("source", "kafka", "group", opts.Group),
		lanes: make(map[*lane]struct{}),
	}
	s.trouble.retries = &s.retries
	return s, nil
}

// Resume implements [pipeline.Resumer].
func (s *Source) Resume(p pipeline.Positions) { s.positions = p }

// Lag is how far a lane has come.
type Lag struct {
	Lane pipeline.LaneID
	// Position is the offset that is read next, Acknowledged the one before which all is durable, and
	// HighWatermark the one after the last record of the partition; -1 where not known yet.
	Position, Acknowledged, HighWatermark int64
	// LastStable is how far the partition can be read: HighWatermark, or where a transaction is still open
	// that read_committed waits for.
	LastStable int64
}

// Behind returns how many offsets of the partition could be read and have not been yet, 0 while that is not known.
func (l Lag) Behind() int64 {
	if l.Position < 0 || l.LastStable < 0 {
		return 0
	}
	return max(0, l.LastStable-l.Position)
}

// Lags returns the lag of every lane that is being read, ordered by topic and partition. It may be called at any
// time.
func (s *Source) Lags() []Lag {
	s.mu.Lock()
	lags := make([]Lag, 0, len(s.lanes))
	for l := range s.lanes {
		lags = append(lags, Lag{l.id, l.position.Load(), l.acknowledged.Load(), l.highWatermark.Load(), l.lastStable.Load()})
	}
	s.mu.Unlock()
	slices.SortFunc(lags, func(a, b Lag) int {
		return cmp.Or(cmp.Compare(a.Lane.Stream, b.Lane.Stream), cmp.Compare(a.Lane.Partition, b.Lane.Partition))
	})
	return lags
}

// Run implements [pipeline.Source]. It waits for brokers that are down, at the start and later, and goes on where
// it was when they are back. It stops at an error that trying again does not cure, such as wrong
// credentials, and leaves the group before it returns.
func (s *Source) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	return s.run(ctx, drain, each, func(c *consumer) error { return c.consume(ctx, drain) })
}

// run calls read with a consumer once the topics are known. Connections, decompressor and memory for answers last as long
// as the call; errors of a drain or of the end of ctx become what [pipeline.Source] asks for.
func (s *Source) run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error, read func(*consumer) error) error {
	session, err := newSession(s.opts, s.log)
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer session.close()
	decompressor, err := recordbatch.NewDecompressor(s.opts.decodedLimit())
	if err != nil {
		return fmt.Errorf("kafka: %w", err)
	}
	defer decompressor.Close()
	session.trouble = &s.trouble
	known, err := session.awaitTopics(ctx, drain)
	if err == nil {
		turns, memory := newTurns(), newFetchMemory(s.opts.FetchMemory, s.opts.MaxBytes)
		s.mu.Lock()
		s.memory = memory
		s.mu.Unlock()
		err = read(&consumer{
			source: s, session: session, decompressor: decompressor,
			fetcher: wireFetcher{session, turns, memory, new(sync.Map)}, turns: turns, memory: memory,
			each: each, known: known,
		})
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, kafkaconn.ErrStopped):
		return nil
	case err != nil:
		return fmt.Errorf("kafka: %w", err)
	}
	return nil
}

// consumer is the state of one Run, which its generations share one after the other. While a generation runs, its lock
// looking guards known, and seen is only read.
type consumer struct {
	source       *Source
	session      *session
	decompressor *recordbatch.Decompressor
	fetcher      fetcher
	turns        *turns
	memory       *fetchMemory
	each         func(context.Context, pipeline.Lane) error
	known        layout              // what there was when last looked
	seen         map[string]identity // of the topics, as of the last generation
	ends         ends                // nil in a run without end
	allDone      bool                // every lane of the last generation has come to its end
	anew         bool                // the group has to assign partitions anew, also where nobody else asks for it
}

// consume joins the group and runs its generations until one is the last.
func (r *consumer) consume(ctx context.Context, drain <-chan struct{}) error {
	if until := r.source.until; until != nil {
		if err := r.findEnds(ctx, drain, *until); err != nil {
			return err
		}
	}
	group := &membership{session: r.session}
	defer func() {
		// A member that is known by its instance ID comes back for its partitions, unless there is nothing left to do.
		if r.session.opts.InstanceID == "" || r.allDone {
			group.leave()
		}
	}()
	soft, stop := context.WithCancel(ctx) // ends with a drain as well: a join must not go on then
	defer stop()
	go func() {
		select {
		case <-drain:
			stop()
		case <-soft.Done():
		}
	}()
	var pause kafkaconn.Backoff
	for {
		next, err := group.join(soft)
		switch {
		case soft.Err() != nil:
			return kafkaconn.ErrStopped
		case err != nil:
			if err = r.session.explain(err, 0); kafkaconn.IsFatal(err) {
				return err
			}
			r.session.log.Warn("no place in the consumer group yet; trying again", "error", err)
			r.source.trouble.add(err)
			if !pause.Wait(soft, nil) {
				return kafkaconn.ErrStopped
			}
			continue
		}
		pause.Reset()
		r.source.trouble.end()
		g := newGeneration(ctx, r, next)
		if last, err := g.run(drain); last {
			return err
		}
		if r.anew { // the group keeps what it has assigned to an instance until that leaves
			r.anew = false
			group.leave()
		}
	}
}

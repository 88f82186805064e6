package wire

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/urlmill/urlmill/internal/settings"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/kafka"
)

// ForSamples returns the registry with a Kafka source that joins no consumer group; see [kafka.Sample]. Of a partition that
// would begin at its end it reads the last offsets, as many as last says. r itself does not change.
func (r Registry) ForSamples(last int64) Registry {
	r.Sources = slices.Clone(r.Sources)
	for i, kind := range r.Sources {
		if kind.Name != kafkaSource.Name {
			continue
		}
		r.Sources[i].Configure = func(c *settings.Config, s Setting) (Source, bool) {
			source, ok := kind.Configure(c, s)
			if ok {
				options := kafkaOptions(c.Source.Kafka)
				options.FetchMemory = int(s.memory.Fetch)
				source.Open = func(f codec.Factory) (pipeline.Source, error) { return kafka.NewSample(options, f, last, s.Log) }
			}
			return source, ok
		}
	}
	return r
}

// IntoFolder changes c so that its sink writes the same files into folders below dir, where they can be measured: in one go
// and without keeping positions. What would go to a topic, a database or standard output becomes NDJSON there. Duplicates are
// looked for among the rows of the sample alone.
func IntoFolder(c *settings.Config, dir string) {
	rows, dead := filepath.Join(dir, "rows"), filepath.Join(dir, "dead")
	output := func(o *settings.Output) {
		o.Path, o.Stdout, o.Delivery = rows, false, settings.AtLeastOnce
		o.DeadLetterTopic = nil
		o.DeadLetters = dead
		moveLate(o.Late, dir)
	}
	switch s := &c.Sink; {
	case s.Parquet != nil:
		s.Parquet.Path, s.Parquet.Delivery = rows, settings.AtLeastOnce
		s.Parquet.DeadLetters, s.Parquet.DeadLetterTopic = dead, nil
		s.Parquet.Iceberg = nil
		moveLate(s.Parquet.Late, dir)
	case s.ArrowIPC != nil:
		output(&s.ArrowIPC.Output)
	case s.NDJSON != nil:
		output(&s.NDJSON.Output)
	default: // there is no place for a trial at a broker or in a database
		s.NDJSON, s.Kafka, s.Postgres = new(settings.NDJSONOut), nil, nil
		s.ClickHouse, s.DuckDB = nil, nil
		output(&s.NDJSON.Output)
	}
	c.Sink.S3 = settings.DefaultS3()
	c.Sink.Roll = settings.Roll{}
	if c.Dedupe != nil { // the state of a run is not to know the sample
		dedupe := *c.Dedupe
		dedupe.Path = filepath.Join(dir, "dedupe")
		c.Dedupe = &dedupe
	}
	c.Tracing = nil
}

func moveLate(l *settings.Late, dir string) {
	if l != nil {
		l.Path = filepath.Join(dir, "late")
	}
}

// Limit is a source that ends after a number of records. It acknowledges nothing to the source below.
type Limit struct {
	source pipeline.Source
	full   chan struct{} // closed when nothing is left

	mu   sync.Mutex // held while a lane reads, so that the lanes do not read more than is left together
	left int64
}

// NewLimit returns a source of the first records of another one, one at least.
func NewLimit(source pipeline.Source, records int64) *Limit {
	return &Limit{source: source, full: make(chan struct{}), left: records}
}

// Reached reports whether the limit was reached.
func (l *Limit) Reached() bool {
	select {
	case <-l.full:
		return true
	default:
		return false
	}
}

// Run implements [pipeline.Source]. The lanes are drained when the limit is reached, as when drain is closed.
func (l *Limit) Run(ctx context.Context, drain <-chan struct{}, each func(context.Context, pipeline.Lane) error) error {
	soft, over := make(chan struct{}), make(chan struct{})
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-drain:
			close(soft)
		case <-l.full:
			close(soft)
		case <-over:
		}
	})
	defer waiting.Wait()
	defer close(over)
	return l.source.Run(ctx, soft, func(ctx context.Context, lane pipeline.Lane) error {
		return each(ctx, &limitedLane{Lane: lane, limit: l})
	})
}

// limitedLane is a lane of a [Limit].
type limitedLane struct {
	pipeline.Lane
	limit *Limit
}

// Wait implements [pipeline.Waiter].
func (l *limitedLane) Wait(ctx context.Context) {
	if waiter, ok := l.Lane.(pipeline.Waiter); ok && !l.limit.Reached() {
		waiter.Wait(ctx)
	}
}

// Next implements [pipeline.Lane].
func (l *limitedLane) Next(ctx context.Context, b *pipeline.Batch) error {
	l.limit.mu.Lock()
	defer l.limit.mu.Unlock()
	if l.limit.left <= 0 {
		b.Reset()
		return io.EOF
	}
	usual := b.MaxRows
	b.MaxRows = int(min(int64(usual), l.limit.left))
	err := l.Lane.Next(ctx, b)
	b.MaxRows = usual
	if l.limit.left -= int64(b.Len()); l.limit.left <= 0 {
		close(l.limit.full) // once, for nobody reads any more
	}
	return err
}

// Acknowledge implements [pipeline.Lane] and does nothing.
func (l *limitedLane) Acknowledge(context.Context, int64) error { return nil }

// Package producer fills a Kafka topic with made-up records.
package producer

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Options says what is produced and where to.
type Options struct {
	Brokers []string
	Topic   string
	// Partitions is how many the topic gets when it is not there yet. Records go to all partitions in turn.
	Partitions int32
	// Records is how many records are produced; 0: until the context ends.
	Records int64
	// Rate is how many records are produced a second; 0: as many as possible.
	Rate float64
	// Compression is "none", "gzip", "snappy", "lz4" or "zstd".
	Compression string
	// Next appends the next record to dst.
	Next func(dst []byte) []byte
	// ConnectTimeout is how long a broker is waited for.
	ConnectTimeout time.Duration
}

// Compressions are the values of Options.Compression.
var Compressions = []string{"none", "gzip", "snappy", "lz4", "zstd"}

var codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

// Stats counts what a producer has done.
type Stats struct {
	records, bytes atomic.Int64
}

// Totals returns how many records, and how many bytes of values, the broker has confirmed.
func (s *Stats) Totals() (records, bytes int64) { return s.records.Load(), s.bytes.Load() }

// Run produces records until it has produced all, or the context ends, which is no error. When it returns, the
// broker has confirmed what stats counts.
func Run(ctx context.Context, o Options, stats *Stats) error {
	client, err := kgo.NewClient(
		kgo.SeedBrokers(o.Brokers...),
		kgo.ClientID("urlmill-produce"),
		kgo.DefaultProduceTopic(o.Topic),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(codecs[o.Compression]),
		kgo.ProducerLinger(10*time.Millisecond),
		kgo.MaxBufferedRecords(50_000),
		kgo.UnknownTopicRetries(20),
	)
	if err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	defer client.Close()
	if err := connect(ctx, client, o); err != nil {
		return err
	}
	partitions, err := ensureTopic(ctx, client, o)
	if err != nil {
		return err
	}
	p := producer{o: o, client: client, stats: stats, partitions: partitions}
	return p.run(ctx)
}

// connect waits for a broker.
func connect(ctx context.Context, client *kgo.Client, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, o.ConnectTimeout)
	defer cancel()
	for {
		err := client.Ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no Kafka broker answers at %v: %w; is it running, and is the address right?", o.Brokers, err)
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// ensureTopic creates the topic unless it is there, and returns the number of its partitions.
func ensureTopic(ctx context.Context, client *kgo.Client, o Options) (int32, error) {
	create := kmsg.NewPtrCreateTopicsRequest()
	topic := kmsg.NewCreateTopicsRequestTopic()
	topic.Topic, topic.NumPartitions, topic.ReplicationFactor = o.Topic, o.Partitions, -1
	create.Topics = append(create.Topics, topic)
	created, err := create.RequestWith(ctx, client)
	if err != nil {
		return 0, fmt.Errorf("create topic %s: %w", o.Topic, err)
	}
	for _, t := range created.Topics {
		if err := kerr.ErrorForCode(t.ErrorCode); err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
			return 0, fmt.Errorf("create topic %s: %w", o.Topic, err)
		}
	}
	return countPartitions(ctx, client, o.Topic)
}

// countPartitions asks for the number of partitions until the new topic is known.
func countPartitions(ctx context.Context, client *kgo.Client, name string) (int32, error) {
	const tries = 50
	var err error
	for range tries {
		request := kmsg.NewPtrMetadataRequest()
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(name)
		request.Topics = append(request.Topics, topic)
		var metadata *kmsg.MetadataResponse
		if metadata, err = request.RequestWith(ctx, client); err == nil && len(metadata.Topics) == 1 {
			t := metadata.Topics[0]
			if err = kerr.ErrorForCode(t.ErrorCode); err == nil && len(t.Partitions) > 0 {
				return int32(len(t.Partitions)), nil
			}
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return 0, fmt.Errorf("topic %s does not appear: %w", name, err)
}

// producer is a run.
type producer struct {
	o          Options
	client     *kgo.Client
	stats      *Stats
	partitions int32

	arena []byte // where values are put together; a new one when it is full, for the client keeps them
}

const arenaSize = 1 << 20

func (p *producer) run(parent context.Context) error {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	done := func(r *kgo.Record, err error) {
		if err != nil {
			cancel(fmt.Errorf("produce to %s: %w", p.o.Topic, err))
			return
		}
		p.stats.records.Add(1)
		p.stats.bytes.Add(int64(len(r.Value)))
	}
	pace := newPace(p.o.Rate)
	for i := int64(0); (p.o.Records == 0 || i < p.o.Records) && ctx.Err() == nil; i++ {
		if !pace.wait(ctx) {
			break
		}
		p.client.Produce(ctx, &kgo.Record{Value: p.value(), Partition: int32(i % int64(p.partitions))}, done)
	}
	err := p.flush(ctx)
	if cause := context.Cause(ctx); cause != nil && parent.Err() == nil {
		return cause
	}
	return err
}

// flush waits for the broker to confirm what was produced, for a while when the context has ended already.
func (p *producer) flush(ctx context.Context) error {
	const grace = 10 * time.Second
	flushing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	defer stop()
	if err := p.client.Flush(flushing); err != nil {
		return fmt.Errorf("produce to %s: not all records were confirmed: %w", p.o.Topic, err)
	}
	return nil
}

// value makes the next record.
func (p *producer) value() []byte {
	if cap(p.arena)-len(p.arena) < arenaSize/16 {
		p.arena = make([]byte, 0, arenaSize)
	}
	start := len(p.arena)
	p.arena = p.o.Next(p.arena)
	return p.arena[start:len(p.arena):len(p.arena)]
}

// pace spreads records evenly over time.
type pace struct {
	rate  float64
	start time.Time
	count float64
}

func newPace(rate float64) *pace { return &pace{rate: rate, start: time.Now()} }

// wait waits until the next record is due. It returns false when the context ended.
func (p *pace) wait(ctx context.Context) bool {
	if p.rate <= 0 {
		return true
	}
	due := p.start.Add(time.Duration(p.count / p.rate * float64(time.Second)))
	p.count++
	delay := time.Until(due)
	if delay < time.Millisecond {
		return true // timers are no finer than that
	}
	select {
	case <-ctx.Done():
		return false
	case <-time.After(delay):
		return true
	}
}

package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"github.com/urlmill/urlmill/internal/kafkaconn"
)

// producer sends records to a topic and waits for their acknowledgement. Its methods may be called from several
// goroutines.
type producer struct {
	target    Target
	log       *slog.Logger
	dialer    *kafkaconn.Dialer
	transport *kafkago.Transport
	client    *kafkago.Client
	turn      atomic.Uint32 // of the partitions, among records without keys
}

// newProducer returns a producer that connects to no broker before start. The target has been validated.
func newProducer(t Target, log *slog.Logger) (*producer, error) {
	t = t.withDefaults()
	dialer, err := kafkaconn.NewDialer(kafkaconn.Cluster{
		Brokers: t.Brokers, ClientID: t.ClientID, TLS: t.TLS, SASL: t.SASL, DialTimeout: t.DialTimeout,
	})
	if err != nil {
		return nil, err
	}
	p := &producer{target: t, log: log.With("sink", "kafka", "topic", t.Topic), dialer: dialer, transport: dialer.NewTransport(t.Topic)}
	p.client = &kafkago.Client{Addr: dialer.Addr(), Transport: p.transport}
	return p, nil
}

// start returns when a broker says that the topic is there.
func (p *producer) start(ctx context.Context) error {
	return patience{p.target.StartTimeout, p.log, "the topic to write to is not there yet; trying again"}.wait(ctx, func() error {
		return named(p.target.Topic, p.look(ctx))
	}, func(err error) error {
		if kafkaconn.IsMissing(err) {
			return named(p.target.Topic, p.missing())
		}
		return fmt.Errorf("kafka: %w", kafkaconn.NoBroker(p.target.Brokers, p.target.StartTimeout, err))
	})
}

// patience is how something is waited for at the start: until limit has passed, with a warning before each further try.
type patience struct {
	limit   time.Duration
	log     *slog.Logger
	warning string
}

// wait returns when try returns nil, an error that is fatal, or, after the limit, one that late makes an error of. Once ctx is
// done, it returns its cause.
func (w patience) wait(ctx context.Context, try func() error, late func(error) error) error {
	began, pause := time.Now(), kafkaconn.Backoff{}
	for {
		err := try()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case kafkaconn.IsFatal(err):
			return err
		case time.Since(began) > w.limit:
			return late(err)
		}
		w.log.Warn(w.warning, "error", err)
		if !pause.Wait(ctx, nil) {
			return context.Cause(ctx)
		}
	}
}

// look asks a broker for the topic.
func (p *producer) look(ctx context.Context) error {
	_, missing, err := p.dialer.Describe(ctx, p.advice, p.target.Topic)
	if len(missing) > 0 {
		return kafkago.UnknownTopicOrPartition
	}
	return err
}

// partitions returns how many partitions a topic has. Of a transport that is in use this is what it has learned last.
func partitions(ctx context.Context, client *kafkago.Client, topic string) (int, error) {
	meta, err := client.Metadata(ctx, &kafkago.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return 0, err
	}
	for _, t := range meta.Topics {
		if t.Name != topic {
			continue
		}
		if t.Error == nil && len(t.Partitions) == 0 {
			break
		}
		return len(t.Partitions), t.Error
	}
	return 0, kafkago.UnknownTopicOrPartition
}

// message is a record to produce.
type message struct {
	key, value []byte // nil for null
	headers    []kafkago.Header
}

// size is what the message takes in a batch at most, before compression.
func (m *message) size() int {
	const overhead = 32 // lengths, attributes, the differences of offset and timestamp
	n := overhead + len(m.key) + len(m.value)
	for _, h := range m.headers {
		n += 10 + len(h.Key) + len(h.Value)
	}
	return n
}

// send produces messages and returns when all are acknowledged, or with an error, and then perhaps some are. clean reports
// whether their memory may be used again: kafka-go reads it for as long as a request that was given up hangs, so a second
// try is enough to leave it to the garbage collector.
func (p *producer) send(ctx context.Context, messages []message) (bytes int64, clean bool, err error) {
	if len(messages) == 0 {
		return 0, true, nil
	}
	for i := range messages {
		n := messages[i].size()
		if n > p.target.MaxMessageBytes {
			return 0, true, p.tooLarge(n)
		}
		bytes += int64(n)
	}
	var retried atomic.Bool
	var count int
	err = p.try(ctx, &retried, func(ctx context.Context) (err error) {
		count, err = partitions(ctx, p.client, p.target.Topic)
		return err
	})
	if err != nil {
		return 0, false, err
	}
	var wg sync.WaitGroup
	byPartition := p.divide(messages, count)
	errs := make([]error, count)
	for partition, mine := range byPartition {
		if len(mine) > 0 {
			wg.Go(func() { errs[partition] = p.sendTo(ctx, partition, mine, &retried) })
		}
	}
	wg.Wait()
	err = errors.Join(errs...) // a partition that fails does not end the others: what they wrote may stay
	return bytes, err == nil && !retried.Load(), err
}

// divide deals messages out to partitions: those with a key as Java's default partitioner does, the others together to
// the next one.
func (p *producer) divide(messages []message, count int) [][]message {
	all := make([]int, count) // Balance wants the numbers, and indexes them by its hash
	for i := range all {
		all[i] = i
	}
	next := int(p.turn.Add(1) % uint32(count))
	byKey := kafkago.Murmur2Balancer{Consistent: true}
	out := make([][]message, count)
	for _, m := range messages {
		to := next
		if m.key != nil {
			to = byKey.Balance(kafkago.Message{Key: m.key}, all...)
		}
		out[to] = append(out[to], m)
	}
	return out
}

// sendTo produces messages to a partition in as many requests as they need, one after the other.
func (p *producer) sendTo(ctx context.Context, partition int, messages []message, retried *atomic.Bool) error {
	for len(messages) > 0 {
		n, bytes := 0, 0
		for n < len(messages) {
			if bytes += messages[n].size(); bytes > p.target.MaxMessageBytes && n > 0 {
				break
			}
			n++
		}
		batch := messages[:n]
		messages = messages[n:]
		err := p.try(ctx, retried, func(ctx context.Context) error {
			resp, err := p.client.Produce(ctx, &kafkago.ProduceRequest{
				Topic: p.target.Topic, Partition: partition, RequiredAcks: kafkago.RequireAll,
				Compression: compressions[p.target.Compression], Records: &recordReader{messages: batch},
			})
			if err != nil {
				return err
			}
			return resp.Error
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// try makes tries until one succeeds, ctx ends, or an error says that trying again is of no use.
func (p *producer) try(ctx context.Context, retried *atomic.Bool, request func(context.Context) error) error {
	err := kafkaconn.Retry{
		Explain: p.explain,
		Warn:    func(err error) { p.log.Warn("producing failed; trying again", "error", err) },
	}.Do(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, kafkaconn.RequestTimeout)
		defer cancel()
		err := request(ctx)
		if err != nil {
			retried.Store(true)
		}
		return err
	})
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return named(p.target.Topic, err)
}

func (p *producer) close() { p.transport.CloseIdleConnections() }

// recordReader hands messages to kafka-go.
type recordReader struct {
	messages []message
	record   protocol.Record
}

// ReadRecord implements [kafkago.RecordReader]. The record is valid until the next call.
func (r *recordReader) ReadRecord() (*kafkago.Record, error) {
	if len(r.messages) == 0 {
		return nil, errNoMore
	}
	m := &r.messages[0]
	r.messages = r.messages[1:]
	r.record = protocol.Record{Key: protocol.NewBytes(m.key), Value: protocol.NewBytes(m.value), Headers: m.headers}
	return &r.record, nil
}

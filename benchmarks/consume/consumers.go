package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/kafka"
)

const (
	maxBytes = 1 << 20
	maxWait  = 50 * time.Millisecond
)

func consumers() []consumer {
	const kafkaGo, franzGo = "github.com/segmentio/kafka-go", "github.com/twmb/franz-go"
	return []consumer{
		{"urlmill", "", readUrlmill},
		{"kafka-go Conn.ReadBatch", kafkaGo, readConn},
		{"kafka-go Client.Fetch", kafkaGo, readClient},
		{"kafka-go Reader", kafkaGo, readReader},
		{"franz-go", franzGo, readFranz},
	}
}

var groups atomic.Int64

// readUrlmill reads by the source that "urlmill run" has, as the only member of a new group.
func readUrlmill(addr string, s *sink) error {
	opts := kafka.Options{
		Brokers: []string{addr}, Topics: []string{topic}, Group: fmt.Sprint("bench-", time.Now().UnixNano(), groups.Add(1)), MaxWait: maxWait,
	}
	source, err := kafka.New(opts, codec.NewLines(codec.LinesOptions{}), slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	drain := make(chan struct{})
	return source.Run(context.Background(), drain, func(ctx context.Context, l pipeline.Lane) error {
		if err := l.Start(ctx, 0); err != nil {
			return err
		}
		s.batch.MaxRows, s.batch.MaxBytes = batchRows, 4<<20
		for {
			if err := l.Next(ctx, &s.batch); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
			if !s.count(int64(s.batch.Len())) {
				close(drain)
				return nil
			}
		}
	})
}

// readConn reads by kafka-go's connection to a leader, into a buffer that is used again. It checks no checksums.
func readConn(addr string, s *sink) error {
	conn, err := kafkago.DialLeader(context.Background(), "tcp", addr, topic, 0)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Seek(0, kafkago.SeekAbsolute); err != nil {
		return err
	}
	buf := make([]byte, 64<<10)
	for {
		batch := conn.ReadBatchWith(kafkago.ReadBatchConfig{MinBytes: 1, MaxBytes: maxBytes, MaxWait: maxWait})
		for {
			offset := batch.Offset()
			n, err := batch.Read(buf)
			if err != nil {
				break // of the batch, or told by Close
			}
			if !s.add(buf[:n], offset) {
				return nil
			}
		}
		if err := batch.Close(); err != nil {
			return err
		}
	}
}

// readClient reads by kafka-go's single fetches.
func readClient(addr string, s *sink) error {
	transport := &kafkago.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafkago.Client{Addr: kafkago.TCP(addr), Transport: transport}
	buf := make([]byte, 64<<10)
	for next := int64(0); ; {
		resp, err := client.Fetch(context.Background(), &kafkago.FetchRequest{Topic: topic, Offset: next, MinBytes: 1, MaxBytes: maxBytes, MaxWait: maxWait})
		if err == nil {
			err = resp.Error
		}
		if err != nil {
			return err
		}
		for {
			rec, err := resp.Records.ReadRecord()
			if err != nil {
				break // the end
			}
			if rec.Offset < next {
				continue // batches are sent whole
			}
			n, err := io.ReadFull(rec.Value, buf[:rec.Value.Len()])
			if err != nil {
				return err
			}
			next = rec.Offset + 1
			if !s.add(buf[:n], rec.Offset) {
				return nil
			}
		}
	}
}

// readReader reads as most users of kafka-go do.
func readReader(addr string, s *sink) error {
	r := kafkago.NewReader(kafkago.ReaderConfig{Brokers: []string{addr}, Topic: topic, MaxBytes: maxBytes, MaxWait: maxWait})
	defer r.Close()
	for {
		m, err := r.FetchMessage(context.Background())
		if err != nil {
			return err
		}
		if !s.add(m.Value, m.Offset) {
			return nil
		}
	}
}

func readFranz(addr string, s *sink) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(addr), kgo.FetchMaxPartitionBytes(maxBytes), kgo.FetchMaxWait(maxWait),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().At(0)}}))
	if err != nil {
		return err
	}
	defer client.Close()
	for {
		fetches := client.PollFetches(context.Background())
		if err := fetches.Err(); err != nil {
			return err
		}
		for records := fetches.RecordIter(); !records.Done(); {
			r := records.Next()
			if !s.add(r.Value, r.Offset) {
				return nil
			}
		}
	}
}

//go:build unix

package kafka

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/kafkatest"
	"github.com/urlmill/urlmill/pipeline"
)

// cpuTime returns the processor time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measure runs f, which is to read b.N records, and reports what one has cost.
func measure(b *testing.B, f func()) {
	b.ReportAllocs()
	before := cpuTime(b)
	b.ResetTimer()
	f()
	b.StopTimer()
	b.ReportMetric(float64(cpuTime(b)-before)/float64(b.N), "cpu-ns/record")
}

// urls returns n records of about 80 bytes.
func urls(n, partitions int) []*kgo.Record {
	r := rand.New(rand.NewPCG(1, 2))
	records := make([]*kgo.Record, n)
	for i := range records {
		value := fmt.Appendf(nil, "https://www.example-%d.org/articles/%08x/page?utm_source=newsletter&id=%d", r.IntN(500), r.Uint32(), r.IntN(1_000_000))
		records[i] = &kgo.Record{Topic: "t", Partition: int32(i % partitions), Value: value, Timestamp: time.UnixMilli(1_700_000_000_000 + int64(i))}
	}
	return records
}

// readN reads n records and returns.
func readN(b *testing.B, opts Options, n int) {
	var left atomic.Int64
	left.Store(int64(n))
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := newSource(b, opts).Run(ctx, nil, func(ctx context.Context, l pipeline.Lane) error {
		if err := l.Start(ctx, 0); err != nil {
			return err
		}
		batch := &pipeline.Batch{MaxRows: 8192, MaxBytes: 4 << 20}
		for {
			if err := l.Next(ctx, batch); err != nil {
				return err
			}
			if left.Add(-int64(batch.Len())) <= 0 {
				cancel()
			}
		}
	})
	if left.Load() > 0 {
		b.Fatalf("%d records left: %v", left.Load(), err)
	}
}

// BenchmarkFake reads from the in-process imitation, whose own cost is part of the figures.
func BenchmarkFake(b *testing.B) {
	for name, codec := range map[string]kgo.CompressionCodec{"none": kgo.NoCompression(), "zstd": kgo.ZstdCompression()} {
		b.Run(name, func(b *testing.B) {
			k := kafkatest.Fake(b, kfake.SeedTopics(1, "t"), kfake.SyntheticFetch(kfake.SyntheticBatch{
				RecordBytes: 80, RandomFrac: 0.3, Compression: codec,
			}))
			opts := quick(k.ListenAddrs(), "t")
			opts.MaxBytes = 1 << 20
			measure(b, func() { readN(b, opts, b.N) })
		})
	}
}

// BenchmarkReal reads from Apache Kafka, another process, so that the figures are the consumer's alone.
func BenchmarkReal(b *testing.B) {
	const partitions, n = 2, 2_000_000
	k := kafkatest.Start(b, kafkatest.Options{})
	k.CreateTopic(b, "t", partitions)
	k.Produce(b, urls(n, partitions), kgo.ProducerBatchCompression(kgo.ZstdCompression()), kgo.ProducerLinger(50*time.Millisecond), kgo.MaxBufferedRecords(100_000))
	opts := quick([]string{k.Addr()}, "t")
	b.Run("urlmill", func(b *testing.B) {
		measure(b, func() { readRepeatedly(b.N, n, func(n int) { readN(b, opts, n) }) })
	})
	b.Run("kafka-go Reader", func(b *testing.B) {
		measure(b, func() { readRepeatedly(b.N, n/partitions, func(n int) { readByReader(b, k.Addr(), n) }) })
	})
	b.Run("kafka-go Client.Fetch", func(b *testing.B) {
		measure(b, func() { readRepeatedly(b.N, n/partitions, func(n int) { readByClient(b, k.Addr(), n) }) })
	})
}

// readRepeatedly reads total records, at most most of them at a time.
func readRepeatedly(total, most int, read func(n int)) {
	for total > 0 {
		n := min(total, most)
		read(n)
		total -= n
	}
}

// readByReader reads n records of partition 0 as most users of kafka-go do, into columns.
func readByReader(b *testing.B, addr string, n int) {
	r := kafkago.NewReader(kafkago.ReaderConfig{Brokers: []string{addr}, Topic: "t", MaxBytes: 1 << 20, MaxWait: 50 * time.Millisecond})
	defer r.Close() // of no consequence here
	var batch pipeline.Batch
	for range n {
		m, err := r.ReadMessage(context.Background())
		if err != nil {
			b.Fatal(err)
		}
		if batch.Len() == 8192 {
			batch.Reset()
		}
		batch.URLs.Append(m.Value)
		batch.Offsets = append(batch.Offsets, m.Offset)
	}
}

// readByClient does the same by kafka-go's single fetches.
func readByClient(b *testing.B, addr string, n int) {
	transport := &kafkago.Transport{}
	defer transport.CloseIdleConnections()
	client := &kafkago.Client{Addr: kafkago.TCP(addr), Transport: transport}
	var batch pipeline.Batch
	var value []byte
	for next := int64(0); n > 0; {
		resp, err := client.Fetch(context.Background(), &kafkago.FetchRequest{Topic: "t", Offset: next, MinBytes: 1, MaxBytes: 1 << 20, MaxWait: 50 * time.Millisecond})
		if err != nil {
			b.Fatal(err)
		}
		for n > 0 {
			rec, err := resp.Records.ReadRecord()
			if err != nil {
				break
			}
			if rec.Offset < next {
				continue
			}
			value = value[:0]
			for buf := make([]byte, rec.Value.Len()); ; {
				m, err := rec.Value.Read(buf)
				value = append(value, buf[:m]...)
				if err != nil || m == 0 {
					break
				}
			}
			if batch.Len() == 8192 {
				batch.Reset()
			}
			batch.URLs.Append(value)
			batch.Offsets = append(batch.Offsets, rec.Offset)
			next, n = rec.Offset+1, n-1
		}
	}
}

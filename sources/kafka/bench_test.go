package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/internal/dev/kafkatest"
	"github.com/urlmill/urlmill/pipeline"
)

// measure runs f, which is to read b.N records, and reports what one has cost.
func measure(b *testing.B, f func()) {
	b.ReportAllocs()
	before := cputime.Used()
	b.ResetTimer()
	f()
	b.StopTimer()
	b.ReportMetric(float64(cputime.Used()-before)/float64(b.N), "cpu-ns/record")
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

// BenchmarkFake reads from the in-process imitation, whose own cost is part of the figures; make bench-consume leaves it
// out.
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

// BenchmarkNext makes batches of answers that are there already: what a lane costs without a broker.
func BenchmarkNext(b *testing.B) {
	const perSet = 4096
	set := encodeBatch(0, perSet, bytes.Repeat([]byte("u"), 80))
	sets := [2][]byte{bytes.Clone(set), bytes.Clone(set)}
	turn := 0
	l := loneLane(b, Options{}, fetchFunc(func(offset int64, _ int) (fetched, error) {
		turn = 1 - turn // the other one is being read
		binary.BigEndian.PutUint64(sets[turn], uint64(offset))
		return fetched{set: sets[turn], buf: sets[turn][:0]}, nil
	}))
	batch := &pipeline.Batch{MaxRows: 4096, MaxBytes: 4 << 20}
	b.ReportAllocs()
	b.ResetTimer()
	for rows := 0; rows < b.N; rows += batch.Len() {
		if err := l.Next(context.Background(), batch); err != nil {
			b.Fatal(err)
		}
	}
}

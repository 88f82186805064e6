package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sinks/commit"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/generate"
	"github.com/urlmill/urlmill/sources/kafka"
)

const (
	topic = "urls"
	lanes = 4
	// rollRows is after how many rows a lane commits.
	rollRows = 100_000
)

// job is a way of records into files.
type job struct {
	name   string
	rows   int64
	source func(group string) (pipeline.Source, error)
	from   urlcols.Provenance
}

// newJobs returns the jobs. end is to be called after the last run.
func newJobs(rows int64) (jobs []job, end func(), err error) {
	lines := codec.NewLines(codec.LinesOptions{})
	options := generate.Options{Records: rows, Lanes: lanes, Format: generate.Lines}
	broker, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(lanes, topic),
		kfake.BrokerConfigs(map[string]string{"message.max.bytes": "8388608"}))
	if err != nil {
		return nil, nil, err
	}
	if err := fill(broker.ListenAddrs(), rows); err != nil {
		broker.Close()
		return nil, nil, err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	return []job{
		{name: "generate", rows: rows, source: func(string) (pipeline.Source, error) { return generate.New(options, lines) }},
		{name: "kafka", rows: rows, from: urlcols.KafkaProvenance, source: func(group string) (pipeline.Source, error) {
			return kafka.New(kafka.Options{Brokers: broker.ListenAddrs(), Topics: []string{topic}, Group: group}, lines, log)
		}},
	}, broker.Close, nil
}

// fill produces the records in batches that are compressed with zstd.
func fill(addrs []string, rows int64) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(addrs...), kgo.ProducerBatchCompression(kgo.ZstdCompression()), kgo.ProducerBatchMaxBytes(4<<20),
		kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		return err
	}
	defer client.Close()
	g, err := generate.NewGenerator(generate.Options{Records: rows, Format: generate.Lines})
	if err != nil {
		return err
	}
	var first kgo.FirstErrPromise
	for i := range rows {
		client.Produce(context.Background(), &kgo.Record{Topic: topic, Partition: int32(i % lanes), Value: g.Append(nil)}, first.Promise())
	}
	if err := client.Flush(context.Background()); err != nil {
		return err
	}
	return first.Err()
}

// run delivers all records into a new directory.
func (j job) run(ctx context.Context, d commit.Delivery, out string) (sample, error) {
	source, err := j.source(fmt.Sprintf("%s-%d", d, time.Now().UnixNano()))
	if err != nil {
		return sample{}, err
	}
	plan, err := urlcols.New(urlcols.Options{Provenance: j.from})
	if err != nil {
		return sample{}, err
	}
	sink, err := parquet.New(parquet.Options{Path: out, Files: parquet.Files{Delivery: d}}, slog.New(slog.DiscardHandler))
	if err != nil {
		return sample{}, err
	}
	stats := new(pipeline.Stats)
	full, done := make(chan struct{}), make(chan struct{})
	var began time.Time
	var before time.Duration
	go func() {
		defer close(full)
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for n := int64(0); n < j.rows; n = stats.Totals().Rows {
			if n > 0 && began.IsZero() { // joining a group takes a second, whatever the delivery
				began, before = time.Now(), cputime.Used()
			}
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	}()
	err = pipeline.Run(ctx, full, source, sink, pipeline.Options{
		Schemas: plan.Schemas(), NewTransform: plan.NewTransform, Stats: stats, Roll: pipeline.Roll{Rows: rollRows},
	})
	ended, after := time.Now(), cputime.Used()
	close(done)
	<-full
	t := stats.Totals()
	if err == nil && t.Committed != j.rows {
		err = fmt.Errorf("%d rows were committed of %d", t.Committed, j.rows)
	}
	return sample{time: ended.Sub(began), cpu: after - before, commits: t.Commits}, err
}

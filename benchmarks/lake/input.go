package main

import (
	"context"
	"errors"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/benchmarks/internal/broker"
	"github.com/urlmill/urlmill/sources/generate"
)

// brokerChild runs a broker and fills the topic: "broker KIND RECORDS".
func brokerChild(args []string) error {
	rows, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	return broker.Serve("bench-lake", args[0], broker.Topic{
		Name: topic, Partitions: partitions, Buffered: 20_000,
		Fill: func(client *kgo.Client) error {
			ctx, cancel := context.WithCancelCause(context.Background())
			defer cancel(nil)
			clicks(rows, func(i int64, record []byte) {
				r := &kgo.Record{Topic: topic, Partition: int32(i % partitions), Value: append([]byte(nil), record...)}
				client.Produce(ctx, r, func(_ *kgo.Record, err error) {
					if err != nil {
						cancel(err)
					}
				})
			})
			return errors.Join(client.Flush(ctx), context.Cause(ctx))
		},
	})
}

// clicks makes records as "urlmill produce" does, which are valid until each returns.
func clicks(rows int64, each func(i int64, record []byte)) {
	g, err := generate.NewGenerator(generate.Options{Records: rows, Seed: seed, Visits: true})
	if err != nil {
		panic(err) // the options are constants
	}
	var record []byte
	for i := range rows {
		record = g.Append(record[:0])
		each(i, record)
	}
}

// bytesOf returns the bytes of the records.
func bytesOf(rows int64) (n int64) {
	clicks(rows, func(_ int64, record []byte) { n += int64(len(record)) })
	return n
}

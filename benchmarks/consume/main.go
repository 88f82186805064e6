// Command consume measures what it costs to get records out of Kafka: urlmill's source beside the clients of kafka-go
// and franz-go, all in one run and in turns. The broker is a process of its own, so that what counts is the time of
// the CPU of the consumer alone, its decompression, its checks and its garbage collection included.
//
// Every consumer reads the same partition of batches that are compressed with zstd, and does with each record what
// urlmill has to do: append value and offset to columns that are used again after 8192 records.
//
// The broker is kfake, franz-go's imitation. Environment: QUICK=1 takes less than 50 s; REAL_KAFKA=1 measures with an
// Apache Kafka as well (needs Java and Maven).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/benchmarks/internal/broker"
	"github.com/urlmill/urlmill/benchmarks/internal/results"
)

const (
	topic       = "records"
	recordBytes = 80
)

func main() {
	var err error
	if len(os.Args) > 1 && os.Args[1] == broker.Command {
		err = brokerChild(os.Args[2:])
	} else {
		err = run()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-consume:", err)
		os.Exit(1)
	}
}

func run() error {
	b := bench{records: 2_000_000, repetitions: 7}
	if os.Getenv("QUICK") == "1" {
		b = bench{records: 500_000, repetitions: 5}
	}
	out := flag.String("out", "results/consume.json", "where to write the results")
	flag.Int64Var(&b.records, "records", b.records, "records of the topic")
	flag.IntVar(&b.repetitions, "repetitions", b.repetitions, "rounds, of which the median counts")
	flag.Parse()
	r := newReport(b)
	brokers := []string{broker.Fake}
	if os.Getenv("REAL_KAFKA") == "1" {
		brokers = append(brokers, broker.Real)
	}
	for _, kind := range brokers {
		if err := b.against(kind, r); err != nil {
			return fmt.Errorf("broker %s: %w", kind, err)
		}
	}
	r.print(os.Stdout)
	return results.Write(*out, r)
}

// against measures all consumers with a broker.
func (b bench) against(kind string, r *report) error {
	addr, end, err := broker.Start(kind, fmt.Sprint(b.records))
	if err != nil {
		return err
	}
	defer end()
	results, err := b.measure(addr)
	if err == nil {
		r.add(kind, results)
	}
	return err
}

// brokerChild runs a broker and fills the topic: "broker KIND RECORDS".
func brokerChild(args []string) error {
	records, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	return broker.Serve("bench-consume", args[0], broker.Topic{
		Name: topic, Partitions: 1, Buffered: 50_000,
		Fill: func(client *kgo.Client) error { return fill(client, records) },
	})
}

func fill(client *kgo.Client, records int64) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	next := urls()
	for range records {
		client.Produce(ctx, &kgo.Record{Topic: topic, Value: next()}, func(_ *kgo.Record, err error) {
			if err != nil {
				cancel(err)
			}
		})
	}
	return errors.Join(client.Flush(ctx), context.Cause(ctx))
}

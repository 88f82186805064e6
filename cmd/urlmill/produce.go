package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/plain"
	"github.com/urlmill/urlmill/cmd/urlmill/internal/producer"
	"github.com/urlmill/urlmill/sources/generate"
)

// produceFlags are the flags of "urlmill produce".
type produceFlags struct {
	brokers                []string
	topic, format, profile string
	compression            string
	partitions             int32
	records                int64
	rate                   float64
	seed                   uint64
	wait                   time.Duration
}

func newProduce(a *app) *cobra.Command {
	var f produceFlags
	cmd := &cobra.Command{
		Use:   "produce",
		Short: "Fill a Kafka topic with a made-up clickstream",
		Long: `Fill a Kafka topic with a made-up clickstream: hosts as unevenly visited as real ones, tracking parameters, IDNs,
relative references, and every kind of broken URL. The same seed gives the same records. The topic is created when it
is not there. It ends after --records, or with SIGINT or SIGTERM.`,
		Example: `  urlmill produce --brokers localhost:9092 --topic clicks --records 1000000
  urlmill produce --brokers kafka-1:9092,kafka-2:9092 --topic clicks --rate 5000`,
		Args: args(0, 0, "no arguments"),
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.brokers, "brokers", []string{"localhost:9092"}, "brokers to learn the cluster from, host:port")
	flags.StringVar(&f.topic, "topic", "clicks", "topic to fill")
	flags.Int32Var(&f.partitions, "partitions", 4, "partitions of the topic when it is created")
	flags.Int64Var(&f.records, "records", 0, "records to produce; 0 is no end")
	flags.Float64Var(&f.rate, "rate", 0, "records a second; 0 is as many as possible")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the records")
	choiceFlag(cmd, flags, &f.format, "format", "ndjson", "format of a record: ndjson or lines", "ndjson", "lines")
	choiceFlag(cmd, flags, &f.profile, "profile", "clickstream", "kind of URLs: clickstream or crawl", "clickstream", "crawl")
	choiceFlag(cmd, flags, &f.compression, "compression", "zstd", "compression of batches: none, gzip, snappy, lz4 or zstd", producer.Compressions...)
	flags.DurationVar(&f.wait, "wait", time.Minute, "how long to wait for a broker")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return a.produce(cmd.Context(), f) }
	return cmd
}

// options checks the flags.
func (f produceFlags) options() (producer.Options, error) {
	switch {
	case len(f.brokers) == 0 || f.topic == "":
		return producer.Options{}, usagef("give --brokers and --topic")
	case f.partitions < 1 || f.records < 0 || f.rate < 0:
		return producer.Options{}, usagef("--partitions has to be at least 1, --records and --rate at least 0")
	}
	generator, err := generate.NewGenerator(generate.Options{
		Records: f.records, Seed: f.seed, Format: generate.Format(f.format), Profile: generate.Profile(f.profile), Visits: true,
	})
	if err != nil {
		return producer.Options{}, &usageError{err}
	}
	return producer.Options{
		Brokers: f.brokers, Topic: f.topic, Partitions: f.partitions, Records: f.records, Rate: f.rate,
		Compression: f.compression, Next: generator.Append, ConnectTimeout: f.wait,
	}, nil
}

// produce runs the command.
func (a *app) produce(parent context.Context, f produceFlags) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(parent, os.Interrupt, syscall.SIGTERM)
	defer stop()
	stats := new(producer.Stats)
	began := time.Now()
	stopLine := a.showProduced(stats, f.records, began)
	err = producer.Run(ctx, options, stats)
	stopLine()
	records, bytes := stats.Totals()
	seconds := time.Since(began).Seconds()
	if a.logFormat == "json" {
		a.flagLogger().Info("produced", "topic", f.topic, "records", records, "bytes", bytes, "seconds", seconds)
	} else {
		fmt.Fprintf(a.console, "%s, %s, to %s in %.1f s (%s records/s)\n", plain.Plural(records, "record"), plain.Bytes(bytes), f.topic,
			seconds, plain.Count(int64(float64(records)/seconds)))
	}
	return err
}

// showProduced shows the progress of a producer until the function that it returns is called.
func (a *app) showProduced(stats *producer.Stats, total int64, began time.Time) (stop func()) {
	bar := newBar(max(total, 1))
	return a.everyTick(lineEvery, func() {
		records, bytes := stats.Totals()
		line := fmt.Sprintf("%s  %s  %s records/s", plain.Plural(records, "record"), plain.Bytes(bytes),
			plain.Count(int64(float64(records)/time.Since(began).Seconds())))
		if total > 0 {
			line = drawBar(bar, records) + "  " + line
		}
		a.console.show(line)
	})
}

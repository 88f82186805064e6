package main

import (
	"context"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/urlcols"
	"github.com/urlmill/urlmill/sinks/parquet"
	"github.com/urlmill/urlmill/sources/codec"
	"github.com/urlmill/urlmill/sources/file"
	"github.com/urlmill/urlmill/sources/kafka"
)

// columnNames are the columns that every job makes.
var columnNames = []string{"url", "scheme", "host", "port", "registrable_domain", "path", "query"}

// compact is urlmill with the profile of that name, which has the whole URL.
const compact = "urlmill_compact"

var compactNames = []string{
	"scheme", "userinfo", "host", "port", "registrable_domain", "path", "query", "fragment", "kept_url", "kept_front", "kept_origin", "kept_public_suffix", "kept_params",
}

// urlmill returns what "urlmill run" does with its defaults, exactly-once delivery and zstd level 1, and these columns.
func urlmill(options urlcols.Options) func(j job, first func()) (int64, string, error) {
	return func(j job, first func()) (int64, string, error) { return deliver(options, j, first) }
}

func deliver(options urlcols.Options, j job, first func()) (int64, string, error) {
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	lines := codec.NewLines(codec.LinesOptions{})
	options.Provenance = urlcols.FileProvenance
	var source pipeline.Source
	var err error
	if j.Kind == fileJob {
		first()
		source, err = file.New(file.Options{Paths: []string{j.In}}, lines, log)
	} else {
		options.Provenance = urlcols.KafkaProvenance
		source, err = kafka.New(kafka.Options{
			Brokers: strings.Split(j.Brokers, ","), Topics: []string{j.Topic}, Group: j.Group,
		}, lines, log)
	}
	if err != nil {
		return 0, "", err
	}
	plan, err := urlcols.New(options)
	if err != nil {
		return 0, "", err
	}
	sink, err := parquet.New(parquet.Options{Path: j.Out, Compression: j.Codec}, log)
	if err != nil {
		return 0, "", err
	}
	stats := new(pipeline.Stats)
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		watch(stats, j.Rows, first, stop)
	}()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err = pipeline.Run(ctx, stop, source, sink, pipeline.Options{
		Schemas: plan.Schemas(), NewTransform: plan.NewTransform, Stats: stats,
	})
	if err != nil {
		return 0, "", err
	}
	<-ended
	return stats.Totals().Committed, "devel", nil
}

// watch tells when the first rows are written, and closes stop when all are. What is written within the first
// two milliseconds is not counted in urlmill's favour: the pipeline began before.
func watch(stats *pipeline.Stats, rows int64, first func(), stop chan<- struct{}) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for range tick.C {
		n := stats.Totals().Rows
		if n > 0 {
			first()
		}
		if n >= rows {
			close(stop)
			return
		}
	}
}

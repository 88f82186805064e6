package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/benchmarks/internal/broker"
	"github.com/urlmill/urlmill/sources/generate"
)

// generateChild writes the input: "generate FOLDER ROWS".
func generateChild(args []string) error {
	rows, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	g, err := generate.NewGenerator(generate.Options{Records: rows, Seed: seed, Format: generate.Lines})
	if err != nil {
		return err
	}
	if err := os.Mkdir(args[0], 0o755); err != nil {
		return err
	}
	var files [partitions]*bufio.Writer
	var closers [partitions]*os.File
	for i := range files {
		if closers[i], err = os.Create(filepath.Join(args[0], fmt.Sprintf("clicks-%d.txt", i))); err != nil {
			return err
		}
		files[i] = bufio.NewWriterSize(closers[i], 1<<20)
	}
	var record []byte
	for i := range rows {
		record = append(g.Append(record[:0]), '\n')
		if _, err := files[i%partitions].Write(record); err != nil {
			return err
		}
	}
	for i, f := range files {
		if err := errors.Join(f.Flush(), closers[i].Close()); err != nil {
			return err
		}
	}
	return nil
}

// brokerChild runs a broker and fills a topic: "broker KIND TOPIC FOLDER".
func brokerChild(args []string) error {
	return broker.Serve("bench-e2e", args[0], broker.Topic{
		Name: args[1], Partitions: partitions, Buffered: 20_000,
		Fill: func(client *kgo.Client) error { return produce(client, args[1], args[2]) },
	})
}

// produce sends the lines of every file to a partition.
func produce(client *kgo.Client, topic, folder string) error {
	files, err := inputs(folder)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	for p, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			r := &kgo.Record{Topic: topic, Partition: int32(p), Value: bytes.TrimSuffix(line, []byte{'\n'})}
			client.Produce(ctx, r, func(_ *kgo.Record, err error) {
				if err != nil {
					cancel(err)
				}
			})
		}
	}
	return errors.Join(client.Flush(ctx), context.Cause(ctx))
}

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	pq "github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/segmentio/kafka-go"
	"golang.org/x/net/publicsuffix"
)

// naive is the program that a Go user would write with well-known libraries: kafka-go's Reader, net/url,
// x/net/publicsuffix and pqarrow. It is kind to itself: a goroutine for every core, offsets committed once a second,
// big record batches, zstd at its fastest level. It does not care for exactly-once delivery, or fsync.
func naive(j job, first func()) (int64, string, error) {
	if err := os.Mkdir(j.Out, 0o755); err != nil {
		return 0, "", err
	}
	var rows atomic.Int64
	var err error
	if j.Kind == fileJob {
		first()
		err = naiveFiles(j, &rows)
	} else {
		err = naiveKafka(j, first, &rows)
	}
	return rows.Load(), "kafka-go 0.4, net/url, arrow 15", err
}

func naiveFiles(j job, rows *atomic.Int64) error {
	names, err := inputs(j.In)
	if err != nil {
		return err
	}
	return sideBySide(len(names), func(i int) error {
		in, err := os.Open(names[i])
		if err != nil {
			return err
		}
		defer func() { _ = in.Close() }()
		w, err := newNaiveWriter(j, i)
		if err != nil {
			return err
		}
		lines := bufio.NewScanner(in)
		lines.Buffer(make([]byte, 1<<20), 16<<20)
		for lines.Scan() {
			if err := w.add(lines.Text()); err != nil {
				return err
			}
			rows.Add(1)
		}
		return errors.Join(lines.Err(), w.close())
	})
}

func naiveKafka(j job, first func(), rows *atomic.Int64) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	const readers = 2
	var once sync.Once
	return sideBySide(readers, func(i int) (err error) {
		r := kafka.NewReader(kafka.ReaderConfig{
			Brokers: strings.Split(j.Brokers, ","), Topic: j.Topic, GroupID: j.Group, StartOffset: kafka.FirstOffset,
			MinBytes: 1, MaxBytes: 10 << 20, MaxWait: 500 * time.Millisecond, CommitInterval: time.Second,
		})
		defer func() { err = errors.Join(err, r.Close()) }()
		w, err := newNaiveWriter(j, i)
		if err != nil {
			return err
		}
		for {
			m, err := r.ReadMessage(ctx)
			if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) {
				return w.close()
			}
			if err != nil {
				return err
			}
			once.Do(first)
			if err := w.add(string(m.Value)); err != nil {
				return err
			}
			if rows.Add(1) >= j.Rows {
				cancel()
			}
		}
	})
}

// sideBySide calls f for 0 to n-1, each in a goroutine.
func sideBySide(n int, f func(int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// naiveWriter writes a file.
type naiveWriter struct {
	b *array.RecordBuilder
	w *pqarrow.FileWriter
	n int
}

const naiveBatch = 128 << 10

func newNaiveWriter(j job, i int) (*naiveWriter, error) {
	fields := make([]arrow.Field, len(columnNames))
	for i, name := range columnNames {
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
	}
	fields[3].Type = arrow.PrimitiveTypes.Uint16
	schema := arrow.NewSchema(fields, nil)
	f, err := os.Create(filepath.Join(j.Out, fmt.Sprintf("part-%d.parquet", i)))
	if err != nil {
		return nil, err
	}
	props := []pq.WriterProperty{pq.WithCompression(map[string]compress.Compression{
		"none": compress.Codecs.Uncompressed, "snappy": compress.Codecs.Snappy, "zstd": compress.Codecs.Zstd,
	}[j.Codec])}
	if j.Codec == "zstd" {
		props = append(props, pq.WithCompressionLevel(1))
	}
	w, err := pqarrow.NewFileWriter(schema, f, pq.NewWriterProperties(props...), pqarrow.DefaultWriterProps())
	if err != nil {
		return nil, err
	}
	return &naiveWriter{b: array.NewRecordBuilder(memory.DefaultAllocator, schema), w: w}, nil
}

// add parses a URL and adds a row.
func (w *naiveWriter) add(text string) error {
	columns := w.b.Fields()
	columns[0].(*array.StringBuilder).Append(text)
	if u, err := url.Parse(text); err != nil {
		for _, c := range columns[1:] {
			c.AppendNull()
		}
	} else {
		host := strings.ToLower(u.Hostname())
		domain, err := publicsuffix.EffectiveTLDPlusOne(host)
		if err != nil {
			domain = ""
		}
		appendString(columns[1], u.Scheme)
		appendString(columns[2], host)
		if port, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
			columns[3].(*array.Uint16Builder).Append(uint16(port))
		} else {
			columns[3].AppendNull()
		}
		appendString(columns[4], domain)
		appendString(columns[5], u.EscapedPath())
		appendString(columns[6], u.RawQuery)
	}
	if w.n++; w.n == naiveBatch {
		return w.flush()
	}
	return nil
}

func appendString(b array.Builder, s string) {
	if s == "" {
		b.AppendNull()
		return
	}
	b.(*array.StringBuilder).Append(s)
}

func (w *naiveWriter) flush() error {
	r := w.b.NewRecord()
	defer r.Release()
	w.n = 0
	return w.w.Write(r)
}

func (w *naiveWriter) close() error {
	if w.n > 0 {
		if err := w.flush(); err != nil {
			return err
		}
	}
	return w.w.Close()
}

package kafka

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/kafka/internal/recordbatch"
)

// compressed returns the batch e with its records compressed by zstd, without their size, as a stream is.
func compressed(t testing.TB, e []byte) []byte {
	t.Helper()
	var z bytes.Buffer
	w, err := zstd.NewWriter(&z)
	if err == nil {
		_, err = io.Copy(w, bytes.NewReader(e[61:]))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	e = append(bytes.Clone(e[:61]), z.Bytes()...)
	e[22] |= 4
	binary.BigEndian.PutUint32(e[8:], uint32(len(e)-12))
	return seal(e)
}

// TestBatchTooLargeBecomesARow: one batch that decompresses to more than fits does not stop a partition, unless that is wanted.
func TestBatchTooLargeBecomesARow(t *testing.T) {
	log := threeBatches()
	log.sets[1] = compressed(t, encodeBatch(3, 3, bytes.Repeat([]byte("b"), 1<<20)))
	opts := Options{FetchMemory: 1 << 20, MaxRecordBytes: 1 << 20}
	l := loneLane(t, opts, fetchFunc(log.fetch))
	rows, err := readLane(t, l, 9)
	if err != nil || len(rows) != 7 || rows[3].fault != "record-corrupt" || rows[3].value != string(log.sets[1]) || rows[4].offset != 6 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if n := l.g.source.unreadable.Load(); n != 1 {
		t.Errorf("%d parts are counted", n)
	}
	opts.OnCorrupt = PolicyStop
	rows, err = readLane(t, loneLane(t, opts, fetchFunc(log.fetch)), 9)
	if !errors.Is(err, recordbatch.ErrTooLarge) || len(rows) != 3 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	expectError(t, err, "more than 2097152 bytes", "Raise fetch_memory", "on_corrupt: dead_letter")
}

// TestLanesShareDecodedMemory: many lanes with batches that decompress to much take the memory for that in turns.
func TestLanesShareDecodedMemory(t *testing.T) {
	const lanes, each = 24, 10
	set := compressed(t, encodeBatch(0, each, bytes.Repeat([]byte("c"), 100_000)))
	first := loneLane(t, Options{FetchMemory: 4 << 20}, fetchFunc(func(offset int64, _ int) (fetched, error) {
		if offset >= each {
			return fetched{}, nil
		}
		return fetched{set: bytes.Clone(set)}, nil
	}))
	decoded := first.g.memory.decoded
	all := []*lane{first}
	for p := range int32(lanes - 1) {
		l := newLane(first.g, pipeline.LaneID{Stream: "t", Partition: p + 1}, 0)
		defer l.close()
		if err := l.Start(context.Background(), pipeline.Unknown); err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	batches := make(chan struct{}, 2) // fewer than lanes, as those of the pipeline
	var read sync.WaitGroup
	for _, l := range all {
		read.Go(func() {
			b := &pipeline.Batch{MaxRows: 3, MaxBytes: 1 << 20}
			rows := 0
			for at := int64(0); at < each; at = b.Next {
				l.Wait(context.Background())
				batches <- struct{}{}
				err := l.Next(context.Background(), b)
				<-batches
				if err != nil || b.First != at || b.Next <= at {
					t.Errorf("%v: a batch from %d to %d after offset %d: %v", l.id, b.First, b.Next, at, err)
					return
				}
				rows += b.Len()
			}
			if rows != each {
				t.Errorf("%v: %d rows", l.id, rows)
			}
			l.recycle() // as the next Wait does
		})
	}
	read.Wait()
	if decoded.Peak() > decoded.Limit() || decoded.Peak() < 1_000_000 {
		t.Errorf("%d bytes of %d were taken", decoded.Peak(), decoded.Limit())
	}
}

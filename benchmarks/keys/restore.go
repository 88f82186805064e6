package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"github.com/urlmill/urlmill/benchmarks/internal/standin"
	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/internal/dev/s3test"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
	"github.com/urlmill/urlmill/pipeline/dedupe/shard"
	"github.com/urlmill/urlmill/sinks/ndjson"
	"github.com/urlmill/urlmill/sinks/store"
	"github.com/urlmill/urlmill/sinks/store/s3"
)

// laneMemory is what lanes have for filters with dedupe.memory: 256MiB.
const laneMemory = 144 << 20

// restored is what it takes until another process can ask for the keys of a lane.
type restored struct {
	Where   string  `json:"where"`
	Keys    uint64  `json:"keys"`
	Runs    int64   `json:"runs"`
	Fetched int64   `json:"fetched_bytes"`
	Bytes   float64 `json:"fetched_bytes_per_key"`
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_s_per_million"`
	Heap    float64 `json:"heap_bits"` // of memory a key
}

// place is an output, with copies of its runs on a local disk where that is a bucket.
type place struct {
	name, root string
	stores     store.Opener
	copies     bool
}

func (o options) restores(tb *standin.TB, r *report) error {
	server := &s3test.Start(tb).Server
	to := s3.Default()
	to.Endpoint, to.Region = server.Endpoint, server.Region
	to.Credentials = credentials.NewStaticCredentialsProvider(server.AccessKey, server.SecretKey, "")
	for _, keys := range o.lanes {
		for _, p := range []place{{"folder", tb.TempDir(), nil, false}, {"S3", fmt.Sprintf("s3://%s/%d", server.Bucket, keys), s3.Opener(to), true}} {
			if err := o.restore(tb, r, p, keys); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return nil
}

// owner is a process that has a lane.
type owner struct {
	sink   pipeline.Sink
	writer pipeline.Writer
	states *shard.States
	lane   *shard.Lane
	next   int64
}

func (p place) owner(ctx context.Context, copies string) (*owner, error) {
	quiet := slog.New(slog.DiscardHandler)
	sink, err := ndjson.New(ndjson.Options{Files: ndjson.Files{Stores: p.stores}, Path: p.root + "/out"}, quiet)
	if err != nil {
		return nil, err
	}
	own := &owner{sink: sink}
	if err := sink.Start(ctx, pipeline.Schemas{pipeline.Rows: arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)}); err != nil {
		return nil, err
	}
	if !p.copies {
		copies = ""
	}
	if own.states, err = shard.Open(shard.Options{Cache: copies, Memory: laneMemory, Identity: "bench", Log: quiet}); err != nil {
		return nil, err
	}
	if own.writer, own.next, err = sink.Open(ctx, pipeline.LaneID{Stream: "crawl"}); err != nil {
		return nil, err
	}
	own.next = max(own.next, 0)
	own.lane, err = own.states.Lane(ctx, "crawl/0", own.writer.(pipeline.Keeper), own.next)
	return own, err
}

// commit makes a commit of rows that are nowhere, with their keys.
func (own *owner) commit(ctx context.Context, next int64, keys []runs.Key) error {
	if err := own.lane.Stage(ctx, own.next, next, keys); err != nil {
		return err
	}
	if err := own.writer.Write(ctx, pipeline.Rows, nil, pipeline.Span{First: own.next, Next: next}); err != nil {
		return err
	}
	if _, err := own.writer.Commit(ctx); err != nil {
		return err
	}
	own.next = next
	own.lane.Committed(ctx)
	return nil
}

func (own *owner) close() error {
	return cmp.Or(own.writer.Abandon(), own.lane.Release(), own.states.Close(), own.sink.Close())
}

func (o options) restore(tb *standin.TB, r *report, p place, keys uint64) error {
	ctx := context.Background()
	dir := tb.TempDir()
	own, err := p.owner(ctx, filepath.Join(dir, "maker"))
	if err != nil {
		return err
	}
	const step = commitKeys / 3
	for at := uint64(0); at < keys; at += step {
		if err := own.commit(ctx, int64(min(at+step, keys)), keysOf(at, min(at+step, keys))); err != nil {
			return err
		}
	}
	idle() // a merge that is done counts with the next commit
	if err := cmp.Or(own.commit(ctx, int64(keys)+1, nil), own.close()); err != nil {
		return err
	}
	ways := []string{p.name}
	if p.copies {
		ways = append(ways, p.name+", copies are there")
	}
	for _, way := range ways {
		var seconds, cpu, bits []float64
		e := &restored{Where: way, Keys: keys}
		for round := range o.rounds {
			copies := filepath.Join(dir, fmt.Sprint("owner", round))
			if way != p.name {
				copies = filepath.Join(dir, fmt.Sprint("owner", o.rounds-1)) // which has fetched them
			}
			before, began, used := heap(), time.Now(), cputime.Used()
			if own, err = p.owner(ctx, copies); err != nil {
				return err
			}
			found := make([]bool, batchRows)
			if err := own.lane.Find(keysOf(keys, keys+batchRows), found); err != nil {
				return err
			}
			seconds, cpu = append(seconds, time.Since(began).Seconds()), append(cpu, (cputime.Used()-used).Seconds())
			bits = append(bits, 8*float64(heap()-before)/float64(keys))
			counts := own.states.Counts()
			if uint64(counts.Keys) != keys {
				return fmt.Errorf("%d keys of %d were restored", counts.Keys, keys)
			}
			e.Fetched, e.Runs = counts.Fetched, counts.Runs
			if round == o.rounds-1 && !p.copies {
				if err := o.lookups(r, "shard.Lane", keys, own.lane.Find); err != nil {
					return err
				}
			}
			if err := own.close(); err != nil {
				return err
			}
		}
		e.Seconds, e.CPU, e.Heap = median(seconds), median(cpu)/float64(keys)*1e6, median(bits)
		e.Bytes = float64(e.Fetched) / float64(keys)
		r.Restores = append(r.Restores, e)
		fmt.Printf("%s, %d keys in %d runs: %d bytes fetched, %.2f s, CPU %.3f s a million, %.1f bits of memory a key\n", way, keys, e.Runs, e.Fetched, e.Seconds, e.CPU, e.Heap)
	}
	return nil
}

// Command keys measures what the sets of keys of dedupe take: the memory and the disk of a key, look-ups a second, and how long a process
// that takes over a partition with a state in the output (dedupe.shard) needs until it can answer.
//
// Keys are hashes of numbers, so that it is known which are there. Look-ups come as those of the pipeline, in batches of as many rows,
// sorted, from one goroutine. What counts is the time of the CPU of this process; of restores the clock as well.
//
// Environment: QUICK=1 measures less. Without versitygw, which is built by the Go command, it fails.
package main

import (
	"cmp"
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/urlmill/urlmill/benchmarks/internal/results"
	"github.com/urlmill/urlmill/benchmarks/internal/standin"
	"github.com/urlmill/urlmill/pipeline/dedupe/runs"
)

// report is the JSON file.
type report struct {
	results.Head
	Sets     []*setReport `json:"sets"`
	Lookups  []*lookups   `json:"lookups"`
	Restores []*restored  `json:"restores"`
}

type options struct {
	dir, out string
	sets     []uint64 // keys
	lanes    []uint64
	asked    uint64 // keys of a round of look-ups
	rounds   int
}

func main() {
	o := options{sets: []uint64{10_000_000, 75_000_000}, lanes: []uint64{1_000_000, 10_000_000}, asked: 1 << 19, rounds: 5}
	if os.Getenv("QUICK") != "" {
		o = options{sets: []uint64{1_000_000}, lanes: []uint64{100_000}, asked: 1 << 16, rounds: 1}
	}
	flag.StringVar(&o.dir, "dir", "", "folder for everything, emptied in the end (default: a temporary one)")
	flag.StringVar(&o.out, "out", "", "JSON file for the result")
	flag.IntVar(&o.rounds, "rounds", o.rounds, "of which the medians count")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench-keys:", err)
		os.Exit(1)
	}
}

func run(o options) (err error) {
	tb := standin.New("keys")
	defer func() { err = cmp.Or(tb.End(recover()), err) }()
	if o.dir != "" {
		if err := os.Setenv("TMPDIR", o.dir); err != nil {
			return err
		}
	}
	r := &report{Head: results.NewHead()}
	for _, keys := range o.sets {
		if err := o.set(tb, r, keys); err != nil {
			return fmt.Errorf("a set of %d keys: %w", keys, err)
		}
	}
	if err := o.restores(tb, r); err != nil {
		return fmt.Errorf("states of lanes: %w", err)
	}
	if o.out == "" {
		return nil
	}
	return results.Write(o.out, r)
}

// keyOf returns the i-th key.
func keyOf(i uint64) runs.Key {
	return xxh3.Hash128(binary.LittleEndian.AppendUint64(nil, i)).Bytes()
}

// keysOf returns the keys with numbers from one up to another, in order.
func keysOf(from, to uint64) []runs.Key {
	keys := make([]runs.Key, 0, to-from)
	for i := from; i < to; i++ {
		keys = append(keys, keyOf(i))
	}
	runs.Sort(keys, func(k *runs.Key) *runs.Key { return k })
	return keys
}

func median[T cmp.Ordered](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}

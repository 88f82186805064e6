package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/chaos/facts"
)

// Where the fields of a batch of format v2 are (KIP-98).
const (
	batchLengthAt   = 8  // of what follows the field
	batchChecksumAt = 17 // of what follows the field
	attributesAt    = 21
	lastOffsetAt    = 23 // relative to the base
	batchHeader     = 61
)

// damages are ways to spoil a batch. Of those after the first the checksum is right.
var damages = []struct {
	name string
	do   func(batch []byte)
}{
	{"byte of a batch changed on the broker's disk", func(b []byte) { b[len(b)-1] ^= 1 }},
	{"batch of an unknown codec on the broker's disk", func(b []byte) { b[attributesAt+1] |= 7; seal(b) }},
	{"batch with nonsense for records on the broker's disk", func(b []byte) { clear(b[batchHeader : batchHeader+8]); seal(b) }},
}

// seal makes the checksum right.
func seal(b []byte) {
	sum := crc32.Checksum(b[attributesAt:], crc32.MakeTable(crc32.Castagnoli))
	binary.BigEndian.PutUint32(b[batchChecksumAt:], sum)
}

// corrupted spoils batches in the broker's files. The process stops at each when it is told to, and makes a dead letter of
// it otherwise; everything around it is delivered.
func corrupted(r *run) {
	rounds := pick(r, 12, 3)
	f := r.newFeed(&facts.Topic{Name: "corrupted", Partitions: 2, Valid: true})
	w := want{feed: f, out: filepath.Join(r.dir, "out")}
	j := job{feed: f, group: "corrupted", out: w.out, dead: filepath.Join(r.dir, "dead")}
	lenient := r.config(j)
	j.source = ", on_corrupt: stop"
	strict := r.config(j)
	damaged := map[int64]bool{}
	for i := range rounds {
		f.produce(500)
		at := f.counts[0]
		var batch []*kgo.Record
		for range 100 {
			batch = append(batch, f.next(0))
		}
		f.in(r.env.cluster.Client(r), batch)
		damage := damages[i%len(damages)]
		first, next, err := damageBatch(r.segments(f.Name, 0), at, damage.do)
		r.must(err)
		for n := first; n < next; n++ {
			damaged[n] = true
		}
		f.produce(500)
		r.fault(damage.name)
		r.refuses(r.start(strict), "on_corrupt")
		m := r.start(lenient)
		r.awaitWith(m, "a commit behind the damage", func() bool { return r.reached(w, f.counts) })
		r.stop(m)
	}
	w.excused = func(p int, n int64) bool { return p == 0 && damaged[n] }
	w.excusedRows = int64(len(damaged))
	r.finish(r.start(lenient), f, w)
	dead := int64(0)
	for _, l := range r.verify(w).Lanes {
		dead += l.Dead
	}
	if dead != int64(rounds) {
		r.Errorf("%d dead letters of %d damaged batches", dead, rounds)
	}
}

// damageBatch changes the batch that holds an offset, in the files of its log, and returns the batch's offsets.
func damageBatch(segments []string, offset int64, damage func([]byte)) (first, next int64, err error) {
	for _, name := range segments {
		content, err := os.ReadFile(name)
		if err != nil {
			return 0, 0, err
		}
		for rest, at := content, 0; len(rest) >= batchHeader; {
			size := batchLengthAt + 4 + int(binary.BigEndian.Uint32(rest[batchLengthAt:]))
			first := int64(binary.BigEndian.Uint64(rest))
			next := first + int64(binary.BigEndian.Uint32(rest[lastOffsetAt:])) + 1
			if size > len(rest) {
				break
			}
			if offset >= first && offset < next {
				damage(rest[:size])
				return first, next, writeAt(name, rest[:size], int64(at))
			}
			rest, at = rest[size:], at+size
		}
	}
	return 0, 0, fmt.Errorf("no batch in %v has offset %d", segments, offset)
}

func writeAt(name string, b []byte, at int64) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, at)
	return errors.Join(err, f.Close())
}

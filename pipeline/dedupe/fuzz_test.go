package dedupe

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/vfs"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/pipeline"
)

// FuzzJournal decodes the values of the store: parts of journals, where keys are from, and marks of lanes.
func FuzzJournal(f *testing.F) {
	lane := journalName(pipeline.LaneID{Stream: "clicks", Partition: 3, Session: "s"}, "cluster/topic")
	chunk := binary.BigEndian.AppendUint64(nil, 43)
	chunk = append(binary.BigEndian.AppendUint32(chunk, uint32(len(lane))), lane...)
	f.Add(appendEntries(chunk, []entry{{Key{1}, 2}, {Key{3}, -4}}))
	f.Add(appendFrom(nil, 7, 1<<40))
	f.Add([]byte(`{"end":43,"floor":2,"origins":[{"number":1,"of":"cluster/topic"}]}`))
	f.Add(append(bytes.Repeat([]byte{0}, 8), 0xff, 0xff, 0xff, 0xff))
	f.Fuzz(func(t *testing.T, value []byte) {
		alloctest.Bound(t, len(value), 512, 1<<20, func() {
			if j, entries, err := parseChunk(value); err == nil && j.lane.Session != "" {
				name := journalName(j.lane, j.end.Of)
				back := binary.BigEndian.AppendUint64(nil, uint64(j.end.Next))
				back = appendEntries(append(binary.BigEndian.AppendUint32(back, uint32(len(name))), name...), entries)
				if again, _, err := parseChunk(back); err != nil || again != j {
					t.Fatalf("%q: %+v, and then %+v, %v", value, j, again, err)
				}
			}
			if number, end, ok := parseFrom(value); ok {
				if n, e, ok := parseFrom(appendFrom(nil, number, end)); !ok || n != number || e != end {
					t.Fatalf("%q: %d %d, and then %d %d", value, number, end, n, e)
				}
			}
			var m laneMark
			_ = json.Unmarshal(value, &m)
		})
	})
}

// FuzzSnapshot reads the file with the filters. Its checksum is made right, as it would hide what is before it, and so are the
// sizes of the filters: the library makes room by them before the checksum is known, and trusts them afterwards.
func FuzzSnapshot(f *testing.F) {
	opts := Options{Path: "/seen", KeyColumn: "k", Approximate: &Approximate{Memory: 4096, Keys: 100}, Last: 100, fs: vfs.NewMem()}.withDefaults()
	made := &filters{opts: opts, buckets: nil}
	made.bits, made.hashes = opts.Approximate.filter(opts.buckets())
	made.buckets = map[int64]*bloom.BloomFilter{0: bloom.New(made.bits, made.hashes), -1: bloom.New(made.bits, made.hashes)}
	made.put([]entry{{Key{1}, 0}, {Key{2}, 0}})
	var out bytes.Buffer
	if err := made.writeSnapshot(&out); err != nil {
		f.Fatal(err)
	}
	f.Add(out.Bytes(), true)
	f.Add(out.Bytes()[:40], false)
	f.Fuzz(func(t *testing.T, data []byte, resign bool) {
		data = bytes.Clone(data)
		if !made.resize(data) {
			return
		}
		if resign && len(data) >= 8 {
			binary.BigEndian.PutUint64(data[len(data)-8:], xxhash.Sum64(data[:len(data)-8]))
		}
		fs := vfs.NewMem()
		if err := writeFile(fs, "filter", string(data)); err != nil {
			t.Fatal(err)
		}
		o := opts
		o.fs = fs
		alloctest.Bound(t, len(data), 64, 16<<20, func() {
			read := &filters{opts: o, file: "filter", buckets: map[int64]*bloom.BloomFilter{}}
			if err := read.readSnapshot(); err != nil {
				return
			}
			asked := []question{{key: Key{1}, low: -1 << 62, high: 1 << 62}}
			if err := read.find(asked); err != nil {
				t.Fatal(err)
			}
			read.put([]entry{{Key{1}, read.newest()}})
		})
	})
}

// resize gives the filters in a snapshot the sizes that those of f have. It reports whether the checksum can be made right: it
// cannot where that is the size of a filter.
func (f *filters) resize(snapshot []byte) bool {
	words := 8 * int((f.bits+63)/64)
	for at := 16; at+32 <= len(snapshot); at += 32 + words { // bucket, bits, hashes, bits again, and these
		if at+40 > len(snapshot) {
			return false
		}
		for i, n := range []uint{f.bits, f.hashes, f.bits} {
			binary.BigEndian.PutUint64(snapshot[at+8+8*i:], uint64(n))
		}
	}
	return true
}

package dedupe

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
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

// FuzzSnapshot reads the file with the filters. Its checksum is made right, as it would hide what is before it.
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
			read := &filters{opts: o, file: "filter", bits: made.bits, hashes: made.hashes, buckets: map[int64]*bloom.BloomFilter{}}
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

// TestSnapshotClaims reads files of filters that claim other sizes than the state has, under a checksum that is right.
func TestSnapshotClaims(t *testing.T) {
	opts := Options{Path: "/seen", KeyColumn: "k", Approximate: &Approximate{Memory: 4096, Keys: 100}, fs: vfs.NewMem()}.withDefaults()
	made := &filters{opts: opts, buckets: map[int64]*bloom.BloomFilter{}}
	made.bits, made.hashes = opts.Approximate.filter(opts.buckets())
	made.put([]entry{{Key{1}, 0}})
	var out bytes.Buffer
	if err := made.writeSnapshot(&out); err != nil {
		t.Fatal(err)
	}
	set := func(at int, number uint64) func([]byte) []byte {
		return func(b []byte) []byte { binary.BigEndian.PutUint64(b[at:], number); return b }
	}
	for name, change := range map[string]func([]byte) []byte{
		"buckets":            set(8, 255),
		"too many buckets":   set(8, 1<<63),
		"no bits":            set(24, 0),
		"no hashes":          set(32, 0),
		"many hashes":        set(32, 1<<62),
		"a length of 2^63":   set(40, 1<<63),
		"a length of 2^64-1": set(40, 1<<64-1),
		"a set without bits": set(40, 0),
		"48 bytes": func(b []byte) []byte {
			return set(40, 1<<60)(b[:48])
		},
		"cut":       func(b []byte) []byte { return b[:len(b)-100] },
		"too long":  func(b []byte) []byte { return append(b, 0) },
		"nothing":   func(b []byte) []byte { return nil },
		"no header": func(b []byte) []byte { return b[:12] },
	} {
		t.Run(name, func(t *testing.T) {
			data := change(bytes.Clone(out.Bytes()))
			if len(data) > 56 {
				binary.BigEndian.PutUint64(data[len(data)-8:], xxhash.Sum64(data[:len(data)-8]))
			}
			o := opts
			o.fs = vfs.NewMem()
			if err := writeFile(o.fs, "filter", string(data)); err != nil {
				t.Fatal(err)
			}
			read := &filters{opts: o, file: "filter", bits: made.bits, hashes: made.hashes, buckets: map[int64]*bloom.BloomFilter{}}
			alloctest.Bound(t, len(data), 64, 4<<20, func() {
				if err := read.readSnapshot(); !errors.Is(err, errDamaged) {
					t.Errorf("read with the error %v", err)
				}
			})
		})
	}
}

package commit

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/sinks/store"
)

// FuzzRecords decodes what may be found in the place of objects of a chain. What is accepted can be followed: it goes on, and
// says the same when it is written again.
func FuzzRecords(f *testing.F) {
	record := encode(Record{Version: formatVersion, Lane: "clicks/3", First: 40, Next: 50, From: 41, Files: []File{}})
	for _, seed := range [][]byte{
		[]byte(goodRecord), encodeCheckpoint("clicks/3", 40, 50, [][]byte{record}),
		encode(start{Version: formatVersion, Lane: "clicks/3", Stream: "clicks", Partition: 3, Prefix: "clicks-3-", Start: 40}),
		encode(Compaction{Version: formatVersion, Number: 40, Undone: []string{"a"}, Groups: []Group{{
			File:      File{Table: "rows", Name: "a.txt", Token: "t", Checksum: "xxh3:0123456789abcdef"},
			Positions: []Stretch{{Lane: "clicks/3", First: 1, Next: 2}}, Replaces: []Replaced{{Name: "b.txt"}},
		}}}),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		alloctest.Bound(t, len(content), 1<<10, 1<<20, func() {
			r, err := decodeRecord("at", "clicks/3", 40, content)
			if err == nil {
				if r.Next <= 40 {
					t.Fatalf("%s: a walk does not go on at %d", content, r.Next)
				}
				again(t, r, func(content []byte) (*Record, error) { return decodeRecord("at", "clicks/3", 40, content) })
			}
			if s, err := decodeStart("at", "clicks/3", content); err == nil {
				again(t, s, func(content []byte) (*start, error) { return decodeStart("at", "clicks/3", content) })
			}
			if c, err := decodeCompaction("at", 40, content); err == nil {
				again(t, c, func(content []byte) (*Compaction, error) { return decodeCompaction("at", 40, content) })
			}
			c, err := decodeCheckpoint("at", "clicks/3", 40, content)
			if err == nil && (len(c.Records) != c.Count || c.Records[len(c.Records)-1].Next != c.Next) {
				t.Fatalf("%s: %d records up to %d", content, len(c.Records), c.Next)
			}
		})
	})
}

// again checks that a value that was decoded is the same when it is encoded and decoded again.
func again[T any](t *testing.T, v *T, decode func([]byte) (*T, error)) {
	t.Helper()
	if _, err := json.Marshal(v); err != nil {
		return // a year that JSON has no text for
	}
	text := encode(v)
	back, err := decode(text)
	if err != nil || !bytes.Equal(encode(back), text) {
		t.Fatalf("%s: %v, %+v", text, err, back)
	}
}

// FuzzNames takes the names of files in an output apart, which anybody may have put there.
func FuzzNames(f *testing.F) {
	f.Add("clicks-3-00000000000000000040-0123abcd0001.parquet")
	f.Add("clicks-3-00000000000000000040-compact7-0123abcd0001.parquet")
	f.Add("a/b-compact9999999999999999999-00000000000.txt")
	f.Add("00000000000000000040.json")
	f.Fuzz(func(t *testing.T, name string) {
		alloctest.Bound(t, len(name), 1<<10, 1<<20, func() {
			if _, first, ok := ParseFileName(name); ok && first < 0 {
				t.Fatalf("%q is at %d", name, first)
			}
			if n, ok := position(name, ".json"); ok && key(n)+".json" != name {
				t.Fatalf("%q is %d", name, n)
			}
			merged, err := CompactedName(name, 7, "0123abcd", 1)
			if n, ok := parseCompacted(merged); err == nil && ok && n != 7 {
				t.Fatalf("%q becomes %q, of the compaction %d", name, merged, n)
			}
			_, _, _ = CutLane(name)
		})
	})
}

// holding is a store whose objects all have the same content.
type holding struct {
	store.Store
	content []byte
}

func (h holding) Read(context.Context, string) ([]byte, error) { return h.content, nil }

// FuzzIdentity reads the identifier of an output, which is part of the names of objects in other places.
func FuzzIdentity(f *testing.F) {
	f.Add(encode(identity{formatVersion, "0123456789abcdef0123456789abcdef"}))
	f.Add([]byte(`{"version": 1, "id": "../../../../etc"}`))
	f.Add([]byte(`{"version": 99, "id": "0123456789abcdef0123456789abcdef"}`))
	f.Fuzz(func(t *testing.T, content []byte) {
		alloctest.Bound(t, len(content), 1<<10, 1<<20, func() {
			id, err := NewPlaces(holding{content: content}, nil, nil).id(t.Context())
			if at := claimKey(id); err == nil && (path.Dir(at) != outputsDir || at == idKey || len(id) != 32) {
				t.Fatalf("%q claims by %q", content, at)
			}
		})
	})
}

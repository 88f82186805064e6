package recordbatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// seen is a record as a test compares it; "-" stands for null.
type seen struct {
	Offset, Time int64
	Key, Value   string
	Headers      string
}

func show(b []byte) string {
	if b == nil {
		return "-"
	}
	return string(b)
}

func readAll(r *Reader) ([]seen, error) {
	var all []seen
	var rec Record
	for {
		ok, err := r.Next(&rec)
		if err != nil || !ok {
			return all, err
		}
		s := seen{Offset: rec.Offset, Time: rec.Timestamp, Key: show(rec.Key), Value: show(rec.Value)}
		for h := rec.Headers(); h.Next(); {
			s.Headers += show(h.Key) + "=" + show(h.Value) + ";"
		}
		all = append(all, s)
	}
}

func newReader(tb testing.TB, limit int) *Reader {
	tb.Helper()
	d, err := NewDecompressor(limit)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(d.Close)
	return &Reader{Decompressor: d}
}

func TestReadBatches(t *testing.T) {
	for _, codec := range []uint16{0, codecGzip, codecSnappy, codecLZ4, codecZstd} {
		t.Run(fmt.Sprint("codec ", codec), func(t *testing.T) {
			set := batchSpec{base: 10, codec: codec, firstTime: 1000, records: []kmsg.Record{
				recordAt(0, nil, []byte("a")),
				recordAt(1, []byte{}, nil),
				recordAt(4, []byte("k"), []byte{}, kmsg.Header{Key: "h", Value: []byte("v")}, kmsg.Header{Key: ""}),
			}}.encode(t)
			set = append(set, batchSpec{base: 20, codec: codec, firstTime: 5, records: []kmsg.Record{recordAt(0, nil, []byte("b"))}}.encode(t)...)
			r := newReader(t, 1<<20)
			r.Reset(set, 10)
			got, err := readAll(r)
			if err != nil {
				t.Fatal(err)
			}
			want := []seen{
				{10, 1000, "-", "a", ""},
				{11, 1001, "", "-", ""},
				{14, 1004, "k", "", "h=v;=-;"},
				{20, 5, "-", "b", ""},
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if r.Position() != 21 {
				t.Errorf("position %d, want 21", r.Position())
			}
		})
	}
}

func TestSnappyFrame(t *testing.T) {
	set := batchSpec{codec: codecSnappyFramed, records: []kmsg.Record{recordAt(0, nil, []byte("oneSPLITtwo"))}}
	r := newReader(t, 1<<20)
	// The blocks together are the records: what the frame was split at is missing from them.
	e := set.encode(t)
	body, err := r.Decompressor.Append(append(make([]byte, 0, 100), 'x'), codecSnappy, e[headerSize:])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(body, []byte("x")) || !bytes.Contains(body, []byte("onetwo")) {
		t.Errorf("decompressed to %q", body)
	}
}

func TestSkipToOffset(t *testing.T) {
	set := batchSpec{base: 0, records: []kmsg.Record{recordAt(0, nil, []byte("a"))}}.encode(t)
	set = append(set, batchSpec{base: 5, lastDelta: 9, codec: codecZstd, records: []kmsg.Record{
		recordAt(0, nil, []byte("b")), recordAt(3, nil, []byte("c")), recordAt(7, nil, []byte("d")),
	}}.encode(t)...)
	for from, want := range map[int64]string{0: "0a 5b 8c 12d", 1: "5b 8c 12d", 6: "8c 12d", 8: "8c 12d", 9: "12d", 13: "", 14: ""} {
		r := newReader(t, 1<<20)
		r.Reset(set, from)
		got, err := readAll(r)
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, s := range got {
			text = append(text, fmt.Sprint(s.Offset, s.Value))
		}
		if strings.Join(text, " ") != want {
			t.Errorf("from %d: %v, want %s", from, text, want)
		}
		if r.Position() != 15 {
			t.Errorf("from %d: position %d after a batch that ends with 14", from, r.Position())
		}
	}
}

func TestBatchesWithoutRecords(t *testing.T) {
	set := batchSpec{base: 3, lastDelta: 6, codec: codecGzip}.encode(t) // emptied by compaction
	set = append(set, batchSpec{base: 10, attributes: isControl | 0x10, records: []kmsg.Record{
		recordAt(0, []byte{0, 0, 0, 1}, []byte{0, 0, 0, 0, 0, 0}),
	}}.encode(t)...)
	r := newReader(t, 1<<20)
	r.Reset(set, 3)
	got, err := readAll(r)
	if err != nil || len(got) != 0 {
		t.Fatalf("%v, %v", got, err)
	}
	if r.Position() != 11 {
		t.Errorf("position %d, want 11", r.Position())
	}
}

func TestBrokerTime(t *testing.T) {
	set := batchSpec{attributes: appendTime, firstTime: 7, maxTime: 99, records: []kmsg.Record{recordAt(0, nil, nil), recordAt(1, nil, nil)}}.encode(t)
	r := newReader(t, 1<<20)
	r.Reset(set, 0)
	got, err := readAll(r)
	if err != nil || got[0].Time != 99 || got[1].Time != 99 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestOldMessages(t *testing.T) {
	join := func(messages ...[]byte) []byte { return bytes.Join(messages, nil) }
	a, b, c := []byte("a"), []byte("b"), []byte("c")
	for name, test := range map[string]struct {
		set  []byte
		want []seen
	}{
		"v0": {
			join(encodeMessage(0, 5, 0, 0, nil, a), encodeMessage(0, 9, 0, 0, b, nil)),
			[]seen{{5, -1, "-", "a", ""}, {9, -1, "b", "-", ""}},
		},
		"v1": {
			join(encodeMessage(1, 5, 0, 77, nil, a), encodeMessage(1, 9, 0, 78, b, []byte{})),
			[]seen{{5, 77, "-", "a", ""}, {9, 78, "b", "", ""}},
		},
		"v0 compressed, absolute offsets": {
			encodeMessage(0, 9, codecGzip, 0, nil, compress(t, codecGzip,
				join(encodeMessage(0, 7, 0, 0, nil, a), encodeMessage(0, 9, 0, 0, nil, b)))),
			[]seen{{7, -1, "-", "a", ""}, {9, -1, "-", "b", ""}},
		},
		"v1 compressed, relative offsets, holes": {
			join(encodeMessage(1, 9, codecSnappy, 50, nil, compress(t, codecSnappy,
				join(encodeMessage(1, 0, 0, 41, nil, a), encodeMessage(1, 3, 0, 42, nil, b)))),
				encodeMessage(1, 10, 0, 60, nil, c)),
			[]seen{{6, 41, "-", "a", ""}, {9, 42, "-", "b", ""}, {10, 60, "-", "c", ""}},
		},
		"v1 compressed, the broker's time": {
			encodeMessage(1, 1, codecLZ4|appendTime, 50, nil, compress(t, codecLZ4,
				join(encodeMessage(1, 0, 0, 41, nil, a), encodeMessage(1, 1, 0, 42, nil, b)))),
			[]seen{{0, 50, "-", "a", ""}, {1, 50, "-", "b", ""}},
		},
		"v1 before v2": {
			join(encodeMessage(1, 3, 0, 1, nil, a), batchSpec{base: 4, firstTime: 2, records: []kmsg.Record{recordAt(0, nil, b)}}.encode(t)),
			[]seen{{3, 1, "-", "a", ""}, {4, 2, "-", "b", ""}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReader(t, 1<<20)
			r.Reset(test.set, 0)
			got, err := readAll(r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			last := test.want[len(test.want)-1].Offset
			if r.Position() != last+1 {
				t.Errorf("position %d, want %d", r.Position(), last+1)
			}
			whole, next, err := Whole(append(test.set, 1, 2, 3))
			if err != nil || next != last+1 || len(whole) != len(test.set) {
				t.Errorf("Whole: %d bytes of %d, next %d, %v", len(whole), len(test.set), next, err)
			}
		})
	}
}

func TestWholeLeavesCutEntries(t *testing.T) {
	first := batchSpec{base: 1, records: []kmsg.Record{recordAt(0, nil, []byte("a"))}}.encode(t)
	set := append(first[:len(first):len(first)], batchSpec{base: 2, records: []kmsg.Record{recordAt(0, nil, []byte("b"))}}.encode(t)...)
	for n := range len(set) + 1 {
		whole, next, err := Whole(set[:n])
		wantLen, wantNext := 0, int64(0)
		if n >= len(first) {
			wantLen, wantNext = len(first), 2
		}
		if n == len(set) {
			wantLen, wantNext = n, 3
		}
		if err != nil || len(whole) != wantLen || next != wantNext {
			t.Fatalf("%d bytes of %d: %d whole, next %d, %v", n, len(set), len(whole), next, err)
		}
	}
}

func TestCorrupt(t *testing.T) {
	good := func() []byte {
		return batchSpec{base: 7, records: []kmsg.Record{recordAt(0, nil, []byte("abc")), recordAt(1, nil, []byte("def"))}}.encode(t)
	}
	zipped := func(codec uint16) []byte {
		return batchSpec{base: 7, codec: codec, records: []kmsg.Record{recordAt(0, nil, bytes.Repeat([]byte("x"), 60))}}.encode(t)
	}
	resigned := func(e []byte, change func(e []byte)) []byte {
		change(e)
		sign(e)
		return e
	}
	for name, test := range map[string]struct {
		set  []byte
		want string
	}{
		"flipped bit":           {func() []byte { e := good(); e[len(e)-1] ^= 1; return e }(), "CRC-32C"},
		"flipped bit, v1":       {func() []byte { e := encodeMessage(1, 7, 0, 0, nil, []byte("a")); e[len(e)-1] ^= 1; return e }(), "CRC-32 is"},
		"unknown format":        {func() []byte { e := good(); e[magicAt] = 3; return e }(), "message format v3"},
		"unknown codec":         {zipped(7), "compression codec 7"},
		"too many records":      {resigned(good(), func(e []byte) { e[countAt+3] = 3 }), "ends 1 records early"},
		"too few records":       {resigned(good(), func(e []byte) { e[countAt+3] = 1 }), "after the last record"},
		"negative count":        {resigned(good(), func(e []byte) { e[countAt] = 0x80 }), "records"},
		"negative last offset":  {resigned(good(), func(e []byte) { e[lastDeltaAt] = 0x80 }), "last offset delta"},
		"offset after the last": {resigned(good(), func(e []byte) { e[lastDeltaAt+3] = 0 }), "ends with 7"},
		"short batch":           {func() []byte { e := good()[:50]; binary.BigEndian.PutUint32(e[lengthAt:], 38); return e }(), "a batch of 50 bytes"},
		"tiny entry":            {func() []byte { e := good(); binary.BigEndian.PutUint32(e[lengthAt:], 2); return e }(), "an entry of 2 bytes"},
		"record length":         {resigned(good(), func(e []byte) { e[headerSize] = 2 }), "fill its length"},
		"gzip":                  {resigned(zipped(codecGzip), func(e []byte) { e[headerSize+12] ^= 0xff }), "gzip"},
		"snappy":                {resigned(zipped(codecSnappy), func(e []byte) { e[headerSize] = 0 }), "snappy"},
		"lz4":                   {resigned(zipped(codecLZ4), func(e []byte) { e[headerSize] ^= 0xff }), "lz4"},
		"zstd":                  {resigned(zipped(codecZstd), func(e []byte) { e[headerSize] ^= 0xff }), "zstd"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReader(t, 1<<20)
			r.Reset(test.set, 7)
			_, err := readAll(r)
			if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if ok, again := r.Next(new(Record)); ok || !errors.Is(again, err) {
				t.Errorf("after the error: %v, %v", ok, again)
			}
			if r.Position() > 9 { // after the records that could be read
				t.Errorf("went on to %d", r.Position())
			}
		})
	}
}

func TestDecompressedLimit(t *testing.T) {
	for _, codec := range []uint16{codecGzip, codecSnappy, codecSnappyFramed, codecLZ4, codecZstd} {
		set := batchSpec{codec: codec, records: []kmsg.Record{recordAt(0, nil, bytes.Repeat([]byte("x"), 60))}}
		r := newReader(t, 50)
		r.Reset(set.encode(t), 0)
		if _, err := readAll(r); err == nil || !strings.Contains(err.Error(), "more than 50 bytes") {
			t.Errorf("codec %d: %v", codec, err)
		}
	}
}

func TestReaderAllocates(t *testing.T) {
	var recs []kmsg.Record
	for i := range 60 {
		recs = append(recs, recordAt(int32(i), []byte("key"), []byte("https://example.org/"), kmsg.Header{Key: "h", Value: []byte("v")}))
	}
	// A sync.Pool may lose what it holds, and does so at random under the race detector.
	const pooled = 20 // of 60 records: none each
	for codec, most := range map[uint16]float64{0: 0, codecSnappy: 0, codecZstd: 0, codecGzip: pooled, codecLZ4: pooled} {
		set := batchSpec{codec: codec, records: recs}.encode(t)
		r := newReader(t, 1<<20)
		n := 0
		if got := testing.AllocsPerRun(100, func() {
			r.Reset(set, 0)
			var rec Record
			for ok, _ := r.Next(&rec); ok; ok, _ = r.Next(&rec) {
				for h := rec.Headers(); h.Next(); {
					n++
				}
			}
		}); got > most {
			t.Errorf("codec %d: %v allocations for a batch, want at most %v", codec, got, most)
		}
		if n == 0 {
			t.Error("nothing was read")
		}
	}
}

func FuzzReader(f *testing.F) {
	for _, codec := range []uint16{0, codecGzip, codecSnappy, codecSnappyFramed, codecLZ4, codecZstd} {
		f.Add(batchSpec{base: 3, codec: codec, records: []kmsg.Record{
			recordAt(0, []byte("k"), []byte("v"), kmsg.Header{Key: "h"}), recordAt(2, nil, nil),
		}}.encode(f), true)
		f.Add(encodeMessage(1, 4, byte(codec&codecMask), 5, nil, compress(f, codec, encodeMessage(1, 4, 0, 5, nil, []byte("v")))), false)
	}
	r := newReader(f, 1<<16)
	f.Fuzz(func(t *testing.T, set []byte, resign bool) {
		if resign && len(set) > headerSize {
			sign(set) // a checksum would hide what is behind it
		}
		r.Reset(set, 3)
		// Each entry, of 17 bytes and more, can take a decompressor and its limit.
		alloctest.Bound(t, len(set), 1<<12, 16<<20, func() {
			var rec Record
			for ok, err := r.Next(&rec); ok && err == nil; ok, err = r.Next(&rec) {
			}
		})
		r.Reset(set, 3)
		last := int64(2)
		all, err := readAll(r)
		for _, s := range all {
			if s.Offset <= last {
				t.Fatalf("offset %d after %d", s.Offset, last)
			}
			last = s.Offset
		}
		if r.Position() <= last {
			t.Fatalf("position %d after offset %d", r.Position(), last)
		}
		if err != nil && !errors.Is(err, ErrCorrupt) {
			t.Fatal(err)
		}
		if _, next, werr := Whole(set); werr == nil && err == nil && r.Position() < next {
			t.Fatalf("position %d, but the last whole entry ends before %d", r.Position(), next)
		}
	})
}

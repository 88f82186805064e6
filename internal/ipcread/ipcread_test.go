package ipcread

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/urlmill/urlmill/internal/arrowtext"
	"github.com/urlmill/urlmill/internal/decoded"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// record has a column of most types.
func record(t testing.TB) arrow.Record {
	t.Helper()
	s := arrow.NewSchema([]arrow.Field{
		{Name: "url", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "l", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
		{Name: "b", Type: arrow.BinaryTypes.LargeBinary},
		{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.FixedWidthTypes.Boolean}), Nullable: true},
		{Name: "f", Type: &arrow.FixedSizeBinaryType{ByteWidth: 3}},
		{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}},
		{Name: "z", Type: arrow.Null, Nullable: true},
		{Name: "m", Type: arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32), Nullable: true},
		{Name: "p", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float64)},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, s)
	defer b.Release()
	for range 3 {
		row := `{"url":"https://a.example/","n":5,"l":["a","b"],"b":"YWJj","s":{"x":true},"f":"YWJj","d":"x","z":null,
			"m":[{"key":"k","value":1}],"p":[1,2]}`
		if err := b.UnmarshalJSON([]byte(row)); err != nil {
			t.Fatal(err)
		}
	}
	return b.NewRecord()
}

func stream(t testing.TB, o ...ipc.Option) []byte {
	t.Helper()
	r := record(t)
	defer r.Release()
	var out bytes.Buffer
	w := ipc.NewWriter(&out, append(o, ipc.WithSchema(r.Schema()))...)
	if err := errors.Join(w.Write(r), w.Write(r), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

type forward struct{ bytes.Buffer }

func (f *forward) Seek(int64, int) (int64, error) { return int64(f.Len()), nil }

func file(t testing.TB, o ...ipc.Option) []byte {
	t.Helper()
	r := record(t)
	defer r.Release()
	var out forward
	w, err := ipc.NewFileWriter(&out, append(o, ipc.WithSchema(r.Schema()))...)
	if err == nil {
		err = errors.Join(w.Write(r), w.Write(r), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// readAny reads all of a file or a stream as text.
func readAny(data []byte) (rows string, err error) {
	var out strings.Builder
	each := func(r arrow.Record) {
		for _, c := range r.Columns() {
			for i := range c.Len() {
				out.WriteString(arrowtext.Value(c, i))
			}
		}
	}
	if bytes.HasPrefix(data, []byte(magic)) {
		f, err := NewFileReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return "", err
		}
		for i := range f.NumRecords() {
			r, err := f.Record(i)
			if err != nil {
				return out.String(), errors.Join(err, f.Close())
			}
			each(r)
		}
		return out.String(), f.Close()
	}
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		return "", err
	}
	defer r.Release()
	for r.Next() {
		each(r.Record())
	}
	return out.String(), r.Err()
}

func options() map[string][]ipc.Option {
	return map[string][]ipc.Option{"plain": nil, "lz4": {ipc.WithLZ4()}, "zstd": {ipc.WithZstd()}}
}

// TestRead reads what arrow writes, and nothing behind a stream.
func TestRead(t *testing.T) {
	want := ""
	for name, o := range options() {
		for _, data := range [][]byte{stream(t, o...), file(t, o...)} {
			got, err := readAny(data)
			if want == "" {
				want = got
			}
			if err != nil || got != want || got == "" {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
	}
	in := bytes.NewReader(append(stream(t), "rest"...))
	r, err := NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for r.Next() {
	}
	if rest, err := io.ReadAll(in); string(rest) != "rest" || err != nil || r.Err() != nil {
		t.Errorf("%q, %v, %v", rest, err, r.Err())
	}
}

// message returns a message of a kind whose header is built by f.
func build(kind byte, body int64, f func(b *flatbuffers.Builder) flatbuffers.UOffsetT) []byte {
	b := flatbuffers.NewBuilder(64)
	header := f(b)
	b.StartObject(5)
	b.PrependInt64Slot(3, body, 0)
	b.PrependUOffsetTSlot(2, header, 0)
	b.PrependByteSlot(1, kind, 0)
	b.Finish(b.EndObject())
	meta := b.FinishedBytes()
	out := []byte{0xff, 0xff, 0xff, 0xff, byte(len(meta)), byte(len(meta) >> 8), byte(len(meta) >> 16), 0}
	return append(out, meta...)
}

// texts is a schema of one column of texts.
func texts(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	name := b.CreateString("url")
	b.StartObject(0)
	typ := b.EndObject()
	b.StartObject(7)
	b.PrependUOffsetTSlot(0, name, 0)
	b.PrependByteSlot(2, 5, 0)
	b.PrependUOffsetTSlot(3, typ, 0)
	return fields(b, b.EndObject())
}

func fields(b *flatbuffers.Builder, all ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	list := vector(b, all...)
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, list, 0)
	return b.EndObject()
}

func vector(b *flatbuffers.Builder, all ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, len(all), 4)
	for _, f := range all {
		b.PrependUOffsetT(f)
	}
	return b.EndVector(len(all))
}

// batch is a record batch of one column with three buffers.
func batch(rows int64, codec int8, spans ...[2]int64) func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	return func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		b.StartVector(16, len(spans), 8)
		for i := len(spans) - 1; i >= 0; i-- {
			b.Prep(8, 16)
			b.PrependInt64(spans[i][1])
			b.PrependInt64(spans[i][0])
		}
		buffers := b.EndVector(len(spans))
		b.StartVector(16, 1, 8)
		b.Prep(8, 16)
		b.PrependInt64(0)
		b.PrependInt64(rows)
		nodes := b.EndVector(1)
		compression := flatbuffers.UOffsetT(0)
		if codec >= 0 {
			b.StartObject(2)
			b.PrependInt8Slot(0, codec, 0)
			compression = b.EndObject()
		}
		b.StartObject(5)
		b.PrependUOffsetTSlot(3, compression, 0)
		b.PrependUOffsetTSlot(2, buffers, 0)
		b.PrependUOffsetTSlot(1, nodes, 0)
		b.PrependInt64Slot(0, rows, 0)
		return b.EndObject()
	}
}

// shared is a column with two children that are one, which has two children that are one, and so on.
func shared(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	name := b.CreateString("x")
	var children flatbuffers.UOffsetT
	for range 40 {
		b.StartObject(0)
		typ := b.EndObject()
		b.StartObject(7)
		b.PrependUOffsetTSlot(5, children, 0)
		b.PrependUOffsetTSlot(3, typ, 0)
		b.PrependByteSlot(2, 13, 0) // struct
		b.PrependUOffsetTSlot(0, name, 0)
		f := b.EndObject()
		children = vector(b, f, f)
	}
	b.StartObject(4)
	b.PrependUOffsetTSlot(1, children, 0)
	return b.EndObject()
}

// TestClaims has streams of a few bytes that claim gigabytes, or whose values are not where they say.
func TestClaims(t *testing.T) {
	schema := build(kindSchema, 0, texts)
	after := func(m []byte, body ...byte) []byte { return append(append(bytes.Clone(schema), m...), body...) }
	long := bytes.Clone(schema)
	at := bytes.Index(long, []byte{1, 0, 0, 0}) // the number of fields, among others
	for ; at > 0 && at < len(long); at++ {
		if bytes.HasPrefix(long[at:], []byte{1, 0, 0, 0}) {
			copy(long[at:], []byte{0xff, 0xff, 0xff, 0x0f})
		}
	}
	offsets := func(o ...byte) []byte {
		var b []byte
		for _, o := range o {
			b = append(b, o, 0, 0, 0)
		}
		return append(b, "0123456789abcdef"...)
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"metadata":       {[]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0x30}, "EOF"},
		"metadata, old":  {[]byte{0xf0, 0xff, 0xff, 0xff}, "malformed"},
		"fields":         {long, "malformed"},
		"shared":         {build(kindSchema, 0, shared), "again and again"},
		"body":           {after(build(kindRecords, 1<<40, batch(1, -1))), "memory"},
		"negative body":  {after(build(kindRecords, -1, batch(1, -1))), "malformed"},
		"missing body":   {after(build(kindRecords, 1<<29, batch(1, -1, [2]int64{0, 1 << 29})), 1, 2, 3), "EOF"},
		"buffer":         {after(build(kindRecords, 8, batch(1, -1, [2]int64{}, [2]int64{0, 1 << 40}, [2]int64{})), 1, 2, 3, 4, 5, 6, 7, 8), "body of 8"},
		"buffer before":  {after(build(kindRecords, 8, batch(1, -1, [2]int64{}, [2]int64{-8, 8}, [2]int64{})), 1, 2, 3, 4, 5, 6, 7, 8), "body of 8"},
		"rows":           {after(build(kindRecords, 0, batch(1<<40, -1))), "rows"},
		"decompressed":   {after(build(kindRecords, 16, batch(1, 1, [2]int64{}, [2]int64{0, 16}, [2]int64{})), 0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8), "decompress"},
		"same buffer":    {after(build(kindRecords, 1<<20, batch(1, -1, slicesOf(2000)...)), make([]byte, 1<<20)...), "memory"},
		"unknown codec":  {after(build(kindRecords, 16, batch(1, 9, [2]int64{}, [2]int64{0, 16}, [2]int64{})), make([]byte, 16)...), "compressed as"},
		"offsets fall":   {after(build(kindRecords, 28, batch(2, -1, [2]int64{}, [2]int64{0, 12}, [2]int64{12, 16})), offsets(0, 9, 5)...), "malformed"},
		"offsets beyond": {after(build(kindRecords, 28, batch(2, -1, [2]int64{}, [2]int64{0, 12}, [2]int64{12, 16})), offsets(0, 90, 16)...), "malformed"},
		"file":           {[]byte("ARROW10000000000000000\x02\x00\x00\x00ARROW1"), "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			n := alloctest.Bytes(func() { _, err = readAny(c.data) })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if most := uint64(4*len(c.data) + 4<<20); n > most {
				t.Errorf("%d bytes allocated %d (%v)", len(c.data), n, err)
			}
		})
	}
}

func slicesOf(n int) [][2]int64 {
	all := make([][2]int64, n)
	for i := range all {
		all[i] = [2]int64{0, 1 << 20}
	}
	return all
}

// mostMessages is how many messages, each of which may take the limit, are in what the tests read.
const mostMessages = 12

// TestDamage changes bytes, which may give errors and other values, but no panics and no large allocations.
func TestDamage(t *testing.T) {
	before := debug.SetMemoryLimit(4 * decoded.MinLimit)
	defer debug.SetMemoryLimit(before)
	rng := rand.New(rand.NewPCG(5, 6))
	failed := 0
	for _, o := range options() {
		for _, data := range [][]byte{stream(t, o...), file(t, o...)} {
			for range 500 {
				bad := bytes.Clone(data)
				for range 1 + rng.IntN(3) {
					bad[rng.IntN(len(bad))] ^= byte(1 + rng.IntN(255))
				}
				n := alloctest.Bytes(func() {
					if _, err := readAny(bad); err != nil {
						failed++
					}
				})
				if n > mostMessages*decoded.MinLimit {
					t.Fatalf("%d bytes allocated %d MiB", len(bad), n>>20)
				}
			}
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}

func FuzzRead(f *testing.F) {
	for _, o := range options() {
		f.Add(stream(f, o...))
		f.Add(file(f, o...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		debug.SetMemoryLimit(4 * decoded.MinLimit)
		alloctest.Bound(t, len(data), 64, mostMessages*decoded.MinLimit, func() { _, _ = readAny(data) })
	})
}

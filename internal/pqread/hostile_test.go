package pqread

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/urlmill/urlmill/internal/decoded"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// enc writes Thrift's compact protocol by hand, with claims that need not be true.
type enc struct {
	b    []byte
	last byte
}

func (e *enc) head(id, typ byte) *enc {
	e.b = append(e.b, (id-e.last)<<4|typ)
	e.last = id
	return e
}

func (e *enc) num(id byte, v int64) *enc {
	e.head(id, typeI64)
	e.b = binary.AppendUvarint(e.b, uint64(v<<1^v>>63))
	return e
}

func (e *enc) i32(id byte, v int64) *enc {
	e.head(id, typeI32)
	e.b = binary.AppendUvarint(e.b, uint64(v<<1^v>>63))
	return e
}

func (e *enc) text(id byte, s string) *enc {
	e.head(id, typeBinary)
	e.b = append(binary.AppendUvarint(e.b, uint64(len(s))), s...)
	return e
}

func (e *enc) sub(id byte, s *enc) *enc {
	e.head(id, typeStruct)
	e.b = append(e.b, s.end()...)
	return e
}

// list appends a list that claims n elements.
func (e *enc) list(id, typ byte, n int, elements ...[]byte) *enc {
	e.head(id, typeList)
	if n < 15 {
		e.b = append(e.b, byte(n)<<4|typ)
	} else {
		e.b = binary.AppendUvarint(append(e.b, 0xf0|typ), uint64(n))
	}
	e.b = append(e.b, bytes.Join(elements, nil)...)
	return e
}

func (e *enc) end() []byte { return append(bytes.Clone(e.b), 0) }

func s() *enc { return new(enc) }

func root() []byte { return s().text(4, "root").i32(5, 1).end() }

// leaf is a column of texts; optional says whether it has nulls.
func leafElement(repetition int64) []byte {
	return s().i32(1, 6).i32(3, repetition).text(4, "url").i32(6, 0).end()
}

// wrap makes a file of pages and a footer.
func wrap(body, footer []byte) []byte {
	out := append([]byte("PAR1"), body...)
	out = append(out, footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), "PAR1"...)
}

// file makes a file with one column of one row group.
func file(repetition int64, codec format.CompressionCodec, rows int64, pages ...[]byte) []byte {
	body := bytes.Join(pages, nil)
	meta := s().i32(1, 6).list(2, typeI32, 1, []byte{0}).list(3, typeBinary, 1, []byte("\x03url")).i32(4, int64(codec)).num(5, rows).
		num(6, int64(len(body))).num(7, int64(len(body))).num(9, 4)
	chunk := s().num(2, 4).sub(3, meta)
	group := s().list(1, typeStruct, 1, chunk.end()).num(2, int64(len(body))).num(3, rows)
	return wrap(body, s().i32(1, 1).list(2, typeStruct, 2, root(), leafElement(repetition)).num(3, rows).
		list(4, typeStruct, 1, group.end()).text(6, "x").end())
}

// page makes a data page of version 1 that claims its sizes.
func page(values int64, encoding format.Encoding, unc, comp int, body []byte) []byte {
	h := s().i32(1, 0).i32(2, int64(unc)).i32(3, int64(comp)).
		sub(5, s().i32(1, values).i32(2, int64(encoding)).i32(3, int64(format.RLE)).i32(4, int64(format.RLE)))
	return append(h.end(), body...)
}

// plainPage is one that claims what is true.
func plainPage(values int64, encoding format.Encoding, body []byte) []byte {
	return page(values, encoding, len(body), len(body), body)
}

func dictionary() []byte {
	body := append(binary.LittleEndian.AppendUint32(nil, 10), "https://a/"...)
	return append(s().i32(1, 2).i32(2, int64(len(body))).i32(3, int64(len(body))).sub(7, s().i32(1, 1).i32(2, 0)).end(), body...)
}

// run is a run of zeros with a width of so many bytes.
func run(n uint64, width int) []byte {
	return append(binary.AppendUvarint(nil, n<<1), make([]byte, width)...)
}

// deltaRun is DELTA_BINARY_PACKED of n times the same value.
func deltaRun(n int, v int64) []byte {
	out := binary.AppendUvarint(binary.AppendUvarint(binary.AppendUvarint(nil, 128), 4), uint64(n))
	out = binary.AppendVarint(out, v)
	for left := n - 1; left > 0; left -= 128 {
		out = append(out, 0, 0, 0, 0, 0) // no least delta, four miniblocks of no bits
	}
	return out
}

// readFile reads all values of a file.
func readFile(data []byte) (values int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("panic")
		}
	}()
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return 0, err
	}
	buf := make([]parquet.Value, 256)
	for g, group := range f.RowGroups() {
		for c := range group.ColumnChunks() {
			pages := f.Pages(g, c)
			defer func() { _ = pages.Close() }()
			for {
				page, err := pages.ReadPage()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					return values, err
				}
				for in := page.Values(); ; {
					n, err := in.ReadValues(buf)
					values += n
					if err != nil || n == 0 {
						break
					}
				}
				parquet.Release(page)
			}
		}
	}
	return values, nil
}

// slackBytes is what opening any file allocates, with the buffers of decoders.
const slackBytes = 8 << 20

// TestFooterClaims has files of a few bytes whose footers claim gigabytes.
func TestFooterClaims(t *testing.T) {
	const many = 1<<31 - 1
	schema := func(e *enc) *enc { return e.i32(1, 1).list(2, typeStruct, 2, root(), leafElement(0)).num(3, 0) }
	deep := [][]byte{root()}
	for range 20_000 {
		deep = append(deep, s().i32(3, 1).text(4, "g").i32(5, 1).end())
	}
	deep = append(deep, leafElement(0))
	empty := bytes.Repeat([]byte{0}, 300_000)
	for name, footer := range map[string][]byte{
		"schema":       s().i32(1, 1).list(2, typeStruct, many).num(3, 0).list(4, typeStruct, 0).end(),
		"groups":       schema(s()).list(4, typeStruct, many).end(),
		"groups, set":  append(schema(s()).b, 1<<4|typeSet, 0xf0|typeStruct, 0xff, 0xff, 0xff, 0xff, 0x07),
		"chunks":       schema(s()).list(4, typeStruct, 1, s().list(1, typeStruct, many).end()).end(),
		"text":         append(schema(s()).list(4, typeStruct, 0).b, 2<<4|typeBinary, 0xff, 0xff, 0xff, 0xff, 0x07),
		"map":          append(schema(s()).b, 9<<4|typeMap, 0xff, 0xff, 0xff, 0xff, 0x07, typeStruct<<4|typeStruct),
		"schema depth": s().i32(1, 1).list(2, typeStruct, len(deep), deep...).num(3, 0).list(4, typeStruct, 0).end(),
		"structs":      append(schema(s()).list(4, typeStruct, 0).b, bytes.Repeat([]byte{12<<4 | typeStruct}, 5_000_000)...),
		"lists":        append(schema(s()).list(4, typeStruct, 0).head(12, typeList).b, bytes.Repeat([]byte{1<<4 | typeList}, 5_000_000)...),
		"empty chunks": schema(s()).list(4, typeStruct, 1, s().list(1, typeStruct, len(empty), empty).end()).end(),
	} {
		t.Run(name, func(t *testing.T) {
			data := wrap(nil, footer)
			if name == "empty chunks" {
				withLimit(t, 4*decoded.MinLimit)
			}
			var err error
			n := alloctest.Bytes(func() { _, err = Open(bytes.NewReader(data), int64(len(data))) })
			if err == nil {
				t.Error("no error")
			}
			if most := uint64(4*len(data) + slackBytes); n > most {
				t.Errorf("%d bytes allocated %d (%v)", len(data), n, err)
			}
		})
	}
}

// TestPageClaims has pages that claim, or are, more than there is.
func TestPageClaims(t *testing.T) {
	zeros := make([]byte, 64<<20)
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb := z.EncodeAll(zeros, nil)
	var gz bytes.Buffer
	w := gzip.NewWriter(&gz)
	_, _ = w.Write(zeros) // into memory
	_ = w.Close()
	levels := func(data []byte) []byte {
		return append(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data...)
	}
	long := func(n int) []byte { // one value of 1,000 bytes, and n times the same
		prefixes := append(deltaRun(n, 1000), deltaRun(n, 0)...)
		return append(prefixes, zeros[:1000]...)
	}
	const large = 1_500_000_000
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"indexes":           {file(0, 0, large, dictionary(), plainPage(large, format.RLEDictionary, append([]byte{1}, run(large, 1)...))), "memory"},
		"indexes, unsaid":   {file(0, 0, 5, dictionary(), plainPage(5, format.RLEDictionary, append([]byte{1}, run(large, 1)...))), "more values"},
		"levels, unsaid":    {file(1, 0, 5, plainPage(5, format.Plain, levels(run(large, 1)))), "more values"},
		"bits, unsaid":      {file(0, 0, 5, plainPage(5, format.RLE, levels(run(large, 1)))), "more values"},
		"values":            {file(0, 0, large, plainPage(large, format.Plain, []byte{0, 0, 0, 0})), "memory"},
		"zstd, said":        {file(0, format.Zstd, 1, page(1, format.Plain, 1<<31-1, len(bomb), bomb)), "memory"},
		"zstd, unsaid":      {file(0, format.Zstd, 1, page(1, format.Plain, 100, len(bomb), bomb)), "more bytes"},
		"gzip, unsaid":      {file(0, format.Gzip, 1, page(1, format.Plain, 100, gz.Len(), gz.Bytes())), "more bytes"},
		"gzip, impossible":  {file(0, format.Gzip, 1, page(1, format.Plain, 900<<20, 100, zeros[:100])), "cannot"},
		"snappy, unsaid":    {file(0, format.Snappy, 1, page(1, format.Plain, 100, 6, []byte{0xff, 0xff, 0xff, 0xff, 0x0f, 0})), "more bytes"},
		"compressed":        {file(0, 0, 1, page(1, format.Plain, 1<<29, 1<<29, []byte{0, 0, 0, 0})), "are left"},
		"deltas, unsaid":    {file(0, 0, 5, plainPage(5, format.DeltaLengthByteArray, deltaRun(large, 0)[:20])), "more values"},
		"prefixes, repeats": {file(0, 0, 2_000_000, plainPage(2_000_000, format.DeltaByteArray, long(2_000_000))), "memory"},
		"header":            {file(0, 0, 1, append(s().i32(1, 0).i32(2, 4).i32(3, 4).b, bytes.Repeat([]byte{2<<4 | typeStruct}, 1_000_000)...)), "nested"},
		"negative":          {file(0, 0, 1, page(-5, format.Plain, 4, 4, []byte{0, 0, 0, 0})), "count"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			n := alloctest.Bytes(func() { _, err = readFile(c.data) })
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
			if most := uint64(4*len(c.data) + slackBytes); n > most {
				t.Errorf("%d bytes allocated %d (%v)", len(c.data), n, err)
			}
		})
	}
}

// TestMemoryLimit reads a page that is too large for a small memory limit alone.
func TestMemoryLimit(t *testing.T) {
	const n = 12_000_000
	data := file(0, 0, n, dictionary(), plainPage(n, format.RLEDictionary, append([]byte{1}, run(n, 1)...)))
	if got, err := readFile(data); err != nil || got != n {
		t.Errorf("%d values, %v", got, err)
	}
	withLimit(t, 64<<20)
	if _, err := readFile(data); !errors.Is(err, decoded.ErrTooLarge) {
		t.Errorf("error %v, want ErrTooLarge", err)
	}
}

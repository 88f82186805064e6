package processor_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
	"github.com/urlmill/urlmill/pipeline/processor"
)

// stringsOf returns an array of texts.
func stringsOf(values ...string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	return b.NewArray()
}

const threeURLs = "https://a.com/xhttps://b.co.uk/y?q=1https://c.de/z" // of 14, 22 and 14 bytes

func buffer[T int32 | int64 | uint64 | byte](values ...T) *memory.Buffer {
	var raw []byte
	for _, v := range values {
		switch v := any(v).(type) {
		case int32:
			raw = append(raw, arrow.Int32Traits.CastToBytes([]int32{v})...)
		case int64:
			raw = append(raw, arrow.Int64Traits.CastToBytes([]int64{v})...)
		case uint64:
			raw = append(raw, arrow.Uint64Traits.CastToBytes([]uint64{v})...)
		case byte:
			raw = append(raw, v)
		}
	}
	return memory.NewBufferBytes(raw)
}

// views returns an array of two views: one of the text, changed, and one that holds its text itself.
func views(change func(h *arrow.ViewHeader), data ...*memory.Buffer) arrow.Array {
	h := make([]arrow.ViewHeader, 2)
	h[0].SetIndexOffset(0, 14)
	h[0].SetString(threeURLs[14:36])
	h[0].SetIndexOffset(0, 14)
	h[1].SetString("a:b")
	change(&h[0])
	buffers := append([]*memory.Buffer{nil, memory.NewBufferBytes(arrow.ViewHeaderTraits.CastToBytes(h))}, data...)
	return array.MakeFromData(array.NewData(arrow.BinaryTypes.StringView, 2, buffers, nil, 0, 0))
}

// malformedArrays are arrays that Arrow makes and that lead out of their buffers.
func malformedArrays() map[string]arrow.Array {
	text := memory.NewBufferBytes([]byte(threeURLs))
	of := func(t arrow.DataType, rows, offset, nulls int, buffers ...*memory.Buffer) arrow.Array {
		return array.MakeFromData(array.NewData(t, rows, buffers, nil, nulls, offset))
	}
	short := func(t arrow.DataType, offsets ...int32) arrow.Array {
		return of(t, len(offsets)-1, 0, 0, nil, buffer(offsets...), text)
	}
	large := func(t arrow.DataType, offsets ...int64) arrow.Array {
		return of(t, len(offsets)-1, 0, 0, nil, buffer(offsets...), text)
	}
	dictionary := func(index arrow.DataType, indices *memory.Buffer, values arrow.Array) arrow.Array {
		t := &arrow.DictionaryType{IndexType: index, ValueType: values.DataType()}
		return array.MakeFromData(array.NewDataWithDictionary(t, 3, []*memory.Buffer{nil, indices}, 0, 0, values.Data().(*array.Data)))
	}
	const huge, low = 1_000_000_000, math.MinInt32
	utf8, binary := arrow.BinaryTypes.String, arrow.BinaryTypes.Binary
	wide, bytes := arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeBinary
	good := short(utf8, 0, 14, 36, 50)
	return map[string]arrow.Array{
		"utf8, far before":              short(utf8, 0, -huge, 36, 50),
		"utf8, before":                  short(utf8, 0, -5, 36, 50),
		"utf8, lowest":                  short(utf8, 0, low, 36, 50),
		"utf8, first before":            short(utf8, -7, 14, 36, 50),
		"utf8, last before":             short(utf8, 0, 14, 36, -50),
		"utf8, all before":              short(utf8, -50, -36, -14, -1),
		"utf8, far behind":              short(utf8, 0, huge, 36, 50),
		"utf8, descending":              short(utf8, 0, 36, 14, 50),
		"binary, far before":            short(binary, 0, -huge, 36, 50),
		"binary, descending":            short(binary, 20, 36, 14, 50),
		"large_utf8, far before":        large(wide, 0, -1<<40, 36, 50),
		"large_utf8, 2^32 too much":     large(wide, 0, 1<<32+14, 36, 50),
		"large_utf8, lowest":            large(wide, math.MinInt64, 14, 36, 50),
		"large_utf8, highest":           large(wide, 0, math.MaxInt64, 36, 50),
		"large_binary, 2^32 less":       large(bytes, 0, 14-1<<32, 36, 50),
		"utf8, no text":                 of(utf8, 3, 0, 0, nil, buffer[int32](0, -14, 36, 0), nil),
		"utf8, a short bitmap":          of(utf8, 9, 0, 1, buffer[byte](1), buffer(make([]int32, 10)...), text),
		"null, fewer than no rows":      of(arrow.Null, -5, 0, 0, nil),
		"dictionary, behind":            dictionary(arrow.PrimitiveTypes.Int32, buffer[int32](0, 3, 1), good),
		"dictionary, before":            dictionary(arrow.PrimitiveTypes.Int32, buffer[int32](0, -1, 1), good),
		"dictionary, 2^64-1":            dictionary(arrow.PrimitiveTypes.Uint64, buffer[uint64](0, math.MaxUint64, 1), good),
		"dictionary, unused malformed":  dictionary(arrow.PrimitiveTypes.Int32, buffer[int32](0, 0, 0), short(utf8, 0, 14, -huge, 50)),
		"dictionary of large_utf8":      dictionary(arrow.PrimitiveTypes.Int32, buffer[int32](0, 1, 2), large(wide, 0, 1<<32, 36, 50)),
		"dictionary of binary":          dictionary(arrow.PrimitiveTypes.Int32, buffer[int32](0, 1, 2), short(binary, 0, 36, 14, 50)),
		"dictionary of views":           dictionary(arrow.PrimitiveTypes.Int32, buffer[int32](0, 1, 1), views(func(h *arrow.ViewHeader) { h.SetIndexOffset(7, 0) }, text)),
		"view, no such buffer":          views(func(h *arrow.ViewHeader) { h.SetIndexOffset(1, 14) }, text),
		"view, a buffer before":         views(func(h *arrow.ViewHeader) { h.SetIndexOffset(-1, 14) }, text),
		"view, no buffers":              views(func(*arrow.ViewHeader) {}),
		"view, a buffer that is absent": views(func(*arrow.ViewHeader) {}, nil),
		"view, behind":                  views(func(h *arrow.ViewHeader) { h.SetIndexOffset(0, 29) }, text),
		"view, far behind":              views(func(h *arrow.ViewHeader) { h.SetIndexOffset(0, math.MaxInt32) }, text),
		"view, before":                  views(func(h *arrow.ViewHeader) { h.SetIndexOffset(0, -20) }, text),
	}
}

// TestMalformedArrays parses arrays that lead out of their buffers, as URLs and as bases, in all ways. Such an array was a fault that
// ends the process, a panic, or the text of another URL.
func TestMalformedArrays(t *testing.T) {
	p, err := processor.New(processor.Options{Base: "base", Include: []string{"path", "url"}})
	if err != nil {
		t.Fatal(err)
	}
	urls := stringsOf("https://a.com/x", "b", "c", "d", "e", "f", "g", "h", "i")
	for name, a := range malformedArrays() {
		good := array.NewSlice(urls, 0, int64(max(0, a.Len())))
		see := func([]arrow.ArrayData) error { return errors.New("seen") }
		_, asURLs := p.Parse(a, nil)
		_, asBases := p.Parse(good, a)
		if a.Len() < 0 {
			asBases = processor.ErrMalformed // there cannot be as many URLs
		}
		for what, err := range map[string]error{"URLs": asURLs, "bases": asBases, "View": p.View(a, nil, see)} {
			if !errors.Is(err, processor.ErrMalformed) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
		r, err := p.Parse(good, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Len() > 0 && r.Column(0).(*array.String).Value(0) != "/x" {
			t.Errorf("%s: the record after it has the path %q", name, r.Column(0))
		}
		r.Release()
	}
}

// TestHugeNull has more rows than any memory, in an array that takes none.
func TestHugeNull(t *testing.T) {
	p, err := processor.New(processor.Options{Include: []string{"path"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range []int{processor.MaxRows + 1, math.MaxInt>>18 | 1<<30, math.MaxInt} {
		a := array.MakeFromData(array.NewData(arrow.Null, rows, []*memory.Buffer{nil}, nil, rows, 0))
		if _, err := p.Parse(a, nil); !errors.Is(err, processor.ErrTooLarge) {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

// FuzzOffsets makes arrays of any offsets and checks that what is not refused has the paths of the URLs in it.
func FuzzOffsets(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x0e\x00\x00\x00"), false)
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x0e\x00\x00\x00\x01\x00\x00\x00\x14\x00\x00\x00\x00\x00\x00\x00"), true)
	p, err := processor.New(processor.Options{Include: []string{"href", "url_error"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte, large bool) {
		var typ arrow.DataType = arrow.BinaryTypes.Binary
		width := 4
		if large {
			typ, width = arrow.BinaryTypes.LargeBinary, 8
		}
		rows := len(raw)/width - 1
		if rows < 0 {
			return
		}
		var a arrow.Array
		func() {
			defer func() { _ = recover() }() // Arrow looks at the last offset
			a = array.MakeFromData(array.NewData(typ, rows, []*memory.Buffer{nil, memory.NewBufferBytes(raw), memory.NewBufferBytes([]byte(threeURLs))}, nil, 0, 0))
		}()
		if a == nil {
			return
		}
		var r arrow.Record
		var err error
		alloctest.Bound(t, len(raw), 1<<10, 4<<20, func() { r, err = p.Parse(a, nil) }) // a row has threeURLs at most, and 4 bytes
		if err != nil {
			if !errors.Is(err, processor.ErrMalformed) {
				t.Fatal(err)
			}
			return
		}
		defer r.Release()
		for i := range rows {
			value := a.(interface{ ValueString(int) string }).ValueString(i) // panics where offsets are wrong
			one, err := p.Parse(stringsOf(value), nil)
			if err != nil {
				t.Fatal(err)
			}
			for c := range 2 {
				if got, want := fmt.Sprint(array.NewSlice(r.Column(c), int64(i), int64(i+1))), fmt.Sprint(one.Column(c)); got != want {
					t.Errorf("%q: %s, want %s", value, got, want)
				}
			}
			one.Release()
		}
	})
}

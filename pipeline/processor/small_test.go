package processor_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline/processor"
	"github.com/urlmill/urlmill/pipeline/urlcols"
)

// viewed returns copies of what View shows.
func viewed(t testing.TB, p *processor.Processor, urls arrow.Array) arrow.Record {
	t.Helper()
	var out arrow.Record
	err := p.View(urls, nil, func(columns []arrow.ArrayData) error {
		var arrays []arrow.Array
		for _, c := range columns {
			a, err := array.Concatenate([]arrow.Array{array.MakeFromData(c)}, memory.DefaultAllocator)
			if err != nil {
				return err
			}
			arrays = append(arrays, a)
		}
		out = array.NewRecord(p.URLSchema(), arrays, int64(urls.Len()))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Any number of rows gives what the command gives, in the memory of a workspace, in memory of the record's own, and looked at.
func TestEverySizeGivesWhatTheCommandGives(t *testing.T) {
	sizes := []int{0, 1, 2, 3, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 128, 129, 1000, 1023, 1024, 1025, 2048, 5000}
	urls, valid := sample(slices.Max(sizes))
	nulls := make([]bool, len(urls))
	for name, valid := range map[string][]bool{"some null": valid, "all null": nulls} {
		t.Run(name, func(t *testing.T) {
			p := mustNew(t, processor.Options{})
			all := build(t, memory.DefaultAllocator, arrow.BinaryTypes.String, urls, valid)
			var held []arrow.Record
			for _, rows := range sizes {
				part := array.NewSlice(all, 0, int64(rows))
				want := expected(t, urlcols.Options{}, urls[:rows], valid[:rows], "")
				for range runtime.GOMAXPROCS(0) + 1 { // the last one is a copy at the latest
					r := parsed(t, p, part)
					same(t, r, want)
					held = append(held, r)
				}
				same(t, viewed(t, p, part), want)
			}
			for i, r := range held { // nothing has changed what was there before
				rows := sizes[i/(runtime.GOMAXPROCS(0)+1)]
				same(t, r, expected(t, urlcols.Options{}, urls[:rows], valid[:rows], ""))
				r.Release()
			}
		})
	}
}

// Records that are held take the memory of their values, and not that of a workspace each.
func TestHeldRecordsAreAsLargeAsTheirValues(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	const rows, records = 2000, 50
	p := mustNew(t, processor.Options{})
	a := someURLs(t, rows)
	var warm, held []arrow.Record
	for range 2 * runtime.GOMAXPROCS(0) {
		warm = append(warm, parsed(t, p, a))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range records {
		held = append(held, parsed(t, p, a))
	}
	runtime.ReadMemStats(&after)
	size := uint64(0)
	for _, c := range held[0].Columns() {
		size += sizeOf(c.Data())
	}
	took := (after.TotalAlloc - before.TotalAlloc) / records
	t.Logf("%d bytes of values, %d allocated", size, took)
	if took > size+size/4+32<<10 {
		t.Errorf("%d bytes were allocated for a record of %d", took, size)
	}
	for _, r := range append(warm, held...) {
		r.Release()
	}
}

func sizeOf(d arrow.ArrayData) (size uint64) {
	for _, b := range d.Buffers() {
		if b != nil {
			size += uint64(b.Len())
		}
	}
	for _, c := range d.Children() {
		size += sizeOf(c)
	}
	return size
}

// Workspaces come back from records that are released, also when copies were made in between, and from errors.
func TestWorkspacesComeBack(t *testing.T) {
	p := mustNew(t, processor.Options{Include: []string{"host"}})
	a := someURLs(t, 10)
	for range 3 {
		var held []arrow.Record
		for range 3 * runtime.GOMAXPROCS(0) {
			held = append(held, parsed(t, p, a))
		}
		if got := processor.Lent(p); got != runtime.GOMAXPROCS(0) {
			t.Errorf("%d workspaces are lent", got)
		}
		slices.Reverse(held)
		for _, r := range held {
			r.Release()
		}
	}
	if _, err := p.Parse(array.NewBoolean(1, memory.NewBufferBytes([]byte{0}), nil, 0), nil); err == nil {
		t.Error("a boolean was parsed")
	}
	oops := errors.New("oops")
	if err := p.View(a, nil, func([]arrow.ArrayData) error { return oops }); !errors.Is(err, oops) {
		t.Error(err)
	}
	if got := processor.Lent(p); got != 0 {
		t.Errorf("%d workspaces are lent", got)
	}
	if got := processor.Kept(p); got == 0 || got > runtime.GOMAXPROCS(0) {
		t.Errorf("%d workspaces are kept", got)
	}
}

// What is allocated for a call, which is most of what few rows cost.
func TestAllocationsOfACall(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	three := []string{"host", "path", "url_error"}
	for _, test := range []struct {
		columns     []string
		parse, view float64 // at most
	}{{nil, 32, 0}, {three, 10, 0}} {
		for _, rows := range []int{1, 100} {
			t.Run(fmt.Sprintf("%d columns, %d rows", len(test.columns), rows), func(t *testing.T) {
				p := mustNew(t, processor.Options{Include: test.columns})
				a := someURLs(t, rows)
				if got := testing.AllocsPerRun(200, func() { parsed(t, p, a).Release() }); got > test.parse {
					t.Errorf("Parse: %.0f allocations, want %.0f at most", got, test.parse)
				}
				got := testing.AllocsPerRun(200, func() {
					if err := p.View(a, nil, func([]arrow.ArrayData) error { return nil }); err != nil {
						t.Fatal(err)
					}
				})
				if got > test.view {
					t.Errorf("View: %.0f allocations, want %.0f at most", got, test.view)
				}
			})
		}
	}
}

// A record is what Arrow's own is.
func TestRecordsAreArrows(t *testing.T) {
	p := mustNew(t, processor.Options{Include: []string{"host", "port"}})
	r := parsed(t, p, someURLs(t, 3))
	own := array.NewRecord(r.Schema(), r.Columns(), r.NumRows())
	defer own.Release()
	if r.NumCols() != 2 || r.NumRows() != 3 || r.ColumnName(1) != "port" || r.Column(1) != own.Column(1) || !array.RecordEqual(r, own) {
		t.Errorf("%v, want %v", r, own)
	}
	if fmt.Sprint(r) != fmt.Sprint(own) {
		t.Errorf("%v, want %v", r, own)
	}
	got, err := json.Marshal(r)
	want, _ := json.Marshal(own)
	if err != nil || string(got) != string(want) {
		t.Errorf("%s, want %s, %v", got, want, err)
	}
	slice, ownSlice := r.NewSlice(1, 3), own.NewSlice(1, 3)
	if !array.RecordEqual(slice, ownSlice) {
		t.Errorf("%v, want %v", slice, ownSlice)
	}
	ports := array.NewInt32Data(array.NewData(arrow.PrimitiveTypes.Int32, 3, []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, 12))}, nil, 0, 0))
	if changed, err := r.SetColumn(1, ports); err != nil || changed.Column(1).NullN() != 0 || r.Column(1).NullN() != 3 {
		t.Errorf("%v, %v", changed, err)
	}
	if _, err := r.SetColumn(0, ports); err == nil || !strings.Contains(err.Error(), "type mismatch") {
		t.Errorf("%v", err)
	}
	r.Retain()
	r.Release()
	if r.Column(0).(*array.String).Value(0) != "www.example0.com" {
		t.Error("gone with a reference left")
	}
}

// What a giant batch has made of a workspace goes when calls are small again, from all workspaces, and not before.
func TestGiantBatchesPinNoMemory(t *testing.T) {
	p := mustNew(t, processor.Options{Promote: []processor.Promoted{{Params: []string{"x"}, Name: "x"}}})
	urls, valid := sample(20_000)
	giant := build(t, memory.DefaultAllocator, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, urls, valid)
	small := someURLs(t, 10)
	parsed(t, p, giant).Release()
	large := processor.Memory(p)
	if large < 4<<20 {
		t.Fatalf("%d bytes are held after the giant batch", large)
	}
	for range 10 { // large enough once in a while
		parsed(t, p, small).Release()
	}
	parsed(t, p, giant).Release()
	for range 10 {
		parsed(t, p, small).Release()
	}
	if got := processor.Memory(p); got < 1<<20 {
		t.Errorf("%d bytes are held between giant batches", got)
	}
	for range 10 {
		if err := p.View(small, nil, func([]arrow.ArrayData) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if got := processor.Memory(p); got > 1<<20 {
		t.Errorf("%d bytes are held after small batches", got)
	}
}

package parquet

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/memory"
	pq "github.com/parquet-go/parquet-go"

	"github.com/urlmill/urlmill/sinks/sinktest"
)

// The page index of a sorted file leads to the few pages that have a domain, and to all of its rows; in one that is not
// sorted, nearly every page has it.
func TestSortedPagesPrune(t *testing.T) {
	const rows, group, page = 16 << 10, 8 << 10, 256
	read := func(by ...string) (pages, of, found int) {
		var out bytes.Buffer
		f, err := NewFile(&out, sinktest.Clicks(), Options{SortBy: by, RowGroupRows: group, PageRows: page})
		if err != nil {
			t.Fatal(err)
		}
		r := sinktest.RandomClicks(memory.DefaultAllocator, rows, 0, 1)
		defer r.Release()
		if err := f.Write(r); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return domainPages(t, out.Bytes(), "site20.example")
	}
	plain, of, want := read()
	sorted, _, got := read("registrable_domain", "path")
	t.Logf("of %d pages, %d have to be read, and %d where the file is sorted; %d rows", of, plain, sorted, want)
	if want == 0 || got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	if plain < of*9/10 || sorted > 2*2+want/page {
		t.Errorf("%d and %d of %d pages", plain, sorted, of)
	}
}

// domainPages returns how many pages of registrable_domain may have a value, by the page index, of how many, and how many
// rows of those pages have it.
func domainPages(t *testing.T, content []byte, domain string) (pages, of, found int) {
	t.Helper()
	f, err := pq.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	leaf, ok := f.Schema().Lookup("registrable_domain")
	if !ok {
		t.Fatal("there is no such column")
	}
	for _, g := range f.RowGroups() {
		chunk := g.ColumnChunks()[leaf.ColumnIndex]
		index, err := chunk.ColumnIndex()
		if err != nil {
			t.Fatal(err)
		}
		reader := chunk.Pages()
		for i := range index.NumPages() {
			p, err := reader.ReadPage()
			if err != nil {
				t.Fatal(err)
			}
			of++
			if index.MinValue(i).String() > domain || index.MaxValue(i).String() < domain {
				continue
			}
			pages++
			values := make([]pq.Value, p.NumValues())
			if n, err := p.Values().ReadValues(values); n != len(values) {
				t.Fatal(n, err)
			}
			for _, v := range values {
				if fmt.Sprint(v) == domain {
					found++
				}
			}
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return pages, of, found
}

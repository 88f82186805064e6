package processor_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline/processor"
)

// callRows are the rows of calls that are measured.
var callRows = []int{1, 100, 1000, 2048, 10_000, 65_536}

// eachCall runs a benchmark for some and for all columns and every number of rows.
func eachCall(b *testing.B, rows []int, run func(b *testing.B, p *processor.Processor, urls arrow.Array)) {
	for name, columns := range map[string][]string{"three": {"host", "path", "url_error"}, "all": nil} {
		for _, n := range rows {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				run(b, mustNew(b, processor.Options{Include: columns}), someURLs(b, n))
			})
		}
	}
}

// perRow reports the time of a row, where an iteration has so many.
func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

// BenchmarkCalls is what calls cost by the rows that they are given: hosts decide about those.
func BenchmarkCalls(b *testing.B) {
	eachCall(b, callRows, func(b *testing.B, p *processor.Processor, urls arrow.Array) {
		b.ReportAllocs()
		for b.Loop() {
			parsed(b, p, urls).Release()
		}
		perRow(b, urls.Len())
	})
}

// BenchmarkHeld is what calls cost whose records nobody releases before there are a hundred: each needs memory of its own.
func BenchmarkHeld(b *testing.B) {
	eachCall(b, []int{1, 1000, 10_000}, func(b *testing.B, p *processor.Processor, urls arrow.Array) {
		held := make([]arrow.Record, 100)
		for b.Loop() {
			for i := range held {
				held[i] = parsed(b, p, urls)
			}
			for _, r := range held {
				r.Release()
			}
		}
		perRow(b, len(held)*urls.Len())
	})
}

func parsed(t testing.TB, p *processor.Processor, urls arrow.Array) arrow.Record {
	t.Helper()
	r, err := p.Parse(urls, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// someURLs returns URLs of a clickstream.
func someURLs(t testing.TB, rows int) arrow.Array {
	urls := make([]string, rows)
	for i := range urls {
		urls[i] = fmt.Sprintf("https://www.example%d.com/some/path/%d?x=1&y=%d#f", i%1000, i, i)
	}
	return build(t, memory.DefaultAllocator, arrow.BinaryTypes.String, urls, slices.Repeat([]bool{true}, rows))
}

// BenchmarkView is BenchmarkCalls for who only looks at what becomes of the URLs.
func BenchmarkView(b *testing.B) {
	eachCall(b, callRows, func(b *testing.B, p *processor.Processor, urls arrow.Array) {
		b.ReportAllocs()
		for b.Loop() {
			if err := p.View(urls, nil, func([]arrow.ArrayData) error { return nil }); err != nil {
				b.Fatal(err)
			}
		}
	})
}

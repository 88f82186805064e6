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

// BenchmarkCalls is what calls cost by the rows that they are given: hosts decide about those.
func BenchmarkCalls(b *testing.B) {
	for name, columns := range map[string][]string{"three": {"host", "path", "url_error"}, "all": nil} {
		for _, rows := range callRows {
			b.Run(fmt.Sprintf("%s/%d", name, rows), func(b *testing.B) {
				p := mustNew(b, processor.Options{Include: columns})
				a := someURLs(b, rows)
				b.ReportAllocs()
				for b.Loop() {
					parsed(b, p, a).Release()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
			})
		}
	}
}

// BenchmarkHeld is what calls cost whose records nobody releases before there are a hundred: each needs memory of its own.
func BenchmarkHeld(b *testing.B) {
	for name, columns := range map[string][]string{"three": {"host", "path", "url_error"}, "all": nil} {
		for _, rows := range []int{1, 1000, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", name, rows), func(b *testing.B) {
				p := mustNew(b, processor.Options{Include: columns})
				a := someURLs(b, rows)
				held := make([]arrow.Record, 100)
				for b.Loop() {
					for i := range held {
						held[i] = parsed(b, p, a)
					}
					for _, r := range held {
						r.Release()
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(100*rows), "ns/row")
			})
		}
	}
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
	for name, columns := range map[string][]string{"three": {"host", "path", "url_error"}, "all": nil} {
		for _, rows := range callRows {
			b.Run(fmt.Sprintf("%s/%d", name, rows), func(b *testing.B) {
				p := mustNew(b, processor.Options{Include: columns})
				a := someURLs(b, rows)
				b.ReportAllocs()
				for b.Loop() {
					if err := p.View(a, nil, func([]arrow.ArrayData) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

package processor_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/pipeline/processor"
)

// BenchmarkCalls is what calls cost by the rows that they are given: hosts decide about those.
func BenchmarkCalls(b *testing.B) {
	for name, columns := range map[string][]string{"three": {"host", "path", "url_error"}, "all": nil} {
		for _, rows := range []int{1, 100, 1000, 2048, 10_000, 65_536} {
			b.Run(fmt.Sprintf("%s/%d", name, rows), func(b *testing.B) {
				urls := make([]string, rows)
				for i := range urls {
					urls[i] = fmt.Sprintf("https://www.example%d.com/some/path/%d?x=1&y=%d#f", i%1000, i, i)
				}
				p := mustNew(b, processor.Options{Include: columns})
				a := build(b, memory.DefaultAllocator, arrow.BinaryTypes.String, urls, slices.Repeat([]bool{true}, rows))
				b.ReportAllocs()
				for b.Loop() {
					r, err := p.Parse(a, nil)
					if err != nil {
						b.Fatal(err)
					}
					r.Release()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
			})
		}
	}
}

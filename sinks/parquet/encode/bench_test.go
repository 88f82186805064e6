package encode

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkIntern looks up hosts that repeat as those of a clickstream do.
func BenchmarkIntern(b *testing.B) {
	for _, hosts := range []uint64{10, 1000, 100_000} {
		b.Run(fmt.Sprint(hosts), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			z := rand.NewZipf(r, 1.05, 20, hosts-1)
			var data []byte
			var lens []int32
			const n = 128 << 10
			for range n {
				v := fmt.Sprintf("www.site%d.example", z.Uint64()*2654435761%1e9)
				data, lens = append(data, v...), append(lens, int32(len(v)))
			}
			data = padded(data)
			ids := make([]uint32, 0, n)
			var d interner
			for b.Loop() {
				d.release()
				ids = d.appendIDs(ids[:0], data, lens)
			}
			b.ReportMetric(float64(d.len()), "distinct")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/value")
		})
	}
}

package parquet

import (
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"github.com/urlmill/urlmill/sinks/internal/filesink"
	"github.com/urlmill/urlmill/sinks/sinktest"
)

type countWriter struct{ n int64 }

func (c *countWriter) Write(p []byte) (int, error) { c.n += int64(len(p)); return len(p), nil }

func clicks(rows int) []arrow.Record {
	var out []arrow.Record
	for first := 0; first < rows; first += 8192 {
		out = append(out, sinktest.RandomClicks(memory.DefaultAllocator, min(8192, rows-first), int64(first), 1))
	}
	return out
}

// BenchmarkEncode measures the encoder on one core, rows of a clickstream with all columns.
func BenchmarkEncode(b *testing.B) {
	const rows = 128 << 10
	recs := clicks(rows)
	for _, kind := range []string{"none", "snappy", "zstd", "zstd/sorted"} {
		b.Run(kind, func(b *testing.B) {
			codec, _, sorted := strings.Cut(kind, "/")
			o := Options{Path: "x", Compression: codec}
			if sorted {
				o.SortBy = []string{"registrable_domain", "path"}
			}
			o = o.withDefaults()
			f, schema := &format{opts: &o}, sinktest.Clicks()
			for b.Loop() {
				w := &countWriter{}
				e, err := f.NewEncoder(w, schema)
				if err != nil {
					b.Fatal(err)
				}
				for _, r := range recs {
					if err := e.Write(r); err != nil {
						b.Fatal(err)
					}
				}
				if err := e.Finish(filesink.Provenance{}); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(w.n)/rows, "B/row")
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

// BenchmarkPqarrow measures arrow's own way on the same rows.
func BenchmarkPqarrow(b *testing.B) {
	const rows = 128 << 10
	recs := clicks(rows)
	for name, codec := range map[string]compress.Compression{"none": compress.Codecs.Uncompressed, "snappy": compress.Codecs.Snappy, "zstd": compress.Codecs.Zstd} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				w := &countWriter{}
				fw, err := pqarrow.NewFileWriter(sinktest.Clicks(), w, parquet.NewWriterProperties(parquet.WithDataPageVersion(parquet.DataPageV2), parquet.WithCompression(codec), parquet.WithCompressionLevel(1)), pqarrow.DefaultWriterProps())
				if err != nil {
					b.Fatal(err)
				}
				for _, r := range recs {
					if err := fw.WriteBuffered(r); err != nil {
						b.Fatal(err)
					}
				}
				if err := fw.Close(); err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(w.n)/rows, "B/row")
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds()/1e6, "Mrows/s")
		})
	}
}

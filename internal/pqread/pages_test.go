package pqread

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/urlmill/urlmill/internal/decoded"
	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

// withLimit sets the memory limit of the runtime for a test.
func withLimit(t *testing.T, n int64) {
	before := debug.SetMemoryLimit(n)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
}

type row struct {
	URL   string   `parquet:"url,dict"`
	Plain string   `parquet:"plain"`
	Front string   `parquet:"front,delta"`
	Back  *string  `parquet:"back,optional,dict"`
	N     *int64   `parquet:"n,optional"`
	Delta int64    `parquet:"delta,delta"`
	Small int32    `parquet:"small"`
	F     float64  `parquet:"f,split"`
	B     bool     `parquet:"b"`
	Fixed [16]byte `parquet:"fixed,uuid"`
	Tags  []string `parquet:"tags,list"`
	Deep  []pair   `parquet:"deep"`
}

type pair struct {
	A *int32
	B []string
}

func rows(n int) []row {
	rng := rand.New(rand.NewPCG(1, 2))
	all := make([]row, n)
	for i := range all {
		r := &all[i]
		r.URL = fmt.Sprintf("https://a.example/%d", rng.IntN(40))
		r.Plain = strings.Repeat("x", rng.IntN(90))
		r.Front = fmt.Sprintf("https://a.example/some/path/%06d/%d", i/3, rng.IntN(1000))
		if rng.IntN(3) > 0 {
			v := int64(rng.Uint64())
			r.N, r.Back = &v, &r.Front
		}
		r.Delta, r.Small, r.F, r.B = int64(i*rng.IntN(9))-5000, int32(rng.Uint32()), rng.Float64(), rng.IntN(2) == 0
		r.Fixed[3] = byte(i)
		for range rng.IntN(4) {
			r.Tags = append(r.Tags, fmt.Sprint(rng.IntN(99)))
			r.Deep = append(r.Deep, pair{B: make([]string, rng.IntN(3))})
		}
	}
	return all
}

// testFile has rows in several row groups and pages.
func testFile(t testing.TB, n int, codec compress.Codec, version int) []byte {
	var out bytes.Buffer
	w := parquet.NewGenericWriter[row](&out, parquet.Compression(codec), parquet.DataPageVersion(version),
		parquet.PageBufferSize(3000), parquet.MaxRowsPerRowGroup(int64(n/2+1)))
	if _, err := w.Write(rows(n)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

var testCodecs = []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw}

// dump returns the values of a column chunk, one a line.
func dump(t *testing.T, pages parquet.Pages) []string {
	t.Helper()
	var all []string
	buf := make([]parquet.Value, 100)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for in := page.Values(); ; {
			n, err := in.ReadValues(buf)
			for _, v := range buf[:n] {
				all = append(all, fmt.Sprintf("%+v", v))
			}
			if err != nil {
				break
			}
		}
		parquet.Release(page)
	}
	if err := pages.Close(); err != nil {
		t.Fatal(err)
	}
	return all
}

// TestSameAsLibrary compares what is read with what the library reads of a file that is not compressed (its version 0.32 takes
// other bytes for those of an LZ4_RAW page that was not made smaller), and what the footer says with what it reads of the same.
func TestSameAsLibrary(t *testing.T) {
	for _, codec := range testCodecs {
		for version := 1; version <= 2; version++ {
			t.Run(fmt.Sprint(codec, version), func(t *testing.T) {
				data := testFile(t, 1200, codec, version)
				want, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
				if err != nil {
					t.Fatal(err)
				}
				got, err := Open(bytes.NewReader(data), int64(len(data)))
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(fmt.Sprintf("%+v", want.Metadata()), fmt.Sprintf("%+v", got.Metadata())); d != "" {
					t.Error(d)
				}
				data = testFile(t, 1200, &parquet.Uncompressed, version)
				if want, err = parquet.OpenFile(bytes.NewReader(data), int64(len(data))); err != nil {
					t.Fatal(err)
				}
				for g, group := range want.RowGroups() {
					for c, chunk := range group.ColumnChunks() {
						if d := cmp.Diff(dump(t, chunk.Pages()), dump(t, got.Pages(g, c))); d != "" {
							t.Fatalf("group %d, column %d: %s", g, c, d)
						}
					}
				}
			})
		}
	}
}

// TestSeek skips rows of columns without lists.
func TestSeek(t *testing.T) {
	data := testFile(t, 1200, &parquet.Zstd, 1)
	f, err := Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for c := range 10 {
		all := dump(t, f.Pages(1, c))
		for _, row := range []int{0, 1, 17, 300, len(all) - 1, len(all)} {
			pages := f.Pages(1, c)
			if err := pages.SeekToRow(int64(row)); err != nil {
				t.Fatal(err)
			}
			got := dump(t, pages)
			if len(got) == 0 {
				got = all[:0]
			}
			if d := cmp.Diff(all[row:], got); d != "" {
				t.Fatalf("column %d from row %d: %s", c, row, d)
			}
		}
	}
	if err := f.Pages(0, 10).SeekToRow(3); err == nil {
		t.Error("rows of a list were skipped")
	}
}

// TestDamage flips bits, which may give errors and other values, but no large allocations.
func TestDamage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, codec := range testCodecs {
		data := testFile(t, 60, codec, 1+rng.IntN(2))
		for range 300 {
			bad := bytes.Clone(data)
			for range 1 + rng.IntN(3) {
				bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
			}
			if n := alloctest.Bytes(func() { _, _ = readFile(bad) }); n > 256<<20 {
				t.Fatalf("%v: %d bytes allocated %d MiB", codec, len(bad), n>>20)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for i, codec := range testCodecs {
		f.Add(testFile(f, 20, codec, 1+i%2))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		debug.SetMemoryLimit(4 * decoded.MinLimit)
		alloctest.Bound(t, len(data), 64, 8*decoded.MinLimit, func() { _, _ = readFile(data) })
	})
}

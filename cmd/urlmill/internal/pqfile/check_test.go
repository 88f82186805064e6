package pqfile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

type click struct {
	ID     int64    `parquet:"id"`
	Host   string   `parquet:"host,zstd,dict"`
	Path   *string  `parquet:"path,optional,snappy"`
	Score  *float64 `parquet:"score,optional"`
	Tags   []string `parquet:"tags,list"`
	Always *string  `parquet:"always,optional"`
}

// sample returns a file with several row groups and pages, page indexes, a bloom filter and a sorting column.
func sample(t *testing.T) []byte { return sampleOf(t, 1000) }

func sampleOf(t testing.TB, rows int64) []byte {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[click](&b,
		parquet.PageBufferSize(500), parquet.MaxRowsPerRowGroup(400), parquet.CreatedBy("test", "1", "x"),
		parquet.BloomFilters(parquet.SplitBlockFilter(10, "host")), parquet.KeyValueMetadata("k", "v"),
		parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending("id"))))
	for i := range rows {
		c := click{ID: i, Host: fmt.Sprintf("host-%d.example", i%37), Tags: make([]string, i%4)}
		if i%3 > 0 {
			path, score := fmt.Sprintf("/p/%d", i), float64(i)/7
			c.Path, c.Score = &path, &score
		}
		for j := range c.Tags {
			c.Tags[j] = fmt.Sprint("tag", j)
		}
		if _, err := w.Write([]click{c}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func write(t *testing.T, data []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func check(t *testing.T, data []byte) Report {
	t.Helper()
	r, err := Check(t.Context(), write(t, data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCheckFindsNothing(t *testing.T) {
	r := check(t, sample(t))
	if len(r.Problems) > 0 {
		t.Errorf("%q", r.Problems)
	}
	if r.Rows != 1000 || r.Groups != 3 || r.Pages < 50 || r.Bounds < 2*3*4 || r.BloomFilters != 3 {
		t.Errorf("%+v", r)
	}
}

// TestCheckText has texts that are no UTF-8: in a column of strings they are found, and in one of bytes they are fine.
func TestCheckText(t *testing.T) {
	type row struct {
		Bytes []byte   `parquet:"bytes"`
		Host  string   `parquet:"host,dict"`
		Path  *string  `parquet:"path,optional"`
		Tags  []string `parquet:"tags,list"`
	}
	bad, good := "b\xffad", "b\uFFFDad"
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b)
	if _, err := w.Write([]row{{[]byte(bad), good, &good, nil}, {nil, bad, &bad, []string{good, bad}}, {nil, bad, nil, nil}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := check(t, b.Bytes())
	var want []string
	for _, column := range []string{"host", "path", "tags.list.element"} {
		want = append(want, fmt.Sprintf("row group 0: column %s: it is said to be UTF-8, and has %q", column, bad))
	}
	if diff := cmp.Diff(want, r.Problems); diff != "" {
		t.Error(diff)
	}
}

// footerOf returns the place of the footer and what it says.
func footerOf(t *testing.T, data []byte) (at int, m format.FileMetaData) {
	t.Helper()
	length := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	at = len(data) - 8 - length
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), data[at:len(data)-8], &m); err != nil {
		t.Fatal(err)
	}
	return at, m
}

// withFooter replaces the footer.
func withFooter(t *testing.T, data []byte, m format.FileMetaData) []byte {
	t.Helper()
	at, _ := footerOf(t, data)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), &m)
	if err != nil {
		t.Fatal(err)
	}
	out := append(bytes.Clone(data[:at]), footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	return append(out, "PAR1"...)
}

// lies change what a file says of itself, one thing at a time.
var lies = map[string]struct {
	lie  func(m *format.FileMetaData)
	want string
}{
	"rows":        {func(m *format.FileMetaData) { m.NumRows++ }, "have 1000 rows, and the footer says 1001"},
	"group rows":  {func(m *format.FileMetaData) { m.RowGroups[1].NumRows-- }, "400 rows, and its row group has 399"},
	"group bytes": {func(m *format.FileMetaData) { m.RowGroups[1].TotalByteSize++ }, "bytes uncompressed, and it is said to have"},
	"values": {
		func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.NumValues-- },
		"column id: 400 values, and the footer says 399",
	},
	"uncompressed": {
		func(m *format.FileMetaData) { m.RowGroups[0].Columns[1].MetaData.TotalUncompressedSize++ },
		"column host: its pages have",
	},
	"compressed": {
		func(m *format.FileMetaData) { m.RowGroups[0].Columns[1].MetaData.TotalCompressedSize = 1 << 40 },
		"its pages are said to be at bytes",
	},
	"minimum": {
		func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[0].MetaData.Statistics.MinValue = binary.LittleEndian.AppendUint64(nil, 1)
		},
		`column id: its statistics say that the minimum is "1", and it is "0"`,
	},
	"maximum": {
		func(m *format.FileMetaData) {
			m.RowGroups[0].Columns[1].MetaData.Statistics.MaxValue = []byte("host-8")
		},
		"column host: its statistics say that the maximum is",
	},
	"size of a bound": {
		func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Statistics.MinValue = []byte{1} },
		"a minimum of 1 bytes, which no value of the type",
	},
	"bound of nothing": {
		func(m *format.FileMetaData) { m.RowGroups[0].Columns[5].MetaData.Statistics.MinValue = []byte("a") },
		"have a minimum, and there are no values",
	},
	"nulls": {
		func(m *format.FileMetaData) { m.RowGroups[0].Columns[2].MetaData.Statistics.NullCount++ },
		"column path: 134 nulls, and its statistics say 135",
	},
	"distinct": {
		func(m *format.FileMetaData) { m.RowGroups[0].Columns[2].MetaData.Statistics.DistinctCount = 267 },
		"its statistics say that 267 are distinct",
	},
	"order": {
		func(m *format.FileMetaData) { m.RowGroups[0].SortingColumns[0].Descending = true },
		`said to be sorted, but "0" comes before "1"`,
	},
	"bloom filter": {func(m *format.FileMetaData) {
		// That of the second row group is as good, since the hosts are the same; a shorter one is not.
		c := &m.RowGroups[0].Columns[1].MetaData
		c.BloomFilterOffset, c.BloomFilterLength = c.BloomFilterOffset+1, c.BloomFilterLength-1
	}, "bloom filter"},
	"offset index": {func(m *format.FileMetaData) {
		a, b := &m.RowGroups[0].Columns[0], &m.RowGroups[1].Columns[0]
		a.OffsetIndexOffset, a.OffsetIndexLength = b.OffsetIndexOffset, b.OffsetIndexLength
	}, "its offset index has data page 0 at byte"},
	"column index": {func(m *format.FileMetaData) {
		a, b := &m.RowGroups[0].Columns[0], &m.RowGroups[1].Columns[0]
		a.ColumnIndexOffset, a.ColumnIndexLength = b.ColumnIndexOffset, b.ColumnIndexLength
	}, "the column index of data page 0 say that the minimum is"},
	"another chunk's pages": {func(m *format.FileMetaData) {
		m.RowGroups[0].Columns[0].MetaData.DataPageOffset = m.RowGroups[0].Columns[3].MetaData.DataPageOffset
	}, "column id:"},
}

func TestCheckFindsLies(t *testing.T) {
	data := sample(t)
	for name, c := range lies {
		t.Run(name, func(t *testing.T) {
			_, m := footerOf(t, data)
			c.lie(&m)
			r := check(t, withFooter(t, data, m))
			if !strings.Contains(strings.Join(r.Problems, "\n"), c.want) {
				t.Errorf("got %q, want %q", r.Problems, c.want)
			}
		})
	}
}

// TestCheckFindsLiesInIndexes changes the page indexes themselves.
func TestCheckFindsLiesInIndexes(t *testing.T) {
	data := sample(t)
	for name, c := range map[string]struct {
		lie  func(c *format.ColumnIndex, o *format.OffsetIndex)
		want string
	}{
		"null page":  {func(c *format.ColumnIndex, _ *format.OffsetIndex) { c.NullPages[1] = true }, "nothing but nulls: true"},
		"null count": {func(c *format.ColumnIndex, _ *format.OffsetIndex) { c.NullCounts[1]++ }, "data page 1 says"},
		"order":      {func(c *format.ColumnIndex, _ *format.OffsetIndex) { c.BoundaryOrder = format.Descending }, "its column index says"},
		"pages": {
			func(c *format.ColumnIndex, _ *format.OffsetIndex) { c.NullPages = append(c.NullPages, false) },
			"its column index has",
		},
		"locations": {
			func(_ *format.ColumnIndex, o *format.OffsetIndex) { o.PageLocations = o.PageLocations[1:] },
			"its offset index has",
		},
		"first row": {
			func(_ *format.ColumnIndex, o *format.OffsetIndex) { o.PageLocations[1].FirstRowIndex++ },
			"its offset index has data page 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			at, m := footerOf(t, data)
			chunk := &m.RowGroups[0].Columns[3] // score
			var column format.ColumnIndex
			var offset format.OffsetIndex
			protocol := new(thrift.CompactProtocol)
			read := func(at int64, length int32, v any) {
				if err := thrift.Unmarshal(protocol, data[at:at+int64(length)], v); err != nil {
					t.Fatal(err)
				}
			}
			read(chunk.ColumnIndexOffset, chunk.ColumnIndexLength, &column)
			read(chunk.OffsetIndexOffset, chunk.OffsetIndexLength, &offset)
			c.lie(&column, &offset)
			out := bytes.Clone(data[:at])
			add := func(v any) (int64, int32) {
				text, err := thrift.Marshal(protocol, v)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, text...)
				return int64(len(out) - len(text)), int32(len(text))
			}
			chunk.ColumnIndexOffset, chunk.ColumnIndexLength = add(&column)
			chunk.OffsetIndexOffset, chunk.OffsetIndexLength = add(&offset)
			out = append(out, data[at:]...) // the footer, which is replaced
			r := check(t, withFooter(t, out, m))
			if !strings.Contains(strings.Join(r.Problems, "\n"), c.want) {
				t.Errorf("got %q, want %q", r.Problems, c.want)
			}
		})
	}
}

// TestCheckFindsDamage changes bytes of the pages: those of a bloom filter may be changed without making it deny
// anything, and in the headers of pages and in the footer some say nothing that could be wrong.
func TestCheckFindsDamage(t *testing.T) {
	data := sample(t)
	f, err := Open(write(t, data))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var spots []int64
	for _, chunks := range f.pq.Metadata().RowGroups {
		for i := range chunks.Columns {
			err := f.pages(&chunks.Columns[i].MetaData, false, func(p Page, _ []byte) error {
				if p.Checksum == nil {
					t.Fatal("the pages of the sample have no checksums")
				}
				if p.Compressed > 0 {
					spots = append(spots, p.Offset+p.HeaderBytes+p.Compressed/2)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, at := range spots {
		broken := bytes.Clone(data)
		broken[at] ^= 0x10
		r := check(t, broken)
		if !strings.Contains(strings.Join(r.Problems, "\n"), "its checksum is") {
			t.Errorf("byte %d: %q", at, r.Problems)
		}
	}
}

// TestCheckSurvives cuts files and overwrites parts of them: there is a report, whatever it says.
func TestCheckSurvives(t *testing.T) {
	data := sample(t)
	for at := 0; at < len(data); at += 997 {
		if r := check(t, data[:at]); len(r.Problems) == 0 {
			t.Errorf("cut at byte %d: nothing found", at)
		}
		broken := bytes.Clone(data)
		for i := at; i < min(at+40, len(broken)); i++ {
			broken[i] = 0xff
		}
		check(t, broken)
	}
	footer, _ := footerOf(t, data)
	for at := footer; at < len(data); at += 7 {
		broken := bytes.Clone(data)
		broken[at] ^= 0xff
		check(t, broken)
	}
}

func TestInfo(t *testing.T) {
	f, err := Open(write(t, sample(t)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Info()
	if err != nil {
		t.Fatal(err)
	}
	if info.Rows != 1000 || len(info.Groups) != 3 || info.Metadata["k"] != "v" || !strings.HasPrefix(info.CreatedBy, "test version 1") {
		t.Errorf("%+v", info)
	}
	host := info.Groups[0].Columns[1]
	if host.Path != "host" || host.Codec != "ZSTD" || host.Dictionary != 37 || *host.Min != "host-0.example" || *host.Nulls != 0 ||
		!host.ColumnIndex || !host.OffsetIndex || host.BloomFilter == 0 || !host.Checksums || host.DataPages < 1 {
		t.Errorf("%+v", host)
	}
	if got := info.Groups[0].Sorted; len(got) != 1 || got[0] != "id" {
		t.Errorf("sorted by %v", got)
	}
	var b strings.Builder
	if err := info.Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1,000 rows in 3 row groups", "row group 2: 200 rows", "tags.list.element", "sorted by id", "  k: v"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

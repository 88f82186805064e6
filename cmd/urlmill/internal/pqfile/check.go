package pqfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/urlmill/urlmill/cmd/urlmill/internal/places"
)

// Report is what a check found.
type Report struct {
	File         string   `json:"file"`
	Rows         int64    `json:"rows"`
	Groups       int      `json:"row_groups"`
	Pages        int64    `json:"pages"`
	Checksums    int64    `json:"checksums"` // pages whose checksum was there and right
	Bounds       int64    `json:"bounds"`    // minima and maxima that hold, of chunks and pages
	BloomFilters int64    `json:"bloom_filters"`
	Problems     []string `json:"problems"` // at most maxProblems
	Dropped      int      `json:"more_problems,omitempty"`
}

const maxProblems = 100

// note adds a problem.
func (r *Report) note(format string, args ...any) {
	if len(r.Problems) == maxProblems {
		r.Dropped++
		return
	}
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// Check decodes every value of a file and compares all that is said about them: counts, checksums, statistics, the
// page index, bloom filters, the order of the first sorting column; and whether texts are UTF-8. What is wrong is in the
// report; the error is that of ctx, or of the system when it does not let the file be read.
func Check(ctx context.Context, path string) (Report, error) {
	return CheckIn(ctx, places.Places{}, path)
}

// CheckIn does so with a file that may be in a bucket.
func CheckIn(ctx context.Context, p places.Places, path string) (Report, error) {
	r := Report{File: path, Problems: []string{}}
	in, err := p.OpenFile(ctx, path)
	if err != nil {
		return r, err
	}
	f, err := New(in)
	if sys := (*fs.PathError)(nil); errors.As(err, &sys) {
		return r, err
	}
	if err != nil {
		r.note("%s", strings.TrimPrefix(err.Error(), path+": "))
		return r, nil
	}
	defer func() { _ = f.Close() }()
	err = f.check(ctx, &r)
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if err != nil {
		r.note("%v", err)
	}
	return r, nil
}

func (f *File) check(ctx context.Context, r *Report) (err error) {
	defer guard(&err)
	m := f.pq.Metadata()
	r.Groups = len(m.RowGroups)
	elements := leaves(m.Schema)
	for i, chunks := range f.chunks() {
		group := &m.RowGroups[i]
		r.Rows += group.NumRows
		if len(chunks) != len(group.Columns) {
			r.note("row group %d: %d columns, and the schema has %d", i, len(group.Columns), len(chunks))
			continue
		}
		var uncompressed, compressed int64
		for c, chunk := range chunks {
			meta := &group.Columns[c].MetaData
			uncompressed, compressed = uncompressed+meta.TotalUncompressedSize, compressed+meta.TotalCompressedSize
			k := chunkCheck{
				file: f, report: r, group: i, column: c, chunk: chunk, raw: &group.Columns[c], rows: group.NumRows, stats: f.statistics(i, c), typ: chunk.Type(),
				name: fmt.Sprintf("row group %d: column %s", i, strings.Join(meta.PathInSchema, ".")),
			}
			k.order = orderOf(k.typ, new(format.SchemaElement))
			if len(elements) == len(chunks) {
				k.order, k.text = orderOf(k.typ, elements[c]), isText(elements[c])
			}
			if s := group.SortingColumns; len(s) > 0 && int(s[0].ColumnIdx) == c {
				k.sorting = &s[0]
			}
			if err := k.run(ctx); err != nil {
				return err
			}
		}
		// Some writers, arrow's in Go among them, give the compressed size.
		if group.TotalByteSize != uncompressed && group.TotalByteSize != compressed {
			r.note("row group %d: its columns have %d bytes uncompressed, and it is said to have %d", i, uncompressed, group.TotalByteSize)
		}
	}
	if r.Rows != m.NumRows {
		r.note("the row groups have %d rows, and the footer says %d", r.Rows, m.NumRows)
	}
	return nil
}

// chunkCheck is the check of a column chunk.
type chunkCheck struct {
	file    *File
	report  *Report
	name    string
	group   int
	column  int // of the row group
	chunk   *parquet.FileColumnChunk
	raw     *format.ColumnChunk
	typ     parquet.Type
	order   order
	text    bool // its values are said to be UTF-8, and so far they are
	rows    int64
	stats   *Statistics
	sorting *format.SortingColumn
	bloom   *parquet.FileBloomFilter

	headers []Page // of the data pages
	pages   []pageFacts
	last    parquet.Value // of the first sorting column
	begun   bool          // there is a last value
	values  []parquet.Value
}

// pageFacts is what was found in a page.
type pageFacts struct {
	values, nulls, rows int64
	midRow              bool // it begins within a row
	low, high           parquet.Value
	bounded             bool // it has a value that is not null and not NaN
}

func (k *chunkCheck) note(format string, args ...any) {
	k.report.note(k.name+": "+format, args...)
}

// run returns the error of ctx alone.
func (k *chunkCheck) run(ctx context.Context) error {
	var err error
	if k.bloom, err = k.file.bloomFilter(k.chunk, &k.raw.MetaData); err != nil {
		k.note("bloom filter: %v", err)
	}
	if err := k.readHeaders(); err != nil {
		k.note("%v", err)
		return ctx.Err()
	}
	if err := k.readPages(ctx); err != nil {
		if ctx.Err() == nil {
			k.note("%v", err)
		}
		return ctx.Err()
	}
	k.compareCounts()
	k.compareStatistics()
	k.compareColumnIndex()
	k.compareOffsetIndex()
	if k.bloom != nil {
		k.report.BloomFilters++
	}
	return nil
}

// readHeaders goes over the pages as they lie in the file, and compares their checksums.
func (k *chunkCheck) readHeaders() error {
	meta := &k.raw.MetaData
	var uncompressed int64
	err := k.file.pages(meta, true, func(p Page, data []byte) error {
		if err := p.checkSum(data); err != nil {
			return err
		}
		if p.Checksum != nil {
			k.report.Checksums++
		}
		uncompressed += p.HeaderBytes + p.Uncompressed
		k.report.Pages++
		if !p.Dictionary {
			k.headers = append(k.headers, p)
		}
		return nil
	})
	if err == nil && uncompressed != meta.TotalUncompressedSize {
		k.note("its pages have %d bytes uncompressed, and the footer says %d", uncompressed, meta.TotalUncompressedSize)
	}
	return err
}

// readPages decodes every value.
func (k *chunkCheck) readPages(ctx context.Context) (err error) {
	defer guard(&err)
	pages := k.file.pq.Pages(k.group, k.column)
	defer func() { err = errors.Join(err, pages.Close()) }()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("data page %d: %w", len(k.pages), err)
		}
		facts, err := k.read(page)
		parquet.Release(page)
		if err != nil {
			return fmt.Errorf("data page %d: %w", len(k.pages), err)
		}
		k.pages = append(k.pages, facts)
	}
}

// valuesAtATime is how many values of a page are looked at in one go.
const valuesAtATime = 4096

// read takes a page in.
func (k *chunkCheck) read(page parquet.Page) (facts pageFacts, err error) {
	if k.values == nil {
		k.values = make([]parquet.Value, valuesAtATime)
	}
	values := page.Values()
	for {
		n, err := values.ReadValues(k.values)
		for i := range k.values[:n] {
			if err := k.take(&facts, &k.values[i]); err != nil {
				return facts, err
			}
		}
		if errors.Is(err, io.EOF) || err == nil && n == 0 {
			break
		}
		if err != nil {
			return facts, err
		}
	}
	// The bounds may point into the page, which is released.
	facts.low, facts.high, k.last = facts.low.Clone(), facts.high.Clone(), k.last.Clone()
	return facts, nil
}

// take counts a value.
func (k *chunkCheck) take(facts *pageFacts, v *parquet.Value) error {
	if v.RepetitionLevel() == 0 {
		facts.rows++
	} else if facts.values == 0 {
		facts.midRow = true
	}
	facts.values++
	k.checkOrder(v)
	if v.IsNull() {
		facts.nulls++
		return nil
	}
	if k.text && !utf8.Valid(v.ByteArray()) {
		k.text = false // once is enough
		k.note("it is said to be UTF-8, and has %.100q", v.ByteArray())
	}
	if k.bloom != nil {
		if there, err := k.bloom.Check(*v); err != nil {
			return err
		} else if !there {
			k.note("the bloom filter denies the value %.100q, which is there", v.String())
		}
	}
	if k.order.compare == nil || k.order.isNaN(*v) {
		return nil
	}
	facts.include(k.order, *v, *v)
	return nil
}

// include widens the bounds to two values.
func (f *pageFacts) include(o order, low, high parquet.Value) {
	if !f.bounded || o.compare(low, f.low) < 0 {
		f.low = low
	}
	if !f.bounded || o.compare(high, f.high) > 0 {
		f.high = high
	}
	f.bounded = true
}

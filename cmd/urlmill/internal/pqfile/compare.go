package pqfile

import (
	"math"
	"strconv"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

func isNaN(v parquet.Value) bool {
	switch v.Kind() {
	case parquet.Float:
		return v.Float() != v.Float()
	case parquet.Double:
		return math.IsNaN(v.Double())
	}
	return false
}

// checkOrder compares a value of the first sorting column with the one before. Columns with lists have no order.
func (k *chunkCheck) checkOrder(v *parquet.Value) {
	if k.sorting == nil || !k.flat() || k.order.compare == nil {
		return
	}
	before, begun := k.last, k.begun
	k.last, k.begun = *v, true
	if !begun {
		return
	}
	var wrong bool
	switch {
	case before.IsNull() || v.IsNull():
		wrong = before.IsNull() != v.IsNull() && before.IsNull() != k.sorting.NullsFirst
	case k.sorting.Descending:
		wrong = k.order.compare(before, *v) < 0
	default:
		wrong = k.order.compare(before, *v) > 0
	}
	if wrong {
		k.note("said to be sorted, but %.60q comes before %.60q", before.String(), v.String())
		k.sorting = nil
	}
}

// compareCounts compares what headers and the footer count with what is there.
func (k *chunkCheck) compareCounts() {
	if len(k.pages) != len(k.headers) {
		k.note("%d data pages can be read, and %d are there", len(k.pages), len(k.headers))
		return
	}
	var values, rows int64
	for i, p := range k.pages {
		h := k.headers[i]
		values, rows = values+p.values, rows+p.rows
		if h.Values != p.values || h.Nulls >= 0 && h.Nulls != p.nulls && k.flat() || h.Rows >= 0 && h.Rows != p.rows {
			k.note("data page %d: %d values, %d nulls, %d rows; its header says %d, %d and %d (-1: nothing)",
				i, p.values, p.nulls, p.rows, h.Values, h.Nulls, h.Rows)
		}
		if p.midRow && (h.Version == 2 || k.raw.OffsetIndexOffset != 0) {
			k.note("data page %d begins in the middle of a row", i)
		}
	}
	if values != k.raw.MetaData.NumValues {
		k.note("%d values, and the footer says %d", values, k.raw.MetaData.NumValues)
	}
	if rows != k.rows {
		k.note("%d rows, and its row group has %d", rows, k.rows)
	}
}

// flat reports whether every entry without a value is a null. In lists some stand for an empty list, and writers differ
// in whether they count those.
func (k *chunkCheck) flat() bool { return len(k.raw.MetaData.PathInSchema) == 1 }

func (k *chunkCheck) compareStatistics() {
	s := k.stats
	if s == nil {
		return
	}
	var all pageFacts
	for _, p := range k.pages {
		all.nulls += p.nulls
		all.values += p.values
		if p.bounded {
			all.include(k.order, p.low, p.high)
		}
	}
	if s.NullCount != nil && *s.NullCount != all.nulls && k.flat() {
		k.note("%d nulls, and its statistics say %d", all.nulls, *s.NullCount)
	}
	if n := s.DistinctCount; n != nil && (*n > all.values-all.nulls || *n == 0 && all.values > all.nulls) {
		k.note("%d values, and its statistics say that %d are distinct", all.values-all.nulls, *n)
	}
	k.bound("its statistics", s.MinValue, all, true, s.MinExact)
	k.bound("its statistics", s.MaxValue, all, false, s.MaxExact)
}

// bound compares a minimum or maximum, which may be absent, with what was found.
func (k *chunkCheck) bound(where string, plain []byte, found pageFacts, low bool, exact *bool) {
	if plain == nil || k.order.compare == nil {
		return
	}
	name, is := "maximum", found.high
	if low {
		name, is = "minimum", found.low
	}
	if !found.bounded {
		k.note("%s have a %s, and there are no values", where, name)
		return
	}
	v, ok := valueOf(k.typ, plain)
	if !ok {
		k.note("%s have a %s of %d bytes, which no value of the type %s has", where, name, len(plain), k.typ)
		return
	}
	order := k.order.compare(v, is)
	switch {
	case low && order > 0 || !low && order < 0:
		k.note("%s say that the %s is %.60q, and it is %.60q", where, name, v.String(), is.String())
	case exact != nil && *exact && order != 0:
		k.note("%s say that the %s is exactly %.60q, and it is %.60q", where, name, v.String(), is.String())
	default:
		k.report.Bounds++
	}
}

func (k *chunkCheck) compareColumnIndex() {
	if k.raw.ColumnIndexOffset == 0 {
		return
	}
	index := new(format.ColumnIndex)
	if err := k.file.decode(k.raw.ColumnIndexOffset, k.raw.ColumnIndexLength, index); err != nil {
		k.note("column index: %v", err)
		return
	}
	n := len(k.pages)
	if len(index.NullPages) != n || len(index.MinValues) != n || len(index.MaxValues) != n || len(index.NullCounts) != n && len(index.NullCounts) != 0 {
		k.note("its column index has %d pages, and there are %d", len(index.NullPages), n)
		return
	}
	for i, p := range k.pages {
		where := "the column index of data page " + strconv.Itoa(i)
		if empty := p.nulls == p.values; index.NullPages[i] != empty {
			k.note("%s says that it has nothing but nulls: %v", where, index.NullPages[i])
			continue
		}
		if len(index.NullCounts) > 0 && index.NullCounts[i] != p.nulls && k.flat() {
			k.note("%s says %d nulls, and there are %d", where, index.NullCounts[i], p.nulls)
		}
		if !index.NullPages[i] && p.bounded {
			k.bound(where, index.MinValues[i], p, true, nil)
			k.bound(where, index.MaxValues[i], p, false, nil)
		}
	}
	k.compareBoundaryOrder(index)
}

// compareBoundaryOrder checks that bounds which are said to be in order are.
func (k *chunkCheck) compareBoundaryOrder(index *format.ColumnIndex) {
	if index.BoundaryOrder == format.Unordered || k.order.compare == nil {
		return
	}
	for _, bounds := range [][][]byte{index.MinValues, index.MaxValues} {
		var before *parquet.Value
		for i, plain := range bounds {
			v, ok := valueOf(k.typ, plain)
			if index.NullPages[i] || !ok {
				continue
			}
			order := 0
			if before != nil {
				order = k.order.compare(*before, v)
			}
			if index.BoundaryOrder == format.Ascending && order > 0 || index.BoundaryOrder == format.Descending && order < 0 {
				k.note("its column index says %s, and data page %d is not", index.BoundaryOrder, i)
				return
			}
			before = &v
		}
	}
}

func (k *chunkCheck) compareOffsetIndex() {
	if k.raw.OffsetIndexOffset == 0 {
		return
	}
	index := new(format.OffsetIndex)
	if err := k.file.decode(k.raw.OffsetIndexOffset, k.raw.OffsetIndexLength, index); err != nil {
		k.note("offset index: %v", err)
		return
	}
	if len(index.PageLocations) != len(k.pages) || len(k.pages) != len(k.headers) {
		k.note("its offset index has %d pages, and there are %d", len(index.PageLocations), len(k.pages))
		return
	}
	var row int64
	for i, l := range index.PageLocations {
		h := k.headers[i]
		if l.Offset != h.Offset || int64(l.CompressedPageSize) != h.HeaderBytes+h.Compressed || l.FirstRowIndex != row {
			k.note("its offset index has data page %d at byte %d with %d bytes and row %d first; it is at %d with %d and row %d",
				i, l.Offset, l.CompressedPageSize, l.FirstRowIndex, h.Offset, h.HeaderBytes+h.Compressed, row)
		}
		row += k.pages[i].rows
	}
}

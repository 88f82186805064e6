package scan

import "unsafe"

// Column is a text column that rows are appended to.
type Column struct {
	// Data has room for the new values and Slack bytes more.
	Data []byte
	// Offsets gets the length of Data after each new value.
	Offsets []int32
}

// RowColumns is the number of columns that GatherRows fills, and their numbers.
const (
	RowColumns = 6

	SchemeColumn, HostColumn, OriginColumn, DomainColumn, SuffixColumn, PathColumn = 0, 1, 2, 3, 4, 5
)

// RowSpans are the words of Parts at which the columns of GatherRows begin and end.
var RowSpans = [RowColumns]struct{ Start, End int }{
	{SchemeWord, SchemeWord + 1},
	{HostWord, HostWord + 1},
	{OriginWord, OriginWord + 1},
	{DomainWord, HostWord + 1},
	{SuffixWord, HostWord + 1},
	{PathWord, PathWord + 1},
}

// ManyColumns is from how many columns on GatherRows is faster than a Gather for each.
const ManyColumns = 5

// GathersRows reports whether the variant in use has a kernel for GatherRows.
func GathersRows() bool { return current != Generic && current != NEON }

// GatherRows appends the parts of rows to several columns at once, namely to those of which wanted has the bit of
// their number set. Nothing is appended to the others; what stands behind their data, and their offsets, are
// undefined afterwards, so that they may share memory. paths is the usual length of paths. The same holds for input and
// side as for [Gather].
func GatherRows(columns *[RowColumns]Column, wanted int, rows []Parts, paths Usual, input, side []byte) {
	if len(rows) == 0 {
		return
	}
	for i := range columns {
		c := &columns[i]
		_, _ = c.Data[:len(c.Data)+Slack], c.Offsets[:len(rows)]
	}
	gatherRows(columns, wanted, rows, paths, input, side)
}

// gatherRowsGeneric is the reference of the kernel of this name.
func gatherRowsGeneric(columns *[RowColumns]Column, wanted int, rows []Parts, input, side []byte) {
	for i, s := range RowSpans {
		if wanted>>i&1 != 0 {
			spans := Spans{Words: PartsWords32(rows), Start: s.Start, End: s.End, Stride: PartsWords}
			c := &columns[i]
			c.Data = gatherGeneric(c.Data, c.Offsets, spans, len(rows), input, side)
		}
	}
}

// PartsWords32 returns rows as words.
func PartsWords32(rows []Parts) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(rows))), len(rows)*PartsWords)
}

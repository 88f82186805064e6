package columns

import (
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/internal/scan"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// Mask is a set of columns.
type Mask uint32

// The columns.
const (
	Href              Mask = 1 << iota // the serialized URL
	Scheme                             // without the colon
	HasUsername                        // whether there is a username
	Host                               // as serialized, without the port; null when the URL has none
	Port                               // null when there is none, or it is the scheme's default
	Origin                             // serialized; null when it is opaque, which equals nothing, itself included
	RegistrableDomain                  // null unless the host is a domain below a public suffix
	PublicSuffix                       // null unless the host is a domain
	Path                               // percent-encoded as it stands in the URL
	Query                              // without the question mark; null when there is none
	Params                             // names and values of the query, decoded; null when there is no query
	Fragment                           // without the number sign; null when there is none

	All Mask = 1<<iota - 1
)

// Text is a column of strings. Its buffers have Arrow's layout.
type Text struct {
	Data    []byte
	Offsets []int32
	Validity

	usual scan.Usual // length of the last values
}

// At returns row i, empty for a null. It aliases the column.
func (t *Text) At(i int) []byte {
	start, end := t.Offsets[i], t.Offsets[i+1]
	return t.Data[start:end:end]
}

func (t *Text) reset() {
	t.Data = t.Data[:0]
	t.Offsets = append(t.Offsets[:0], 0)
	t.Validity.reset()
}

// Validity is a validity bitmap.
type Validity struct {
	Valid []byte // bit i%8 of byte i/8 is set when row i is not null
	Nulls int    // number of nulls
	rows  int
}

// IsValid reports whether row i is not null.
func (v *Validity) IsValid(i int) bool { return v.Valid[i/8]>>(i%8)&1 != 0 }

func (v *Validity) reset() { v.Valid, v.Nulls, v.rows = v.Valid[:0], 0, 0 }

// Bits is a column of booleans, packed like a validity bitmap.
type Bits struct {
	Bits []byte
	Validity
}

func (b *Bits) reset() {
	b.Bits = b.Bits[:0]
	b.Validity.reset()
}

// Ints is a column of 32-bit numbers.
type Ints struct {
	Values []int32
	Validity
}

func (c *Ints) reset() {
	c.Values = c.Values[:0]
	c.Validity.reset()
}

// ParamLists is a column of lists of names and values: row i has the entries Offsets[i]:Offsets[i+1] of Keys
// and Values, which are never null.
type ParamLists struct {
	Keys, Values Text
	Offsets      []int32
	Validity

	keepEntries []bool // scratch of compact
}

func (p *ParamLists) reset() {
	p.Keys.reset()
	p.Values.reset()
	p.Offsets = append(p.Offsets[:0], 0)
	p.Validity.reset()
}

// Error says why a row is no URL. Its zero value stands for a row that is one.
type Error struct {
	Code urlcore.Code
	// InBase tells that the base URL is at fault, not the URL.
	InBase bool
	// Pos is the byte position in the input, or in the base.
	Pos int32
}

// Columns is a batch of parsed URLs. The zero value is ready for use; it must not be used by several goroutines
// at once. All buffers belong to the Columns and are valid until its next use. They are kept for the batches to come, but
// not for long when those are much smaller.
type Columns struct {
	// Want is the set of columns to fill; zero means all. The others stay empty.
	Want Mask
	// Dictionaries is the set of columns, of Host, Origin and RegistrableDomain, that are to be filled as a
	// [Dictionary] instead of a [Text], if they are wanted.
	Dictionaries Mask
	// PSL is the list for RegistrableDomain and PublicSuffix; nil means psl.Default() at each Parse.
	PSL *psl.List

	// Rows is the number of rows.
	Rows int
	// Errors has an entry for every row.
	Errors []Error
	// Invalid is the number of rows that have an error.
	Invalid int

	Href, Scheme, Host, Origin, RegistrableDomain, PublicSuffix, Path, Query, Fragment Text

	Hosts, Origins, RegistrableDomains Dictionary

	HasUsername Bits
	Port        Ints
	Params      ParamLists

	parser   urlcore.Parser
	url      urlcore.URL
	base     urlcore.URL
	baseText []byte
	baseErr  urlcore.Failure
	haveBase bool
	list     *psl.List
	want     Mask

	// Of the batch being parsed: the bases, that of the current row, and the number of rows before the stretch.
	bases    []byte
	baseEnds []int32
	current  *urlcore.URL
	first    int
	large    bool // a column may become longer than maxText

	// Of the stretch being parsed: bitmaps, what the kernel finds, positions, queries.
	maps      scan.Bitmaps
	rows      scan.Rows
	pos       Positions
	queries   scan.Queries
	queryText Text // where Query is not wanted
	unwanted  scan.Column

	located Positions // what Locate returns

	filter      *scan.SuffixFilter // of list, and of all that use it
	hosts       hostCache
	sizes       sizes
	unknownHost []byte // of the row being fixed: the host that hosts does not know,
	unknownAt   int    // and where it begins in the row
}

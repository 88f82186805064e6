package columns

import (
	"cmp"
	"slices"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// Span is a piece of text: bytes Start to End of the input or, when both have their highest bit set, of the side
// buffer of the [Positions] (without that bit). A part that is null is an empty span; the row's [Flags] tell.
type Span = scan.Span

// Parts says where the parts of one URL are. Domain and Suffix are where the registrable domain and the public
// suffix begin; both reach to the end of the host. What a row does not have is empty.
type Parts = scan.Parts

// Flags says which parts a row has.
type Flags = scan.Flags

// The flags. A row without IsURL has an error and no part; without HasOrigin the origin is opaque.
const (
	IsURL       = scan.IsURL
	HasHost     = scan.HasHost
	HasPort     = scan.HasPort
	HasOrigin   = scan.HasOrigin
	HasDomain   = scan.HasDomain
	HasSuffix   = scan.HasSuffix
	HasQuery    = scan.HasQuery
	HasFragment = scan.HasFragment
)

// Positions says for every row of a batch where its parts are, without copying any that stand in the input as
// they are to be. The zero value is ready for use; its memory is reused by the next use.
type Positions struct {
	Parts []Parts
	Flags []Flags
	// Side holds the text that differs from the input.
	Side []byte

	ports  []rowPort
	users  []int32
	errors []rowError
}

// rowPort is the port of a row; most have none.
type rowPort struct {
	row  int32
	port int32
}

// rowError is the error of a row; most have none.
type rowError struct {
	row int32
	err Error
}

// Bytes returns the text of a span of these positions in the input that they were made of. It aliases input or Side.
func (p *Positions) Bytes(s Span, input []byte) []byte {
	if s.Start&scan.Side != 0 {
		input, s = p.Side, Span{Start: s.Start &^ scan.Side, End: s.End &^ scan.Side}
	}
	return input[s.Start:s.End:s.End]
}

// Port returns the port of a row, and false when it is null. It searches.
func (p *Positions) Port(row int) (uint16, bool) {
	i, ok := slices.BinarySearchFunc(p.ports, int32(row), func(e rowPort, row int32) int { return cmp.Compare(e.row, row) })
	if !ok {
		return 0, false
	}
	return uint16(p.ports[i].port), true
}

// Err returns the error of a row. It searches.
func (p *Positions) Err(row int) Error {
	i, ok := slices.BinarySearchFunc(p.errors, int32(row), func(e rowError, row int32) int { return cmp.Compare(e.row, row) })
	if !ok {
		return Error{}
	}
	return p.errors[i].err
}

// HasUsername reports whether a row has a username. It searches.
func (p *Positions) HasUsername(row int) bool {
	_, ok := slices.BinarySearch(p.users, int32(row))
	return ok
}

// reset empties p. The first byte of the side buffer is the path that a URL without one has.
func (p *Positions) reset() {
	p.Parts, p.Flags = p.Parts[:0], p.Flags[:0]
	p.ports, p.users, p.errors = p.ports[:0], p.users[:0], p.errors[:0]
	p.resetSide()
}

func (p *Positions) resetSide() { p.Side = append(p.Side[:0], '/') }

// sideSpan returns the span of the side buffer from start to its end.
func (p *Positions) sideSpan(start int) Span {
	return Span{Start: scan.Side | uint32(start), End: scan.Side | uint32(len(p.Side))}
}

// add appends the parts of a stretch, whose spans of its side buffer are moved to where that comes to lie in p's.
func (p *Positions) add(stretch *Positions) {
	shift := uint32(len(p.Side))
	p.Side = append(p.Side, stretch.Side...)
	row := len(p.Parts)
	p.Parts = append(p.Parts, stretch.Parts...)
	for i := range p.Parts[row:] {
		r := &p.Parts[row+i]
		for _, s := range [...]*Span{&r.Href, &r.Scheme, &r.Host, &r.Origin, &r.Path, &r.Query, &r.Fragment} {
			if s.Start&scan.Side != 0 {
				s.Start += shift
				s.End += shift
			}
		}
		if r.Host.Start&scan.Side != 0 {
			r.Domain += shift
			r.Suffix += shift
		}
	}
}

// sideAt returns position i of the side buffer as it stands in a [Span].
func sideAt(i int) uint32 { return scan.Side | uint32(i) }

// sidePart returns the span of a piece of the side buffer.
func sidePart(start, end int) Span { return Span{Start: sideAt(start), End: sideAt(end)} }

// addRows adds n rows whose contents are undefined and returns their parts and flags. The parts are those of a new
// stretch and begin at index 0, the flags go on.
func (p *Positions) addRows(n int) ([]Parts, []Flags) {
	p.Parts = slices.Grow(p.Parts[:0], n)[:n]
	row := len(p.Flags)
	p.Flags = slices.Grow(p.Flags, n)[:row+n]
	return p.Parts, p.Flags[row:]
}

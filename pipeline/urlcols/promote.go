package urlcols

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/urlmill/urlmill/urlcore/columns"
	"github.com/urlmill/urlmill/urlcore/tracking"
)

// Take says which values of a parameter a column gets.
type Take uint8

const (
	First Take = iota // First is the first value.
	Last              // Last is the last value.
	Every             // Every is all values, as a list.
)

// Promoted is a parameter of the query that has a column of its own.
type Promoted struct {
	// Params are the names of the parameter, decoded. The first of them that a query has is the one.
	Params []string
	// Name is that of the column.
	Name string
	Take Take
}

var textsType = arrow.ListOfNonNullable(utf8Type)

func (p Promoted) column() column {
	c := column{name: p.Name, typ: utf8Type, nullable: true, want: columns.Params}
	c.comment = "value of the query's parameter " + p.Params[0]
	for _, name := range p.Params[1:] {
		c.comment += ", else " + name
	}
	c.build = func(s *state) *array.Data { return s.promoteOne(p) }
	if p.Take == Every {
		c.typ = textsType
		c.build = func(s *state) *array.Data { return s.promoteAll(p) }
	}
	return c
}

// find returns the first or last entry of row i that has the first name of p that is there at all.
func (s *state) find(p Promoted, i int) (entry int, ok bool) {
	params := &s.cols.Params
	start, end := int(params.Offsets[i]), int(params.Offsets[i+1])
	for _, name := range p.Params {
		for k := range end - start {
			entry := start + k
			if p.Take == Last {
				entry = end - 1 - k
			}
			if string(params.Keys.At(entry)) == name {
				return entry, true
			}
		}
	}
	return 0, false
}

func (s *state) promoteOne(p Promoted) *array.Data {
	return s.derive(s.batch.Len(), func(dst []byte, i int) ([]byte, bool) {
		entry, ok := s.find(p, i)
		if !ok {
			return dst, false
		}
		return append(dst, s.cols.Params.Values.At(entry)...), true
	}).array(s, utf8Type)
}

// promoteAll gives null where the query has no such parameter.
func (s *state) promoteAll(p Promoted) *array.Data {
	params, n := &s.cols.Params, s.batch.Len()
	offsets, bits, nulls := s.scratch.takeInts(n+1), s.scratch.takeBytes((n+7)/8), 0
	offsets[0] = 0
	entries := s.derived.entries[:0]
	for i := range n {
		first, ok := s.find(p, i)
		if ok {
			bits[i/8] |= 1 << (i % 8)
			name := params.Keys.At(first)
			for e := params.Offsets[i]; e < params.Offsets[i+1]; e++ {
				if string(params.Keys.At(int(e))) == string(name) {
					entries = append(entries, e)
				}
			}
		} else {
			nulls++
		}
		offsets[i+1] = int32(len(entries))
	}
	s.derived.entries = entries
	values := s.derive(len(entries), func(dst []byte, k int) ([]byte, bool) {
		return append(dst, params.Values.At(int(entries[k]))...), true
	})
	child := s.varData(utf8Type, nil, 0, values.offsets, values.data)
	return s.nested(textsType, n, nulls, []*memory.Buffer{s.buffer(bits), s.ints32(offsets)}, child)
}

// tracked tells for every entry of the parameters whether the tracking rules name it.
func (s *state) tracked() []bool {
	d := &s.derived
	if d.haveTracked {
		return d.tracked
	}
	params := &s.cols.Params
	d.tracked = d.tracked[:0]
	for i := range s.batch.Len() {
		var domain []byte
		if s.cols.RegistrableDomain.IsValid(i) {
			domain = s.cols.RegistrableDomain.At(i)
		}
		for e := params.Offsets[i]; e < params.Offsets[i+1]; e++ {
			d.tracked = append(d.tracked, s.lists.rules.Kind(domain, params.Keys.At(int(e))) != tracking.None)
		}
	}
	d.haveTracked = true
	return d.tracked
}

func (s *state) trackingParams() *array.Data { return s.someParams(paramsType, true) }

// otherParams is params where the tracking rules take a part.
func (s *state) otherParams() *array.Data { return s.someParams(s.plan.paramsType(), false) }

// someParams builds the list of those parameters that the tracking rules name, or do not name.
func (s *state) someParams(t arrow.DataType, named bool) *array.Data {
	params, n := &s.cols.Params, s.batch.Len()
	tracked := s.tracked()
	var entries []int32
	offsets := s.scratch.takeInts(n + 1)
	offsets[0] = 0
	for i := range n {
		for e := params.Offsets[i]; e < params.Offsets[i+1]; e++ {
			if tracked[e] == named {
				entries = append(entries, e)
			}
		}
		offsets[i+1] = int32(len(entries))
	}
	s.derived.entries = entries
	pick := func(from *columns.Text) *array.Data {
		d := s.derive(len(entries), func(dst []byte, k int) ([]byte, bool) { return append(dst, from.At(int(entries[k]))...), true })
		return s.varData(utf8Type, nil, 0, d.offsets, d.data)
	}
	return s.pairs(t, s.validBuffer(&params.Validity), params.Nulls, offsets, pick(&params.Keys), pick(&params.Values))
}

// mapType is params as a map. A map may have a key twice here, as a query may.
var mapType = func() *arrow.MapType {
	t := arrow.MapOf(utf8Type, utf8Type)
	t.SetItemNullable(false)
	return t
}()

// paramsType returns the type of the column params.
func (p *Plan) paramsType() arrow.DataType { return paramsTypeOf(p.opts) }

func paramsTypeOf(opts Options) arrow.DataType {
	if opts.ParamsAsMap {
		return mapType
	}
	return paramsType
}

// checkPromoted returns what is wrong with promoted parameters.
func checkPromoted(promoted []Promoted) []error {
	var errs []error
	for _, p := range promoted {
		if len(p.Params) == 0 || slices.Contains(p.Params, "") {
			errs = append(errs, &OptionError{"promote", p.Name, "it has no parameter", false})
		}
	}
	return errs
}

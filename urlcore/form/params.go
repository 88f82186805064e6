package form

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// ErrPair is returned by [FromSequence] for an item that is not a name and a value.
var ErrPair = errors.New("form: not a pair of name and value")

// Params is an ordered list of pairs with the methods of the standard's URLSearchParams class.
//
// The zero value is an empty list ready for use. A Params is not safe for concurrent use and must not be copied by
// assignment once it is bound; [Params.Clone] makes a copy. Names given to the methods are compared
// with those of the list code point by code point.
//
// https://url.spec.whatwg.org/#urlsearchparams
type Params struct {
	pairs  []Pair
	update func(*Params)
	add    func(Pair) bool
}

// New returns the list of the pairs in a query, of which one leading question mark is dropped.
func New(query string) *Params {
	return &Params{pairs: Parse(strings.TrimPrefix(query, "?"))}
}

// FromPairs returns a list of the given pairs, which are copied.
func FromPairs(pairs ...Pair) *Params {
	p := &Params{pairs: make([]Pair, len(pairs))}
	for i, pair := range pairs {
		p.pairs[i] = Pair{scalars(pair.Name), scalars(pair.Value)}
	}
	return p
}

// FromSequence returns a list of pairs that are given as slices of a name and a value. A slice of another length is an
// error that wraps [ErrPair].
func FromSequence(items [][]string) (*Params, error) {
	p := &Params{pairs: make([]Pair, 0, len(items))}
	for i, item := range items {
		if len(item) != 2 {
			return nil, fmt.Errorf("%w: item %d has %d strings", ErrPair, i, len(item))
		}
		p.pairs = append(p.pairs, Pair{scalars(item[0]), scalars(item[1])})
	}
	return p, nil
}

// FromRecord returns a list of the entries of a record, an ordered map, in the order in which they come. A name that
// comes again, or becomes equal to one when its ill-formed parts are replaced, changes the value of the first.
//
// The order of a Go map is not defined: for one, give the entries in the order of the sorted keys.
func FromRecord(entries iter.Seq2[string, string]) *Params {
	p := &Params{}
	at := map[string]int{}
	for name, value := range entries {
		name, value = scalars(name), scalars(value)
		if i, ok := at[name]; ok {
			p.pairs[i].Value = value
			continue
		}
		at[name] = len(p.pairs)
		p.pairs = append(p.pairs, Pair{name, value})
	}
	return p
}

// Clone returns a copy of the list, which is bound to nothing.
func (p *Params) Clone() *Params { return &Params{pairs: slices.Clone(p.pairs)} }

// Bind makes update be called after each method that changes the list, also when it changed nothing, as the
// standard's update steps are: a URL object writes its query anew then. Another call replaces the function, nil
// removes it. update may read the list and call [Params.SetQuery], but no method that changes the list.
//
// https://url.spec.whatwg.org/#concept-urlsearchparams-update
func (p *Params) Bind(update func(*Params)) { p.update = update }

// BindAppend makes add be called after [Params.Append], with the pair that is the last now, before the function of
// [Params.Bind], and in its place when it returns true: whoever has the list serialized need not do so anew for each pair.
func (p *Params) BindAppend(add func(Pair) bool) { p.add = add }

// SetQuery replaces the list by the pairs of query, which is bytes without a leading question mark, for the
// owner of a bound list whose query was changed. It does not call the bound function. Iterations under way
// go on with the new list. query is not kept.
func (p *Params) SetQuery(query []byte) {
	clear(p.pairs)
	p.pairs = AppendParse(p.pairs[:0], query)
}

// changed runs the update steps.
func (p *Params) changed() {
	if p.update != nil {
		p.update(p)
	}
}

// Append adds a pair at the end of the list.
func (p *Params) Append(name, value string) {
	added := Pair{scalars(name), scalars(value)}
	p.pairs = append(p.pairs, added)
	if p.add == nil || !p.add(added) {
		p.changed()
	}
}

// Delete removes all pairs of that name.
func (p *Params) Delete(name string) {
	name = scalars(name)
	p.pairs = slices.DeleteFunc(p.pairs, func(pair Pair) bool { return pair.Name == name })
	p.changed()
}

// DeleteValue removes all pairs of that name and value.
func (p *Params) DeleteValue(name, value string) {
	gone := Pair{scalars(name), scalars(value)}
	p.pairs = slices.DeleteFunc(p.pairs, func(pair Pair) bool { return pair == gone })
	p.changed()
}

// Get returns the value of the first pair of that name, and whether there is one.
func (p *Params) Get(name string) (value string, ok bool) {
	if i := p.index(scalars(name)); i >= 0 {
		return p.pairs[i].Value, true
	}
	return "", false
}

// GetAll returns the values of all pairs of that name in order, or nil. The caller owns the slice.
func (p *Params) GetAll(name string) []string {
	name = scalars(name)
	var values []string
	for _, pair := range p.pairs {
		if pair.Name == name {
			values = append(values, pair.Value)
		}
	}
	return values
}

// Has reports whether the list has a pair of that name.
func (p *Params) Has(name string) bool { return p.index(scalars(name)) >= 0 }

// HasValue reports whether the list has a pair of that name and value.
func (p *Params) HasValue(name, value string) bool {
	return slices.Contains(p.pairs, Pair{scalars(name), scalars(value)})
}

// Set gives the first pair of that name the value and removes the others of that name; without one it adds a pair
// at the end.
func (p *Params) Set(name, value string) {
	name, value = scalars(name), scalars(value)
	if i := p.index(name); i >= 0 {
		p.pairs[i].Value = value
		rest := slices.DeleteFunc(p.pairs[i+1:], func(pair Pair) bool { return pair.Name == name })
		p.pairs = p.pairs[:i+1+len(rest)]
	} else {
		p.pairs = append(p.pairs, Pair{name, value})
	}
	p.changed()
}

// Sort sorts the pairs by the UTF-16 code units of their names. Pairs of one name keep their order.
func (p *Params) Sort() {
	slices.SortStableFunc(p.pairs, func(a, b Pair) int { return CompareUTF16(a.Name, b.Name) })
	p.changed()
}

// Len returns the number of pairs, the size of the standard's class.
func (p *Params) Len() int { return len(p.pairs) }

// AppendTo appends the serialized list to dst and returns the extended buffer; see [AppendPairs].
func (p *Params) AppendTo(dst []byte) []byte { return AppendPairs(dst, p.pairs) }

// String returns the serialized list, without a question mark.
func (p *Params) String() string { return string(p.AppendTo(nil)) }

// index returns the place of the first pair of that name, or -1.
func (p *Params) index(name string) int {
	return slices.IndexFunc(p.pairs, func(pair Pair) bool { return pair.Name == name })
}

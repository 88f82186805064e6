package form

import "iter"

// An Iterator goes through a list by index, over whatever the list is at each step: pairs that are added
// meanwhile are visited, and when a pair at or before the last one is removed, one is skipped.
//
// https://webidl.spec.whatwg.org/#es-iterators
type Iterator struct {
	params *Params
	next   int
}

// Iterator returns an iterator at the beginning of the list.
func (p *Params) Iterator() *Iterator { return &Iterator{params: p} }

// Next returns the next pair, and false when there was none. An iterator that has come to the end goes on when
// there are more pairs later.
func (it *Iterator) Next() (pair Pair, ok bool) {
	if it.next >= len(it.params.pairs) {
		return Pair{}, false
	}
	it.next++
	return it.params.pairs[it.next-1], true
}

// At returns the pair at index i, from 0 to Len()-1. It panics outside of that range.
func (p *Params) At(i int) Pair { return p.pairs[i] }

// All ranges over names and values. The list may be changed on the way; see [Iterator] for what is visited then.
func (p *Params) All() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for i := 0; i < len(p.pairs); i++ {
			if pair := p.pairs[i]; !yield(pair.Name, pair.Value) {
				return
			}
		}
	}
}

// Keys ranges over the names, as [Params.All] does.
func (p *Params) Keys() iter.Seq[string] { return p.each(func(pair *Pair) string { return pair.Name }) }

// Values ranges over the values, as [Params.All] does.
func (p *Params) Values() iter.Seq[string] {
	return p.each(func(pair *Pair) string { return pair.Value })
}

func (p *Params) each(part func(*Pair) string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(p.pairs); i++ {
			if !yield(part(&p.pairs[i])) {
				return
			}
		}
	}
}

package agents

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// filter finds, in one walk over a text, which of many expressions may match it: an Aho-Corasick automaton over literals of their
// clauses. Of each expression one clause, the one that says most, is its trigger: the expression may match where that is met and, of its
// other clauses, those that many expressions have. It is immutable.
type filter struct {
	class    [256]uint8 // of a byte in lower case; 0 for those that no literal has
	classes  uint32
	next     []uint32 // state, which is a multiple of classes, and class: the state behind
	firstHit uint32   // states from it on have a hit
	hits     []hit
	needs    []uint64 // of a rule: the common clauses that it has
	always   []uint64 // a bit for each rule without clauses
}

// hit is what the literals mean that end at a state.
type hit struct {
	common   uint64   // the common clauses that are met
	triggers []uint16 // the rules whose triggers are met
}

// matches is the scratch memory of a walk. It belongs to one goroutine.
type matches struct {
	ascii bool     // whether the text is in ASCII
	bits  []uint64 // the rules that may match
}

// node is a state of the trie that becomes the automaton.
type node struct {
	next map[byte]int
	hit
	fail, state int
}

// numCommon is how many clauses are common.
const numCommon = 64

// maxLiteral is how many bytes of a literal are looked for.
const maxLiteral = 12

// newFilter returns the filter of rules with those clauses.
func newFilter(rules [][][]string) *filter {
	f := &filter{classes: 1, needs: make([]uint64, len(rules)), always: make([]uint64, (len(rules)+63)/64)}
	trie := []node{{next: map[byte]int{}}}
	add := func(literals []string) (ends []int) {
		for _, literal := range literals {
			at := 0
			for _, b := range []byte(literal[:min(len(literal), maxLiteral)]) {
				if f.class[b] == 0 {
					f.class[b] = uint8(f.classes)
					f.classes++
				}
				if trie[at].next[b] == 0 {
					trie[at].next[b] = len(trie)
					trie = append(trie, node{next: map[byte]int{}})
				}
				at = trie[at].next[b]
			}
			ends = append(ends, at)
		}
		return ends
	}
	key := func(literals []string) string { return strings.Join(literals, "\n") }
	shared := make(map[string]int) // how many rules have a clause
	for _, clauses := range rules {
		for _, literals := range clauses {
			shared[key(literals)]++
		}
	}
	common := make(map[string]uint64)
	names := make([]string, 0, len(shared))
	for name := range shared {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(shared[b]-shared[a], strings.Compare(a, b)) })
	for i, name := range names[:min(numCommon, len(names))] {
		common[name] = 1 << i
		for _, at := range add(strings.Split(name, "\n")) {
			trie[at].common |= 1 << i
		}
	}
	for r, clauses := range rules {
		if len(clauses) == 0 {
			f.always[r/64] |= 1 << (r % 64)
			continue
		}
		for _, literals := range clauses {
			f.needs[r] |= common[key(literals)]
		}
		trigger := slices.MinFunc(clauses, func(a, b []string) int {
			return cmp.Or(strength(b)-strength(a), shared[key(a)]-shared[key(b)])
		})
		for _, at := range add(trigger) {
			trie[at].triggers = append(trie[at].triggers, uint16(r))
		}
	}
	f.link(trie)
	for b := byte('A'); b <= 'Z'; b++ {
		f.class[b] = f.class[b+'a'-'A']
	}
	return f
}

// link makes the states of a trie. What a state does not know, its longest end that is a state knows.
func (f *filter) link(trie []node) {
	order := []int{0} // nearest to the root first
	for i := 0; i < len(order); i++ {
		at := order[i]
		for b, child := range trie[at].next {
			order = append(order, child)
			fail := trie[at].fail
			for fail != 0 && trie[fail].next[b] == 0 {
				fail = trie[fail].fail
			}
			if at != 0 {
				trie[child].fail = trie[fail].next[b]
			}
			behind := &trie[trie[child].fail].hit
			trie[child].common |= behind.common
			trie[child].triggers = slices.Compact(slices.Sorted(slices.Values(slices.Concat(trie[child].triggers, behind.triggers))))
		}
	}
	states := 0
	number := func(hits bool) {
		for i := range trie {
			if n := &trie[i]; (n.common != 0 || len(n.triggers) > 0) == hits {
				n.state = states * int(f.classes)
				states++
				if hits {
					f.hits = append(f.hits, n.hit)
				}
			}
		}
	}
	number(false)
	f.firstHit = uint32(states) * f.classes
	number(true)
	f.next = make([]uint32, states*int(f.classes))
	for _, at := range order {
		n := &trie[at]
		row := f.next[n.state : n.state+int(f.classes)]
		if at != 0 {
			copy(row, f.next[trie[n.fail].state:])
		}
		for b, child := range n.next {
			row[f.class[b]] = uint32(trie[child].state)
		}
	}
}

// find sets m.bits to the rules that may match text.
func (f *filter) find(m *matches, text string) {
	any := f.walk(m, text)
	if m.ascii = any < utf8.RuneSelf; !m.ascii {
		f.walk(m, strings.Map(foldRune, text))
	}
}

// walk is find of a text in ASCII, or of one that is folded. It returns the bits that any byte has.
func (f *filter) walk(m *matches, text string) (any byte) {
	m.bits = append(m.bits[:0], f.always...)
	state, met := f.next[f.class[begin[0]]], uint64(0)
	for i := -1; ; {
		if state >= f.firstHit {
			h := &f.hits[(state-f.firstHit)/f.classes]
			met |= h.common
			for _, rule := range h.triggers {
				m.bits[rule/64] |= 1 << (rule % 64)
			}
		}
		if i++; i == len(text) {
			break
		}
		any |= text[i]
		state = f.next[state+uint32(f.class[text[i]])]
	}
	for w, set := range m.bits {
		for ; set != 0; set &= set - 1 {
			rule := w*64 + bits.TrailingZeros64(set)
			if f.needs[rule]&^met != 0 {
				m.bits[w] &^= 1 << (rule % 64)
			}
		}
	}
	return any
}

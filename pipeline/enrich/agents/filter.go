package agents

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// filter finds, in one walk over a text, which of many expressions may match it: an Aho-Corasick automaton over the literals of their
// clauses. It is immutable.
type filter struct {
	class   [256]uint8 // of a byte in lower case; 0 for those that no literal has
	classes int
	next    []uint16   // state and class: the state behind
	hits    [][]uint16 // state: the clauses of literals that end there
	rule    []uint16   // of a clause
	needs   []uint16   // clauses of a rule
	always  []uint64   // a bit for each rule without clauses
}

// matches is the scratch memory of a walk. It belongs to one goroutine.
type matches struct {
	epoch uint32
	seen  []uint32 // by clause: the walk that met it last
	walk  []uint32 // by rule: the walk that have is of
	have  []uint16 // by rule: how many of its clauses were met
	bits  []uint64 // the rules that may match
	fold  []byte
}

// node is a state of the trie that becomes the automaton.
type node struct {
	next map[byte]int
	hits []uint16
	fail int
}

// newFilter returns the filter of rules with those clauses.
func newFilter(rules [][][]string) *filter {
	f := &filter{classes: 1, always: make([]uint64, (len(rules)+63)/64)}
	trie := []node{{next: map[byte]int{}}}
	for r, clauses := range rules {
		f.needs = append(f.needs, uint16(len(clauses)))
		if len(clauses) == 0 {
			f.always[r/64] |= 1 << (r % 64)
		}
		for _, literals := range clauses {
			id := uint16(len(f.rule))
			f.rule = append(f.rule, uint16(r))
			for _, literal := range literals {
				at := 0
				for _, b := range []byte(literal) {
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
				trie[at].hits = append(trie[at].hits, id)
			}
		}
	}
	if len(trie) > math.MaxUint16 || len(f.rule) > math.MaxUint16 {
		panic("agents: too many literals for 16 bits") // the lists are ours: TestLists
	}
	f.link(trie)
	for b := byte('A'); b <= 'Z'; b++ {
		f.class[b] = f.class[b+'a'-'A']
	}
	return f
}

// link makes the states of a trie, nearest to the root first: what a state does not know, its longest end that is a state knows.
func (f *filter) link(trie []node) {
	f.next, f.hits = make([]uint16, len(trie)*f.classes), make([][]uint16, len(trie))
	queue := []int{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		row := f.next[at*f.classes : (at+1)*f.classes]
		if at != 0 {
			copy(row, f.next[trie[at].fail*f.classes:])
			f.hits[at] = union16(trie[at].hits, f.hits[trie[at].fail])
		}
		for b, child := range trie[at].next {
			if at != 0 {
				trie[child].fail = int(row[f.class[b]])
			}
			queue = append(queue, child)
		}
		for b, child := range trie[at].next {
			row[f.class[b]] = uint16(child)
		}
	}
}

func union16(a, b []uint16) []uint16 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Clip(slices.Compact(all))
}

// find sets m.bits to the rules that may match text.
func (f *filter) find(m *matches, text string) {
	if m.seen == nil {
		m.seen, m.walk, m.have = make([]uint32, len(f.rule)), make([]uint32, len(f.needs)), make([]uint16, len(f.needs))
	}
	if m.epoch++; m.epoch == 0 {
		clear(m.seen)
		clear(m.walk)
		m.epoch = 1
	}
	m.bits = append(m.bits[:0], f.always...)
	if strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
		text = strings.Map(foldRune, text)
	}
	m.fold = append(append(m.fold[:0], begin...), text...)
	state := 0
	for _, b := range m.fold {
		state = int(f.next[state*f.classes+int(f.class[b])])
		for _, clause := range f.hits[state] {
			if m.seen[clause] == m.epoch {
				continue
			}
			m.seen[clause] = m.epoch
			rule := f.rule[clause]
			if m.walk[rule] != m.epoch {
				m.walk[rule], m.have[rule] = m.epoch, 0
			}
			if m.have[rule]++; m.have[rule] == f.needs[rule] {
				m.bits[rule/64] |= 1 << (rule % 64)
			}
		}
	}
}

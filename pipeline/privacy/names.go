package privacy

import (
	"bytes"
	"hash/maphash"
	"strings"
)

// patterns are names of rules. Letters are lower-case.
type patterns struct {
	exact map[string]int
	globs []glob
}

// glob is a name with asterisks: what stands between them, the first and the last at the ends of a name.
type glob struct {
	parts [][]byte
	rule  int
}

// add adds a name. The first of two that match counts, but one without an asterisk before all that have one.
func (p *patterns) add(text string, rule int) {
	text = strings.ToLower(text)
	if strings.Contains(text, "*") {
		p.globs = append(p.globs, glob{bytes.Split([]byte(text), []byte("*")), rule})
		return
	}
	if p.exact == nil {
		p.exact = make(map[string]int)
	}
	if _, there := p.exact[text]; !there {
		p.exact[text] = rule
	}
}

// none reports whether there are no names.
func (p *patterns) none() bool { return len(p.exact) == 0 && len(p.globs) == 0 }

// match returns the rule of a name, -1 for none. Of user[email] the part in the last brackets counts as well.
func (p *patterns) match(name []byte) int {
	var lower [longName]byte // on the stack
	name = append(lower[:0], name...)
	for i, c := range name {
		if c-'A' < 26 {
			name[i] = c | 0x20
		}
	}
	if rule := p.matchWhole(name); rule >= 0 {
		return rule
	}
	if inner, ok := bytes.CutSuffix(name, []byte("]")); ok {
		return p.matchWhole(inner[bytes.LastIndexByte(inner, '[')+1:])
	}
	return -1
}

func (p *patterns) matchWhole(name []byte) int {
	if rule, ok := p.exact[string(name)]; ok {
		return rule
	}
	for _, g := range p.globs {
		if g.match(name) {
			return g.rule
		}
	}
	return -1
}

func (g glob) match(name []byte) bool {
	first, last := g.parts[0], g.parts[len(g.parts)-1]
	if len(name) < len(first)+len(last) || !bytes.HasPrefix(name, first) || !bytes.HasSuffix(name, last) {
		return false
	}
	name = name[len(first) : len(name)-len(last)]
	for _, part := range g.parts[1 : len(g.parts)-1] {
		i := bytes.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return true
}

// remembered are patterns with what they have said of names: names of parameters are few. An entry has the 64 bits of a hash by a seed
// that nobody knows, so that two names are taken for one with a chance of 2^-64. It belongs to one goroutine.
type remembered struct {
	*patterns
	seed  maphash.Seed
	slots [256]struct {
		hash uint64
		rule int32
	}
}

func newRemembered(p *patterns) *remembered {
	return &remembered{patterns: p, seed: maphash.MakeSeed()}
}

// longName is the length beyond which names are not remembered: they are made up, and would push others out.
const longName = 64

// match is that of patterns.
func (r *remembered) match(name []byte) int {
	if len(name) > longName {
		return r.patterns.match(name)
	}
	h := maphash.Bytes(r.seed, name) | 1 // zero is an empty slot
	slot := &r.slots[h>>1%uint64(len(r.slots))]
	if slot.hash != h {
		slot.hash, slot.rule = h, int32(r.patterns.match(name))
	}
	return int(slot.rule)
}

// cleanTexts remembers texts of which nothing is removed, by a hash as names are: the user agents and referrers of a log are few.
type cleanTexts struct {
	seed  maphash.Seed
	slots []uint64 // nil until there are texts
}

// cleanSlot is where a text is remembered by its hash.
type cleanSlot struct {
	at   *uint64
	hash uint64
}

func (c *cleanTexts) slot(text []byte) cleanSlot {
	if c.slots == nil {
		c.seed, c.slots = maphash.MakeSeed(), make([]uint64, 1<<13)
	}
	h := maphash.Bytes(c.seed, text) | 1 // zero is an empty slot
	return cleanSlot{&c.slots[h>>51], h}
}

// Package agents says what a user agent is: browser, system, device and bot. The rules are those of uap-core, of which the first that
// matches counts, and lists of bots; what the rules need is found in one walk over the text, so that few of their expressions run.
package agents

import (
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

var (
	//go:embed lists/useragents.txt
	userAgentList string
	//go:embed lists/bots.txt
	botList string
	//go:embed lists/crawlers.txt
	crawlerList string
)

// The groups of rules.
const (
	browsers = iota
	systems
	devices
	bots
	marks // of classes of devices
	numGroups
)

// rule is an expression with what it says of the texts that it matches: of bots class and name, of marks the class, of others templates
// with $1.
type rule struct {
	expr    string
	says    []string
	parts   [][]part // of says, nil unless one has a $
	program atomic.Pointer[program]
	regexp  atomic.Pointer[regexp.Regexp]
}

// part is a piece of a template: a text, and a group behind it, 0 for none.
type part struct {
	text  string
	group int
}

// partsOf returns the parts of a template, whose groups have one digit.
func partsOf(template string) (parts []part, err error) {
	for {
		text, rest, more := strings.Cut(template, "$")
		if !more {
			return append(parts, part{text, 0}), nil
		}
		if len(rest) == 0 || rest[0] < '1' || rest[0] > '9' || len(rest) > 1 && isWord(rest[1]) {
			return nil, fmt.Errorf("%q: $ wants a digit behind it, and no letter or digit behind that", template)
		}
		parts = append(parts, part{text, int(rest[0] - '0')})
		template = rest[1:]
	}
}

// re returns the compiled expression. Most are never needed, so that each is compiled when it is.
func (it *rule) re() *regexp.Regexp {
	re := it.regexp.Load()
	if re == nil {
		re = regexp.MustCompile(it.expr) // TestLists compiles all
		it.regexp.Store(re)
	}
	return re
}

// noProgram stands for the program of an expression that has none.
var noProgram = new(program)

// compiled returns the program, nil if the expression has none.
func (it *rule) compiled() *program {
	p := it.program.Load()
	if p == nil {
		if p = compile(it.expr, it.parts != nil); p == nil {
			p = noProgram
		}
		it.program.Store(p)
	}
	if p == noProgram {
		return nil
	}
	return p
}

// RulesMemory is about what all rules hold when every expression is compiled.
const RulesMemory = 32 << 20

// Rules are all rules. They are safe for concurrent use.
type Rules struct {
	rules  []rule // by group
	starts [numGroups + 1]int
	filter *filter
}

// Default returns the rules that are built in, the same each time.
var Default = sync.OnceValue(func() *Rules {
	r, err := parse(userAgentList, botList, crawlerList)
	if err != nil {
		panic(err) // TestLists
	}
	return r
})

// Version is a hash of the lists that are built in.
var Version = sync.OnceValue(func() string {
	sum := sha256.Sum256([]byte(userAgentList + botList + crawlerList))
	return hex.EncodeToString(sum[:16])
})

// parse reads the lists: that of uap-core, whose lines begin with their group, and those of bots, the first to count first.
func parse(userAgents string, lists ...string) (*Rules, error) {
	var groups [numGroups][][]string
	names := map[string]int{"browser": browsers, "os": systems, "device": devices}
	for line := range lines(userAgents) {
		fields := strings.Split(line, "\t")
		group, ok := names[fields[0]]
		if !ok || len(fields) < 3 {
			return nil, fmt.Errorf("no rule: %q", line)
		}
		groups[group] = append(groups[group], fields[1:])
	}
	for _, list := range lists {
		for line := range lines(list) {
			fields := strings.Split(line, "\t")
			if len(fields) != 3 || !classes[fields[0]] {
				return nil, fmt.Errorf("no bot: %q", line)
			}
			groups[bots] = append(groups[bots], []string{fields[2], fields[0], fields[1]})
		}
	}
	for _, d := range deviceMarks {
		for _, mark := range d.marks {
			groups[marks] = append(groups[marks], []string{regexp.QuoteMeta(mark), d.class})
		}
	}
	r, clauses := new(Rules), [][][]string(nil)
	for g, group := range groups {
		r.starts[g+1] = r.starts[g] + len(group)
	}
	r.rules = make([]rule, r.starts[numGroups])
	for g, group := range groups {
		for i, fields := range group {
			needs, err := clausesOf(fields[0])
			if err != nil {
				return nil, fmt.Errorf("%q: %w", fields[0], err)
			}
			clauses = append(clauses, needs)
			it := &r.rules[r.starts[g]+i]
			it.expr, it.says = fields[0], fields[1:]
			if g < bots && strings.Contains(strings.Join(it.says, ""), "$") {
				for _, say := range it.says {
					parts, err := partsOf(say)
					if err != nil {
						return nil, err
					}
					it.parts = append(it.parts, parts)
				}
			}
		}
	}
	r.filter = newFilter(clauses)
	return r, nil
}

// BotNames returns the names of all bots in the lists, sorted.
func (r *Rules) BotNames() []string {
	var names []string
	for i := r.starts[bots]; i < r.starts[bots+1]; i++ {
		names = append(names, r.rules[i].says[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// classes are those of bots.
var classes = map[string]bool{
	"search": true, "ai_training": true, "ai_assistant": true, "ai_search": true, "preview": true, "monitor": true, "seo": true, "tool": true, "unknown": true,
}

// lines yields the lines of a list without comments.
func lines(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if line != "" && line[0] != '#' && !yield(line) {
				return
			}
		}
	}
}

// ScannerMemory is about what a [Scanner] holds.
const ScannerMemory = 64 << 10

// Scanner has the scratch memory of lookups. It belongs to one goroutine; the zero value is ready.
type Scanner struct {
	matches matches
	machine machine
	groups  []int32 // positions of the groups of the last match
	said    [5][]byte
	fields  []byte // of the agent that is made, one behind the other
}

// first returns the first rule of a group that matches text, nil if there is none, and what it says of it in s.said. A rule whose first
// result is empty does not count, as in uap-go.
func (r *Rules) first(s *Scanner, group int, text string) *rule {
	from, to := r.starts[group], r.starts[group+1]
	for w := from / 64; w*64 < to; w++ {
		for set := s.matches.bits[w]; set != 0; set &= set - 1 {
			i := w*64 + bits.TrailingZeros64(set)
			if i < from || i >= to {
				continue
			}
			if it := &r.rules[i]; it.match(s, text) && (group >= bots || it.say(s, text)) {
				return it
			}
		}
	}
	return nil
}

// match reports whether a text matches, and sets s.groups.
func (it *rule) match(s *Scanner, text string) bool {
	if p := it.compiled(); p != nil && s.matches.ascii {
		if found, done := p.match(&s.machine, text); done {
			s.groups = s.machine.saved[:p.saves]
			return found
		}
	}
	if it.parts == nil {
		return it.re().MatchString(text)
	}
	s.groups = s.groups[:0:0]
	for _, at := range it.re().FindStringSubmatchIndex(text) {
		s.groups = append(s.groups, int32(at))
	}
	return len(s.groups) > 0
}

// say sets s.said, and reports whether the first of it is not empty.
func (it *rule) say(s *Scanner, text string) bool {
	for k, say := range it.says {
		dst := s.said[k][:0]
		if it.parts == nil {
			dst = append(dst, say...)
		} else {
			for _, p := range it.parts[k] {
				dst = append(dst, p.text...)
				if at := 2 * p.group; at > 0 && at < len(s.groups) && s.groups[at] >= 0 {
					dst = append(dst, text[s.groups[at]:s.groups[at+1]]...)
				}
			}
		}
		s.said[k] = dst
	}
	return len(s.said[0]) > 0
}

package agents

import (
	"math"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// program is an expression as a list of instructions, for texts in ASCII. It is matched by backtracking, in the order in which regexp
// prefers, so that it finds what regexp finds: TestProgram compares the two. A match takes at most so many steps, behind which regexp
// has to be asked.
type program struct {
	insts    []inst
	start    int32
	saves    int      // positions of groups
	first    *byteSet // what a match begins with
	prefix   string   // what every match begins with, perhaps ""
	anchored bool     // a match begins where the text begins
}

// maxSteps is how often a match may go back, for all places where it may begin.
const maxSteps = 4096

// maxInsts is how long a program may be.
const maxInsts = 2048

// byteSet has the bytes that may come next, and at endOfText whether the end may.
type byteSet [endOfText + 1]bool

const endOfText = 0x80

type op uint8

const (
	opMatch op = iota
	opLiteral
	opFold    // a literal whose case does not matter
	opSet     // one byte of a set
	opGreedy  // bytes of a set, as many as there are
	opLazy    // bytes of a set, as few as will do
	opAlt     // the first of branches
	opSave    // remembers the position, of a group
	opBegin   // the start of the text
	opEnd     // its end
	opWord    // where a word begins or ends
	opNotWord // where none does
)

type inst struct {
	op       op
	next     int32
	min, max int32 // of repetitions; of opSave, min is the number of the position
	set      *byteSet
	after    *byteSet // of repetitions: what may come behind them
	literal  string
	// Of opAlt, the instructions that it goes on with, in their order: branches as they were made, and next[starts[c]:starts[c+1]] of them
	// where c is what comes next.
	branches []int32
	likely   *likely
}

// likely are the branches of an opAlt by what comes next.
type likely struct {
	starts [endOfText + 2]uint16
	next   []int32
}

// compiler makes a program. It begins with what comes last, so that each instruction is made with the one behind it.
type compiler struct {
	insts   []inst
	groups  bool // whether positions of groups are wanted
	refused bool // the expression has something that programs do not have
}

// compile returns the program of an expression, nil if there cannot be one.
func compile(expr string, groups bool) *program {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil
	}
	c := &compiler{insts: []inst{{op: opMatch}}, groups: groups}
	start := c.add(re, 0)
	if c.refused {
		return nil
	}
	p := &program{start: start}
	for i := range c.insts {
		in := &c.insts[i]
		if in.op == opAlt {
			c.choose(in)
		}
		if in.op == opGreedy || in.op == opLazy {
			in.after = c.first(in.next)
		}
	}
	p.first = c.first(start)
	if c.refused {
		return nil
	}
	p.insts = append(p.insts, c.insts...)
	for start = p.start; p.insts[start].op == opSave; {
		start = p.insts[start].next
	}
	switch in := &p.insts[start]; in.op {
	case opLiteral:
		p.prefix = in.literal
	case opSet:
		if i := slices.Index(in.set[:], true); !slices.Contains(in.set[i+1:], true) {
			p.prefix = string(rune(i))
		}
	case opBegin:
		p.anchored = true
	}
	if groups {
		p.saves = 2 * (re.MaxCap() + 1)
	}
	return p
}

func (c *compiler) emit(in inst) int32 {
	if len(c.insts) >= maxInsts {
		c.refused = true
		return 0
	}
	c.insts = append(c.insts, in)
	return int32(len(c.insts) - 1)
}

// add adds an expression before the instruction next, and returns where it begins.
func (c *compiler) add(re *syntax.Regexp, next int32) int32 {
	if c.refused {
		return 0
	}
	if set := setOf(re); set != nil {
		return c.emit(inst{op: opSet, set: set, next: next})
	}
	switch re.Op {
	case syntax.OpEmptyMatch:
		return next
	case syntax.OpLiteral:
		text := string(re.Rune)
		if !isASCII(text) {
			break
		}
		if re.Flags&syntax.FoldCase != 0 {
			return c.emit(inst{op: opFold, literal: strings.ToLower(text), next: next})
		}
		return c.emit(inst{op: opLiteral, literal: text, next: next})
	case syntax.OpCapture:
		if !c.groups {
			return c.add(re.Sub[0], next)
		}
		next = c.emit(inst{op: opSave, min: int32(2*re.Cap + 1), next: next})
		next = c.add(re.Sub[0], next)
		return c.emit(inst{op: opSave, min: int32(2 * re.Cap), next: next})
	case syntax.OpConcat:
		for i := len(re.Sub) - 1; i >= 0; i-- {
			next = c.add(re.Sub[i], next)
		}
		return next
	case syntax.OpAlternate:
		branches := make([]int32, len(re.Sub))
		for i, sub := range re.Sub {
			branches[i] = c.add(sub, next)
		}
		return c.emit(inst{op: opAlt, branches: branches})
	case syntax.OpQuest:
		return c.repeat(re, 0, 1, next)
	case syntax.OpStar:
		return c.repeat(re, 0, -1, next)
	case syntax.OpPlus:
		return c.repeat(re, 1, -1, next)
	case syntax.OpRepeat:
		return c.repeat(re, re.Min, re.Max, next)
	case syntax.OpBeginText:
		return c.emit(inst{op: opBegin, next: next})
	case syntax.OpEndText:
		return c.emit(inst{op: opEnd, next: next})
	case syntax.OpWordBoundary:
		return c.emit(inst{op: opWord, next: next})
	case syntax.OpNoWordBoundary:
		return c.emit(inst{op: opNotWord, next: next})
	}
	c.refused = true
	return 0
}

// repeat adds what comes at least least times, and at most most times unless that is negative.
func (c *compiler) repeat(re *syntax.Regexp, least, most int, next int32) int32 {
	sub, lazy := re.Sub[0], re.Flags&syntax.NonGreedy != 0
	if set := setOf(sub); set != nil {
		if most < 0 {
			most = 1 << 30
		}
		in := inst{op: opGreedy, set: set, min: int32(least), max: int32(most), next: next}
		if lazy {
			in.op = opLazy
		}
		return c.emit(in)
	}
	// either goes on with the body or with next.
	either := func(body int32) []int32 {
		if lazy {
			return []int32{next, body}
		}
		return []int32{body, next}
	}
	at := next
	if most < 0 {
		at = c.emit(inst{op: opAlt})
		body := c.add(sub, at)
		c.insts[at].branches = either(body)
	}
	for range max(most-least, 0) {
		at = c.emit(inst{op: opAlt, branches: either(c.add(sub, at))})
	}
	for range least {
		at = c.add(sub, at)
	}
	return at
}

// choose sets the branches of an opAlt by what comes next.
func (c *compiler) choose(in *inst) {
	first := make([]*byteSet, len(in.branches))
	for k, b := range in.branches {
		first[k] = c.first(b)
	}
	in.likely = new(likely)
	for next := range endOfText + 1 {
		for k, b := range in.branches {
			if first[k][next] {
				in.likely.next = append(in.likely.next, b)
			}
		}
		if len(in.likely.next) > math.MaxUint16 {
			c.refused = true
			return
		}
		in.likely.starts[next+1] = uint16(len(in.likely.next))
	}
	in.likely.next = slices.Clip(in.likely.next)
}

// setOf returns the bytes that an expression for one character has, nil for another expression.
func setOf(re *syntax.Regexp) *byteSet {
	var set byteSet
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		for c := range endOfText {
			set[c] = c != '\n' || re.Op == syntax.OpAnyChar
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			for c := re.Rune[i]; c <= min(re.Rune[i+1], endOfText-1); c++ {
				set[c] = true
			}
		}
	case syntax.OpLiteral:
		if len(re.Rune) != 1 || re.Rune[0] >= endOfText {
			return nil
		}
		set.addLiteral(string(re.Rune), re.Flags&syntax.FoldCase != 0)
	default:
		return nil
	}
	return intern(set)
}

// addLiteral adds the byte that a literal begins with.
func (s *byteSet) addLiteral(literal string, fold bool) {
	s[literal[0]] = true
	if fold {
		s[strings.ToLower(literal[:1])[0]], s[strings.ToUpper(literal[:1])[0]] = true, true
	}
}

// first returns what may come where the instructions from at on are about to match. Those that match nothing may not lead to themselves:
// they would match nothing for ever.
func (c *compiler) first(at int32) *byteSet {
	var set byteSet
	visited := make(map[int32]bool) // false while what is behind an instruction is visited
	var visit func(at int32)
	visit = func(at int32) {
		if done, before := visited[at]; before {
			c.refused = c.refused || !done
			return
		}
		visited[at] = false
		defer func() { visited[at] = true }()
		in := &c.insts[at]
		switch in.op {
		case opMatch:
			for i := range set {
				set[i] = true
			}
		case opLiteral, opFold:
			set.addLiteral(in.literal, in.op == opFold)
		case opSet, opGreedy, opLazy:
			for i, has := range in.set {
				set[i] = set[i] || has
			}
			if in.op != opSet && in.min == 0 {
				visit(in.next)
			}
		case opAlt:
			for _, b := range in.branches {
				visit(b)
			}
		default:
			visit(in.next)
		}
	}
	visit(at)
	return intern(set)
}

// sets are all sets of all programs, which have few different ones.
var sets sync.Map

func intern(set byteSet) *byteSet {
	known, _ := sets.LoadOrStore(set, &set)
	return known.(*byteSet)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= endOfText {
			return false
		}
	}
	return true
}

// frame is where a match goes on if it fails: which instruction, at which position, and what is left to try of it.
type frame struct{ at, pos, rest int32 }

// machine is the scratch memory of matches. It belongs to one goroutine.
type machine struct {
	frames []frame
	saved  []int32 // positions of groups, -1 for a group that is not in the match
	steps  int
}

// match finds the first match of a text in ASCII. It reports whether there is one, and false for done if that takes too long.
func (p *program) match(m *machine, text string) (found, done bool) {
	m.steps = maxSteps
	for len(m.saved) < p.saves {
		m.saved = append(m.saved, 0)
	}
	for i := range m.saved[:p.saves] {
		m.saved[i] = -1
	}
	for start := 0; start <= len(text); start++ {
		if p.prefix != "" {
			i := strings.Index(text[start:], p.prefix)
			if i < 0 {
				return false, true
			}
			start += i
		} else if !p.anchored {
			for start < len(text) && !p.first[text[start]] {
				start++
			}
			if start == len(text) && !p.first[endOfText] {
				return false, true
			}
		}
		if p.run(m, text, start) {
			return true, true
		}
		if m.steps--; m.steps < 0 {
			return false, false
		}
		if p.anchored {
			break
		}
	}
	return false, true
}

// nextByte returns the byte at a position, as byteSet has it.
func nextByte(text string, pos int) byte {
	if pos < len(text) {
		return text[pos]
	}
	return endOfText
}

// run reports whether the text matches from pos on. m.saved is as before if it does not.
func (p *program) run(m *machine, text string, pos int) bool {
	frames := m.frames[:0]
	at, rest, again := p.start, int32(0), false
	for {
		in := &p.insts[at]
		ok := false
		switch in.op {
		case opMatch:
			m.frames = frames
			return true
		case opLiteral:
			if ok = strings.HasPrefix(text[pos:], in.literal); ok {
				pos += len(in.literal)
			}
		case opFold:
			if ok = hasPrefixFold(text[pos:], in.literal); ok {
				pos += len(in.literal)
			}
		case opSet:
			if ok = pos < len(text) && in.set[text[pos]]; ok {
				pos++
			}
		case opGreedy:
			least := int(rest)
			if !again {
				least = pos + int(in.min)
				for most := min(len(text), pos+int(in.max)); pos < most && in.set[text[pos]]; {
					pos++
				}
			}
			for pos >= least && !in.after[nextByte(text, pos)] {
				pos--
			}
			if ok = pos >= least; ok && pos > least {
				frames = append(frames, frame{at, int32(pos - 1), int32(least)})
			}
		case opLazy:
			most := int(rest)
			ok = true
			if !again {
				most = min(len(text), pos+int(in.max))
				least := pos + int(in.min)
				for ; ok && pos < least; pos++ {
					ok = pos < most && in.set[text[pos]]
				}
			} else if ok = pos < most && in.set[text[pos]]; ok {
				pos++
			}
			for ok && !in.after[nextByte(text, pos)] {
				if ok = pos < most && in.set[text[pos]]; ok {
					pos++
				}
			}
			if ok && pos < most {
				frames = append(frames, frame{at, int32(pos), int32(most)})
			}
		case opAlt:
			c := nextByte(text, pos)
			if !again {
				rest = int32(in.likely.starts[c])
			}
			if most := int32(in.likely.starts[c+1]); rest < most {
				if rest+1 < most {
					frames = append(frames, frame{at, int32(pos), rest + 1})
				}
				at, again = in.likely.next[rest], false
				continue
			}
		case opSave:
			if again {
				m.saved[in.min] = rest
			} else {
				frames = append(frames, frame{at, 0, m.saved[in.min]})
				m.saved[in.min] = int32(pos)
				ok = true
			}
		case opBegin:
			ok = pos == 0
		case opEnd:
			ok = pos == len(text)
		case opWord, opNotWord:
			boundary := (pos > 0 && isWord(text[pos-1])) != (pos < len(text) && isWord(text[pos]))
			ok = boundary == (in.op == opWord)
		}
		if ok {
			at, again = in.next, false
			continue
		}
		n := len(frames) - 1
		if m.steps--; n < 0 || m.steps < 0 {
			m.frames = frames
			return false
		}
		at, pos, rest, again = frames[n].at, int(frames[n].pos), frames[n].rest, true
		frames = frames[:n]
	}
}

func isWord(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// hasPrefixFold reports whether text begins with prefix, which is in lower case, in any case.
func hasPrefixFold(text, prefix string) bool {
	if len(text) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		c := text[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}

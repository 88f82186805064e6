package agents

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
)

// What a text has to have for an expression to match it is a list of clauses: of each, the text has one of the literals. All is in
// the lower case of foldRune, so that clauses hold for expressions that ignore case as well. They are necessary and not sufficient.

const (
	maxExact   = 64   // texts that a part may be; of what has more, the parts are looked at
	maxClause  = 1024 // literals of a clause; one that has more says nothing
	minLiteral = 2    // bytes of a literal; shorter ones are in most texts

	// begin stands before every text, so that a literal may say that it stands at the start.
	begin = "\x00"
)

// need is what a part of an expression asks for. A part that matches nothing but a few texts has them as exact, and no clauses. Of
// another part, prefix has what all that it matches begins with, if that is known.
type need struct {
	exact   []string
	prefix  []string
	clauses [][]string
}

// start returns what all that the part matches begins with, nil if it is not known.
func (n need) start() []string {
	if n.exact != nil {
		return n.exact
	}
	return n.prefix
}

// clausesOf returns the clauses of an expression.
func clausesOf(expr string) ([][]string, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	n := needOf(re)
	return append(n.clauses, useful(n.exact)...), nil
}

// useful returns a clause in a list, or none if a literal of it is too short to say something.
func useful(literals []string) [][]string {
	if len(literals) == 0 || slices.ContainsFunc(literals, func(l string) bool { return len(l) < minLiteral }) {
		return nil
	}
	return [][]string{literals}
}

func needOf(re *syntax.Regexp) need {
	switch re.Op {
	case syntax.OpBeginText:
		return need{exact: []string{begin}}
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return need{exact: []string{""}}
	case syntax.OpLiteral:
		return need{exact: []string{strings.Map(foldRune, string(re.Rune))}}
	case syntax.OpCharClass:
		return need{exact: charClass(re.Rune)}
	case syntax.OpCapture:
		return needOf(re.Sub[0])
	case syntax.OpQuest:
		if n := needOf(re.Sub[0]); n.exact != nil {
			return need{exact: union(n.exact, []string{""})}
		}
	case syntax.OpPlus:
		return again(needOf(re.Sub[0]))
	case syntax.OpRepeat:
		if re.Min > 0 {
			return again(needOf(re.Sub[0]))
		}
	case syntax.OpConcat:
		return concat(re.Sub)
	case syntax.OpAlternate:
		return alternate(re.Sub)
	}
	return need{}
}

// again is the need of what comes once or more often.
func again(n need) need {
	return need{clauses: append(n.clauses, useful(n.exact)...), prefix: n.start()}
}

// charClass returns the characters of a small class, nil for a large one.
func charClass(ranges []rune) (exact []string) {
	for i := 0; i < len(ranges); i += 2 {
		if ranges[i+1]-ranges[i] > maxExact {
			return nil
		}
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			exact = append(exact, string(foldRune(r)))
		}
	}
	return union(exact, nil)
}

// concat joins what stands side by side: as long as all of it is exact, literals become longer.
func concat(subs []*syntax.Regexp) (whole need) {
	run := []string{""}
	whole.exact = run
	end := func(run []string) {
		whole.clauses = append(whole.clauses, useful(run)...)
		if whole.exact != nil {
			whole.exact, whole.prefix = nil, run
		}
	}
	for _, sub := range subs {
		n := needOf(sub)
		if product := cross(run, n.exact); product != nil {
			run = product
			continue
		}
		if longer := cross(run, n.start()); longer != nil {
			run = longer
		}
		end(run)
		whole.clauses = append(whole.clauses, n.clauses...)
		run = []string{""}
		if n.exact != nil {
			run = n.exact
		}
	}
	if whole.exact != nil {
		return need{exact: run}
	}
	end(run)
	return whole
}

// alternate needs one clause of each alternative, of which it takes those whose shortest literal is longest.
func alternate(subs []*syntax.Regexp) need {
	var all, prefix []string
	exact, begins, needs := true, true, true
	for _, sub := range subs {
		n := needOf(sub)
		best := n.exact
		if best == nil {
			exact = false
			if len(n.clauses) == 0 {
				needs = false
			} else {
				best = slices.MaxFunc(n.clauses, func(a, b []string) int { return shortest(a) - shortest(b) })
			}
		}
		begins = begins && n.start() != nil
		all, prefix = union(all, best), union(prefix, n.start())
	}
	var n need
	if exact && len(all) <= maxExact {
		return need{exact: all}
	}
	if begins && len(prefix) <= maxClause {
		n.prefix = prefix
	}
	if needs && len(all) <= maxClause {
		n.clauses = useful(all)
	}
	return n
}

func shortest(literals []string) int {
	return len(slices.MinFunc(literals, func(a, b string) int { return len(a) - len(b) }))
}

// cross returns each of a with each of b behind it, nil where b is not known or these are too many.
func cross(a, b []string) (product []string) {
	if len(a)*len(b) > maxExact && (len(a) > 1 || len(b) > maxClause) {
		return nil
	}
	for _, x := range a {
		for _, y := range b {
			product = append(product, x+y)
		}
	}
	return union(product, nil)
}

func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// foldRune returns the same rune for all that an expression without case takes for one.
func foldRune(r rune) rune {
	if r < unicode.MaxASCII {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	if 'A' <= least && least <= 'Z' {
		least += 'a' - 'A'
	}
	return least
}

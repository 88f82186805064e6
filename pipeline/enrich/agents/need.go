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
	maxExact   = 24 // alternatives of a clause; what has more says nothing
	minLiteral = 2  // bytes of a literal; shorter ones are in most texts
)

// need is what a part of an expression asks for. A part that matches nothing but a few texts has them as exact, and no clauses.
type need struct {
	exact   []string
	clauses [][]string
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
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
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
	return need{clauses: append(n.clauses, useful(n.exact)...)}
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
func concat(subs []*syntax.Regexp) need {
	run, clauses, whole := []string{""}, [][]string(nil), true
	for _, sub := range subs {
		n := needOf(sub)
		if product := cross(run, n.exact); product != nil {
			run = product
			continue
		}
		clauses = append(append(clauses, useful(run)...), n.clauses...)
		whole, run = false, []string{""}
		if n.exact != nil {
			run = n.exact
		}
	}
	if whole {
		return need{exact: run}
	}
	return need{clauses: append(clauses, useful(run)...)}
}

// alternate needs one clause of each alternative, of which it takes those whose shortest literal is longest.
func alternate(subs []*syntax.Regexp) need {
	var all []string
	exact := true
	for _, sub := range subs {
		n := needOf(sub)
		best := n.exact
		if best == nil {
			exact = false
			if len(n.clauses) == 0 {
				return need{}
			}
			best = slices.MaxFunc(n.clauses, func(a, b []string) int { return shortest(a) - shortest(b) })
		}
		all = union(all, best)
	}
	switch {
	case len(all) > 8*maxExact:
		return need{}
	case exact && len(all) <= maxExact:
		return need{exact: all}
	default:
		return need{clauses: useful(all)}
	}
}

func shortest(literals []string) int {
	return len(slices.MinFunc(literals, func(a, b string) int { return len(a) - len(b) }))
}

// cross returns each of a with each of b behind it, nil where these are too many.
func cross(a, b []string) (product []string) {
	if len(a)*len(b) > maxExact {
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

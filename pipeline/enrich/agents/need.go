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
		n := needOf(re.Sub[0])
		if exact := powers(n.exact, re.Min, re.Max); exact != nil {
			return need{exact: exact}
		}
		if re.Min > 0 {
			return again(n)
		}
	case syntax.OpConcat:
		return concat(re.Sub)
	case syntax.OpAlternate:
		return alternate(re.Sub)
	}
	return need{}
}

// powers returns what texts are from least to most times, nil where these are too many.
func powers(texts []string, least, most int) (all []string) {
	if texts == nil || most < 0 || most > 4 {
		return nil
	}
	product := []string{""}
	for i := range most + 1 {
		if i >= least {
			all = union(all, product)
		}
		if product = cross(product, texts); product == nil && i < most {
			return nil
		}
	}
	return all
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

// alternate needs one clause of each alternative, of which it takes those that say most.
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
				best = slices.MaxFunc(n.clauses, func(a, b []string) int { return strength(a) - strength(b) })
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

// usual are user agents of most visitors, in lower case. What they have says little of a text.
var usual = []string{
	begin + "mozilla/5.0 (windows nt 10.0; win64; x64) applewebkit/537.36 (khtml, like gecko) chrome/143.0.0.0 safari/537.36 edg/143.0.0.0",
	begin + "mozilla/5.0 (macintosh; intel mac os x 10_15_7) applewebkit/605.1.15 (khtml, like gecko) version/18.5 safari/605.1.15",
	begin + "mozilla/5.0 (iphone; cpu iphone os 18_5_0 like mac os x) applewebkit/605.1.15 (khtml, like gecko) version/18.5 mobile/15e148 safari/604.1",
	begin + "mozilla/5.0 (linux; android 13; sm-g991b build/tp1a.220624.014; wv) applewebkit/537.36 (khtml, like gecko) version/4.0 chrome/143.0.0.0 mobile safari/537.36",
	begin + "mozilla/5.0 (windows nt 10.0; win64; x64; rv:145.0) gecko/20100101 firefox/145.0",
}

// strength is how much a clause says: the length of its shortest literal, 0 if most texts have one of its literals.
func strength(literals []string) int {
	least := len(literals[0])
	for _, l := range literals {
		if slices.ContainsFunc(usual, func(text string) bool { return strings.Contains(text, l) }) {
			return 0
		}
		least = min(least, len(l))
	}
	return least
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

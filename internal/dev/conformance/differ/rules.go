package differ

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/urlmill/urlmill/urlcore"
)

// Rule is a reason for which Node's answers may differ from ours. It has one of the four functions.
type Rule struct {
	// Name says what is right, and Source which change of the standard with its date, or which defect of Ada, is the
	// cause. Defects are named by the report or the correction, or else by the versions that were seen to have them
	// or not.
	Name, Source string
	// Probe is a JavaScript expression that is true for a Node that has the older or wrong behaviour.
	Probe string
	// renew returns Node's result as it would be with the newer or right behaviour. It may change r.
	renew func(d *Difference, r Result) Result
	// age returns our result as it would be with the older or wrong behaviour. It may change r.
	age func(d *Difference, r Result) Result
	// refuses reports whether Node takes what we refuse, and does so by the older or wrong behaviour.
	refuses func(d *Difference) bool
	// without returns the question without what the rule is about, and whether the rule may be the cause at all. It
	// is, if there is no difference then.
	without func(d *Difference) (Question, bool)
}

// Rules are all rules.
var Rules = []Rule{
	{
		Name: "^ is percent-encoded in paths", Source: "whatwg/url 9bc33c3, 2025-03-05",
		Probe: `new URL('https://h/^').pathname === '/^'`, renew: encodeCaret,
	},
	{
		Name: "a space before ? or # becomes %20 at the end of an opaque path", Source: "whatwg/url 6c78200, 2025-03-13",
		Probe: `new URL('x:y ?').pathname === 'y '`, renew: encodeOpaqueSpace,
	},
	{
		Name: "an ASCII domain never fails", Source: "whatwg/url a8d5ca3, 2026-06-25",
		Probe: `!URL.canParse('https://xn--/')`, without: withoutFailingALabels,
	},
	{
		Name:   "domains are mapped and checked by the tables of Unicode 17",
		Source: "UTS 46 of Unicode 15.1, 2023-09-12, 16, 2024-09-10, and 17, 2025-09-09; Go 1.26 has those of 15.0",
		Probe:  `true`, without: withoutChangedCharacters,
	},
	{
		Name: "domains are not checked by the tables of Unicode 18", Source: "UTS 46 of Unicode 18, 2026-09; the standard's cases are those of 17",
		Probe: `URL.canParse('https://\u{3d000}/')`, without: withoutUnassigned,
	},
	{
		Name: "an A-label that stands for ASCII fails", Source: "UTS 46 revision 33 (Unicode 16), 2024-09-10",
		Probe: `URL.canParse('https://xn--a-.\u00e9/')`, without: withoutASCIIALabels,
	},
	{
		Name: "the Bidi rule holds for every label of a domain", Source: "ada-url/idna#91, ada-url/ada#1145, ada-url/ada#1136",
		Probe: `URL.canParse('https://0.\u05d0/')`, without: withoutRightToLeft,
	},
	{
		Name: "every joiner of a label is checked", Source: "ada-url/idna#90",
		Probe: `URL.canParse('https://\u0915\u094d\u200d\u200d\u0937/')`, without: withoutJoiners,
	},
	{
		Name: "a label does not begin with a combining mark, nor with one of Unicode 14", Source: "in Ada 2.9.2 to 4.0.0",
		Probe: `URL.canParse('https://\u1ac6/')`, without: withoutMarks,
	},
	{
		Name: "Punycode does not begin with a hyphen that ends nothing", Source: "RFC 3492, 6.2; in Ada 2.9.2 to 4.0.0",
		Probe: `URL.canParse('https://xn---n3h.\u00e9/')`, without: withoutLeadingHyphen,
	},
	{
		Name: "nothing but a fragment resolves against an opaque path", Source: "ada-url/ada#1186",
		Probe: `URL.canParse('a#', 'x:y')`, refuses: refusesForOpaqueBase,
	},
	{
		Name: ".. at the end of a path leaves an empty segment", Source: "in Ada 2.9.2, not in 4.0.0",
		Probe: `new URL('x:/..').pathname === ''`, renew: keepEmptySegment,
	},
	{
		Name: "a reference without a query keeps the base's, also an empty one", Source: "in Ada 2.9.2, not in 4.0.0",
		Probe: `new URL('', 'x:/?').href === 'x:/'`, age: dropEmptyQuery,
	},
	{
		Name: "dot segments are removed after a segment that begins with a dot", Source: "ada-url/ada#935",
		Probe: `new URL('https://h/a/.b/../c').pathname === '/a/.b/../c'`, without: withoutLeadingDots,
	},
	{
		Name: "a drive letter is a whole segment", Source: "ada-url/ada#1156",
		Probe: `new URL('file:c:x/..').pathname === '/c:x/'`, without: withoutLetterColon,
	},
	{
		Name: "the port setter ignores what begins with no digit", Source: "ada-url/ada#839, ada-url/ada#961",
		Probe: `set('https://h:1/', 'port', '.5') === 'https://h/'`, age: clearPort,
	},
	{
		Name: "the host setter sets a port where there was no host", Source: "in Ada 2.9.2, not in 4.0.0",
		Probe: `set('x:/', 'host', 'h:1') === 'x://h/'`, age: dropPort,
	},
	{
		Name: "the host setter ignores a port without a host", Source: "ada-url/ada#963",
		Probe: `set('x://h/', 'host', ':1') === 'x://:1/'`, refuses: refusesPortAlone,
	},
	{
		Name: "the host setter makes an empty host out of none", Source: "ada-url/ada#1157",
		Probe: `set('x:/', 'host', '') === 'x:/'`, renew: addEmptyHost,
	},
	{
		Name: "the protocol setter keeps port 0", Source: "ada-url/ada#1166",
		Probe: `set('x://h:0/', 'protocol', 'y') === 'y://h/'`, age: dropPortZero,
	},
	{
		Name: "the pathname setter keeps query and fragment", Source: "in Ada 2.9.2, not in 4.0.0",
		Probe: `set('x:/.//a?b', 'pathname', '//c') === 'x:/.//c'`, age: dropQuery,
	},
}

// Rules returns the rules that apply to the process.
func (n *Node) Rules() ([]Rule, error) {
	var rules []Rule
	for _, rule := range Rules {
		answer, err := n.Evaluate(rule.Probe)
		if err != nil {
			return nil, err
		}
		var applies bool
		if err := json.Unmarshal(answer, &applies); err != nil {
			return nil, fmt.Errorf("probe %s: %w", rule.Probe, err)
		}
		if applies {
			rules = append(rules, rule)
		}
	}
	return rules, nil
}

// Explain returns the names of the rules that explain the difference. Where it takes another question to tell, that
// is asked. There are none when the difference is not explained.
func (n *Node) Explain(d *Difference, rules []Rule) ([]string, error) {
	if names := d.explain(rules); names != nil {
		return names, nil
	}
	for i, rule := range rules {
		if rule.without == nil {
			continue
		}
		q, may := rule.without(d)
		if !may {
			continue
		}
		answer, err := n.askOne(q)
		if err != nil {
			return nil, err
		}
		rest := n.Compare(q, answer)
		if rest == nil && d.says(q, answer) {
			return []string{rule.Name}, nil
		}
		if rest == nil {
			continue
		}
		// What is left may be for other reasons.
		others := slices.Concat(rules[:i:i], rules[i+1:])
		if names, err := n.Explain(rest, others); names != nil || err != nil {
			return append(names, rule.Name), err
		}
	}
	return nil, nil
}

// says reports whether an answer that both sides give to q says something. When both refuse what q has in place of a
// rule's subject, that does not tell why one of them took it in d.
func (d *Difference) says(q Question, answer Result) bool {
	if answer == nil || q.Set == nil || d.Theirs == nil || d.Theirs.Get("href") == d.Ours.Get("href") {
		return answer != nil
	}
	u, err := urlcore.Parse(q.Input)
	return err == nil && !answer.equal(read(u))
}

// explain returns the names of the rules that explain the difference by themselves.
func (d *Difference) explain(rules []Rule) []string {
	var names []string
	renewed := *d
	if d.Theirs != nil && d.Ours != nil {
		for _, rule := range rules {
			if rule.renew == nil {
				continue
			}
			r := rule.renew(d, slices.Clone(renewed.Theirs))
			if !r.equal(renewed.Theirs) {
				names = append(names, rule.Name)
			}
			renewed.Theirs = r
		}
		if d.Ours.equal(renewed.Theirs) {
			return names
		}
	}
	for _, rule := range rules {
		if rule.refuses != nil && rule.refuses(d) {
			return []string{rule.Name}
		}
		if rule.age != nil && d.Ours != nil && d.Theirs != nil {
			r := rule.age(d, slices.Clone(d.Ours))
			if !r.equal(d.Ours) && r.equal(renewed.Theirs) {
				return append(names, rule.Name)
			}
		}
	}
	return nil
}

package enrich

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/config"
)

//go:embed lists/channels.yaml
var builtInChannels string

// The fields that rules have conditions of: those of parameters, and these.
const (
	fieldSourceClass = fieldClick + iota
	fieldReferrerClass
	fieldReferrerSource
	fieldClickNetwork
	fieldDomain
	numFields
)

var fieldNames = append(slices.Clone(paramFields[:fieldClick]), "source_class", "referrer_class", "referrer_source", "click_network", "domain")

// notSet is what a null is to rules, as in GA4.
const notSet = "(not set)"

// channels are rules in their order: the first whose conditions all hold gives the channel.
type channels struct {
	rules    []channelRule
	params   []string // names of the parameters that conditions are about; field numFields+i is that of params[i]
	fields   []int    // that conditions are about
	bySource bool     // whether source is one of fields
	byPage   bool     // whether one of fields is of the page's URL, beside the fields of campaigns
}

type channelRule struct {
	name       []byte
	conditions []condition
}

// condition holds if one of the patterns has the field.
type condition struct {
	field    int
	patterns []pattern
}

// pattern is a text, which may go on at its start and end, or a regular expression. Both are compared with lower case.
type pattern struct {
	text        []byte
	open, after bool // something may stand before, or behind
	regexp      *regexp.Regexp
}

func (p *pattern) match(value []byte) bool {
	switch {
	case p.regexp != nil:
		return p.regexp.Match(value)
	case p.open && p.after:
		return bytes.Contains(value, p.text)
	case p.open:
		return bytes.HasSuffix(value, p.text)
	case p.after:
		return bytes.HasPrefix(value, p.text)
	}
	return bytes.Equal(value, p.text)
}

// covers reports whether p has every value that q has. It may say no where it cannot tell.
func (p *pattern) covers(q *pattern) bool {
	switch {
	case q.regexp != nil:
		return p.regexp != nil && p.regexp.String() == q.regexp.String() || p.open && p.after && len(p.text) == 0
	case !q.open && !q.after:
		return p.match(q.text)
	case p.regexp != nil:
		return false
	case p.open && p.after:
		return bytes.Contains(q.text, p.text)
	case p.open:
		return !q.after && bytes.HasSuffix(q.text, p.text)
	}
	return p.after && !q.open && bytes.HasPrefix(q.text, p.text)
}

func parsePattern(text string) (p pattern, err error) {
	if n := len(text); n > 1 && text[0] == '/' && text[n-1] == '/' {
		p.regexp, err = regexp.Compile("(?i)" + text[1:n-1])
		return p, err
	}
	body, open := strings.CutPrefix(strings.ToLower(text), "*")
	body, after := strings.CutSuffix(body, "*")
	p = pattern{text: []byte(body), open: open, after: after || text == "*"}
	if strings.Contains(body, "*") {
		return p, fmt.Errorf("%q: a star may stand at the start and at the end; write other patterns as regular expressions, between slashes", text)
	}
	return p, nil
}

// covers reports whether every row that has b is one that a has.
func (a *channelRule) covers(b *channelRule) bool {
	for i := range a.conditions {
		wide := &a.conditions[i]
		at := slices.IndexFunc(b.conditions, func(narrow condition) bool {
			if narrow.field != wide.field {
				return false
			}
			return !slices.ContainsFunc(narrow.patterns, func(q pattern) bool {
				return !slices.ContainsFunc(wide.patterns, func(p pattern) bool { return p.covers(&q) })
			})
		})
		if at < 0 {
			return false
		}
	}
	return true
}

// known is what the names in rules are compared with.
type known struct {
	sources *sources
	params  *params
}

// names returns the names that a field may have, nil if that may be any.
func (k known) names(field int) map[string]bool {
	switch field {
	case fieldSourceClass, fieldReferrerClass:
		names := make(map[string]bool)
		for _, name := range classNames {
			names[name] = true
		}
		return names
	case fieldReferrerSource:
		return k.sources.names
	case fieldClickNetwork:
		return k.params.networks
	}
	return nil
}

// writtenRule is a rule as a file has it.
type writtenRule struct {
	channel string
	fields  [numFields][]string
	params  map[string]string
}

// parseChannels reads a file of rules for channels.
func parseChannels(file, text string, k known) (*channels, error) {
	c := new(channels)
	err := c.read(file, text, k, false)
	if err == nil {
		for _, r := range c.rules {
			for _, cond := range r.conditions {
				if !slices.Contains(c.fields, cond.field) {
					c.fields = append(c.fields, cond.field)
					c.bySource = c.bySource || cond.field == fieldSource
					c.byPage = c.byPage || cond.field >= fieldDomain
				}
			}
		}
	}
	return c, err
}

func (c *channels) read(file, text string, k known, extended bool) error {
	var rules []writtenRule
	extend, number := false, 0
	_, err := config.Parse(file, []byte(text), config.Env{}, config.Section{Fields: []config.Field{
		{Name: "version", Doc: "Date of the rules.", Value: config.Text(new(string), "2026-11-23")},
		{Name: "extend", Doc: "Whether the rules that are built in come behind these.", Value: config.Bool(&extend)},
		{
			Name: "rules", Doc: "Rules in their order.", Example: "rules: [{channel: Email, medium: [email]}]",
			Value: config.List(&rules, func() writtenRule { return writtenRule{} }, "[{channel: Email, medium: [email]}]", func(w *writtenRule) config.Section {
				s := w.section()
				s.Check = func(d *config.Check) {
					c.add(d, w, k, number, extended)
					number++
				}
				return s
			}),
		},
	}})
	if err == nil && extend {
		return c.read("", builtInChannels, k, true)
	}
	return err
}

func (w *writtenRule) section() config.Section {
	s := config.Section{Fields: []config.Field{
		{Name: "channel", Doc: "Name of the channel.", Value: config.Text(&w.channel, "Email"), Example: "channel: Email"},
		{Name: "params", Doc: "Parameters of the page's URL.", Value: config.Pairs(&w.params, "a pattern", "{ref: partner-*}")},
	}}
	for i, name := range fieldNames {
		s.Fields = append(s.Fields, config.Field{Name: name, Doc: "Patterns, of which one has to fit.", Value: config.Texts(&w.fields[i], "[newsletter, partner-*]")})
	}
	return s
}

// add adds a rule, and reports what is wrong with it.
func (c *channels) add(d *config.Check, w *writtenRule, k known, number int, extended bool) {
	r := channelRule{name: []byte(w.channel)}
	add := func(field int, key, text string, names map[string]bool) {
		p, err := parsePattern(text)
		switch {
		case err != nil:
			d.Conflict(key, nil, "%v", err)
		case names != nil && p.regexp == nil && !p.open && !p.after && !names[text]:
			all := make([]string, 0, len(names))
			for name := range names {
				all = append(all, name)
			}
			slices.Sort(all)
			d.Conflict(key, nil, "%q is none of the names that %s has%s", text, fieldName(field), config.Suggest(text, all))
		}
		last := len(r.conditions) - 1
		if last < 0 || r.conditions[last].field != field {
			r.conditions = append(r.conditions, condition{field: field})
			last++
		}
		r.conditions[last].patterns = append(r.conditions[last].patterns, p)
	}
	for field, texts := range w.fields {
		for i, text := range texts {
			add(field, fmt.Sprintf("%s[%d]", fieldNames[field], i), text, k.names(field))
		}
	}
	for name, text := range w.params {
		field := slices.Index(c.params, name)
		if field < 0 {
			field = len(c.params)
			c.params = append(c.params, name)
		}
		add(numFields+field, "params."+name, text, nil)
	}
	if len(r.conditions) == 0 {
		d.Conflict("channel", nil, "rule %d (%s) has no condition; add one, such as medium: [email], or medium: [\"*\"] for all that is left", number+1, w.channel)
	}
	for i := range c.rules {
		if before := &c.rules[i]; !extended && before.covers(&r) {
			d.Conflict("channel", nil, "rule %d (%s) never counts: rule %d (%s) stands before it and has all of its rows; put it first, or take one out", number+1, w.channel, i+1, before.name)
			break
		}
	}
	c.rules = append(c.rules, r)
}

func fieldName(field int) string {
	if field < numFields {
		return fieldNames[field]
	}
	return "params"
}

// find returns the channel of a row, nil if no rule has it. values has a text in lower case for every field.
func (c *channels) find(values [][]byte) []byte {
rules:
	for i := range c.rules {
		r := &c.rules[i]
		for k := range r.conditions {
			cond := &r.conditions[k]
			value := values[cond.field]
			if !slices.ContainsFunc(cond.patterns, func(p pattern) bool { return p.match(value) }) {
				continue rules
			}
		}
		return r.name
	}
	return nil
}

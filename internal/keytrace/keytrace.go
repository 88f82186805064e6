// Package keytrace says step by step how a URL becomes its key, and of two URLs where their keys part and what would join them.
package keytrace

import (
	"fmt"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// Change is what a rule has made of a URL.
type Change struct {
	Rule string `json:"rule"` // the name of a step of the form, or parse, fragment or surt
	Text string `json:"text"` // what the rule does
	URL  string `json:"url"`  // what it has made
}

// Trace is the way from a URL to its key.
type Trace struct {
	Input   string
	Changes []Change // rules that change nothing are left out
	Key     string
}

// Of returns how input becomes its key by o.
func Of(o canon.Options, input string) (Trace, error) {
	u, err := urlcore.Parse(input)
	if err != nil {
		return Trace{}, err
	}
	t := Trace{Input: input, Key: input}
	t.add("parse", "the URL as browsers write it", u.Href())
	t.add("fragment", "the fragment, which servers never see, is left out", form(canon.Options{Form: canon.Strict}, u))
	switch o.Form {
	case canon.Strict:
	case canon.Dedupe:
		// One step more each time: the last has all of them, and is the key. Where a step brings up work for one before it,
		// as in /index.html/, that work stands at the later one.
		active, done := active(o), canon.Step(0)
		for _, step := range canon.Steps() {
			if done |= step & active; step&active != 0 {
				t.add(step.String(), step.Text(), form(with(o, done), u))
			}
		}
	default:
		t.add("surt", "a sort-friendly form: the host from its end, then path and query by the rules of "+o.Form.String(), form(o, u))
	}
	return t, nil
}

// add records what a rule has made, if that is something else.
func (t *Trace) add(rule, text, url string) {
	if url != t.Key {
		t.Key = url
		t.Changes = append(t.Changes, Change{rule, text, url})
	}
}

// active returns the steps that o has.
func active(o canon.Options) canon.Step { return canon.Usual&^o.Without | o.With }

// with returns o with those steps alone.
func with(o canon.Options, steps canon.Step) canon.Options {
	o.With, o.Without = steps&^canon.Usual, canon.Usual&^steps
	return o
}

// form returns the canonical form of a URL by o, which [canon.New] takes.
func form(o canon.Options, u *urlcore.URL) string {
	c, err := canon.New(o)
	if err != nil {
		panic(fmt.Sprintf("keytrace: %v", err)) // Check has seen the options
	}
	return string(c.Append(nil, u.Bytes(urlcore.Href)))
}

// Check returns what is wrong with options, and the name of the form that they make.
func Check(o canon.Options) (name string, err error) {
	c, err := canon.New(o)
	if err != nil {
		return "", err
	}
	return c.Name(), nil
}

// Package canon brings URLs into canonical forms, so that the same page under several URLs becomes one key.
//
// A form is a name and a version, such as dedupe/2: whoever stores keys knows by it which ones compare. Every form
// takes the serialization of a URL that was parsed by the URL Standard, and those that return URLs are idempotent.
package canon

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/urlcore/psl"
	"github.com/urlmill/urlmill/urlcore/tracking"
)

// Form is a way of telling which URLs are the same.
type Form uint8

const (
	// Strict is the URL as the standard writes it, without its fragment.
	Strict Form = iota
	// Dedupe also takes away what rarely makes another page: see [Step]. What it returns is a URL.
	Dedupe
	// SURTCC is the key of Common Crawl's index, as in com,example)/path: the rules of the Python package surt 0.3.1,
	// known faults included, since only so do keys meet. One of them is that hosts lose all dots at their ends, so that
	// 1.2.3.4.., which is a domain, has the key of the address.
	SURTCC
	// SURTIA is the key of the Internet Archive's Java tools. It differs from SURTCC where a host begins with more
	// than one www label: all of them go, not the first alone.
	SURTIA
)

var formNames = [...]string{Strict: "strict", Dedupe: "dedupe", SURTCC: "surt-cc", SURTIA: "surt-ia"}

// versions of the forms. A change of what a form returns is another version. Version 1 of dedupe took all dots from the end of
// the host, and so gave a few hosts that do not exist the keys of others.
var versions = [...]string{Strict: "1", Dedupe: "2", SURTCC: "1", SURTIA: "1"}

// String returns the name of a form without its version.
func (f Form) String() string { return formNames[f] }

// Forms returns the names of all forms. The caller owns the slice.
func Forms() []string { return slices.Clone(formNames[:]) }

// ParseForm finds a form by its name.
func ParseForm(name string) (Form, error) {
	if i := slices.Index(formNames[:], name); i >= 0 {
		return Form(i), nil
	}
	return 0, fmt.Errorf("there is no canonical form %q; there are %s", name, strings.Join(formNames[:], ", "))
}

// Step is a part of the form [Dedupe], which may be switched off by itself. All of them concern http and https URLs
// only; others get the strict form.
type Step uint16

const (
	// Credentials takes user name and password away.
	Credentials Step = 1 << iota
	// Host takes the root's dot from the end of the host. A host that ends with several dots keeps them.
	Host
	// WWW takes the label www from the front of the host, where a registrable domain is left.
	WWW
	// Escapes writes percent-escapes in upper case, decodes those of unreserved characters (RFC 3986, section 2.3),
	// and escapes a percent sign that begins no escape.
	Escapes
	// Documents takes a default document, such as index.html, from the end of the path.
	Documents
	// Slash takes slashes from the end of the path.
	Slash
	// Sessions takes session identifiers from path and query.
	Sessions
	// Tracking takes the parameters of the tracking rules from the query.
	Tracking
	// Sort puts the parameters into the order of their names; those of one name stay in theirs.
	Sort
	// Empty takes empty parameters, and the question mark of an empty query, away.
	Empty
	// HTTPS makes http URLs https ones. It is not among the usual steps.
	HTTPS

	// Usual are the steps that the form has unless told otherwise.
	Usual = HTTPS - 1
)

var stepNames = [...]string{
	"credentials", "host", "www", "escapes", "documents", "slash", "sessions", "tracking", "sort", "empty", "https",
}

var stepTexts = [...]string{
	"user name and password are left out",
	"the root's dot is taken from the end of the host",
	"the label www is taken from the front of the host",
	"percent-escapes are in upper case, and not used for letters, digits and -._~",
	"a default document, such as index.html, is taken from the end of the path",
	"slashes are taken from the end of the path",
	"session identifiers are taken from path and query",
	"tracking parameters, such as utm_source, are left out",
	"parameters are in the order of their names",
	"empty parameters, and an empty query, are left out",
	"http becomes https",
}

// Steps returns all steps, each by itself, in their order. The caller owns the slice.
func Steps() []Step {
	all := make([]Step, len(stepNames))
	for i := range all {
		all[i] = 1 << i
	}
	return all
}

// Text says what a step does, in words that begin with a small letter; of several steps, what the first does.
func (s Step) Text() string {
	if i := bits.TrailingZeros16(uint16(s)); i < len(stepTexts) {
		return stepTexts[i]
	}
	return ""
}

// ParseStep finds a step by its name.
func ParseStep(name string) (Step, error) {
	if i := slices.Index(stepNames[:], name); i >= 0 {
		return 1 << i, nil
	}
	return 0, fmt.Errorf("there is no step %q; there are %s", name, strings.Join(stepNames[:], ", "))
}

// String joins the names of the steps by commas.
func (s Step) String() string {
	var names []string
	for i, name := range stepNames {
		if s&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ",")
}

// Options says what a [Canonicaliser] does. The zero value gives the strict form.
type Options struct {
	Form Form
	// With and Without change the steps of [Dedupe]. Without goes before With.
	With, Without Step
	// Rules are the parameters that Sessions and Tracking take away; nil means [tracking.Default].
	Rules *tracking.Rules
	// Suffixes tells registrable domains; nil means [psl.Default] as it is now.
	Suffixes *psl.List
}

// A Canonicaliser makes canonical forms. It keeps scratch memory, and is for one goroutine at a time.
type Canonicaliser struct {
	form     Form
	steps    Step
	rules    *tracking.Rules
	suffixes *psl.List

	scratch, spare []byte
	params         []param
}

// New makes a canonicaliser. It fails where steps are named that its form does not have.
func New(opts Options) (*Canonicaliser, error) {
	if opts.Form > SURTIA {
		return nil, fmt.Errorf("there is no canonical form of number %d", opts.Form)
	}
	if steps := opts.With | opts.Without; steps != 0 && opts.Form != Dedupe {
		return nil, fmt.Errorf("the canonical form %s has no steps to switch, such as %s; %s has", opts.Form, steps, Dedupe)
	}
	if both := opts.With & opts.Without; both != 0 {
		return nil, fmt.Errorf("steps that are both in and out: %s", both)
	}
	c := &Canonicaliser{form: opts.Form, steps: Usual&^opts.Without | opts.With, rules: opts.Rules, suffixes: opts.Suffixes}
	if c.rules == nil {
		c.rules = tracking.Default()
	}
	if c.suffixes == nil {
		c.suffixes = psl.Default()
	}
	return c, nil
}

// Name returns the form with its version, the steps that differ from the usual ones, and the version of the tracking
// rules where they matter, as in dedupe/2-www tracking/2026-11-21. Keys compare if the names are the same, and the
// Public Suffix List is.
func (c *Canonicaliser) Name() string {
	name := c.form.String() + "/" + versions[c.form]
	if c.form != Dedupe {
		return name
	}
	for i, step := range stepNames {
		switch s := Step(1 << i); {
		case Usual&^c.steps&s != 0:
			name += "-" + step
		case c.steps&^Usual&s != 0:
			name += "+" + step
		}
	}
	if c.steps&(Tracking|Sessions) != 0 {
		name += " tracking/" + c.rules.Version()
	}
	return name
}

// Append appends the canonical form of href to dst. href has to be the serialization of a parsed URL; dst must not
// overlap it. It allocates only where its scratch memory or dst has to grow, and where a SURT form meets what looks
// like a session.
func (c *Canonicaliser) Append(dst, href []byte) []byte {
	u := split(href)
	switch {
	case c.form == SURTCC || c.form == SURTIA:
		return c.appendSURT(dst, u)
	case c.form == Dedupe && (string(u.scheme) == "https" || string(u.scheme) == "http"):
		return c.appendDedupe(dst, u)
	default:
		return append(dst, href[:len(href)-len(u.fragment)]...)
	}
}

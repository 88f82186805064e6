package generate

import (
	"maps"
	"slices"

	"github.com/urlmill/urlmill/pipeline"
)

// Class is a kind of record. Classes lists them all.
type Class uint8

// The classes that the generator treats in a way of their own.
const (
	// Page is the class of ordinary pages, which has the share that the others leave.
	Page Class = iota
	// Relative is the class of references that need the referer as their base. It is in NDJSON only.
	Relative
	// MalformedRecord, MissingURL and NumberURL are NDJSON records with a fault of their own.
	MalformedRecord
	MissingURL
	NumberURL
	firstPlainClass
)

// class says what a class is like.
type class struct {
	name string
	// code is what the column url_error has to say, empty for URLs that parse.
	code string
	// clicks and crawls are the shares in the two profiles, in percent.
	clicks, crawls float64
	// chance tells that the URLs of a crawl may be the same by chance: the number of the record is not in them.
	chance bool
	// write appends a URL; nil for the classes that are treated in a way of their own.
	write writer
}

// writer appends a URL, which record number n has.
type writer func(m *model, dst []byte, r *rng, n uint64) []byte

// classes are all classes; a Class is an index.
var classes = slices.Concat([]class{
	Page:            {name: "page"},
	Relative:        {name: "relative", clicks: 0.3},
	MalformedRecord: {name: "malformed-record", code: "record-malformed", clicks: 0.02},
	MissingURL:      {name: "missing-url", code: "record-field-missing", clicks: 0.02},
	NumberURL:       {name: "number-for-url", code: "record-field-type", clicks: 0.01},
}, unusual, broken)

// Classes returns all classes.
func Classes() []Class {
	list := make([]Class, len(classes))
	for i := range list {
		list[i] = Class(i)
	}
	return list
}

// Distinct returns an Options.Mix without the classes whose URLs, such as about:blank, may be the same by chance. In the
// crawl profile a record then has the page of an earlier one exactly when its Truth has a Repeat: so many duplicates are
// there to be found. The caller owns the map.
func Distinct() map[string]float64 {
	mix := make(map[string]float64)
	for _, c := range classes {
		if c.chance {
			mix[c.name] = 0
		}
	}
	return mix
}

// String returns the name of the class, such as "uppercase-host" or "port-out-of-range".
func (c Class) String() string { return classes[c].name }

// Code returns what the column url_error has to say to a record of the class, empty when its URL parses. That is so
// when the codec takes /referer for the base, which a reference needs; records with a broken URL have no referer.
func (c Class) Code() string { return classes[c].code }

// Share returns the share of the class in a profile's default mix, from 0 to 1.
func (c Class) Share(p Profile) float64 {
	if c != Page {
		return classes[c].share(p)
	}
	rest := 1.0
	for i := range classes[1:] {
		rest -= classes[1+i].share(p)
	}
	return rest
}

func (c *class) share(p Profile) float64 {
	if p == Crawl {
		return c.crawls / 100
	}
	return c.clicks / 100
}

// mixOf returns the weights of all classes: a profile's, changed by name, and what is left for pages. Lines have none
// of the classes that only records have.
func mixOf(o Options) (weights []float64, err error) {
	var p pipeline.Problems
	weights = make([]float64, len(classes))
	for i := range classes[1:] {
		weights[1+i] = classes[1+i].share(o.Profile)
	}
	for _, name := range slices.Sorted(maps.Keys(o.Mix)) {
		i := slices.IndexFunc(classes, func(c class) bool { return c.name == name })
		switch share := o.Mix[name]; {
		case i < 0:
			p.Add("mix", "there is no class %q", name)
		case Class(i) == Page:
			p.Add("mix", "%q has the share that the others leave; leave it out", name)
		case !(share >= 0 && share <= 1):
			p.Add("mix", "the share of %q is %v, which is not between 0 and 1", name, share)
		default:
			weights[i] = share
		}
	}
	if o.Format == Lines {
		clear(weights[Relative:firstPlainClass])
	}
	rest := 1.0
	for _, w := range weights {
		rest -= w
	}
	if rest < -1e-9 {
		p.Add("mix", "the shares of all classes add up to %.4g, which is more than 1", 1-rest)
	}
	weights[Page] = max(rest, 0)
	return weights, p.Err()
}

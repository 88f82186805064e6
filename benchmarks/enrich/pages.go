package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/privacy"
	"github.com/urlmill/urlmill/sources/generate"
	"github.com/urlmill/urlmill/urlcore/columns"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// batchRows is how many rows a batch has, as in a pipeline.
const batchRows = 8192

// view is a page that was seen, and where the visitor came from.
type view struct{ target, referrer string }

// views are page views of which half go on within the site, a tenth each are direct, come from two search engines, are tagged, and are
// paid clicks.
func views(n int) []view {
	r := rand.New(rand.NewPCG(seed, 5))
	all := make([]view, n)
	for i := range all {
		v := view{fmt.Sprintf("/products/%d/reviews", 1000+r.IntN(50_000)), "https://www.example.com/products"}
		switch r.IntN(10) {
		case 0:
			v.referrer = ""
		case 1:
			v.referrer = "https://www.google.com/"
		case 2:
			v.target += "?utm_source=newsletter&utm_medium=email&utm_campaign=spring"
			v.referrer = ""
		case 3:
			v.target += fmt.Sprintf("?gclid=EAIaIQobChMI%08x&page=2", r.Uint32())
			v.referrer = "https://www.google.de/"
		case 4:
			v.referrer = fmt.Sprintf("https://www.bing.com/search?q=red+shoes+%d&form=x", r.IntN(1000))
		}
		all[i] = v
	}
	return all
}

func fill(rules *enrich.Rules, page, referrer *columns.Columns, field *pipeline.Values, wanted []enrich.Column) func() {
	a := enrich.NewAcquirer(wanted)
	return func() {
		if err := a.Fill(rules, psl.Default(), batchRows, page, field, referrer); err != nil {
			panic(err)
		}
	}
}

// pageGroups are the acquisition columns of page views, and redaction of URLs of which nothing is removed.
func pageGroups(string, int) ([]group, func(), error) {
	o := enrich.Default()
	rules, err := o.Read()
	if err != nil {
		return nil, nil, err
	}
	var urls pipeline.Bytes
	field := &pipeline.Values{}
	for _, v := range views(batchRows) {
		urls.Append([]byte("https://www.example.com" + v.target))
		field.Text.Append([]byte(v.referrer))
		field.Valid = append(field.Valid, true)
	}
	page, referrer := &columns.Columns{Want: enrich.WantPage}, &columns.Columns{Want: enrich.WantReferrer}
	parse := func() {
		for _, err := range []error{columns.Parse(page, urls.Data, urls.Ends), columns.Parse(referrer, field.Text.Data, field.Text.Ends)} {
			if err != nil {
				panic(err)
			}
		}
	}
	parse()
	var visit []enrich.Column
	for c := enrich.ReferrerClass; c < enrich.PageTypeColumn; c++ {
		visit = append(visit, c)
	}
	views := group{Name: "page view"}
	views.add("parse of URL and referrer", batchRows, parse)
	views.add("acquisition columns, beside it", batchRows, fill(rules, page, referrer, field, visit))
	views.add("path_template, beside it", batchRows, fill(rules, page, referrer, field, []enrich.Column{enrich.PathTemplate}))
	clean := group{Name: "redaction of clean URLs"}
	for _, profile := range []generate.Profile{generate.Clickstream, generate.Crawl} {
		if err := addRedaction(&clean, profile); err != nil {
			return nil, nil, err
		}
	}
	return []group{views, clean}, func() {}, nil
}

// passed is a transform that does nothing.
type passed struct{}

func (passed) Apply(*pipeline.Batch) (pipeline.Output, error) { return pipeline.Output{}, nil }

// addRedaction adds a job for URLs of the generator of which the default policy removes nothing.
func addRedaction(g *group, profile generate.Profile) error {
	policy, err := privacy.New(privacy.Default())
	if err != nil {
		return err
	}
	generator, err := generate.NewGenerator(generate.Options{Seed: seed, Profile: profile, Format: generate.Lines})
	if err != nil {
		return err
	}
	t := policy.Transforms(func() pipeline.Transform { return passed{} })()
	apply := func(b *pipeline.Batch) {
		if _, err := t.Apply(b); err != nil {
			panic(err)
		}
	}
	var all, one pipeline.Batch
	var record []byte
	for all.URLs.Len() < batchRows {
		record = bytes.TrimSuffix(generator.Append(record[:0]), []byte("\n"))
		one.Reset()
		one.URLs.Append(record)
		if apply(&one); bytes.Equal(one.URLs.At(0), record) {
			all.URLs.Append(record)
		}
	}
	g.add(fmt.Sprintf("%s, %d bytes", profile, len(all.URLs.Data)/batchRows), batchRows, func() { apply(&all) })
	return nil
}

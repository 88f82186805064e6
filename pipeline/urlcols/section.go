package urlcols

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/urlcore/canon"
)

// Section returns the keys of a configuration that o is bound to.
func (o *Options) Section() config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "include", Doc: "Columns to have, in this order. Not set: all that there are. What canonical, promote, tracking and other_urls add goes behind them, unless include names some of it.", Value: config.Texts(&o.Include, "[href, host, registrable_domain]")},
			{Name: "exclude", Doc: "Columns to leave out.", Value: config.Texts(&o.Exclude, "[params, headers]")},
			{Name: "rename", Doc: "Other names for columns in the output.", Value: config.Pairs(&o.Rename, "the new name", "{href: url_clean}")},
			{Name: "profile", Doc: "Which set of names the URL's columns have.", Value: config.Names(&o.Profile, Profiles()...)},
			{Name: "default_scheme", Doc: "Scheme of a URL that begins with its host, such as example.com/a, and has no base; url keeps it as it was.", Value: config.Enum(&o.DefaultScheme, []string{"none", "https", "http"}, []string{"", "https", "http"})},
			{Name: "canonical", Doc: "Adds canonical_url and its key url_key, by which duplicates are found.", Value: config.Optional(&o.Canonical, func() canon.Options { return canon.Options{Form: canon.Dedupe} }, canonicalSection)},
			{Name: "promote", Doc: "Parameters of the query that have columns of their own.", Value: config.List(&o.Promote, func() Promoted { return Promoted{} }, "[{param: utm_source}]", promotedSection)},
			{Name: "tracking", Doc: "Whether tracking parameters stay in params or go to tracking_params.", Value: config.Enum(&o.Tracking, []string{"keep", "separate"}, []bool{false, true})},
			{Name: "params", Doc: "Type of the column params; a map loses nothing, but not all readers have one.", Value: config.Enum(&o.ParamsAsMap, []string{"list", "map"}, []bool{false, true})},
			{Name: "other_urls", Was: "also", Doc: "Carried fields that are URLs as well, such as the referrer: each gets columns of its parts.", Value: config.List(&o.Also, func() Also { return Also{} }, "[{field: referer}]", alsoSection)},
		},
	}
}

// canonicalSection has the names of steps, of which c has the steps.
func canonicalSection(c *canon.Options) config.Section {
	forms := make([]canon.Form, 0)
	for _, name := range canon.Forms() {
		form, _ := canon.ParseForm(name) // they are the names of all
		forms = append(forms, form)
	}
	with, without := steps(c.With), steps(c.Without)
	return config.Section{
		Fields: []config.Field{
			{Name: "form", Doc: "How much is taken for equal; from RFC 3986's own equivalences to what crawlers dedupe by.", Value: config.Stringers(&c.Form, forms...)},
			{Name: "with", Doc: "Steps that the form dedupe does not have by itself.", Value: config.Texts(&with, "[https]")},
			{Name: "without", Doc: "Steps of the form dedupe to leave out.", Value: config.Texts(&without, "[www, documents]")},
		},
		Check: func(d *config.Check) {
			c.With, c.Without = checkSteps(d, "with", with, c.Form), checkSteps(d, "without", without, c.Form)
		},
	}
}

// steps returns the names of steps, nil for none.
func steps(s canon.Step) []string {
	if s == 0 {
		return nil
	}
	return strings.Split(s.String(), ",")
}

// checkSteps returns the steps that key names.
func checkSteps(d *config.Check, key string, names []string, form canon.Form) (all canon.Step) {
	for i, name := range names {
		step, err := canon.ParseStep(name)
		if err != nil {
			d.Conflict(fmt.Sprintf("%s[%d]", key, i), nil, "%v", err)
		}
		all |= step
	}
	if len(names) > 0 && form != canon.Dedupe {
		d.Conflict(key, nil, "form %s has no steps to switch; take %s out, or give form: dedupe", form, key)
	}
	return all
}

func promotedSection(p *Promoted) config.Section {
	param, or := "", []string(nil)
	return config.Section{
		Fields: []config.Field{
			{Name: "param", Doc: "Name of the parameter.", Value: config.Text(&param, "utm_source"), Example: "param: utm_source"},
			{Name: "or", Doc: "Other names to look for when it is not there.", Value: config.Texts(&or, "[source]")},
			{Name: "name", Doc: "Name of the column. Not set: that of the parameter.", Value: config.Text(&p.Name, "campaign_source")},
			{Name: "take", Doc: "Which of several values; all makes a list.", Value: config.Enum(&p.Take, []string{"first", "last", "all"}, []Take{First, Last, Every})},
		},
		Check: func(*config.Check) {
			p.Params = slices.Concat([]string{param}, or)
			if p.Name == "" {
				p.Name = param
			}
		},
	}
}

func alsoSection(a *Also) config.Section {
	return config.Section{
		Fields: []config.Field{
			{Name: "field", Doc: "Name of the carried field.", Value: config.Text(&a.Field, "referer"), Example: "field: referer"},
			{Name: "prefix", Doc: "What its columns begin with. Not set: its name and an underscore.", Value: config.Text(&a.Prefix, "referer_")},
			{Name: "include", Doc: "Which of its columns to have.", Value: config.Texts(&a.Include, "[host, registrable_domain]")},
		},
		Check: func(*config.Check) {
			if a.Prefix == "" && a.Field != "" {
				a.Prefix = a.Field + "_"
			}
		},
	}
}

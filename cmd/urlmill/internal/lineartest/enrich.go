package main

import (
	"github.com/urlmill/urlmill/internal/keytrace"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/enrich/agents"
	"github.com/urlmill/urlmill/urlcore/canon"
	"github.com/urlmill/urlmill/urlcore/columns"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// agentTexts are attacks on the expressions that take user agents apart.
var agentTexts = map[string]attack{
	"products": numbered("", "Name%d/1.2.3 ", ""), "versions": repeat("Mozilla/5.0 Chrome/", "1.", ""), "digits": repeat("Version/", "9", ""),
	"browsers": repeat("", "Chrome/1 Safari/1 ", ""), "systems": repeat("Mozilla/5.0 (", "Windows NT 10.0; ", ")"), "devices": repeat("Mozilla/5.0 (Linux; Android 9; ", "SM-G ", "Build/"),
	"open": repeat("", "(", ""), "spaces": repeat("Mozilla/5.0", " ", "Build"), "semicolons": repeat("Android", ";", " Build"), "bots": repeat("", "bot/", ""), "ill-formed": repeat("", "\xff", ""),
}

// onVisits are the operations on what is said of a visit.
func onVisits() []operation {
	return []operation{
		onText("explain", func(s string) {
			o := canon.Options{Form: canon.Dedupe}
			_, _ = keytrace.Of(o, s)
			_, _ = keytrace.Join(o, s, s+"a")
			_ = keytrace.Parts(s, s+"a")
		}),
		onText("acquisition", acquisition()),
		{"user agents", agentTexts, func(_, s string) func() {
			return func() { agents.Default().New(new(agents.Scanner), s) }
		}},
	}
}

// acquisition makes all columns of a page whose URL is the text, and the referrer is it too.
func acquisition() func(s string) {
	options := enrich.Default()
	rules, err := options.Read()
	if err != nil {
		panic(err)
	}
	var wanted []enrich.Column
	for c := range enrich.NumColumns {
		wanted = append(wanted, c)
	}
	return func(s string) {
		page, referrer := columns.Columns{Want: enrich.WantPage}, columns.Columns{Want: enrich.WantReferrer}
		field := pipeline.Values{Field: pipeline.Field{Name: "referrer"}, Valid: []bool{true}}
		field.Text.Append([]byte(s))
		if columns.Parse(&page, field.Text.Data, field.Text.Ends) == nil && columns.Parse(&referrer, field.Text.Data, field.Text.Ends) == nil {
			_ = enrich.NewAcquirer(wanted).Fill(rules, psl.Default(), 1, &page, &field, &referrer)
		}
	}
}

package enrich

import (
	"fmt"
	"testing"
)

// TestMerge checks where source and medium are taken from, and what else a URL says.
func TestMerge(t *testing.T) {
	for _, c := range []struct{ page, referrer, want string }{
		{"/", "", "Direct (direct) (none) - - - - - -"},
		{"/", "https://www.example.com/a", "- - - - - - - - -"},
		{"/", "https://www.google.de/", "Organic Search google organic - - - - - -"},
		{"/", "https://www.example.net/", "Referral example.net referral - - - - - -"},
		{"/", "https://chatgpt.com/", "AI Assistant chatgpt.com referral - - - - - -"},
		{"/?utm_source=chatgpt.com", "", "AI Assistant chatgpt.com - - - - - - -"},
		{"/", "https://l.facebook.com/", "Organic Social l.facebook.com referral - - - - - -"},
		{"/?utm_source=News&utm_medium=Email&utm_campaign=c&utm_term=t&utm_content=d&utm_id=7", "https://www.google.de/", "Email News Email c t d 7 - -"},
		{"/?gclid=X", "https://www.google.de/", "Paid Search google cpc - - - - X google_ads"},
		{"/?gclid=X&utm_campaign=cross-network", "", "Cross-network google cpc cross-network - - - X google_ads"},
		{"/?GCLID=X&utm_source=a", "", "Unassigned a - - - - - X google_ads"},
		{"/?fbclid=F", "https://www.example.com/", "- - - - - - - F meta"},
		{"/?fbclid=F&gclid=G", "", "Paid Search google cpc - - - - G google_ads"},
		{"/?mtm_source=a&mtm_medium=sms&mtm_campaign=b&mtm_kwd=k&mtm_content=c&mtm_cid=i", "", "SMS a sms b k c i - -"},
		{"/?pk_campaign=b&pk_source=a&utm_source=u", "", "Unassigned u - b - - - - -"},
		{"/?utm_source=&utm_source=second&utm_source=third&utm_medium=affiliate", "", "Affiliates second affiliate - - - - - -"},
		{"/?utm_source=n%C3%A4he+x", "", "Unassigned nähe x - - - - - - -"},
		{"/?s_cid=77", "https://www.example.com/", "- - - - - - 77 - -"},
		{"/", "android-app://com.example.reader/", "Referral com.example.reader referral - - - - - -"},
	} {
		b := newBatch(t, [2]string{"https://www.example.com" + c.page, c.referrer})
		b.fill(t, rules(t, Default()))
		got := ""
		for _, column := range []Column{Channel, Source, Medium, Campaign, Term, Content, CampaignID, ClickID, ClickNetwork} {
			got += " " + b.at(column, 0)
		}
		if got[1:] != c.want {
			t.Errorf("%s from %q: %s, want %s", c.page, c.referrer, got[1:], c.want)
		}
	}
}

// TestNoURL checks that a row without a URL has nulls alone, and that a batch may be without referrers.
func TestNoURL(t *testing.T) {
	b := newBatch(t, [2]string{"no url", "https://www.google.de/"}, [2]string{"https://example.com/7", ""})
	b.fill(t, rules(t, Default()))
	for c := range NumColumns {
		if got := b.at(c, 0); got != "-" {
			t.Errorf("column %d is %q", c, got)
		}
	}
	if err := b.acquirer.Fill(rules(t, Default()), b.acquirer.suffixes, 2, &b.page, nil, nil); err != nil || b.at(ReferrerClass, 1) != "none" || b.at(PathTemplate, 1) != "/{id}" {
		t.Errorf("without referrers: %v, %s, %s", err, b.at(ReferrerClass, 1), b.at(PathTemplate, 1))
	}
}

// clicks are page views as logs have them: most go on in the site, some come from elsewhere, few have campaigns.
func clicks(t testing.TB, rows int) *batch {
	var pairs [][2]string
	for i := range rows {
		page := fmt.Sprintf("https://www.example.com/products/%d/reviews", 1000+i)
		referrer := "https://www.example.com/products"
		switch i % 10 {
		case 0:
			referrer = ""
		case 1:
			referrer = "https://www.google.com/"
		case 2:
			page += "?utm_source=newsletter&utm_medium=email&utm_campaign=spring"
			referrer = ""
		case 3:
			page += "?gclid=EAIaIQobChMI&page=2"
			referrer = "https://www.google.de/"
		case 4:
			referrer = "https://www.bing.com/search?q=red+shoes&form=x"
		}
		pairs = append(pairs, [2]string{page, referrer})
	}
	return newBatch(t, pairs...)
}

func TestAllocations(t *testing.T) {
	o := Default()
	o.PageTypes = []PageType{{"product", []string{"/products/**"}}}
	o.PathTemplates = []string{"/blog/{slug}"}
	b, r := clicks(t, 1000), rules(t, o)
	b.fill(t, r)
	if n := testing.AllocsPerRun(20, func() { b.fill(t, r) }); n != 0 {
		t.Errorf("%v allocations in 1000 rows", n)
	}
}

func BenchmarkFill(b *testing.B) {
	const rows = 8192
	r := rules(b, Default())
	for _, c := range []struct {
		name   string
		wanted []Column
	}{{"all", allColumns()}, {"acquisition", allColumns()[:PageTypeColumn]}, {"path_template", []Column{PathTemplate}}} {
		b.Run(c.name, func(b *testing.B) {
			batch := clicks(b, rows)
			batch.acquirer = NewAcquirer(c.wanted)
			b.ReportAllocs()
			for b.Loop() {
				batch.fill(b, r)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}

package urlcols_test

import (
	"fmt"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/enrich"
	"github.com/urlmill/urlmill/pipeline/urlcols"
)

// visits returns a batch of page views, some with a referrer.
func visits(rows int) *pipeline.Batch {
	b := &pipeline.Batch{Carried: []pipeline.Values{{Field: pipeline.Field{Name: "referer", Type: pipeline.String}}}}
	for i := range rows {
		referrer := []string{"", "https://www.google.de/search?q=a+b", "https://www.example.com/"}[i%3]
		b.URLs.Append(fmt.Appendf(nil, "https://www.example.com/p/%d?utm_source=%d&a=b", i, i%5))
		b.Carried[0].Text.Append([]byte(referrer))
		b.Carried[0].Valid = append(b.Carried[0].Valid, referrer != "")
		b.Offsets = append(b.Offsets, int64(i))
	}
	return b
}

func acquisitionOptions() urlcols.Options {
	o := enrich.Default()
	return urlcols.Options{
		Acquisition: &o, Carried: []pipeline.Field{{Name: "referer", Type: pipeline.String}},
		Include: []string{"url", "referrer_class", "search_term", "source", "channel", "path_template"},
	}
}

// TestAcquisition looks at the columns of rows with and without a URL, and replaces the rules between two batches.
func TestAcquisition(t *testing.T) {
	plan, err := urlcols.New(acquisitionOptions())
	if err != nil {
		t.Fatal(err)
	}
	b := visits(2)
	b.URLs.Append([]byte("no url"))
	b.Carried[0].Text.Append([]byte("https://www.google.de/"))
	b.Carried[0].Valid, b.Offsets = append(b.Carried[0].Valid, true), append(b.Offsets, 2)
	transform := plan.NewTransform()
	apply := func() []string {
		out, err := transform.Apply(b)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, row := range rowsOf(t, out.Records[pipeline.Rows]) {
			rows = append(rows, fmt.Sprintf("%v %v %v %v %v", row["referrer_class"], row["search_term"], row["source"], row["channel"], row["path_template"]))
		}
		return rows
	}
	want := []string{"none <nil> 0 Unassigned /p/{id}", "search a b 1 Unassigned /p/{id}", "<nil> <nil> <nil> <nil> <nil>"}
	if got := apply(); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	o := enrich.Default()
	o.PathTemplates = []string{"/p/{product}"}
	rules, err := o.Read()
	if err != nil {
		t.Fatal(err)
	}
	plan.SetAcquisition(rules)
	if got := apply()[0]; got != "none <nil> 0 Unassigned /p/{product}" {
		t.Errorf("by the rules behind it: %s", got)
	}
}

// TestAcquisitionAllocations checks that the columns of a batch are made without allocating.
func TestAcquisitionAllocations(t *testing.T) {
	plan, err := urlcols.New(acquisitionOptions())
	if err != nil {
		t.Fatal(err)
	}
	lender, b := plan.NewLender(), visits(500)
	view := func() {
		if err := lender.Parse(b); err != nil {
			t.Fatal(err)
		}
		if _, err := lender.View(); err != nil {
			t.Fatal(err)
		}
		lender.Close()
	}
	view()
	if n := testing.AllocsPerRun(20, view); n != 0 {
		t.Errorf("%v allocations in 500 rows", n)
	}
}

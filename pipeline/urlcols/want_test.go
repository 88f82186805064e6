package urlcols

import (
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// The parser is asked for what the chosen columns need and for nothing else, and fills nothing else.
func TestParserIsAskedForChosenColumnsOnly(t *testing.T) {
	for _, test := range []struct {
		include []string
		want    columns.Mask
	}{
		{[]string{"host"}, columns.Host},
		{[]string{"port", "path"}, columns.Port | columns.Path},
		{[]string{"registrable_domain"}, columns.RegistrableDomain},
		{[]string{"params"}, columns.Params},
		{[]string{"url_error"}, columns.Scheme}, // zero would mean all
	} {
		plan, err := New(Options{Include: test.include})
		if err != nil {
			t.Fatal(err)
		}
		if plan.want != test.want {
			t.Errorf("%v: the parser is asked for %b, want %b", test.include, plan.want, test.want)
		}
		tr := plan.NewTransform().(*transform)
		var b pipeline.Batch
		b.URLs.Append([]byte("https://www.example.com:8080/path?a=b#c"))
		out, err := tr.Apply(&b)
		if err != nil {
			t.Fatal(err)
		}
		out.Records[pipeline.Rows].Release()
		c := &tr.rows.cols
		for mask, size := range map[columns.Mask]int{
			columns.Href: len(c.Href.Data), columns.Scheme: len(c.Scheme.Data), columns.Host: len(c.Host.Data), columns.Origin: len(c.Origin.Data),
			columns.RegistrableDomain: len(c.RegistrableDomain.Data), columns.PublicSuffix: len(c.PublicSuffix.Data), columns.Path: len(c.Path.Data),
			columns.Query: len(c.Query.Data), columns.Params: len(c.Params.Keys.Data), columns.Fragment: len(c.Fragment.Data), columns.Port: len(c.Port.Values),
		} {
			if (size > 0) != (test.want&mask != 0) {
				t.Errorf("%v: %d bytes in column %b", test.include, size, mask)
			}
		}
	}
}

package urlcols

import (
	"errors"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/canon"
	"github.com/urlmill/urlmill/urlcore/columns"
)

// TestTooLarge has a column that is made of another and becomes longer than offsets can count, and ends that descend, of a URL and of
// another URL of the record.
func TestTooLarge(t *testing.T) {
	batch := func(referers ...int32) *pipeline.Batch {
		b := &pipeline.Batch{Carried: []pipeline.Values{{Field: pipeline.Field{Name: "ref", Type: pipeline.String}}}}
		for i := range 3 {
			b.URLs.Append([]byte("https://example.com/"))
			b.Offsets = append(b.Offsets, int64(i))
			b.Carried[0].Valid = append(b.Carried[0].Valid, true)
		}
		b.Carried[0].Text = pipeline.Bytes{Data: []byte("http://a/http://b/http://c/"), Ends: referers}
		return b
	}
	p, err := New(Options{
		Include: []string{"canonical_url", "referer_host"}, Canonical: &canon.Options{Form: canon.Strict},
		Carried: []pipeline.Field{{Name: "ref", Type: pipeline.String}}, Also: []Also{{Field: "ref", Prefix: "referer_", Include: []string{"host"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	transform, lender := p.NewTransform(), p.NewLender()
	check := func(name string, b *pipeline.Batch, want error) {
		t.Helper()
		out, err := transform.Apply(b)
		if !errors.Is(err, want) || err != nil && out.Records[pipeline.Rows] != nil {
			t.Errorf("%s: Apply: %v, want %v", name, err, want)
		}
		err = lender.Parse(b)
		if err == nil {
			_, _, err = lender.Lend(nil)
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: Lend: %v, want %v", name, err, want)
		}
		if err = lender.Parse(b); err == nil {
			_, err = lender.View()
			lender.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: View: %v, want %v", name, err, want)
		}
	}
	check("as it should be", batch(9, 18, 27), nil)
	check("another URL's ends descend", batch(9, 27, 18), columns.ErrEnds)
	b := batch(9, 18, 27)
	b.URLs.Ends[1] = -5
	check("ends descend", b, columns.ErrEnds)
	before := maxText
	defer func() { maxText = before }()
	maxText = 50
	check("too large", batch(9, 18, 27), columns.ErrTooLarge)
	maxText = before
	check("after it", batch(9, 18, 27), nil)
}

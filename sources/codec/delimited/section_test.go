package delimited

import (
	"reflect"
	"testing"

	"github.com/urlmill/urlmill/config"
	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/sources/codec"
)

func TestSection(t *testing.T) {
	for text, want := range map[string]Options{
		"url: u":                       {Separator: ',', URL: "u"},
		"{url: u, separator: tab}":     {Separator: '\t', URL: "u"},
		"{url: u, separator: \"\\t\"}": {Separator: '\t', URL: "u"},
		"{url: u, separator: '|', columns: [u, p, n], base: p, carry: [{name: n, type: int64}, {name: t, column: n, type: timestamp, time: s}]}": {
			Separator: '|', Columns: []string{"u", "p", "n"}, URL: "u", Base: "p",
			Carry: []codec.CarriedColumn{{Name: "n", Type: pipeline.Int64}, {Name: "t", Column: "n", Type: pipeline.Timestamp, Time: codec.EpochSeconds}},
		},
	} {
		o := Kind.New().(*Options)
		if _, err := config.Parse("c.yaml", []byte(text), config.Env{}, o.Section()); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*o, want) {
			t.Errorf("%s: %+v", text, *o)
		}
		if f, err := o.Factory(); err != nil || f == nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"{url: u, separator: '::'}":                        `c.yaml:1:21: separator is the text "::"; give one character such as ";", or tab`,
		"{url: u, separator: é}":                           `c.yaml:1:21: separator is the text "é"; give one character such as ";", or tab`,
		"{url: u, carry: [{name: a, type: json}]}":         `c.yaml:1:34: type is the text "json"; give one of string, int64, float64, bool or timestamp`,
		"{url: u, carry: [{name: a, column: b, time: h}]}": `c.yaml:1:45: time is the text "h"; give one of rfc3339, s, ms, us or ns (did you mean "s"?)`,
	} {
		o := Kind.New()
		if _, err := config.Parse("c.yaml", []byte(text), config.Env{}, o.Section()); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// TestCarriedByName: without a column it is the one that is called as the name.
func TestCarriedByName(t *testing.T) {
	carry := []codec.CarriedColumn{{Name: "n", Type: pipeline.Int64}}
	for _, o := range []Options{{URL: "u", Carry: carry}, {URL: "u", Columns: []string{"n", "u"}, Carry: carry}} {
		f, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		c, b := f.New(), &pipeline.Batch{}
		c.Prepare(b)
		c.Decode(b, []byte("n,u"))
		b.Reset()
		c.Prepare(b)
		c.Decode(b, []byte("7,http://a/"))
		if got := b.Carried[0].Ints; len(got) != 1 || got[0] != 7 {
			t.Errorf("%v: %d", o.Columns, got)
		}
	}
}

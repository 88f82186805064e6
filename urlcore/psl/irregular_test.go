package psl

import (
	"fmt"
	"testing"
)

// The suffix of every host whose end Irregular does not name is the last label, and that of those with Suffix is what
// that says.
func TestIrregular(t *testing.T) {
	l := Embedded()
	endings := map[Ending]bool{}
	wild := map[string]bool{}
	l.Irregular(func(e Ending) {
		if e.Label == "" {
			wild[e.TLD] = true
		}
		endings[e] = true
	})
	for _, want := range []Ending{
		{Label: "co", TLD: "uk", Suffix: true},
		{Label: "github", TLD: "io", Suffix: true},
		{Label: "githubusercontent", TLD: "com", Suffix: true},
		{Label: "www", TLD: "ck"},
		{TLD: "ck"},
	} {
		if !endings[want] {
			t.Errorf("%+v is missing", want)
		}
	}
	names := map[string]bool{}
	for e := range endings {
		names[e.Third+"."+e.Label+"."+e.TLD] = true
	}
	for e := range endings {
		suffix, _ := l.PublicSuffix("a.b." + e.Label + "." + e.TLD)
		if e.Suffix && !names["b."+e.Label+"."+e.TLD] && suffix != e.Label+"."+e.TLD {
			t.Errorf("%s.%s: suffix %q", e.Label, e.TLD, suffix)
		}
	}
	for i := range l.nodes {
		n := &l.nodes[i]
		if i == 0 || n.parent != 0 || wild[l.label(n)] {
			continue
		}
		for e := range endings {
			tld := l.label(n)
			if i%50 != len(e.Label)%50 || names["."+e.Label+"."+tld] || e.Label == "" {
				continue
			}
			host := fmt.Sprintf("www.%s.%s", e.Label, tld)
			if suffix, _ := l.PublicSuffix(host); suffix != tld {
				t.Fatalf("%s: suffix %q", host, suffix)
			}
		}
	}
}

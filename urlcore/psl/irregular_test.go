package psl

import (
	"fmt"
	"strings"
	"testing"
)

// The suffix of every host whose end Irregular does not name is the last label.
func TestIrregular(t *testing.T) {
	l := Embedded()
	pairs, wild := map[string]bool{}, map[string]bool{}
	l.Irregular(func(label, tld string, final bool) {
		if label == "" {
			wild[tld] = true
		}
		pairs[label+"."+tld] = true
		if suffix, _ := l.PublicSuffix("a.b." + label + "." + tld); final && suffix != label+"."+tld {
			t.Errorf("%s.%s: suffix %q", label, tld, suffix)
		}
	})
	if !wild["ck"] || !pairs["co.uk"] || !pairs["github.io"] || !pairs["githubusercontent.com"] || !pairs["www.ck"] {
		t.Fatal("names of the list are missing")
	}
	var tlds []string
	for i := range l.nodes {
		if i > 0 && l.nodes[i].parent == 0 {
			tlds = append(tlds, l.label(&l.nodes[i]))
		}
	}
	for name := range pairs {
		label, _, _ := strings.Cut(name, ".")
		for i, tld := range tlds {
			if i%50 != len(name)%50 || pairs[label+"."+tld] || wild[tld] || label == "" {
				continue
			}
			host := fmt.Sprintf("www.%s.%s", label, tld)
			if suffix, _ := l.PublicSuffix(host); suffix != tld {
				t.Fatalf("%s: suffix %q", host, suffix)
			}
		}
	}
}

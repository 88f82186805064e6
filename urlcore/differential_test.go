package urlcore_test

import (
	"flag"
	"maps"
	"slices"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance/differ"
)

var differential = flag.Int("differential", 0, "how many generated URLs to compare with Node.js, instead of the usual number")

// TestDifferentialParse compares parsing with Node's URL class: failure, and every attribute.
func TestDifferentialParse(t *testing.T) {
	compare(t, 120_000, differ.NewGenerator(2026).Parse)
}

// TestDifferentialSetters compares what assignments to the attributes of a URL do to all of them.
func TestDifferentialSetters(t *testing.T) {
	compare(t, 40_000, differ.NewGenerator(2027).Set)
}

// compare asks Node.js, and fails for each difference that no rule explains.
func compare(t *testing.T, count int, question func() differ.Question) {
	t.Helper()
	n := differ.Start(t)
	rules, err := n.Rules()
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		count /= 20
	}
	if *differential > 0 {
		count = *differential
	}
	failures := 0
	var differences []*differ.Difference
	err = n.Ask(count, func(int) differ.Question { return question() }, func(q differ.Question, r differ.Result) error {
		if r == nil {
			failures++
		}
		if d := n.Compare(q, r); d != nil {
			differences = append(differences, d)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	explained, unexplained := map[string]int{}, 0
	for _, d := range differences {
		names, err := n.Explain(d, rules)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			explained[name]++
		}
		if names != nil {
			continue
		}
		if unexplained++; unexplained <= 20 {
			t.Errorf("%v:\nours   %q %v\ntheirs %q", d.Question, d.Ours, d.Err, d.Theirs)
		}
	}
	t.Logf("Node.js %s, Ada %q: %d questions, of which it refuses %d: %d different answers, %d of them unexplained",
		n.Version, n.Ada, count, failures, len(differences), unexplained)
	for _, name := range slices.Sorted(maps.Keys(explained)) {
		t.Logf("%6d explained by: %s", explained[name], name)
	}
}

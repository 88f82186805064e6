package main

import "testing"

// The last line and the verdict are not "all well" unless all is.
func TestTotals(t *testing.T) {
	good := outcome{Name: "a", Faults: map[string]int{"x": 2, "y": 1}, Rows: 10, Starts: 3}
	for name, c := range map[string]struct {
		outcomes []outcome
		ok       bool
		line     string
	}{
		"good":       {[]outcome{good, good}, true, "faults=6 rows=20 lost=0 duplicated=0 wrong=0"},
		"nothing":    {nil, false, "faults=0 rows=0 lost=0 duplicated=0 wrong=0"},
		"lost":       {[]outcome{good, {Lost: 1}}, false, "faults=3 rows=10 lost=1 duplicated=0 wrong=0"},
		"duplicated": {[]outcome{good, {Duplicated: 2}}, false, "faults=3 rows=10 lost=0 duplicated=2 wrong=0"},
		"wrong":      {[]outcome{good, {Wrong: 3}}, false, "faults=3 rows=10 lost=0 duplicated=0 wrong=3"},
		"error":      {[]outcome{good, {Errors: []string{"x"}}}, false, "faults=3 rows=10 lost=0 duplicated=0 wrong=0"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := add(c.outcomes); got.ok != c.ok || got.line() != c.line {
				t.Errorf("%v %s", got.ok, got.line())
			}
		})
	}
}

// Somebody of a name chooses the same for the same seed, and something else for another.
func TestRandom(t *testing.T) {
	choice := func(seed uint64, name string) uint64 { return (&env{seed: seed}).random(name).Uint64() }
	first := choice(1, "kill")
	if again := choice(1, "kill"); again != first {
		t.Error("the same seed chooses something else")
	}
	if first == choice(2, "kill") || first == choice(1, "storm") {
		t.Error("another seed, or another name, chooses the same")
	}
}

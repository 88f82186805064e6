package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
)

// sizes are the numbers of rows of each part.
var sizes = map[string]int{
	"A": 15, "B": 22, "C": 25, "D": 6, "E": 25, "F": 33, "G": 12, "H": 5, "I": 19, "J": 10, "K": 17, "L": 10, "S": 9, "W": 10, "P": 18, "Q": 4,
}

func TestRows(t *testing.T) {
	for _, p := range parts {
		if len(p.rows) != sizes[p.letter] {
			t.Errorf("part %s has %d rows and not %d", p.letter, len(p.rows), sizes[p.letter])
		}
		for i, x := range p.rows {
			if want := p.letter + strconv.Itoa(i+1); x.id != want {
				t.Errorf("row %s in place of %s", x.id, want)
			}
			if x.title == "" || len(x.proofs()) == 0 {
				t.Errorf("row %s: title %q, %d tests", x.id, x.title, len(x.proofs()))
			}
		}
	}
	if features, _ := count(); features != 199 {
		t.Errorf("%d features", features)
	}
}

// TestFeatureList compares the ids with those of the feature list that comes with the data.
func TestFeatureList(t *testing.T) {
	text := string(conformance.Read(t, "FEATURES.md"))
	have := map[string]bool{}
	for _, p := range parts {
		for _, x := range p.rows {
			have[x.id] = true
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^\|[^|]*\|[^|]*\| ([A-L]\d+) `).FindAllStringSubmatch(text, -1) {
		if !have[m[1]] {
			t.Errorf("no row %s", m[1])
		}
		delete(have, m[1])
	}
	for _, section := range regexp.MustCompile(`(?m)^## ([SWP])\. `).FindAllStringSubmatchIndex(text, -1) {
		body, _, _ := strings.Cut(text[section[1]:], "\n## ")
		for _, m := range regexp.MustCompile(`(?m)^(\d+)\. `).FindAllStringSubmatch(body, -1) {
			id := text[section[2]:section[3]] + m[1]
			if !have[id] {
				t.Errorf("no row %s", id)
			}
			delete(have, id)
		}
	}
	for id := range have {
		if id[0] != 'Q' {
			t.Errorf("row %s is not in the list", id)
		}
	}
}

// TestProofs checks that the tests exist, and that each test of a row is known here.
func TestProofs(t *testing.T) {
	s := newSources(filepath.Join("..", "..", "..", ".."))
	known := map[string]bool{}
	for _, p := range parts {
		for _, x := range p.rows {
			for _, proof := range x.proofs() {
				tests, err := s.of(proof.room)
				if err != nil {
					t.Fatal(err)
				}
				if !tests[proof.test] {
					t.Errorf("row %s: there is no test %s", x.id, proof)
				}
				known[proof.String()] = true
			}
		}
	}
	for _, room := range rooms() {
		tests, err := s.of(room)
		if err != nil {
			t.Fatal(err)
		}
		for test := range tests {
			if name := (proof{room, test}).String(); strings.Contains(test, "/") && !known[name] {
				t.Errorf("%s belongs to no row", name)
			}
		}
	}
}

// TestDocument checks that the document has the rows and tests that are listed here.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", docPath))
	if err != nil {
		t.Fatal(err)
	}
	_, written, ok := strings.Cut(string(text), beginMark)
	if !ok {
		t.Fatal("the document has no written part: run go run ./internal/dev/conformance/matrix -write")
	}
	want := structure(document([]*results{newResults()}, new(peerFigures)))
	if got := structure(written); got != want {
		t.Errorf("%s is out of date: run go run ./internal/dev/conformance/matrix -write", docPath)
	}
	if strings.Contains(written, "| ✘ |") {
		t.Errorf("%s has rows that are not proved", docPath)
	}
}

func TestMark(t *testing.T) {
	x := row{"X1", "x", "a", "b.TestB"}
	r := newResults()
	a, b := module+"/a", module+"/b"
	for _, step := range []struct{ pkg, test, action, want string }{
		{a, "TestFeatures/X1", "pass", "✘"},
		{b, "TestB", "pass", "✔"},
		{b, "TestB", "skip", "–"},
		{a, "TestFeatures/X1", "fail", "✘"},
		{a, "TestFeatures/X1", "skip", "–"},
		{a, "TestFeatures/X1", "pass", "–"},
		{b, "TestB", "pass", "✔"},
		{b, "TestB/part", "skip", "–"},
		{b, "TestB", "pass", "–"},
	} {
		r.add(event{Action: step.action, Package: step.pkg, Test: step.test})
		if got := r.mark(x); got != step.want {
			t.Errorf("after %v: %s", step, got)
		}
	}
	r.add(event{Action: "output", Package: a, Test: "TestA", Output: "    a_test.go:3: some.json, a part: 3/4\n"})
	if len(r.tallies) != 1 || r.tallies[0] != (tally{"a", "some.json, a part", 3, 4, "TestA"}) {
		t.Errorf("%v", r.tallies)
	}
}

// TestOlderGo checks that files are counted in a column for each Go, in the order of the first.
func TestOlderGo(t *testing.T) {
	newer, older := newResults(), newResults()
	newer.goVersion, older.goVersion = "go1.27.3", "go1.26.8"
	for _, c := range []struct {
		r          *results
		test, line string
	}{
		{newer, "TestA/x", "some.json: 4/4"},
		{newer, "TestB", "other.json: 2/2"},
		{newer, "TestA", "third.json: 1/1"},
		{older, "TestA/x", "some.json: 3/4"},
		{older, "TestB", "other.json: 2/2"},
	} {
		c.r.add(event{Action: "output", Package: module, Test: c.test, Output: "    a_test.go:3: " + c.line + "\n"})
	}
	var b strings.Builder
	files(&b, []*results{newer, older}, new(peerFigures))
	const want = "| file | package | passed, go1.27.3 | passed, go1.26.8 |\n| --- | --- | ---: | ---: |\n" +
		"| other.json | urlcore | 2/2 | 2/2 |\n| some.json | urlcore | 4/4 | 3/4 |\n| third.json | urlcore | 1/1 |  |\n"
	if b.String() != want {
		t.Errorf("got\n%sand not\n%s", b.String(), want)
	}
	if got := newer.counting(); got != "^(TestA|TestB)$" {
		t.Errorf("the tests that count are %s", got)
	}
}

package columns

import (
	"math/rand/v2"
	"testing"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// Every byte, in every place of a word and beside every kind of neighbour, is tested as its class says.
func TestWordTests(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for i := range 256 {
		c := byte(i)
		for place := range 8 {
			text := make([]byte, 8)
			for i := range text {
				text[i] = byte(r.IntN(256))
			}
			text[place] = c
			word := wordAt(text, 0)
			is := func(tests uint64) bool { return tests>>(8*place+7)&1 != 0 }
			class := scan.ClassOf(c)
			if is(hostStops(word)) != (class&scan.Stop != 0) {
				t.Fatalf("%q in %q: hostStops", c, text)
			}
			if got, want := is(queryStops(word)), changes[c]&inQuery != 0; got != want && (want || c != '!') {
				t.Fatalf("%q in %q: queryStops is %v", c, text, got)
			}
		}
	}
}

// A path is cut where it is byte by byte.
func TestEndOfPath(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for range 200000 {
		in := []byte("http://a/")
		for range r.IntN(30) {
			in = append(in, "abcdefghABCXYZ019-_./~=%2e[]|;,"[r.IntN(31)])
		}
		for range r.IntN(3) {
			in[8+r.IntN(len(in)-8)] = byte(r.IntN(256))
		}
		in[8] = '/'
		got, clean := endOfPath(in, 8)
		wantEnd, wantClean := len(in), true
		for i := 8; i < len(in) && wantClean && wantEnd == len(in); i++ {
			_, dots := dotSegment(in[i+1:])
			switch c := in[i]; {
			case c == '?' || c == '#':
				wantEnd = i
			case changes[c]&inPath != 0 || c == '/' && dots > 0:
				wantClean = false
			}
		}
		if clean != wantClean || clean && got != wantEnd {
			t.Fatalf("%q: %d %v, want %d %v", in, got, clean, wantEnd, wantClean)
		}
	}
}

// The labels are those found byte by byte, for hosts of every length with dots anywhere.
func TestHostLabels(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 10))
	for range 20000 {
		in := []byte("https://")
		for range r.IntN(90) {
			in = append(in, "abz09-_..."[r.IntN(10)])
		}
		if r.IntN(4) > 0 {
			in = append(in, "/?#:@A\x80"[r.IntN(7)])
			in = append(in, "..a../"[:r.IntN(7)]...)
		}
		if got, want := hostLabels(in, 8), longHostLabels(in, 8); got != want {
			t.Fatalf("%q: %v, want %v", in, got, want)
		}
	}
}

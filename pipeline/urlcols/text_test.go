package urlcols

import (
	"math/rand/v2"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/charset"
)

// TestUTF8 compares columns with the same values taken one by one: few that are ill-formed, many, and characters that
// one value begins and the next one ends.
func TestUTF8(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"https://example.com/", "?q=\u00fc", "\U0001f389", "", "a"}
	bad := []string{"\xff", "\xf0\x9f", "\x8e\x89", "\xc3"}
	for _, share := range []float64{0, 0.002, 0.05, 1} {
		for _, n := range []int{0, 1, 127, 128, 129, 1000} {
			c := new(pipeline.Bytes)
			for range n {
				v := pieces[r.IntN(len(pieces))] + pieces[r.IntN(len(pieces))]
				if r.Float64() < share {
					v = bad[r.IntN(len(bad))] + v + bad[r.IntN(len(bad))]
				}
				c.Append([]byte(v))
			}
			s := &state{}
			data, offsets := s.utf8(c)
			if len(offsets) != n+1 {
				t.Fatalf("%d offsets for %d values", len(offsets), n)
			}
			for i := range n {
				if got, want := string(data[offsets[i]:offsets[i+1]]), string(charset.AppendUTF8(nil, c.At(i))); got != want {
					t.Fatalf("share %v: value %d of %d is %q, want %q", share, i, n, got, want)
				}
			}
		}
	}
}

package urlcols

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/urlcore/charset"
)

// TestHugeURL has a line of 245 MiB that is no UTF-8, each byte of which would be nine in the serialized URL: more than a
// column of 32-bit offsets can hold. It takes half a GiB of memory.
func TestHugeURL(t *testing.T) {
	p, err := New(Options{Include: []string{"href", "path", "url_error"}})
	if err != nil {
		t.Fatal(err)
	}
	b := &pipeline.Batch{}
	b.URLs.Data = append(b.URLs.Data, "https://a.example/"...)
	b.URLs.Data = append(b.URLs.Data, bytes.Repeat([]byte{0xff}, 245<<20)...)
	b.URLs.End()
	b.URLs.Append([]byte("https://a.example/next"))
	b.URLs.Valid = []bool{true, true}
	b.Offsets = []int64{0, 1}
	out, err := p.NewTransform().Apply(b)
	if err != nil {
		t.Fatal(err)
	}
	r := out.Records[pipeline.Rows]
	text := func(column, row int) string { return r.Column(column).(*array.String).Value(row) }
	if !r.Column(0).IsNull(0) || !r.Column(1).IsNull(0) || text(2, 0) != "input-too-long" {
		t.Errorf("the serialized URL is null: %v, and the error %q", r.Column(0).IsNull(0), text(2, 0))
	}
	if text(0, 1) != "https://a.example/next" || text(1, 1) != "/next" || !r.Column(2).IsNull(1) {
		t.Errorf("the URL after it: %q", text(0, 1))
	}
}

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

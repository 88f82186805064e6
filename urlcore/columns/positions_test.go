package columns

import (
	"math/rand/v2"
	"testing"
)

// What Locate finds is what Parse copies.
func TestLocate(t *testing.T) {
	EachVariant(t, func(t *testing.T) {
		g := generator{rand.New(rand.NewPCG(3, 3))}
		var data []byte
		var ends []int32
		for range 5000 {
			data = append(data, g.url()...)
			ends = append(ends, int32(len(data)))
		}
		var parsed, located Columns
		Parse(&parsed, data, ends)
		p, err := located.Locate(data, ends)
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Parts) != parsed.Rows || len(p.Flags) != parsed.Rows {
			t.Fatalf("%d rows, want %d", len(p.Parts), parsed.Rows)
		}
		for i := range p.Parts {
			r, flags := &p.Parts[i], p.Flags[i]
			for _, c := range []struct {
				name string
				span Span
				flag Flags
				text *Text
			}{
				{"href", r.Href, IsURL, &parsed.Href},
				{"scheme", r.Scheme, IsURL, &parsed.Scheme},
				{"host", r.Host, HasHost, &parsed.Host},
				{"origin", r.Origin, HasOrigin, &parsed.Origin},
				{"domain", Span{Start: r.Domain, End: r.Host.End}, HasDomain, &parsed.RegistrableDomain},
				{"suffix", Span{Start: r.Suffix, End: r.Host.End}, HasSuffix, &parsed.PublicSuffix},
				{"path", r.Path, IsURL, &parsed.Path},
				{"query", r.Query, HasQuery, &parsed.Query},
				{"fragment", r.Fragment, HasFragment, &parsed.Fragment},
			} {
				if got := p.Bytes(c.span, data); string(got) != string(c.text.At(i)) || flags&c.flag != 0 != c.text.IsValid(i) {
					t.Fatalf("%s of row %d: %q, want %q", c.name, i, got, c.text.At(i))
				}
			}
			port, ok := p.Port(i)
			if ok != parsed.Port.IsValid(i) || int32(port) != parsed.Port.Values[i] {
				t.Fatalf("port of row %d: %d", i, port)
			}
			if p.Err(i) != parsed.Errors[i] || p.HasUsername(i) != (parsed.HasUsername.Bits[i/8]>>(i%8)&1 != 0) {
				t.Fatalf("row %d: error %v", i, p.Err(i))
			}
		}
	})
}

func TestLocateAllocatesNothing(t *testing.T) {
	EachVariant(t, func(t *testing.T) {
		var data []byte
		var ends []int32
		for range 5000 {
			data = append(data, "https://www.example.co.uk/path?x=%20#fHTTP://user@BÜCHER.example:81/../ü"...)
			ends = append(ends, int32(len(data)-33), int32(len(data)))
		}
		var c Columns
		c.Locate(data, ends)
		if n := testing.AllocsPerRun(3, func() { c.Locate(data, ends) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

package columns_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/columns"
	"github.com/urlmill/urlmill/urlcore/form"
	"github.com/urlmill/urlmill/urlcore/psl"
)

// row is one row of a batch as plain values; nil stands for null.
type row struct {
	Href, Scheme, Host, Origin, Domain, Suffix, Path, Query, Fragment *string

	HasUsername *bool
	Port        *int32
	Params      *[][2]string
	Error       columns.Error
}

func ptr[T any](v T) *T { return &v }

func text(t *columns.Text, i int) *string {
	if !t.IsValid(i) {
		return nil
	}
	return ptr(string(t.At(i)))
}

// rowAt reads row i of a batch with all columns.
func rowAt(c *columns.Columns, i int) row {
	r := row{
		Href: text(&c.Href, i), Scheme: text(&c.Scheme, i), Host: text(&c.Host, i), Origin: text(&c.Origin, i),
		Domain: text(&c.RegistrableDomain, i), Suffix: text(&c.PublicSuffix, i),
		Path: text(&c.Path, i), Query: text(&c.Query, i), Fragment: text(&c.Fragment, i), Error: c.Errors[i],
	}
	if c.HasUsername.IsValid(i) {
		r.HasUsername = ptr(c.HasUsername.Bits[i/8]>>(i%8)&1 == 1)
	}
	if c.Port.IsValid(i) {
		r.Port = ptr(c.Port.Values[i])
	}
	if p := &c.Params; p.IsValid(i) {
		list := [][2]string{}
		for e := int(p.Offsets[i]); e < int(p.Offsets[i+1]); e++ {
			list = append(list, [2]string{string(p.Keys.At(e)), string(p.Values.At(e))})
		}
		r.Params = &list
	}
	return r
}

// wantRow makes the row of one URL by the API of package urlcore alone.
func wantRow(input, base string) row {
	var p urlcore.Parser
	var b *urlcore.URL
	if base != "" {
		b = new(urlcore.URL)
		if f := p.Parse(b, []byte(base), nil); !f.OK() {
			return row{Error: columns.Error{Code: f.Code, InBase: true, Pos: int32(f.Pos)}}
		}
	}
	var u urlcore.URL
	if f := p.Parse(&u, []byte(input), b); !f.OK() {
		return row{Error: columns.Error{Code: f.Code, Pos: int32(f.Pos)}}
	}
	part := func(p urlcore.Part, present bool) *string {
		if !present {
			return nil
		}
		return ptr(string(u.Bytes(p)))
	}
	r := row{
		Href: part(urlcore.Href, true), Scheme: part(urlcore.Scheme, true), Host: part(urlcore.Host, u.HasHost()),
		Path: part(urlcore.Path, true), Query: part(urlcore.Query, u.HasQuery()),
		Fragment: part(urlcore.Fragment, u.HasFragment()), HasUsername: ptr(u.Username() != ""),
	}
	if origin := u.Origin(); origin != "null" {
		r.Origin = &origin
	}
	if port, ok := u.PortNumber(); ok {
		r.Port = ptr(int32(port))
	}
	if u.HostKind() == urlcore.HostDomain {
		host := u.Hostname()
		if suffix, domain, _ := psl.Default().Lookup([]byte(host)); suffix >= 0 {
			r.Suffix = ptr(host[suffix:])
			if domain >= 0 {
				r.Domain = ptr(host[domain:])
			}
		}
	}
	if u.HasQuery() {
		list := [][2]string{}
		for _, pair := range form.Parse(string(u.Bytes(urlcore.Query))) {
			list = append(list, [2]string{pair.Name, pair.Value})
		}
		r.Params = &list
	}
	return r
}

type batch struct {
	data, bases    []byte
	ends, baseEnds []int32
	inputs         [][2]string // URL and base
}

func (b *batch) add(input, base string) {
	b.data = append(b.data, input...)
	b.ends = append(b.ends, int32(len(b.data)))
	b.bases = append(b.bases, base...)
	b.baseEnds = append(b.baseEnds, int32(len(b.bases)))
	b.inputs = append(b.inputs, [2]string{input, base})
}

func (b *batch) parse(c *columns.Columns) {
	columns.ParseWithBases(c, b.data, b.ends, b.bases, b.baseEnds)
}

func check(t *testing.T, b *batch, c *columns.Columns) {
	t.Helper()
	if c.Rows != len(b.inputs) || len(c.Errors) != len(b.inputs) {
		t.Fatalf("%d rows, %d errors, want %d", c.Rows, len(c.Errors), len(b.inputs))
	}
	invalid := 0
	for i, in := range b.inputs {
		want := wantRow(in[0], in[1])
		if want.Error.Code != urlcore.OK {
			invalid++
		}
		if diff := cmp.Diff(want, rowAt(c, i)); diff != "" {
			t.Errorf("row %d, %.200q against %.200q: %s", i, in[0], in[1], diff)
		}
	}
	if c.Invalid != invalid {
		t.Errorf("%d invalid rows counted, want %d", c.Invalid, invalid)
	}
}

var samples = [][2]string{
	{"https://user:secret@www.example.co.uk:8443/a/b?x=1&y=%41+b&x=&=v&z#top", ""},
	{"HTTP://EXAMPLE.com:80/../a/./b", ""},
	{"https://ex%41mple.com/?", ""},
	{"https://bücher.example/ü?ü=ü#ü", ""},
	{"http://192.168.0.1./", ""},
	{"http://[2001:DB8::1]:81/x", ""},
	{"mailto:me@example.com?subject=a+b", ""},
	{"file:///C|/dir/../x", ""},
	{"foo://Host/path", ""},
	{"blob:https://example.org/id", ""},
	{"https://github.io/", ""},
	{"https://me.github.io./", ""},
	{"../up?q=%zz&%F0%28=1", "https://example.com/a/b/c"},
	{"//other.example/x", "https://example.com/a/b/c"},
	{"#f", "mailto:x"},
	{"x", "mailto:x"},
	{"x", "no base"},
	{"", ""},
	{"", "https://example.com/"},
	{"http://", ""},
	{"http://a b/", ""},
	{"http://1.2.3.256/", ""},
	{"http://example.com:99999/", ""},
	{"ht\ttps://example.com/\x00", ""},
	{"https://example.com/\xff\xfe?\xff=\xff", ""},
}

func TestRowsEqualTheRecordAPI(t *testing.T) {
	columns.EachVariant(t, func(t *testing.T) {
		var b batch
		for _, s := range samples {
			b.add(s[0], s[1])
		}
		var c columns.Columns
		b.parse(&c)
		check(t, &b, &c)
	})
}

func TestConformanceInputs(t *testing.T) {
	columns.EachVariant(t, func(t *testing.T) {
		type entry struct {
			Input string  `json:"input"`
			Base  *string `json:"base"`
		}
		var b batch
		for _, e := range conformance.Cases[entry](t, "urltestdata.json") {
			base := ""
			if e.Base != nil {
				base = *e.Base
			}
			b.add(e.Input, base)
		}
		var c columns.Columns
		b.parse(&c)
		check(t, &b, &c)
		t.Logf("urltestdata.json: %d rows", c.Rows)
	})
}

func TestReuseLeavesNothingBehind(t *testing.T) {
	columns.EachVariant(t, func(t *testing.T) {
		var c columns.Columns
		r := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			var b batch
			for range r.IntN(20) {
				s := samples[r.IntN(len(samples))]
				b.add(s[0], s[1])
			}
			b.parse(&c)
			check(t, &b, &c)
		}
	})
}

func TestCompact(t *testing.T) {
	columns.EachVariant(t, func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			var b batch
			for range rapid.IntRange(0, 40).Draw(t, "rows") {
				s := rapid.SampledFrom(samples).Draw(t, "sample")
				b.add(s[0], s[1])
			}
			keep := rapid.SliceOfN(rapid.Bool(), len(b.inputs), len(b.inputs)).Draw(t, "keep")
			var c columns.Columns
			b.parse(&c)
			var want []row
			for i, k := range keep {
				if k {
					want = append(want, rowAt(&c, i))
				}
			}
			c.Compact(keep)
			var got []row
			for i := range c.Rows {
				got = append(got, rowAt(&c, i))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatal(diff)
			}
		})
	})
}

// Only the columns that are wanted are filled, and they are what they are among all.
func TestWant(t *testing.T) {
	columns.EachVariant(t, func(t *testing.T) {
		var b batch
		for _, s := range samples {
			b.add(s[0], s[1])
		}
		var all columns.Columns
		b.parse(&all)
		for bit := columns.Href; bit < columns.All; bit <<= 1 {
			c := columns.Columns{Want: bit}
			b.parse(&c)
			if c.Rows != all.Rows || !slices.Equal(c.Errors, all.Errors) {
				t.Errorf("column %b: rows or errors differ", bit)
			}
			filled := 0
			pairs := []struct{ one, all *columns.Text }{
				{&c.Href, &all.Href},
				{&c.Scheme, &all.Scheme},
				{&c.Host, &all.Host},
				{&c.Origin, &all.Origin},
				{&c.RegistrableDomain, &all.RegistrableDomain},
				{&c.PublicSuffix, &all.PublicSuffix},
				{&c.Path, &all.Path},
				{&c.Query, &all.Query},
				{&c.Fragment, &all.Fragment},
				{&c.Params.Keys, &all.Params.Keys},
			}
			for _, p := range pairs {
				if len(p.one.Offsets) == 1 {
					continue
				}
				filled++
				if !bytes.Equal(p.one.Data, p.all.Data) || !slices.Equal(p.one.Offsets, p.all.Offsets) {
					t.Errorf("column %b differs from the same among all", bit)
				}
			}
			if len(c.Port.Values) > 0 {
				filled++
			}
			if len(c.HasUsername.Bits) > 0 {
				filled++
			}
			if filled != 1 {
				t.Errorf("column %b: %d columns filled", bit, filled)
			}
		}
	})
}

func TestOwnList(t *testing.T) {
	columns.EachVariant(t, func(t *testing.T) {
		list, err := psl.Parse(bytes.NewReader([]byte("// ===BEGIN ICANN DOMAINS===\nexample\nb.example\n// ===END ICANN DOMAINS===\n" +
			"// ===BEGIN PRIVATE DOMAINS===\nc.example\n// ===END PRIVATE DOMAINS===\n")))
		if err != nil {
			t.Fatal(err)
		}
		c := columns.Columns{PSL: list}
		var b batch
		b.add("https://www.a.b.example/", "")
		b.parse(&c)
		if got := string(c.RegistrableDomain.At(0)); got != "a.b.example" {
			t.Errorf("got %q", got)
		}
	})
}

func TestParseAllocatesNothing(t *testing.T) {
	columns.EachVariant(t, func(t *testing.T) {
		var b batch
		for i := range 1000 {
			b.add(fmt.Sprintf("https://www%d.example.co.uk/a/b?x=%d&y=%%41+b#f", i, i), "")
			b.add("http://broken host/", "")
			b.add("../x", "https://example.com/a/b")
		}
		var c columns.Columns
		b.parse(&c)
		if n := testing.AllocsPerRun(5, func() { b.parse(&c) }); n != 0 {
			t.Errorf("%v allocations per batch", n)
		}
		keep := make([]bool, c.Rows)
		if n := testing.AllocsPerRun(5, func() {
			b.parse(&c)
			for i := range keep {
				keep[i] = c.Errors[i].Code == urlcore.OK
			}
			c.Compact(keep)
		}); n != 0 {
			t.Errorf("%v allocations with Compact", n)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range samples {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, input, base string) {
		var b batch
		b.add("https://example.com/before?a", "")
		b.add(input, base)
		b.add("https://example.com/after#b", "")
		var c columns.Columns
		b.parse(&c)
		check(t, &b, &c)
	})
}

func BenchmarkParse(b *testing.B) {
	var in batch
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 4096 {
		in.add(fmt.Sprintf("https://www%d.example.com/articles/%d/index.html?utm_source=mail&id=%d", r.IntN(500), i, r.IntN(1e6)), "")
	}
	var c columns.Columns
	b.SetBytes(int64(len(in.data)))
	for b.Loop() {
		columns.Parse(&c, in.data, in.ends)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/URL")
}

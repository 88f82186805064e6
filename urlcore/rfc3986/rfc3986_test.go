package rfc3986

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type refCase struct {
	Input                              string
	Error                              string
	Pos                                int
	Scheme, Authority, Query, Fragment *string
	Path                               string
}

// ref returns the components as a Ref.
func (c *refCase) ref() Ref {
	r := Ref{Path: c.Path}
	for _, part := range []struct {
		from *string
		to   *string
		has  *bool
	}{
		{c.Scheme, &r.Scheme, &r.HasScheme},
		{c.Authority, &r.Authority, &r.HasAuthority},
		{c.Query, &r.Query, &r.HasQuery},
		{c.Fragment, &r.Fragment, &r.HasFragment},
	} {
		if part.from != nil {
			*part.to, *part.has = *part.from, true
		}
	}
	return r
}

// refCases reads testdata/refs.json.
func refCases(tb testing.TB) []refCase {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "refs.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		tb.Fatal(err)
	}
	cases := make([]refCase, len(raw)-1)
	for i, entry := range raw[1:] {
		if err := json.Unmarshal(entry, &cases[i]); err != nil {
			tb.Fatalf("%s: %v", entry, err)
		}
	}
	return cases
}

func TestParse(t *testing.T) {
	for _, c := range refCases(t) {
		got, err := Parse(c.Input)
		var failure *Error
		switch errors.As(err, &failure); {
		case c.Error == "" && (err != nil || got != c.ref()):
			t.Errorf("Parse(%q) = %+v, %v, want %+v", c.Input, got, err, c.ref())
		case c.Error == "" && (got.String() != c.Input || Split(c.Input) != got):
			t.Errorf("Parse(%q) is put together as %q", c.Input, got.String())
		case c.Error != "" && (failure == nil || got != Ref{}):
			t.Errorf("Parse(%q) = %+v, %v, want an error", c.Input, got, err)
		case c.Error != "" && (failure.Code.String() != c.Error || failure.Pos != c.Pos):
			t.Errorf("Parse(%q): %v, want %s at position %d", c.Input, err, c.Error, c.Pos)
		}
	}
}

func TestParseAuthority(t *testing.T) {
	for in, want := range map[string]Auth{
		"":                    {},
		"h":                   {Host: "h"},
		"h:":                  {Host: "h", HasPort: true},
		":80":                 {Port: "80", HasPort: true},
		"@":                   {HasUserinfo: true},
		"u:p:q%41@h%41:0080":  {Userinfo: "u:p:q%41", HasUserinfo: true, Host: "h%41", Port: "0080", HasPort: true},
		"1.2.3.4:5":           {Host: "1.2.3.4", Kind: HostIPv4, Port: "5", HasPort: true},
		"01.2.3.4":            {Host: "01.2.3.4"},
		"u@[::1]:5":           {Userinfo: "u", HasUserinfo: true, Host: "[::1]", Kind: HostIPv6, Port: "5", HasPort: true},
		"[v1.fe80::a+en1]":    {Host: "[v1.fe80::a+en1]", Kind: HostFuture},
		"999999999999999.1:1": {Host: "999999999999999.1", Port: "1", HasPort: true},
	} {
		if got, err := ParseAuthority(in); err != nil || got != want {
			t.Errorf("ParseAuthority(%q) = %+v, %v", in, got, err)
		}
	}
	if got, err := ParseAuthority("a@b@c"); err == nil || err.Error() != "rfc3986: not a host at position 3" || got != (Auth{}) {
		t.Errorf("two @: %+v, %v", got, err)
	}
	names := []string{HostName.String(), HostIPv4.String(), HostIPv6.String(), HostFuture.String()}
	if got := strings.Join(names, " "); got != "reg-name IPv4address IPv6address IPvFuture" {
		t.Errorf("host kinds: %s", got)
	}
}

// TestStringOfParts covers references that no text is split into.
func TestStringOfParts(t *testing.T) {
	for want, r := range map[string]Ref{
		"a:/.//b":                {Scheme: "a", HasScheme: true, Path: "//b"},
		"/.//b":                  {Path: "//b"},
		"./a:b":                  {Path: "a:b"},
		"./a:b/c":                {Path: "a:b/c"},
		"a/b:c":                  {Path: "a/b:c"},
		":a":                     {Path: ":a"},
		"//h//b":                 {Authority: "h", HasAuthority: true, Path: "//b"},
		"a:b:c?#":                {Scheme: "a", HasScheme: true, Path: "b:c", HasQuery: true, HasFragment: true},
		"s:a?q#f":                {Scheme: "s", HasScheme: true, Path: "a", Query: "q", HasQuery: true, Fragment: "f", HasFragment: true},
		"x:y?ignored has fields": {Scheme: "x", HasScheme: true, Path: "y", Query: "ignored has fields", HasQuery: true, Fragment: "x"},
	} {
		if got := r.String(); got != want {
			t.Errorf("%+v: %q, want %q", r, got, want)
		}
	}
}

func TestProductions(t *testing.T) {
	all := Productions()
	if len(all) != 36 || all[0] != URI || all[35] != SubDelims {
		t.Errorf("%d productions", len(all))
	}
	names := map[string]Production{}
	for _, p := range all {
		if _, ok := names[p.String()]; ok || p.String() == "" {
			t.Errorf("name %q", p)
		}
		names[p.String()] = p
	}
	if got := Production(99).String(); got != "rfc3986.Production(99)" || Production(99).Match("") {
		t.Errorf("no production: %s", got)
	}
}

func TestCodes(t *testing.T) {
	seen := map[string]bool{}
	for c := CodeScheme; c <= CodeBase; c++ {
		if s := c.String(); s == "" || seen[s] || strings.Contains(s, "Code") {
			t.Errorf("code %d: %q", c, s)
		}
		seen[c.String()] = true
	}
	if s := Code(99).String(); s != "rfc3986.Code(99)" {
		t.Errorf("unknown code: %q", s)
	}
}

func TestFileName(t *testing.T) {
	for _, c := range []struct{ in, name, extension string }{
		{"", "", ""},
		{"http://h", "", ""},
		{"http://h.example/", "", ""},
		{"http://h/a/b.txt?x.y#z.w", "b.txt", "txt"},
		{"http://h/archive.tar.gz", "archive.tar.gz", "gz"},
		{"a%2Fb.html", "a%2Fb.html", "html"},
		{"/.bashrc", ".bashrc", ""},
		{"/.config.toml", ".config.toml", "toml"},
		{"/a.", "a.", ""},
		{"/a.b/c", "c", ""},
		{"/a/.", "", ""},
		{"/a/..", "", ""},
		{"..", "", ""},
		{"...", "...", ""},
		{"urn:a:b.c", "a:b.c", "c"},
	} {
		r := Split(c.in)
		if name, extension := r.FileName(), r.Extension(); name != c.name || extension != c.extension {
			t.Errorf("%q: file name %q, extension %q", c.in, name, extension)
		}
	}
}

func TestAllocations(t *testing.T) {
	for _, s := range []string{"http://u:p@[::ffff:1.2.3.4]:80/a/b/c.html?q=%41#f", "../a/./b", "mailto:a@b", "%zz", "//a@b@c"} {
		if n := testing.AllocsPerRun(100, func() {
			for p := range productions {
				p.Match(s)
			}
			if r := Split(s); r.FileName() == "-" || r.Extension() == "-" {
				t.Error("a name that is in no case")
			}
			RemoveDotSegments("/a/b/c")
		}); n != 0 {
			t.Errorf("%q: %v allocations", s, n)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		r, err := Parse("http://u:p@[::ffff:1.2.3.4]:80/a/b/c.html?q=%41#f")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseAuthority(r.Authority); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("Parse: %v allocations", n)
	}
}

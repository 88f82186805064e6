package rfc3986

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
)

func TestConformanceGrammar(t *testing.T) {
	passed, total := 0, 0
	for _, c := range conformance.Cases[struct {
		Input       string
		URI         bool
		RelativeRef bool `json:"relative_ref"`
		AbsoluteURI bool `json:"absolute_uri"`
		Components  *refCase
	}](t, "rfc3986-grammar.json") {
		total++
		if URI.Match(c.Input) != c.URI || RelativeRef.Match(c.Input) != c.RelativeRef || AbsoluteURI.Match(c.Input) != c.AbsoluteURI {
			t.Errorf("%q: URI %v, relative-ref %v, absolute-URI %v, want %v, %v, %v", c.Input, URI.Match(c.Input),
				RelativeRef.Match(c.Input), AbsoluteURI.Match(c.Input), c.URI, c.RelativeRef, c.AbsoluteURI)
			continue
		}
		r, err := Parse(c.Input)
		if (err != nil) != (c.Components == nil) || err == nil && r != c.Components.ref() {
			t.Errorf("%q: %+v, %v", c.Input, r, err)
			continue
		}
		passed++
	}
	t.Logf("rfc3986-grammar.json: %d/%d", passed, total)
}

func TestConformanceProductions(t *testing.T) {
	names := map[string]Production{}
	for _, p := range Productions() {
		names[p.String()] = p
	}
	passed, total := 0, 0
	for _, c := range conformance.Cases[struct {
		Production, Input string
		Match             bool
	}](t, "rfc3986-productions.json") {
		total++
		if p, ok := names[c.Production]; !ok || p.Match(c.Input) != c.Match {
			t.Errorf("%s, %q: %v (production known: %v)", c.Production, c.Input, !c.Match, ok)
			continue
		}
		passed++
	}
	t.Logf("rfc3986-productions.json: %d/%d", passed, total)
}

func TestConformanceChars(t *testing.T) {
	var data map[string]string
	if err := json.Unmarshal(conformance.Read(t, "rfc3986-chars.json"), &data); err != nil {
		t.Fatal(err)
	}
	allowed := map[string]func(c string) bool{
		"scheme (after first)": func(c string) bool { return Scheme.Match("a" + c) },
		"userinfo":             Userinfo.Match,
		"reg-name":             RegName.Match,
		"pchar":                PChar.Match,
		"query / fragment":     func(c string) bool { return Query.Match(c) && Fragment.Match(c) },
		"gen-delims":           GenDelims.Match,
		"sub-delims":           SubDelims.Match,
		"unreserved":           Unreserved.Match,
		"segment-nz-nc":        SegmentNZNC.Match,
	}
	passed, total := 0, 0
	for name, chars := range data {
		total++
		ok := allowed[name] != nil
		for b := 0; b < 256 && ok; b++ {
			c := string([]byte{byte(b)})
			ok = allowed[name](c) == (b < 0x80 && strings.Contains(chars, c))
			if !ok {
				t.Errorf("%s: %q", name, c)
			}
		}
		if ok {
			passed++
		}
	}
	t.Logf("rfc3986-chars.json: %d/%d", passed, total)
}

func TestConformanceResolution(t *testing.T) {
	passed, total := 0, 0
	for _, c := range conformance.Cases[struct {
		Base, Ref, Target string
		NonStrict         *string `json:"target_non_strict"`
	}](t, "rfc3986-resolution.json") {
		total++
		if got, err := ResolveReference(c.Base, c.Ref); err != nil || got != c.Target {
			t.Errorf("%q against %q: %q, %v, want %q", c.Ref, c.Base, got, err, c.Target)
			continue
		}
		want := c.Target
		if c.NonStrict != nil {
			want = *c.NonStrict
		}
		if got, err := Resolve(Split(c.Base), Split(c.Ref), NonStrict); err != nil || got.String() != want {
			t.Errorf("%q against %q, not strict: %q, %v, want %q", c.Ref, c.Base, got.String(), err, want)
			continue
		}
		passed++
	}
	t.Logf("rfc3986-resolution.json: %d/%d", passed, total)
}

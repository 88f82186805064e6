package percent

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
)

func TestSets(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Sets() {
		if seen[s.Name] || s.Name == "" {
			t.Errorf("name %q twice", s.Name)
		}
		seen[s.Name] = true
		if !NonASCII.SubsetOf(s.Set) {
			t.Errorf("%s leaves bytes above 0x7F alone", s.Name)
		}
		if s.Name != "IRI" && !C0Control.SubsetOf(s.Set) {
			t.Errorf("%s leaves control characters alone", s.Name)
		}
		if n := len(slices.Collect(s.Set.Members())); n < 128 || n > 256 {
			t.Errorf("%s has %d members", s.Name, n)
		}
		if s.Set.Has('a') || s.Set.Has('Z') || s.Set.Has('5') {
			t.Errorf("%s encodes letters or digits", s.Name)
		}
	}
	if Component != EncodeURIComponentSet {
		t.Errorf("component %v, encodeURIComponent %v", Component, EncodeURIComponentSet)
	}
	if got := EncodeURIComponentSet.Minus(EncodeURISet).Printable(); got != "#$&+,/:;=?@" {
		t.Errorf("encodeURI keeps %q", got)
	}
	if got := ALPN.Minus(ExtValueSet).Union(ExtValueSet.Minus(ALPN)).Printable(); got != "'*" {
		t.Errorf("ALPN and ext-value differ in %q", got)
	}
	chain := []Set{C0Control, Query, SpecialQuery}
	for i := 1; i < len(chain); i++ {
		if !chain[i-1].SubsetOf(chain[i]) || chain[i].SubsetOf(chain[i-1]) {
			t.Errorf("set %d", i)
		}
	}
}

func TestSetString(t *testing.T) {
	for _, c := range []struct {
		set  Set
		want string
	}{
		{Set{}, `""`},
		{Set{}.With("a"), `"a"`},
		{C0Control, `"" and controls and non-ASCII`},
		{Fragment, "\" \\\"<>`\" and controls and non-ASCII"},
		{NonASCII, `"" and non-ASCII`},
		{Set{}.With("\n\xFF"), `"" and some controls and some non-ASCII`},
	} {
		if got := c.set.String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	for b := range Fragment.Members() {
		if b != 0 {
			t.Errorf("first member %#x", b)
		}
		break
	}
}

func TestCGISet(t *testing.T) {
	set, err := CGISet("/?")
	if err != nil {
		t.Fatal(err)
	}
	if got := set.Printable(); got != " \"#%/<>?\\^`{|}" {
		t.Errorf("members %q", got)
	}
	var failure *Error
	if _, err := CGISet("/a"); !errors.As(err, &failure) || failure.Pos != 1 || failure.Code != CodeByte {
		t.Errorf("a letter as reserved character: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("must let an error pass")
		}
	}()
	must(CGISet("x"))
}

// TestScalars compares with the decoder of x/text for UTF-8, which replaces maximal ill-formed parts as well.
func TestScalars(t *testing.T) {
	bytes := []string{"a", "\x80", "\xBF", "\xC0", "\xC2", "\xE0", "\xA0", "\xED", "\x9F", "\xEF", "\xF0", "\x90", "\xF4", "\x8F", "\xF5", "\xFF"}
	for _, a := range bytes {
		for _, b := range bytes {
			for _, c := range bytes {
				for _, d := range bytes {
					s := a + b + c + d
					want, err := unicode.UTF8.NewDecoder().String(s)
					if err != nil {
						t.Fatal(err)
					}
					if got := scalars(s); got != want {
						t.Fatalf("scalars(%q) = %q, want %q", s, got, want)
					}
				}
			}
		}
	}
}

func TestVariants(t *testing.T) {
	for _, c := range []struct {
		name      string
		operation func(string) string
		in, want  string
	}{
		{"OAuth", EncodeOAuth, "a~b!*'()%41+é", "a~b%21%2A%27%28%29%2541%2B%C3%A9"},
		{"OAuth, ill-formed", EncodeOAuth, "\xC2", "%EF%BF%BD"},
		{"OAuth decoding", func(s string) string { return string(DecodeOAuth(s)) }, "a+b%2B%zz%ff", "a+b+%zz\xFF"},
		{"ALPN", func(s string) string { return string(AppendALPN(nil, []byte(s))) }, "h2/\x00%\xFF", "h2%2F%00%25%FF"},
		{"template simple", EncodeTemplateSimple, "a/%41 é", "a%2F%2541%20%C3%A9"},
		{"template reserved", EncodeTemplateReserved, "a/%41 é%4[]\"'", "a/%41%20%C3%A9%254[]%22'"},
		{"IRI", IRIToURI, "http://é/%zz a?\xFF", "http://%C3%A9/%zz a?%EF%BF%BD"},
		{"fix up", func(s string) string { return FixUp(s, &Path) }, "a b%20%2%?%aF\xE3", "a%20b%20%252%25%3F%aF%EF%BF%BD"},
		{"fix up, set with %", func(s string) string { return FixUp(s, &Component) }, "%20 %", "%20%20%25"},
	} {
		if got := c.operation(c.in); got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.name, c.in, got, c.want)
		}
	}
}

func TestIsALPN(t *testing.T) {
	for s, want := range map[string]bool{
		"h2": true, "": true, "http%2F1.1": true, "http%2f1.1": false, "%68": false, "a%": false, "a/b": false, "%25": true, "%": false, "é": false,
	} {
		if got := IsALPN(s); got != want {
			t.Errorf("IsALPN(%q) = %v", s, got)
		}
	}
}

func TestAppendDecodeStrict(t *testing.T) {
	for _, c := range []struct {
		in, want string
		pos      int
	}{
		{"", "", -1},
		{"a%41%ff", "aA\xFF", -1},
		{"%", "", 0},
		{"ab%4", "", 2},
		{"%41%4g", "", 3},
		{"%2%41", "", 0},
	} {
		got, err := AppendDecodeStrict([]byte("x"), []byte(c.in))
		var failure *Error
		if errors.As(err, &failure) != (c.pos >= 0) || string(got) != "x"+c.want {
			t.Errorf("%q: %q, %v", c.in, got, err)
		} else if err != nil && (failure.Pos != c.pos || failure.Code != CodeStrayPercent) {
			t.Errorf("%q: %v", c.in, err)
		}
	}
}

func TestCheckUTF8(t *testing.T) {
	for in, pos := range map[string]int{
		"": -1, "plain é": -1, "%41%E3%81%82x%F0%9F%98%80": -1, "%": -1, "%4": -1, "%zz%41": -1,
		"%80": 0, "a%C3": 1, "%41%C3%41": 3, "%E3%81x%82": 0, "%E3%81\x82": 0, "%C3%": 0, "%ED%A0%80": 0, "%C3%A9%FF": 6, "\xE3%81%82": 1,
	} {
		var failure *Error
		err := CheckUTF8([]byte(in))
		if errors.As(err, &failure) != (pos >= 0) || err != nil && (failure.Pos != pos || failure.Code != CodeNotUTF8) {
			t.Errorf("CheckUTF8(%q): %v, want position %d", in, err, pos)
		}
	}
}

func TestNextNotation(t *testing.T) {
	for in, want := range map[string]string{
		"":                   "",
		"none":               "",
		"%41":                "%41=triplet",
		"a%fFb":              "%fF=triplet",
		"%u0041":             "%u0041=unicode",
		"%U0041%u004":        "%U=directive %u=directive",
		"%%":                 "%%=double",
		"%%%%":               "%%=double %%=double",
		"%%41":               "%=stray %41=triplet",
		"%%%41":              "%%=double %41=triplet",
		"%s %d%":             "%s=directive %d=directive %=stray",
		"%4":                 "%=stray",
		"100% sure":          "%=stray",
		"%é":                 "%=stray",
		"%2%s%%a%u00e9%%%41": "%=stray %s=directive %%=double %u00e9=unicode %%=double %41=triplet",
	} {
		var got []string
		rest := []byte(in)
		for {
			start, end, n := NextNotation(rest)
			if n == NotationNone {
				if start != len(rest) || end != len(rest) {
					t.Errorf("%q: none at %d, %d", in, start, end)
				}
				break
			}
			got = append(got, string(rest[start:end])+"="+n.String())
			rest = rest[end:]
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%q: %s, want %s", in, text, want)
		}
	}
	if got := Notation(99).String(); got != "percent.Notation(99)" {
		t.Errorf("unknown notation: %s", got)
	}
	if got := NotationNone.String(); got != "none" {
		t.Errorf("no notation: %s", got)
	}
}

func TestPlus(t *testing.T) {
	for _, c := range []struct {
		scheme string
		part   Part
		want   Plus
	}{
		{"http", PartQuery, PlusIsSpace},
		{"HTTPS", PartQuery, PlusIsSpace},
		{"ws", PartQuery, PlusIsSpace},
		{"wSS", PartQuery, PlusIsSpace},
		{"file", PartQuery, PlusIsPlus},
		{"ftp", PartQuery, PlusIsPlus},
		{"mailto", PartQuery, PlusIsPlus},
		{"", PartQuery, PlusIsPlus},
		{"http", PartPath, PlusIsPlus},
		{"http", PartHost, PlusIsPlus},
		{"https", PartFragment, PlusIsPlus},
		{"https", PartUserinfo, PlusIsPlus},
		{"", PartBody, PlusIsSpace},
	} {
		if got := PlusIn(c.scheme, c.part); got != c.want {
			t.Errorf("PlusIn(%q, %d) = %v", c.scheme, c.part, got)
		}
	}
	for plus, want := range map[Plus]string{PlusIsPlus: "xa+b+ %+", PlusIsSpace: "xa b+ % "} {
		if got := AppendDecodePlus([]byte("x"), []byte("a+b%2B%20%+"), plus); string(got) != want {
			t.Errorf("%v: %q", plus, got)
		}
	}
}

func TestExtValue(t *testing.T) {
	for _, c := range []struct {
		in, charset, language, value string
		code                         Code
		pos                          int
	}{
		{"UTF-8''a", "UTF-8", "", "a", 0, 0},
		{"utf-8'en-GB'%41%ff", "utf-8", "en-GB", "A\xFF", 0, 0},
		{"x-%a!'de-1996'", "x-%a!", "de-1996", "", 0, 0},
		{"UTF-8'x-abcdefgh'a", "UTF-8", "x-abcdefgh", "a", 0, 0},
		{"", "", "", "", CodeCharset, 0},
		{"'en'a", "", "", "", CodeCharset, 0},
		{"abc", "", "", "", CodeCharset, 0},
		{"ab c''x", "", "", "", CodeCharset, 2},
		{"é''x", "", "", "", CodeCharset, 0},
		{"UTF-8'en", "", "", "", CodeLanguage, 6},
		{"UTF-8'1'x", "", "", "", CodeLanguage, 6},
		{"UTF-8'e_'x", "", "", "", CodeLanguage, 7},
		{"UTF-8'e-'x", "", "", "", CodeLanguage, 8},
		{"UTF-8'-e'x", "", "", "", CodeLanguage, 6},
		{"UTF-8'abcdefghi'x", "", "", "", CodeLanguage, 14},
		{"UTF-8'en--x'x", "", "", "", CodeLanguage, 9},
		{"UTF-8''a b", "", "", "", CodeByte, 8},
		{"UTF-8''a'b", "", "", "", CodeByte, 8},
		{"UTF-8''%4", "", "", "", CodeStrayPercent, 7},
	} {
		got, err := ParseExtValue(c.in)
		var failure *Error
		errors.As(err, &failure)
		switch {
		case (err != nil) != (c.code != 0):
			t.Errorf("%q: %v", c.in, err)
		case err != nil && (failure.Code != c.code || failure.Pos != c.pos):
			t.Errorf("%q: %v, want %v at %d", c.in, err, c.code, c.pos)
		case got.Charset != c.charset || got.Language != c.language || string(got.Value) != c.value:
			t.Errorf("%q: %+v", c.in, got)
		}
	}
	got, err := AppendExtValue([]byte("filename*="), "en", "é*'%\xC2")
	if want := "filename*=UTF-8'en'%C3%A9%2A%27%25%EF%BF%BD"; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got, err := AppendExtValue([]byte("x"), "e n", "a"); err == nil || string(got) != "x" {
		t.Errorf("bad language: %s, %v", got, err)
	}
}

func TestExtValueText(t *testing.T) {
	for _, c := range []struct {
		charset, value, want string
		code                 Code
		pos                  int
	}{
		{"UTF-8", "é", "é", 0, 0},
		{"Utf-8", "aé\xFF", "", CodeNotUTF8, 3},
		{"ISO-8859-1", "\xA3 a", "£ a", 0, 0},
		{"windows-1252", "a", "", CodeCharset, 0},
	} {
		got, err := ExtValue{Charset: c.charset, Value: []byte(c.value)}.Text()
		var failure *Error
		if errors.As(err, &failure) != (c.code != 0) || got != c.want || err != nil && (failure.Code != c.code || failure.Pos != c.pos) {
			t.Errorf("%s %q: %q, %v", c.charset, c.value, got, err)
		}
	}
}

func TestVariantAllocations(t *testing.T) {
	src, buffer := []byte("a+b%20c é/?x=%E3%81%82%zz"), make([]byte, 0, 256)
	in, buffer16 := units("a b%u0041é"), make([]uint16, 0, 256)
	encoded := units("a%20b%C3%A9%2F")
	if n := testing.AllocsPerRun(100, func() {
		buffer = AppendFixUp(buffer[:0], src, &Path)
		buffer = AppendDecodePlus(buffer[:0], src, PlusIsSpace)
		buffer = AppendALPN(buffer[:0], src)
		buffer16 = AppendEscape16(buffer16[:0], in)
		buffer16 = AppendUnescape16(buffer16[:0], in)
		buffer16, _ = AppendEncodeURI16(buffer16[:0], in)
		buffer16, _ = AppendDecodeURI16(buffer16[:0], encoded)
		NextNotation(src)
		buffer = AppendDecodePlus(buffer[:0], src, PlusIn("https", PartQuery))
		if err := CheckUTF8(src); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzVariants(f *testing.F) {
	for _, s := range []string{"", "a b", "%E3%81%82", "é%", "\xFF%41", "UTF-8'en'%41"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, set := range Sets() {
			once := FixUp(s, &set.Set)
			if twice := FixUp(once, &set.Set); twice != once {
				t.Errorf("%s: fixing up %q gives %q and then %q", set.Name, s, once, twice)
			}
			if _, err := AppendDecodeStrict(nil, []byte(once)); err != nil {
				t.Errorf("%s: fixing up %q gives %q: %v", set.Name, s, once, err)
			}
			if set.Set.Has('%') {
				if back := AppendDecode(nil, AppendEncode(nil, []byte(s), &set.Set)); string(back) != s {
					t.Errorf("%s: %q does not come back: %q", set.Name, s, back)
				}
			}
		}
		strict, err := AppendDecodeStrict(nil, []byte(s))
		if plain := AppendDecode(nil, []byte(s)); err == nil && string(strict) != string(plain) {
			t.Errorf("%q: strict %q, plain %q", s, strict, plain)
		}
		if err == nil && isASCII(s) && (CheckUTF8([]byte(s)) == nil) != utf8.Valid(strict) {
			// Without other bytes between the triplets and without stray ones, the whole is well-formed as its runs are.
			t.Errorf("CheckUTF8(%q) = %v", s, CheckUTF8([]byte(s)))
		}
		if v, err := ParseExtValue(s); err == nil {
			if text, err := v.Text(); err == nil && strings.EqualFold(v.Charset, "utf-8") {
				again, err := AppendExtValue(nil, v.Language, text)
				if back, err2 := ParseExtValue(string(again)); err != nil || err2 != nil || string(back.Value) != string(v.Value) {
					t.Errorf("%q, written as %q: %v, %v", s, again, err, err2)
				}
			}
		}
		if IsALPN(s) && strings.ContainsAny(s, " /\"") {
			t.Errorf("IsALPN(%q)", s)
		}
	})
}

func isASCII(s string) bool { return !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) }

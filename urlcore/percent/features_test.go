package percent_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore/percent"
)

type features = conformance.Features

func TestFeatures(t *testing.T) {
	conformance.RunFeatures(t, byteFeatures, ecmaFeatures, variantFeatures,
		pointFeatures)
}

// expect reports a value that is not as it should be.
func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v and not %v", what, got, want)
	}
}

// members makes a test of a set: the printable ASCII characters in it, and all controls and bytes from 0x7F on.
func members(set percent.Set, printable string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for b := range 256 {
			want := b < ' ' || b > '~' || strings.IndexByte(printable, byte(b)) >= 0
			if set.Has(byte(b)) != want {
				t.Errorf("byte %#x: %t", b, !want)
			}
		}
	}
}

var byteFeatures = features{
	"A1": func(t *testing.T) {
		const digits = "0123456789ABCDEF"
		for b := range 256 {
			expect(t, "byte", string(percent.AppendByte(nil, byte(b))), "%"+string(digits[b>>4])+string(digits[b&15]))
		}
	},
	"A2": func(t *testing.T) {
		for s, want := range map[string]string{
			"%23": "#", "%2f%2F": "//", "%": "%", "%4": "%4", "a%zz": "a%zz", "%2541": "%41", "%%41": "%A", "%%4141": "%A41", "%g1%1g": "%g1%1g", "%00%ff": "\x00\xff",
			"+": "+", "": "", "\xff%C3": "\xff\xc3",
		} {
			expect(t, s, string(percent.AppendDecode(nil, []byte(s))), want)
		}
	},
	"A3": func(t *testing.T) {
		expect(t, "bytes of text", string(percent.Decode("\u203d%25%2E")), "\xe2\x80\xbd%.")
		expect(t, "bytes that are no text", string(percent.Decode("%FF%FE")), "\xff\xfe")
	},
	"A4":  members(percent.C0Control, ""),
	"A5":  members(percent.Fragment, " \"<>`"),
	"A6":  members(percent.Query, " \"#<>"),
	"A7":  members(percent.SpecialQuery, " \"#<>'"),
	"A8":  members(percent.Path, " \"#<>?^`{}"),
	"A9":  members(percent.Userinfo, " \"#<>?^`{}/:;=@[\\]|"),
	"A10": members(percent.Component, " \"#<>?^`{}/:;=@[\\]|$%&+,"),
	"A11": members(percent.FormURLEncoded, " \"#<>?^`{}/:;=@[\\]|$%&+,!'()~"),
	"A13": func(t *testing.T) {
		expect(t, "not a member", percent.Encode("a%41%", &percent.Userinfo), "a%41%")
		expect(t, "members", percent.Encode("\u2261 \u203d", &percent.Userinfo), "%E2%89%A1%20%E2%80%BD")
		expect(t, "the percent sign", percent.Encode("Say what\u203d %", &percent.Component), "Say%20what%E2%80%BD%20%25")
		expect(t, "the percent sign", percent.Encode("%", &percent.FormURLEncoded), "%25")
		for text := range strings.SplitSeq("a b|\u00e9-_.!~*'()|\U0001f4a9/?#|%41", "|") {
			expect(t, "as encodeURIComponent", percent.Encode(text, &percent.Component), percent.EncodeURIComponent(text))
		}
	},
	"A14": func(t *testing.T) {
		expect(t, "output", percent.Encode("\x0a\xff", &percent.C0Control), "%0A%FF")
		expect(t, "input", string(percent.Decode("%fF%Ff")), "\xff\xff")
		expect(t, "present triplets", percent.FixUp("%aa%AA\x00", &percent.C0Control), "%aa%AA%00")
	},
	"A15": func(t *testing.T) {
		for s, want := range map[string]int{ // where it is wrong, -1 if it is right
			"": -1, "a%20b": -1, "%C3%A9": -1, "%e2%98%83x%F0%9f%92%A9": -1, "a%FF": 1, "%C3": 0, "%C3x%A9": 0, "%41%80": 3, "%ED%A0%80": 0, "%C0%80": 0, "%": -1, "%C3%": 0,
		} {
			var e *percent.Error
			at := -1
			if err := percent.CheckUTF8([]byte(s)); errors.As(err, &e) {
				at = e.Pos
			}
			expect(t, s, at, want)
		}
	},
}

var ecmaFeatures = features{
	"J1": func(t *testing.T) {
		const kept = "ABCXYZabcxyz0189-_.!~*'();/?:@&=+$,#"
		expect(t, "kept", percent.EncodeURI(kept), kept)
		expect(t, "encoded", percent.EncodeURI("%[] \"<>\\^`{|}\x00\u00e9\U0001f4a9"), "%25%5B%5D%20%22%3C%3E%5C%5E%60%7B%7C%7D%00%C3%A9%F0%9F%92%A9")
	},
	"J2": func(t *testing.T) {
		const kept = "ABCXYZabcxyz0189-_.!~*'()"
		expect(t, "kept", percent.EncodeURIComponent(kept), kept)
		expect(t, "encoded", percent.EncodeURIComponent(";/?:@&=+$,#%"), "%3B%2F%3F%3A%40%26%3D%2B%24%2C%23%25")
	},
	"J3": func(t *testing.T) {
		for _, units := range [][]uint16{{0xdc00}, {0xd800}, {'a', 0xd800, 'b'}, {0xd800, 0xd800, 0xdc00}, {0xdfff, 0xd800}} {
			_, errURI := percent.AppendEncodeURI16(nil, units)
			_, errComponent := percent.AppendEncodeURIComponent16(nil, units)
			var e *percent.Error
			if !errors.As(errURI, &e) || e.Code != percent.CodeLoneSurrogate || errComponent == nil {
				t.Errorf("%x: %v, %v", units, errURI, errComponent)
			}
		}
		for _, units := range [][]uint16{{0xd800, 0xdc00}, {0xdbff, 0xdfff}, {0xffff}, {0}} {
			if _, err := percent.AppendEncodeURI16(nil, units); err != nil {
				t.Errorf("%x: %v", units, err)
			}
		}
	},
	"J4": decodes(percent.DecodeURI, map[string]string{
		"%3b%2F%3F%3a%40%26%3D%2b%24%2C%23": "%3b%2F%3F%3a%40%26%3D%2b%24%2C%23", "%41%20%25%c3%a9": "A %\u00e9", "%2541": "%41", "+": "+", "%5B%5d": "[]",
	}),
	"J5": decodes(percent.DecodeURIComponent, map[string]string{"%3b%2F%3F%3a%40%26%3D%2b%24%2C%23": ";/?:@&=+$,#", "%41%20%25%c3%a9": "A %\u00e9", "%2541": "%41"}),
	"J6": func(t *testing.T) {
		for _, s := range []string{
			"%", "%4", "%g1", "a%", "%80", "%bf", "%f8%80%80%80%80", "%ff", "%c3", "%c3%", "%c3a9", "%c3%28", "%c3%zz", "%c0%80", "%e0%80%80", "%f0%80%80%80", "%ed%a0%80", "%ed%bf%bf",
			"%f4%90%80%80", "%f5%80%80%80", "%e2%98",
		} {
			if got, err := percent.DecodeURI(s); err == nil {
				t.Errorf("decodeURI(%q) is %q", s, got)
			}
			if got, err := percent.DecodeURIComponent(s); err == nil {
				t.Errorf("decodeURIComponent(%q) is %q", s, got)
			}
		}
		decodes(percent.DecodeURIComponent, map[string]string{"%EF%BF%BE": "\ufffe", "%EF%BF%BF": "\uffff", "%00": "\x00", "%F4%8F%BF%BF": "\U0010ffff"})(t)
	},
	"J7": func(t *testing.T) {
		units := []uint16{0xd800, 'a', 0xdc00, 0xe9, '%', '4', '1'}
		got, err := percent.AppendDecodeURIComponent16(nil, units)
		if err != nil || !slices.Equal(got, []uint16{0xd800, 'a', 0xdc00, 0xe9, 'A'}) {
			t.Errorf("%x, %v", got, err)
		}
		got, err = percent.AppendDecodeURI16(nil, units)
		if err != nil || !slices.Equal(got, []uint16{0xd800, 'a', 0xdc00, 0xe9, 'A'}) {
			t.Errorf("%x, %v", got, err)
		}
	},
	"J8": func(t *testing.T) {
		const kept = "ABCXYZabcxyz0189@*_+-./"
		expect(t, "kept", percent.Escape(kept), kept)
		expect(t, "escaped", percent.Escape("~!%\u00e9\u2603\U0001f4a9"), "%7E%21%25%E9%u2603%uD83D%uDCA9")
		expect(t, "lone surrogate", units(percent.AppendEscape16(nil, []uint16{0xd800})), "%uD800")
	},
	"J9": func(t *testing.T) {
		for s, want := range map[string]string{
			"%u2603%e9%41": "\u2603\u00e9A", "%U2603": "%U2603", "%u26": "%u26", "%": "%", "%zz": "%zz", "%u26g3": "%u26g3", "%uD83D%uDCA9": "\U0001f4a9", "%%41": "%A", "+": "+",
		} {
			expect(t, s, percent.Unescape(s), want)
		}
		got := percent.AppendUnescape16(nil, utf16.Encode([]rune("%uD800")))
		expect(t, "may make lone surrogates", slices.Equal(got, []uint16{0xd800}), true)
	},
	"J10": func(t *testing.T) {
		for name, f := range map[string]func(string) string{"encodeURI": percent.EncodeURI, "escape": percent.Escape, "unescape": percent.Unescape} {
			expect(t, name, f("a+b"), "a+b")
		}
		expect(t, "encodeURIComponent", percent.EncodeURIComponent("+ "), "%2B%20")
		decodes(percent.DecodeURI, map[string]string{"a+b": "a+b"})(t)
		decodes(percent.DecodeURIComponent, map[string]string{"a+b%2B": "a+b+"})(t)
	},
}

// pointFeatures holds points that naive implementations get wrong.
var pointFeatures = features{
	"P14": func(t *testing.T) {
		decodes(percent.DecodeURI, map[string]string{"%2f%2F%23": "%2f%2F%23", "%252f": "%2f", "%25": "%"})(t)
		once, err := percent.DecodeURI("%252f%2541")
		expect(t, "no error", err, nil)
		again, err := percent.DecodeURI(once)
		expect(t, "no error", err, nil)
		expect(t, "not to be decoded again", again != once, true)
	},
}

// decodes makes a test of a function on texts that it does not refuse.
func decodes(f func(string) (string, error), cases map[string]string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for s, want := range cases {
			if got, err := f(s); err != nil || got != want {
				t.Errorf("%q gives %q, %v and not %q", s, got, err, want)
			}
		}
	}
}

// units returns UTF-16 as a string.
func units(u []uint16) string { return string(utf16.Decode(u)) }

var variantFeatures = features{
	"K1": func(t *testing.T) {
		expect(t, "by default", string(percent.Decode("100%")), "100%")
		for s, at := range map[string]int{"100%": 3, "%": 0, "%4": 0, "%41%zz": 3} {
			got, err := percent.AppendDecodeStrict([]byte("x"), []byte(s))
			var e *percent.Error
			if !errors.As(err, &e) || e.Code != percent.CodeStrayPercent || e.Pos != at || string(got) != "x" {
				t.Errorf("%q: %q, %v", s, got, err)
			}
		}
		got, err := percent.AppendDecodeStrict(nil, []byte("%41%2b"))
		expect(t, "nothing stray", string(got), "A+")
		expect(t, "nothing stray", err, nil)
	},
	"K2": func(t *testing.T) {
		for s, want := range map[string]percent.Notation{
			"%u2603": percent.NotationUnicode, "%s": percent.NotationDirective, "%%": percent.NotationDouble, "%41": percent.NotationTriplet, "%": percent.NotationStray,
			"": percent.NotationNone,
		} {
			start, end, n := percent.NextNotation([]byte(s))
			expect(t, s, n, want)
			expect(t, s, s[start:end], s)
			if want != percent.NotationTriplet {
				expect(t, s, string(percent.Decode(s)), s)
			}
		}
		start, end, n := percent.NextNotation([]byte("a%-"))
		expect(t, "stray", [2]int{start, end}, [2]int{1, 2})
		expect(t, "stray", n, percent.NotationStray)
		expect(t, "four", string(percent.Decode("%%%%")), "%%%%")
	},
	"K3": func(t *testing.T) {
		for _, scheme := range []string{"http", "HTTPS", "ws", "wss"} {
			expect(t, scheme, percent.PlusIn(scheme, percent.PartQuery), percent.PlusIsSpace)
			expect(t, scheme, percent.PlusIn(scheme, percent.PartPath), percent.PlusIsPlus)
			expect(t, scheme, percent.PlusIn(scheme, percent.PartFragment), percent.PlusIsPlus)
		}
		for _, scheme := range []string{"mailto", "ftp", "file", "x", ""} {
			expect(t, scheme, percent.PlusIn(scheme, percent.PartQuery), percent.PlusIsPlus)
			expect(t, scheme, percent.PlusIn(scheme, percent.PartBody), percent.PlusIsSpace)
		}
		expect(t, "overridden", string(percent.AppendDecodePlus(nil, []byte("a+b%2B"), percent.PlusIsSpace)), "a b+")
		expect(t, "overridden", string(percent.AppendDecodePlus(nil, []byte("a+b%2B"), percent.PlusIsPlus)), "a+b+")
	},
	"K5": func(t *testing.T) {
		expect(t, "bytes", string(percent.Decode("%E9%00%FF")), "\xe9\x00\xff")
		expect(t, "bytes", string(percent.AppendDecodePlus(nil, []byte("%E9+"), percent.PlusIsSpace)), "\xe9 ")
		expect(t, "bytes", string(percent.DecodeOAuth("%E9")), "\xe9")
	},
	"K7": func(t *testing.T) {
		expect(t, "kept", percent.EncodeOAuth("azAZ09-._~"), "azAZ09-._~")
		expect(t, "encoded", percent.EncodeOAuth(" +*!'()%\u00e9"), "%20%2B%2A%21%27%28%29%25%C3%A9")
		expect(t, "bytes", string(percent.AppendEncode(nil, []byte{0xff, 'a'}, &percent.Unreserved)), "%FFa")
	},
	"K8": func(t *testing.T) {
		expect(t, "plain", string(percent.DecodeOAuth("a+b%20%2B%C3%A9%")), "a+b +\u00e9%")
	},
	"K9": func(t *testing.T) {
		for id, want := range map[string]string{"h2": "h2", "http/1.1": "http%2F1.1", "a%b": "a%25b", "w=x:y#z": "w%3Dx%3Ay#z", "\xff": "%FF", "!#$&'*+-.^_`|~": "!#$&'*+-.^_`|~"} {
			expect(t, id, string(percent.AppendALPN(nil, []byte(id))), want)
			expect(t, want, percent.IsALPN(want), true)
		}
		for _, s := range []string{"%68%32", "a%2f", "a%", "a/b", "\u00e9", "%2g"} {
			expect(t, s, percent.IsALPN(s), false)
		}
	},
	"K10": func(t *testing.T) {
		got, err := percent.AppendExtValue(nil, "en", "\u00a3 rates'*%")
		expect(t, "written", string(got), "UTF-8'en'%C2%A3%20rates%27%2A%25")
		expect(t, "written", err, nil)
		v, err := percent.ParseExtValue("iso-8859-1'en'%A3%20rates")
		text, textErr := v.Text()
		if err != nil || textErr != nil || text != "\u00a3 rates" || v.Language != "en" {
			t.Errorf("%+v %q: %v, %v", v, text, err, textErr)
		}
		for _, s := range []string{"", "UTF-8", "UTF-8'en", "'en'x", "UTF-8''a b", "UTF-8''%", "UTF-8''%zz", "UTF-8''a'b", "UTF-8''a*b", "UTF 8''a", "UTF-8'-'a"} {
			if v, err := percent.ParseExtValue(s); err == nil {
				t.Errorf("%q gives %+v", s, v)
			}
		}
	},
	"K11": func(t *testing.T) {
		expect(t, "simple", percent.EncodeTemplateSimple("a/b?%41 \u00e9-._~"), "a%2Fb%3F%2541%20%C3%A9-._~")
		expect(t, "reserved", percent.EncodeTemplateReserved("a/b?#[]@!$&'()*+,;=:%41%4 \u00e9"), "a/b?#[]@!$&'()*+,;=:%41%254%20%C3%A9")
	},
	"K12": func(t *testing.T) {
		set, err := percent.CGISet("/;")
		expect(t, "set", err, nil)
		expect(t, "encoded", percent.Encode("a/b;c?d&e=f <%\"", &set), "a%2Fb%3Bc?d&e=f%20%3C%25%22")
		if _, err := percent.CGISet("/!"); err == nil {
			t.Error("! is reserved")
		}
	},
	"K13": func(t *testing.T) {
		expect(t, "IRI", percent.IRIToURI("https://b\u00fccher.example/\u00e9?\u2603#\U0001f4a9 %41<"), "https://b%C3%BCcher.example/%C3%A9?%E2%98%83#%F0%9F%92%A9 %41<")
	},
	"K14": func(t *testing.T) {
		names := map[string]percent.Set{}
		for _, s := range percent.Sets() {
			names[s.Name] = s.Set
		}
		if len(names) < 14 {
			t.Errorf("%d sets", len(names))
		}
		expect(t, "A10 and encodeURIComponent", percent.Component == percent.EncodeURIComponentSet, true)
		expect(t, "A9 less A8", percent.Userinfo.Minus(percent.Path).Printable(), "/:;=@[\\]|")
		expect(t, "ALPN less ext-value", percent.ExtValueSet.Minus(percent.ALPN).Printable(), "'*")
		expect(t, "chain", percent.C0Control.SubsetOf(percent.Fragment) && percent.Query.SubsetOf(percent.Path) && percent.Path.SubsetOf(percent.Userinfo), true)
		expect(t, "escape keeps more", percent.EscapeSet.Minus(percent.Unreserved).Printable(), "~")
	},
	"K16": func(t *testing.T) {
		once := percent.Encode("100% a", &percent.Component)
		expect(t, "once", once, "100%25%20a")
		expect(t, "twice", percent.Encode(once, &percent.Component), "100%2525%2520a")
		expect(t, "decoded twice", string(percent.Decode(string(percent.Decode("%2541")))), "A")
		fixed := percent.FixUp("100% a%20", &percent.Path)
		expect(t, "fixed up", fixed, "100%25%20a%20")
		expect(t, "and again", percent.FixUp(fixed, &percent.Path), fixed)
	},
	"K17": func(t *testing.T) {
		// An operation of a variant names it; what has no name beside encode and decode is the URL Standard's.
		variants := []string{"URI", "OAuth", "Plus", "ALPN", "ExtValue", "Template", "Escape", "Unescape", "CGI", "IRI", "FixUp", "UTF8", "Strict", "Set", "Notation", "Byte", "Unhex"}
		for _, name := range exportedFunctions(t) {
			named := slices.ContainsFunc(variants, func(v string) bool { return strings.Contains(name, v) })
			plain := slices.Contains([]string{"AppendEncode", "Encode", "AppendDecode", "Decode"}, name)
			if !named && !plain {
				t.Errorf("%s does not say which variant it is", name)
			}
		}
	},
}

// exportedFunctions returns the names of the package's functions.
func exportedFunctions(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.IsExported() {
				names = append(names, f.Name.Name)
			}
		}
	}
	if len(names) < 30 {
		t.Errorf("only %d functions: %v", len(names), names)
	}
	return names
}

package form_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/form"
)

type features = conformance.Features

func TestFeatures(t *testing.T) { conformance.RunFeatures(t, rows) }

// expect reports a value that is not as it should be.
func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v and not %v", what, got, want)
	}
}

// parses makes a test of the parser: texts in pairs with their pairs, written as name|value and joined by a space.
func parses(pairs ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			var list []string
			for _, p := range form.AppendParse(nil, []byte(pairs[i])) {
				list = append(list, p.Name+"|"+p.Value)
			}
			if got := strings.Join(list, " "); got != pairs[i+1] {
				t.Errorf("%q gives %q and not %q", pairs[i], got, pairs[i+1])
			}
		}
	}
}

// describe writes a list with the parser's own means.
func describe(p *form.Params) string {
	var list []string
	for name, value := range p.All() {
		list = append(list, name+"|"+value)
	}
	return strings.Join(list, " ")
}

var rows = features{
	"H1": parses("a=b&c=d", "a|b c|d", "&&a&", "a|", "a", "a|", "=b", "|b", "=", "|", "a=b=c", "a|b=c", "a;b=c", "a;b|c", "", "", "a+b=c%2B%20", "a b|c+ ",
		"%61%3D=%26", "a=|&", "%FF=\xc3", "\ufffd|\ufffd", "%EF%BB%BFa=b", "\ufeffa|b", "a=%zz%", "a|%zz%", "%f0%9f=x", "\ufffd|x"),
	"H2": func(t *testing.T) {
		parses("_charset_=shift_jis&a=%83A", "_charset_|shift_jis a|\ufffdA")(t)
		label, ok := form.CharsetField([]byte("a=b&_charset_=euc-jp"))
		expect(t, "the caller may ask", label, "euc-jp")
		expect(t, "the caller may ask", ok, true)
	},
	"H3": func(t *testing.T) {
		for _, c := range [][2]string{
			{"a b|c+d", "a+b=c%2Bd"},
			{"|", "="},
			{"a|", "a="},
			{"&=|%#", "%26%3D=%25%23"},
			{"*-._|~!'()", "*-._=%7E%21%27%28%29"},
			{"a\r\nb|\n", "a%0D%0Ab=%0A"},
			{"\u00e9|\U0001f4a9", "%C3%A9=%F0%9F%92%A9"},
		} {
			name, value, _ := strings.Cut(c[0], "|")
			expect(t, c[0], string(form.AppendPairs(nil, []form.Pair{{Name: name, Value: value}})), c[1])
		}
		expect(t, "two", string(form.AppendPairs(nil, []form.Pair{{Name: "a", Value: "b"}, {Name: "a", Value: "c"}})), "a=b&a=c")
		expect(t, "none", string(form.AppendPairs(nil, nil)), "")
	},
	"H4": func(t *testing.T) {
		for e, want := range map[*charset.Encoding]string{
			charset.Windows1252: "%E9+=%26%239731%3B", charset.UTF16LE: "%C3%A9+=%E2%98%83", charset.Replacement: "%C3%A9+=%E2%98%83", nil: "%C3%A9+=%E2%98%83",
			charset.ShiftJIS: "%26%23233%3B+=%26%239731%3B",
		} {
			s := form.Serializer{Encoding: e}
			expect(t, fmt.Sprint(e), string(s.AppendPairs(nil, []form.Pair{{Name: "\u00e9 ", Value: "\u2603"}})), want)
		}
	},
	"H5": func(t *testing.T) {
		for s, want := range map[string]string{"\u00e9=%C3%A9": "\u00e9|\u00e9", "\xff=\xff": "\ufffd|\ufffd", "?a=b": "?a|b"} {
			var list []string
			for _, p := range form.Parse(s) {
				list = append(list, p.Name+"|"+p.Value)
			}
			expect(t, s, strings.Join(list, " "), want)
		}
	},
	"I14": func(t *testing.T) {
		expect(t, "string", describe(form.New("?a=1&?b=2")), "a|1 ?b|2")
		expect(t, "string", describe(form.New("??a=1")), "?a|1")
		expect(t, "none", describe(new(form.Params)), "")
		list, err := form.FromSequence([][]string{{"a", "1"}, {"a", "2"}})
		expect(t, "sequence", describe(list), "a|1 a|2")
		expect(t, "sequence", err, nil)
		for _, bad := range [][]string{{}, {"a"}, {"a", "b", "c"}} {
			if list, err := form.FromSequence([][]string{bad}); !errors.Is(err, form.ErrPair) || list != nil {
				t.Errorf("%q: %v, %v", bad, list, err)
			}
		}
		expect(t, "record", describe(form.FromRecord(func(yield func(string, string) bool) {
			_ = yield("b", "1") && yield("a", "2") && yield("b", "3")
		})), "b|3 a|2")
		original := form.New("a=1")
		clone := original.Clone()
		clone.Append("b", "2")
		expect(t, "copy", describe(original), "a|1")
		expect(t, "copy", describe(clone), "a|1 b|2")
	},
	"I15": func(t *testing.T) {
		p := form.New("a=1&b=2&a=3&a=1")
		expect(t, "size", p.Len(), 4)
		expect(t, "getAll", strings.Join(p.GetAll("a"), " "), "1 3 1")
		expect(t, "getAll of none", len(p.GetAll("x")), 0)
		value, ok := p.Get("x")
		expect(t, "get of none", value, "")
		expect(t, "get of none", ok, false)
		value, ok = form.New("x").Get("x")
		expect(t, "get of empty", value, "")
		expect(t, "get of empty", ok, true)
		expect(t, "has", p.Has("a") && !p.Has("x") && p.HasValue("a", "3") && !p.HasValue("b", "3"), true)
		p.DeleteValue("a", "1")
		expect(t, "delete with value", describe(p), "b|2 a|3")
		p.Append("a", "4")
		p.Append("c", "5")
		p.Set("a", "6")
		expect(t, "set", describe(p), "b|2 a|6 c|5")
		p.Set("d", "7")
		expect(t, "set of a new one", describe(p), "b|2 a|6 c|5 d|7")
		p.Delete("a")
		p.Delete("x")
		expect(t, "delete", describe(p), "b|2 c|5 d|7")
	},
	"I16": func(t *testing.T) {
		p := form.FromPairs(form.Pair{Name: "\ufb03"}, form.Pair{Name: "\U0001f308"}, form.Pair{Name: "z", Value: "1"}, form.Pair{Name: "a"}, form.Pair{Name: "z", Value: "0"})
		updates := 0
		p.Bind(func(*form.Params) { updates++ })
		p.Sort()
		expect(t, "sorted", describe(p), "a| z|1 z|0 \U0001f308| \ufb03|")
		p.Sort()
		expect(t, "updates", updates, 2)
	},
	"I17": func(t *testing.T) {
		p := form.New("a=1&b=2&c=3")
		var seen []string
		for name := range p.Keys() {
			seen = append(seen, name)
			switch name {
			case "a":
				p.Delete("a") // b moves up and is skipped
			case "c":
				p.Append("d", "4")
			}
		}
		expect(t, "seen", strings.Join(seen, ""), "acd")
		it := p.Iterator()
		pair, ok := it.Next()
		expect(t, "first", pair.Name, "b")
		expect(t, "first", ok, true)
	},
	"I18": func(t *testing.T) {
		p := form.New("a=1")
		var query string
		p.Bind(func(p *form.Params) { query = p.String() })
		p.Append("b", "c d")
		expect(t, "serialized", query, "a=1&b=c+d")
		p.Delete("a")
		p.Delete("b")
		expect(t, "empty", query, "")
		expect(t, "size", p.Len(), 0)
	},
	"K4": func(t *testing.T) {
		s := form.Serializer{SpaceAsPercent20: true}
		expect(t, "mailto", string(s.AppendPairs(nil, []form.Pair{{Name: "a b", Value: "c+d"}})), "a%20b=c%2Bd")
	},
	"K6": func(t *testing.T) {
		p := []form.Pair{{Name: "_charset_", Value: ""}, {Name: "a", Value: "\u00e9"}}
		plain, marked := form.Serializer{Encoding: charset.Windows1252}, form.Serializer{Encoding: charset.Windows1252, CharsetField: true}
		expect(t, "by default", string(plain.AppendPairs(nil, p)), "_charset_=&a=%E9")
		expect(t, "as an option", string(marked.AppendPairs(nil, p)), "_charset_=windows-1252&a=%E9")
		parses("_charset_=windows-1252&a=%E9", "_charset_|windows-1252 a|\ufffd")(t)
	},
	"P1": parses("a=%2B+", "a|+ ", "%2520=+%2B", "%20| +"),
	"P10": func(t *testing.T) {
		p := form.FromPairs(form.Pair{Name: "\ue000"}, form.Pair{Name: "\U00010000"}, form.Pair{Name: "\uffff"}, form.Pair{Name: "\ud7ff"})
		p.Sort()
		expect(t, "by code units", describe(p), "\ud7ff| \U00010000| \ue000| \uffff|")
	},
}

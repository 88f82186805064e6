package form

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/percent"
)

type parseCase struct {
	query []byte
	pairs []Pair
}

var byteEscape = regexp.MustCompile("~[0-9A-F]{2}")

// parseCases reads testdata/parse.json.
func parseCases(tb testing.TB) []parseCase {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "parse.json"))
	if err != nil {
		tb.Fatal(err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		tb.Fatal(err)
	}
	var cases []parseCase
	for _, entry := range raw[1:] {
		var query string
		var list [][2]string
		if err := json.Unmarshal(entry, &[]any{&query, &list}); err != nil {
			tb.Fatalf("%s: %v", entry, err)
		}
		c := parseCase{query: byteEscape.ReplaceAllFunc([]byte(query), func(m []byte) []byte {
			b, _ := hex.DecodeString(string(m[1:])) // the expression lets hexadecimal digits through alone
			return b
		})}
		for _, p := range list {
			c.pairs = append(c.pairs, Pair{p[0], p[1]})
		}
		cases = append(cases, c)
	}
	return cases
}

func TestAppendParse(t *testing.T) {
	for _, c := range parseCases(t) {
		if got := AppendParse(nil, c.query); !slices.Equal(got, c.pairs) {
			t.Errorf("AppendParse(%q) = %q, want %q", c.query, got, c.pairs)
		}
	}
	kept := []Pair{{"x", "y"}}
	if got := AppendParse(kept, []byte("a=b")); !slices.Equal(got, []Pair{{"x", "y"}, {"a", "b"}}) {
		t.Errorf("AppendParse does not append: %q", got)
	}
}

// TestParseText checks that ill-formed parts of a string do not join what its triplets give.
func TestParseText(t *testing.T) {
	if got := Parse("a=\xC2%A2"); !slices.Equal(got, []Pair{{"a", "\uFFFD\uFFFD"}}) {
		t.Errorf("got %q", got)
	}
	if got := AppendParse(nil, []byte("a=\xC2%A2")); !slices.Equal(got, []Pair{{"a", "\u00A2"}}) {
		t.Errorf("got %q", got)
	}
}

// TestAppendDecode runs every case through buffers of all spare capacities, since replacements are made in place.
func TestAppendDecode(t *testing.T) {
	for _, c := range []struct{ in, bytes, text string }{
		{"", "", ""},
		{"abc", "abc", "abc"},
		{"a+b%20c%2B", "a b c+", "a b c+"},
		{"あ%E3%81%82", "ああ", "ああ"},
		{"%FF%41%C2x", "\xFFA\xC2x", "\uFFFDA\uFFFDx"},
		{"12345678%80%81%82%83%84%85%86", "12345678\x80\x81\x82\x83\x84\x85\x86", "12345678" + strings.Repeat("\uFFFD", 7)},
	} {
		for room := range 64 {
			dst := append(make([]byte, 0, 4+room), "head"...)
			if got := AppendDecode(dst, []byte(c.in)); string(got) != "head"+c.text {
				t.Fatalf("AppendDecode(%q) with room for %d = %q, want %q", c.in, room, got, c.text)
			}
			if got := AppendDecodeBytes(dst, []byte(c.in)); string(got) != "head"+c.bytes {
				t.Fatalf("AppendDecodeBytes(%q) with room for %d = %q, want %q", c.in, room, got, c.bytes)
			}
		}
		if got := IsPlain([]byte(c.in)); got != (c.in == c.text && !strings.ContainsFunc(c.in, func(r rune) bool { return r > 0x7F })) {
			t.Errorf("IsPlain(%q) = %v", c.in, got)
		}
	}
	inPlace := []byte("a+b%20c")
	if got := AppendDecodeBytes(inPlace[:0], inPlace); string(got) != "a b c" {
		t.Errorf("in place: %q", got)
	}
}

// TestIsPlain puts each byte at each place of a text of 20.
func TestIsPlain(t *testing.T) {
	for b := range 256 {
		for at := range 20 {
			text := bytes.Repeat([]byte{'$'}, 20)
			text[at] = byte(b)
			if got, want := IsPlain(text), b < 0x80 && b != '+' && b != '%'; got != want {
				t.Fatalf("IsPlain with %#x at %d = %v", b, at, got)
			}
		}
	}
}

func TestCharsetField(t *testing.T) {
	for _, c := range []struct {
		query, label string
		ok           bool
	}{
		{"a=b&_charset_=Shift_JIS&_charset_=x", "Shift_JIS", true},
		{"_charset_", "", true},
		{"_charset_=x%2Dsjis", "x-sjis", true},
		{"_Charset_=x&%5Fcharset_=y", "", false},
		{"", "", false},
	} {
		if label, ok := CharsetField([]byte(c.query)); label != c.label || ok != c.ok {
			t.Errorf("CharsetField(%q) = %q, %v", c.query, label, ok)
		}
	}
}

func TestSerializer(t *testing.T) {
	pairs := []Pair{{"a b", "c+d"}, {"_charset_", ""}, {"é", "\xFF&=%~*"}, {"", "☃"}}
	for _, c := range []struct {
		name string
		s    Serializer
		want string
	}{
		{"standard", Serializer{}, "a+b=c%2Bd&_charset_=&%C3%A9=%EF%BF%BD%26%3D%25%7E*&=%E2%98%83"},
		{"mailto", Serializer{SpaceAsPercent20: true}, "a%20b=c%2Bd&_charset_=&%C3%A9=%EF%BF%BD%26%3D%25%7E*&=%E2%98%83"},
		{
			"windows-1252",
			Serializer{Encoding: charset.Windows1252, CharsetField: true},
			"a+b=c%2Bd&_charset_=windows-1252&%E9=%26%2365533%3B%26%3D%25%7E*&=%26%239731%3B",
		},
		{
			"UTF-16LE",
			Serializer{Encoding: charset.UTF16LE, CharsetField: true},
			"a+b=c%2Bd&_charset_=UTF-8&%C3%A9=%EF%BF%BD%26%3D%25%7E*&=%E2%98%83",
		},
		{"other set", Serializer{Set: &percent.Component}, "a+b=c%2Bd&_charset_=&%C3%A9=%EF%BF%BD%26%3D%25~*&=%E2%98%83"},
	} {
		if got := c.s.AppendPairs([]byte("?"), pairs); string(got) != "?"+c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
	if got := AppendPairs(nil, nil); got != nil {
		t.Errorf("no pairs: %q", got)
	}
	if got := AppendEncode([]byte("="), []byte("a b\xC2")); string(got) != "=a+b%EF%BF%BD" {
		t.Errorf("AppendEncode: %q", got)
	}
}

func TestAllocations(t *testing.T) {
	query := []byte("utm_source=a%20b&utm_medium=c+d&q=%E3%81%82%FF&plain=text&&x")
	buffer := make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() {
		for name, value, rest, ok := Next(query); ok; name, value, rest, ok = Next(rest) {
			buffer = AppendDecode(buffer[:0], name)
			buffer = AppendDecode(buffer, value)
			IsPlain(value)
		}
	}); n != 0 {
		t.Errorf("Next and AppendDecode: %v allocations", n)
	}
	pairs := AppendParse(nil, query)
	if n := testing.AllocsPerRun(100, func() { buffer = AppendPairs(buffer[:0], pairs) }); n != 0 {
		t.Errorf("AppendPairs: %v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { buffer = AppendEncode(buffer[:0], query) }); n != 0 {
		t.Errorf("AppendEncode: %v allocations", n)
	}
	p := New(string(query))
	if n := testing.AllocsPerRun(100, func() {
		p.Get("q")
		p.Has("missing")
		p.HasValue("plain", "text")
		buffer = p.AppendTo(buffer[:0])
	}); n != 0 {
		t.Errorf("Params: %v allocations", n)
	}
}

// naiveDecode is the parser's treatment of a name or value, step by step.
func naiveDecode(src []byte) string {
	spaced := bytes.ReplaceAll(src, []byte("+"), []byte(" "))
	return string(charset.AppendUTF8(nil, percent.AppendDecode(nil, spaced)))
}

func FuzzParse(f *testing.F) {
	for _, c := range parseCases(f) {
		f.Add(c.query)
	}
	f.Fuzz(func(t *testing.T, query []byte) {
		var want []Pair
		for _, piece := range bytes.Split(query, []byte("&")) {
			if len(piece) == 0 {
				continue
			}
			name, value, _ := bytes.Cut(piece, []byte("="))
			want = append(want, Pair{naiveDecode(name), naiveDecode(value)})
		}
		got := AppendParse(nil, query)
		if !slices.Equal(got, want) {
			t.Errorf("AppendParse(%q) = %q, want %q", query, got, want)
		}
		for _, s := range []Serializer{{}, {SpaceAsPercent20: true}, {Set: &percent.Component}} {
			text := s.AppendPairs(nil, got)
			if back := AppendParse(nil, text); !slices.Equal(back, got) {
				t.Errorf("%q serialized as %q and parsed again is %q", got, text, back)
			}
			if !utf8.Valid(text) || bytes.ContainsAny(text, " \"<>") {
				t.Errorf("%q serialized as %q", got, text)
			}
		}
	})
}

func BenchmarkNextAppendDecode(b *testing.B) {
	query := []byte("utm_source=newsletter&utm_medium=email&id=123456789&q=hello%20world&page=2")
	buffer := make([]byte, 0, 256)
	b.SetBytes(int64(len(query)))
	b.ReportAllocs()
	for b.Loop() {
		buffer = buffer[:0]
		for name, value, rest, ok := Next(query); ok; name, value, rest, ok = Next(rest) {
			buffer = AppendDecode(buffer, name)
			buffer = AppendDecode(buffer, value)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	query := []byte("utm_source=newsletter&utm_medium=email&id=123456789&q=hello%20world&page=2")
	var pairs []Pair
	b.ReportAllocs()
	for b.Loop() {
		pairs = AppendParse(pairs[:0], query)
	}
}

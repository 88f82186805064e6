package charset

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore/percent"
)

// readCases decodes a JSON array from testdata.
func readCases[T any](t testing.TB, name string) []T {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	var cases []T
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return cases
}

// decodeCase is bytes, the text that they decode to with replacement and, where they are ill-formed, the
// position of the first error.
type decodeCase struct {
	Encoding, Bytes, Text string
	Error                 *int64
}

func TestDecode(t *testing.T) {
	for _, c := range readCases[decodeCase](t, "decode.json") {
		e := mustLookup(t, c.Encoding)
		src := unhex(t, strings.ReplaceAll(c.Bytes, " ", ""))
		if got := string(e.AppendDecode([]byte("dst:"), src)); got != "dst:"+c.Text {
			t.Errorf("%s: %s: got %q, want %q", c.Encoding, c.Bytes, got, "dst:"+c.Text)
		}
		got, err := e.AppendDecodeOrFail([]byte("dst:"), src)
		var fails *Error
		switch {
		case c.Error == nil:
			if err != nil || string(got) != "dst:"+c.Text {
				t.Errorf("%s: %s: or fail: got %q, %v", c.Encoding, c.Bytes, got, err)
			}
		case !errors.As(err, &fails):
			t.Errorf("%s: %s: or fail: got %q, %v, want an error", c.Encoding, c.Bytes, got, err)
		case fails.Code != CodeIllFormed || fails.Encoding != e || fails.Pos != *c.Error || string(got) != "dst:":
			t.Errorf("%s: %s: or fail: got %q and %+v, want an error at %d", c.Encoding, c.Bytes, got, fails, *c.Error)
		}
	}
}

// encodeCase is text and the bytes up to the first code point that the encoding lacks, if there is one, the
// position of that and what is reported as missing; and the text as part of the query of a special URL.
type encodeCase struct {
	Encoding, Text, HTML, Bytes, Query string
	Error                              *int64
	Rune                               rune
}

func TestEncode(t *testing.T) {
	for _, c := range readCases[encodeCase](t, "encode.json") {
		e := mustLookup(t, c.Encoding)
		query := string(AppendPercentEncode([]byte("dst:"), []byte(c.Text), e, &percent.SpecialQuery, false))
		if query != "dst:"+c.Query {
			t.Errorf("%s: %q: percent-encoded: got %q, want %q", c.Encoding, c.Text, query, "dst:"+c.Query)
		}
		got, err := e.AppendEncode([]byte("dst:"), []byte(c.Text), Fatal)
		var fails *Error
		switch {
		case e.Output() != e:
			if !errors.As(err, &fails) || fails.Code != CodeNoEncoder || string(got) != "dst:" {
				t.Errorf("%s: got %q, %v, want no encoder", c.Encoding, got, err)
			}
			if _, err := e.NewEncoder(HTML); !errors.As(err, &fails) || fails.Code != CodeNoEncoder {
				t.Errorf("%s: NewEncoder: got %v, want no encoder", c.Encoding, err)
			}
		case c.Error != nil:
			if !errors.As(err, &fails) || fails.Code != CodeUnencodable || fails.Pos != *c.Error || fails.Rune != c.Rune {
				t.Errorf("%s: %q: got %q, %v, want %U missing at %d", c.Encoding, c.Text, got, err, c.Rune, *c.Error)
			}
			if string(got) != "dst:" {
				t.Errorf("%s: %q: the destination was changed to %q", c.Encoding, c.Text, got)
			}
		case e != UTF8:
			if want := "dst:" + string(unhex(t, c.Bytes)); err != nil || string(got) != want {
				t.Errorf("%s: %q: got %q, %v, want %q", c.Encoding, c.Text, got, err, want)
			}
		case err != nil || string(got) != "dst:"+c.HTML:
			t.Errorf("%s: %q: got %q, %v, want %q", c.Encoding, c.Text, got, err, "dst:"+c.HTML)
		}
	}
}

func TestEncodeHTML(t *testing.T) {
	for _, c := range []struct {
		e         *Encoding
		text, out string
	}{
		{Windows1252, "é☃&#9731;", "\xE9&#9731;&#9731;"},
		{ISO2022JP, "日☃¥💩日", "\x1B$BF|\x1B(B&#9731;\x1B(J\\&#128169;\x1B$BF|\x1B(B"},
		{ISO2022JP, "\x0E", "&#65533;"},
		{UTF8, "☃", "☃"},
		{GBK, "a\xFFb", "a&#65533;b"},
	} {
		got, err := c.e.AppendEncode(nil, []byte(c.text), HTML)
		if err != nil || string(got) != c.out {
			t.Errorf("%s: %q: got %q, %v, want %q", c.e, c.text, got, err, c.out)
		}
	}
}

func TestPercentEncodeSpaces(t *testing.T) {
	for _, e := range []*Encoding{UTF8, ShiftJIS, ISO2022JP} {
		if got := string(AppendPercentEncode(nil, []byte("a b+c"), e, &percent.FormURLEncoded, true)); got != "a+b%2Bc" {
			t.Errorf("%s: got %q", e, got)
		}
		if got := string(AppendPercentEncode(nil, []byte("a b+c"), e, &percent.FormURLEncoded, false)); got != "a%20b%2Bc" {
			t.Errorf("%s: got %q", e, got)
		}
	}
	if got := string(AppendPercentEncode(nil, []byte("a\xF0\x9Fb"), UTF8, &percent.Query, false)); got != "a%EF%BF%BDb" {
		t.Errorf("ill-formed text: got %q", got)
	}
	if got := string(AppendPercentEncode(nil, []byte("a\xF0\x9Fb"), EUCKR, &percent.Query, false)); got != "a%26%2365533%3Bb" {
		t.Errorf("ill-formed text in EUC-KR: got %q", got)
	}
}

func TestLookup(t *testing.T) {
	for _, label := range []string{"utf-8", "UTF8", " \t\r\n\fLatin1\f\n\r\t ", "MS_Kanji", "l6", "cp866", "x-mac-roman", "korean"} {
		if e, ok := Lookup(label); !ok || e == nil {
			t.Errorf("Lookup(%q) finds nothing", label)
		}
	}
	for _, label := range []string{"", " ", "utf_8", "utf-8\v", "utf-8\u00A0", "\u212Aoi8", "\x00utf-8", strings.Repeat("a", 1000)} {
		if e, ok := Lookup(label); ok || e != nil {
			t.Errorf("Lookup(%q) = %v, want none", label, e)
		}
	}
	if n := testing.AllocsPerRun(100, func() { Lookup(" Shift_JIS ") }); n != 0 {
		t.Errorf("Lookup allocates %v times", n)
	}
}

func TestNames(t *testing.T) {
	if len(all) != 40 {
		t.Fatalf("%d encodings, want 40", len(all))
	}
	seen := map[string]bool{}
	for _, e := range all {
		// Every encoding's name is one of its labels.
		if got, ok := Lookup(e.Name()); !ok || got != e {
			t.Errorf("Lookup(%q) = %v", e.Name(), got)
		}
		if seen[e.Name()] || e.String() != e.Name() {
			t.Errorf("%q is there twice, or has another String: %q", e.Name(), e.String())
		}
		seen[e.Name()] = true
		if out := e.Output(); out != e && out != UTF8 {
			t.Errorf("the output encoding of %s is %s", e, out)
		}
	}
}

func TestSniffBOM(t *testing.T) {
	for _, c := range []struct {
		in   string
		want *Encoding
		n    int
		text string
	}{
		{"\xEF\xBB\xBFa", UTF8, 3, "a"},
		{"\xFE\xFF\x00a", UTF16BE, 2, "a"},
		{"\xFF\xFEa\x00", UTF16LE, 2, "a"},
		{"\xEF\xBB", nil, 0, "ï»"},
		{"\xFF", nil, 0, "ÿ"},
		{"", nil, 0, ""},
	} {
		if e, n := SniffBOM([]byte(c.in)); e != c.want || n != c.n {
			t.Errorf("SniffBOM(%q) = %v, %d", c.in, e, n)
		}
		text, e := AppendDecode([]byte("dst:"), []byte(c.in), Windows1252)
		if want := c.want; string(text) != "dst:"+c.text || want != nil && e != want || want == nil && e != Windows1252 {
			t.Errorf("AppendDecode(%q) = %q, %v", c.in, text, e)
		}
	}
	if got := string(AppendUTF8WithBOM(nil, []byte("\xEF\xBB\xBF\xEF\xBB\xBFa\xFE\xFF"))); got != "\uFEFFa\uFFFD\uFFFD" {
		t.Errorf("AppendUTF8WithBOM = %q", got)
	}
	if got := string(AppendIsomorphicDecode(nil, []byte("a\x80\xFF"))); got != "a\u0080\u00FF" {
		t.Errorf("AppendIsomorphicDecode = %q", got)
	}
}

func TestUTF8OrFail(t *testing.T) {
	for _, c := range utf8Cases {
		got, err := AppendUTF8OrFail([]byte("dst:"), []byte(c.in))
		var fails *Error
		switch {
		case c.fails < 0 && (err != nil || string(got) != "dst:"+c.in):
			t.Errorf("AppendUTF8OrFail(%q) = %q, %v", c.in, got, err)
		case c.fails >= 0 && (!errors.As(err, &fails) || fails.Pos != c.fails || string(got) != "dst:"):
			t.Errorf("AppendUTF8OrFail(%q) = %q, %v, want an error at %d", c.in, got, err, c.fails)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		err  *Error
		code string
		says []string
	}{
		{&Error{Code: CodeIllFormed, Encoding: GBK, Pos: 7}, "ill-formed", []string{"byte 7", "GBK"}},
		{&Error{Code: CodeUnencodable, Encoding: GBK, Pos: 7, Rune: 0x2603}, "unencodable", []string{"byte 7", "U+2603", "GBK"}},
		{&Error{Code: CodeNoEncoder, Encoding: UTF16LE}, "no-encoder", []string{"UTF-16LE", "UTF-8"}},
		{&Error{Code: CodeUnknownLabel, Label: "nosuch"}, "unknown-label", []string{`"nosuch"`}},
		{&Error{Code: 99}, "Code(99)", []string{"Code(99)"}},
	} {
		if c.err.Code.String() != c.code {
			t.Errorf("%d: code %q, want %q", c.err.Code, c.err.Code, c.code)
		}
		for _, say := range c.says {
			if !strings.Contains(c.err.Error(), say) {
				t.Errorf("%q does not say %q", c.err, say)
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	dst := make([]byte, 0, 1024)
	text := []byte("plain, 日本語 and é☃")
	for _, e := range all {
		encoded, _ := e.Output().AppendEncode(nil, text, HTML)
		if n := testing.AllocsPerRun(50, func() { dst = e.AppendDecode(dst[:0], encoded) }); n != 0 {
			t.Errorf("%s: AppendDecode allocates %v times", e, n)
		}
		if n := testing.AllocsPerRun(50, func() { dst, _ = AppendDecode(dst[:0], encoded, e) }); n != 0 {
			t.Errorf("%s: AppendDecode with BOM sniffing allocates %v times", e, n)
		}
		if n := testing.AllocsPerRun(50, func() { dst, _ = e.Output().AppendEncode(dst[:0], text, HTML) }); n != 0 {
			t.Errorf("%s: AppendEncode allocates %v times", e, n)
		}
		if n := testing.AllocsPerRun(50, func() { dst = AppendPercentEncode(dst[:0], text, e, &percent.Query, false) }); n != 0 {
			t.Errorf("%s: AppendPercentEncode allocates %v times", e, n)
		}
	}
}

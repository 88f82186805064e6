package plain

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		`https://h/a\b?c d`:        `https://h/a\b?c d`,
		"é漢😀":                      "é漢😀",
		"a\x1b[31mb":               `a\x1b[31mb`,
		"a\x00\n\x7f":              `a\x00\x0a\x7f`,
		"\\\n":                     `\\\x0a`,
		"\xff\xc3":                 `\xff\xc3`,
		"\u202egpj.exe":            `\u{202e}gpj.exe`,
		"\u00a0\u200b\u2028\ue000": `\u{a0}\u{200b}\u{2028}\u{e000}`,
		"\u0085":                   `\u{85}`,
		"\ufffd":                   "\ufffd",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a\n": "a\n", "a\tb\nc": "a\tb\nc", "\x1b[31m\na\\b\r\n\u202e": "\\x1b[31m\na\\\\b\\x0d\n\\u{202e}", "\n\n": "\n\n",
		"\u3164": "\\u{3164}", "\xff\n": "\\xff\n",
	} {
		if got := Lines(in); got != want {
			t.Errorf("Lines(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":"\u001b é漢😀"}` + "\n":      `{"a":"\u001b é漢😀"}` + "\n",
		"\"\u202e\u009b\x7f\U000e0001\"": `"\u202e\u009b\u007f\udb40\udc01"`,
	} {
		got := JSON(in)
		if got != want {
			t.Errorf("JSON(%q) = %q, want %q", in, got, want)
		}
		var a, b any
		if json.Unmarshal([]byte(in), &a) != nil || json.Unmarshal([]byte(got), &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%q means %q, and %q means %q", in, a, got, b)
		}
	}
}

func TestWidthAndClip(t *testing.T) {
	for in, want := range map[string]int{"": 0, "abc": 3, "é": 1, "e\u0301": 1, "漢字": 4, "ｆ": 2, "😀": 2, "ж": 1} {
		if got := Width(in); got != want {
			t.Errorf("Width(%q) = %d", in, got)
		}
	}
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"漢字", 3, "漢…"}, {"漢字", 2, "…"}, {"", 0, ""}} {
		if got := Clip(c.in, c.width); got != c.want {
			t.Errorf("Clip(%q, %d) = %q", c.in, c.width, got)
		}
	}
}

func TestNumbers(t *testing.T) {
	for in, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", math.MaxInt64: "9,223,372,036,854,775,807"} {
		if got := Count(in); got != want {
			t.Errorf("Count(%d) = %q", in, got)
		}
	}
	for in, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 1_500_000: "1.5 MB", math.MaxInt64: "9223.4 PB"} {
		if got := Bytes(in); got != want {
			t.Errorf("Bytes(%d) = %q", in, got)
		}
	}
	for in, want := range map[int64]string{0: "0 rows", 1: "1 row", 2000: "2,000 rows"} {
		if got := Plural(in, "row"); got != want {
			t.Errorf("Plural(%d) = %q", in, got)
		}
	}
}

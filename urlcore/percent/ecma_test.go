package percent

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/urlmill/urlmill/internal/dev/conformance"
)

func units(s string) []uint16 { return utf16.Encode([]rune(s)) }

// unescapeUnits turns the \uXXXX of the conformance data into code units.
func unescapeUnits(tb testing.TB, s string) []uint16 {
	tb.Helper()
	var out []uint16
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			out = append(out, uint16(s[i]))
			continue
		}
		n, err := strconv.ParseUint(s[i+2:i+6], 16, 16)
		if err != nil || s[i+1] != 'u' {
			tb.Fatalf("%q: %v", s, err)
		}
		out = append(out, uint16(n))
		i += 5
	}
	return out
}

// functions16 are the functions on UTF-16 by their names in ECMA-262.
var functions16 = map[string]func(dst, src []uint16) ([]uint16, error){
	"encodeURI":          AppendEncodeURI16,
	"encodeURIComponent": AppendEncodeURIComponent16,
	"decodeURI":          AppendDecodeURI16,
	"decodeURIComponent": AppendDecodeURIComponent16,
	"escape":             func(dst, src []uint16) ([]uint16, error) { return AppendEscape16(dst, src), nil },
	"unescape":           func(dst, src []uint16) ([]uint16, error) { return AppendUnescape16(dst, src), nil },
}

// functionsString are the functions on strings.
var functionsString = map[string]func(string) (string, error){
	"encodeURI":          func(s string) (string, error) { return EncodeURI(s), nil },
	"encodeURIComponent": func(s string) (string, error) { return EncodeURIComponent(s), nil },
	"decodeURI":          DecodeURI,
	"decodeURIComponent": DecodeURIComponent,
	"escape":             func(s string) (string, error) { return Escape(s), nil },
	"unescape":           func(s string) (string, error) { return Unescape(s), nil },
}

func hasLoneSurrogate(s []uint16) bool {
	return !slices.Equal(utf16.Encode(utf16.Decode(s)), s)
}

func TestECMA262(t *testing.T) {
	passed, total := map[string]int{}, map[string]int{}
	for _, c := range conformance.Cases[struct {
		Function, Input, Output, Throws string
	}](t, "ecma262-uri-functions.json") {
		total[c.Function]++
		input, want := unescapeUnits(t, c.Input), unescapeUnits(t, c.Output)
		prefix := []uint16{'x'}
		got, err := functions16[c.Function](prefix, input)
		var failure *Error
		switch {
		case (err != nil) != (c.Throws != ""):
			t.Errorf("%s(%s): error %v, want %q", c.Function, c.Input, err, c.Throws)
			continue
		case err != nil && (!errors.As(err, &failure) || failure.Pos > len(input) || !slices.Equal(got, prefix)):
			t.Errorf("%s(%s): error %#v, result %v", c.Function, c.Input, err, got)
			continue
		case err == nil && !slices.Equal(got[1:], want):
			t.Errorf("%s(%s) = %v, want %s", c.Function, c.Input, got, c.Output)
			continue
		}
		passed[c.Function]++
		if hasLoneSurrogate(input) {
			continue // not to be said in a Go string
		}
		text, err := functionsString[c.Function](string(utf16.Decode(input)))
		if (err != nil) != (c.Throws != "") || text != string(utf16.Decode(want)) {
			t.Errorf("%s(%s) on strings = %q, %v", c.Function, c.Input, text, err)
		}
	}
	for name, n := range total {
		t.Logf("ecma262-uri-functions.json, %s: %d/%d", name, passed[name], n)
	}
}

func TestURIFunctions(t *testing.T) {
	for _, c := range []struct {
		function, in, want string
		code               Code
		pos                int
	}{
		{"encodeURI", "a b/?#[é]%41~'", "a%20b/?#%5B%C3%A9%5D%2541~'", 0, 0},
		{"encodeURI", "\xC2😀\xF0\x9F\x98", "%EF%BF%BD%F0%9F%98%80%EF%BF%BD", 0, 0},
		{"encodeURIComponent", "a b/?#[é]%41~'", "a%20b%2F%3F%23%5B%C3%A9%5D%2541~'", 0, 0},
		{"encodeURIComponent", "plain", "plain", 0, 0},
		{"decodeURI", "a%20%2f%2F%3b%23%25%C3%A9+é", "a %2f%2F%3b%23%é+é", 0, 0},
		{"decodeURIComponent", "a%20%2f%2F%3b%23%25%C3%A9+é", "a //;#%é+é", 0, 0},
		{"decodeURIComponent", "%00%EF%BF%BE%EF%BF%BF%EF%BF%BD%F4%8F%BF%BF", "\x00\uFFFE\uFFFF\uFFFD\U0010FFFF", 0, 0},
		{"decodeURI", "%", "", CodeStrayPercent, 0},
		{"decodeURI", "é%4", "", CodeStrayPercent, 2},
		{"decodeURI", "\xFFab%g1", "", CodeStrayPercent, 3},
		{"decodeURI", "\xF0\x9F%1g", "", CodeStrayPercent, 2},
		{"decodeURI", "%80", "", CodeNotUTF8, 0},
		{"decodeURI", "%F8%80%80%80%80", "", CodeNotUTF8, 0},
		{"decodeURI", "a%C3", "", CodeNotUTF8, 1},
		{"decodeURI", "a%C3%", "", CodeNotUTF8, 1},
		{"decodeURI", "a%C3xA9", "", CodeNotUTF8, 1},
		{"decodeURI", "a%C3%41", "", CodeNotUTF8, 1},
		{"decodeURI", "%C0%AF", "", CodeNotUTF8, 0},
		{"decodeURI", "%E0%80%80", "", CodeNotUTF8, 0},
		{"decodeURI", "%ED%A0%80", "", CodeNotUTF8, 0},
		{"decodeURI", "%F4%90%80%80", "", CodeNotUTF8, 0},
		{"decodeURIComponent", "%E3%81\u0100", "", CodeNotUTF8, 0},
		{"escape", "aZ09@*_+-./ %é\u0100😀", "aZ09@*_+-./%20%25%E9%u0100%uD83D%uDE00", 0, 0},
		{"escape", "\xC2", "%uFFFD", 0, 0},
		{"unescape", "%u0041%41%e9%uD83D%uDE00%uD83D", "AAé😀\uFFFD", 0, 0},
		{"unescape", "%U0041%u004%u004g%4g%4%u%", "%U0041%u004%u004g%4g%4%u%", 0, 0},
	} {
		got, err := functionsString[c.function](c.in)
		var failure *Error
		errors.As(err, &failure)
		switch {
		case (err != nil) != (c.code != 0) || got != c.want:
			t.Errorf("%s(%q) = %q, %v, want %q", c.function, c.in, got, err, c.want)
		case err != nil && (failure.Code != c.code || failure.Pos != c.pos || failure.Op != c.function):
			t.Errorf("%s(%q): %v, want %v at %d", c.function, c.in, err, c.code, c.pos)
		}
	}
}

// TestLoneSurrogates covers what only UTF-16 can hold.
func TestLoneSurrogates(t *testing.T) {
	const high, low = 0xD83D, 0xDE00
	for _, c := range []struct {
		name string
		in   []uint16
		pos  int // of the error of the encoding functions
	}{
		{"high at the end", []uint16{'a', high}, 1},
		{"low first", []uint16{low, high}, 0},
		{"high high", []uint16{high, high, low}, 0},
		{"high and a letter", []uint16{high, low, high, 'a'}, 2},
	} {
		for _, name := range []string{"encodeURI", "encodeURIComponent"} {
			_, err := functions16[name](nil, c.in)
			var failure *Error
			if !errors.As(err, &failure) || *failure != (Error{name, CodeLoneSurrogate, c.pos}) {
				t.Errorf("%s, %s: %v", name, c.name, err)
			}
		}
		for _, name := range []string{"decodeURI", "decodeURIComponent", "unescape"} {
			if got, err := functions16[name](nil, c.in); err != nil || !slices.Equal(got, c.in) {
				t.Errorf("%s, %s: %x, %v", name, c.name, got, err)
			}
		}
	}
	if got := AppendUnescape16(nil, units("%uD83Dx")); !slices.Equal(got, []uint16{high, 'x'}) {
		t.Errorf("unescape made %x", got)
	}
	if got := AppendEscape16(nil, []uint16{high}); string(utf16.Decode(got)) != "%uD83D" {
		t.Errorf("escape made %x", got)
	}
	// A unit whose low byte is a hexadecimal digit is none.
	if got := AppendUnescape16(nil, []uint16{'%', '4', 0x0131}); !slices.Equal(got, []uint16{'%', '4', 0x0131}) {
		t.Errorf("unescape made %x", got)
	}
}

func TestErrorText(t *testing.T) {
	_, err := DecodeURI("ab%")
	if want := "percent: decodeURI: percent sign without two hexadecimal digits at position 2"; err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	seen := map[string]bool{}
	for c := CodeStrayPercent; c <= CodeByte; c++ {
		if s := c.String(); s == "" || seen[s] || strings.Contains(s, "Code") {
			t.Errorf("code %d: %q", c, s)
		}
		seen[c.String()] = true
	}
	if s := Code(99).String(); s != "percent.Code(99)" {
		t.Errorf("unknown code: %q", s)
	}
}

func FuzzURIFunctions(f *testing.F) {
	for _, s := range []string{"", "a b", "%E3%81%82", "%u3042", "é%", "\xFF%41", "%F0%9F%98%80"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean := scalars(s)
		in := units(clean)
		for name, on16 := range functions16 {
			text, err := functionsString[name](s)
			got, err16 := on16(nil, in)
			if (err != nil) != (err16 != nil) || err == nil && text != string(utf16.Decode(got)) {
				t.Errorf("%s(%q) = %q, %v on strings and %x, %v on UTF-16", name, s, text, err, got, err16)
			}
		}
		if back, err := DecodeURIComponent(EncodeURIComponent(s)); err != nil || back != clean {
			t.Errorf("decodeURIComponent∘encodeURIComponent of %q is %q, %v", s, back, err)
		}
		if back := Unescape(Escape(s)); back != clean {
			t.Errorf("unescape∘escape of %q is %q", s, back)
		}
		if want := strings.ReplaceAll(url.QueryEscape(clean), "+", "%20"); EncodeOAuth(s) != want {
			t.Errorf("EncodeOAuth(%q) = %s, net/url has %s", s, EncodeOAuth(s), want)
		}
	})
}

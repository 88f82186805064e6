package anatomy

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/urlmill/urlmill/urlcore"
)

func TestFailureMarks(t *testing.T) {
	for in, want := range map[string]string{
		"https://exa mple.com": "https://exa mple.com\n           ^ domain-to-ASCII at byte 11",
		"https://":             "https://\n        ^ host-missing at byte 8",
		"https://漢字:x/":        "https://漢字:x/\n             ^ port-invalid at byte 15",
		"\x1bhttps://h:x/":     "\\x1bhttps://h:x/\n              ^ port-invalid at byte 11",
	} {
		var b bytes.Buffer
		ok, err := Write(&b, in, nil, Style{})
		if ok || err != nil || !strings.HasPrefix(b.String(), want) {
			t.Errorf("%q: %v %v\n%s", in, ok, err, b.String())
		}
	}
}

func TestRelative(t *testing.T) {
	base := urlcore.MustParse("https://example.com/a/b")
	var b bytes.Buffer
	ok, err := Write(&b, "../c?x=1", base, Style{})
	if !ok || err != nil || !strings.Contains(b.String(), "href                https://example.com/c?x=1\n") {
		t.Error(ok, err, b.String())
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("full") }

func TestWriteError(t *testing.T) {
	if _, err := Write(failing{}, "https://example.com", nil, Style{}); err == nil {
		t.Error("no error")
	}
}

// FuzzWrite checks that nothing but text and line feeds reaches the terminal.
func FuzzWrite(f *testing.F) {
	for _, seed := range []string{"https://u:p@h:1/p?q=\x1b#f", "\x00\xff", "http://\u202ex/", "a:\u200b?%1b=%0a&\x7f"} {
		f.Add(seed, 0)
		f.Add(seed, 7)
	}
	f.Fuzz(func(t *testing.T, input string, width int) {
		var b bytes.Buffer
		if _, err := Write(&b, input, nil, Style{Width: width}); err != nil {
			t.Fatal(err)
		}
		for _, r := range b.String() {
			if r != '\n' && !unicode.IsGraphic(r) {
				t.Fatalf("%q is in the output of %q", r, input)
			}
		}
	})
}

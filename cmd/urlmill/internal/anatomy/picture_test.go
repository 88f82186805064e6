package anatomy

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

// written returns what Write prints before the table.
func written(t *testing.T, input string, s Style) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, input, nil, s); err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(b.String(), "\n\n  ")
	return text
}

func TestPicture(t *testing.T) {
	for input, want := range map[string]string{
		"https://example.com/a?b": `
https://example.com/a?b
├───┘   ├─────────┘├┘ │
scheme  hostname   │  query
                   path`,
		"https://u:p@h.example:1/?q#f": `
https://u:p@h.example:1/?q#f
           ^ invalid-credentials at byte 11: the URL holds credentials

https://u:p@h.example:1/?q#f
├───┘   │ │ ├───────┘ ││ │ │
scheme  │ │ hostname  ││ │ fragment
        │ password    ││ query
        username      │path
                      port`,
		"a:b":    "\na:b\n│ │\n│ path\nscheme",
		"foo://": "\nfoo://\n├─┘\nscheme",
	} {
		want = strings.TrimPrefix(want, "\n")
		if got := written(t, input, Style{}); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", input, got, want)
		}
	}
}

// TestWrapped looks at lines that are as narrow as the terminal, and marks that stay in sight.
func TestWrapped(t *testing.T) {
	got := written(t, "https://example.com/a/long/path?and=a&query", Style{Width: 20})
	want := `https://example.com/
├───┘   ├─────────┘├
scheme  hostname   path
a/long/path?and=a&qu
──────────┘ ├───────
            query
ery
──┘`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	const width = 60
	got = written(t, "https://"+strings.Repeat("a", 60)+":99999/", Style{Width: width})
	want = "https://" + strings.Repeat("a", 52) + "\n" + strings.Repeat("a", 8) + ":99999/\n"
	if !strings.HasPrefix(got, want) || !strings.Contains(got[len(want):], "^ port-out-of-range at byte 69") {
		t.Errorf("got\n%s", got)
	}
	got = written(t, "https://example.com/"+strings.Repeat("a", 70)+"/\\/", Style{Width: 100})
	if !strings.Contains(got, " ^\n") {
		t.Errorf("a mark is cut off:\n%s", got)
	}
	for _, line := range strings.Split(got, "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// TestColors checks that colours change nothing else, and that every part has its own.
func TestColors(t *testing.T) {
	sgr := regexp.MustCompile("\x1b\\[[0-9;]+m")
	for _, input := range []string{"https://user:pw@www.bücher.co.uk:8443/a/../b?x=1#top", "https://a<b/", "mailto:x"} {
		var plainText, colored bytes.Buffer
		if _, err := Write(&plainText, input, nil, Style{}); err != nil {
			t.Fatal(err)
		}
		if _, err := Write(&colored, input, nil, Style{Color: true}); err != nil {
			t.Fatal(err)
		}
		if got := sgr.ReplaceAllString(colored.String(), ""); got != plainText.String() {
			t.Errorf("%s: without colours\n%s\nplain\n%s", input, got, plainText.String())
		}
		if strings.Count(colored.String(), "\x1b[0m") == 0 || strings.Contains(plainText.String(), "\x1b") {
			t.Errorf("%s: colours are not where they have to be", input)
		}
	}
	seen := map[string]bool{}
	for part, color := range colors {
		if seen[color] {
			t.Errorf("%v has the colour of another part", part)
		}
		seen[color] = true
	}
}

package psl

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// icann wraps rules into the ICANN section.
func icann(rules ...string) string {
	return "// ===BEGIN ICANN DOMAINS===\n" + strings.Join(rules, "\n") + "\n// ===END ICANN DOMAINS===\n"
}

func TestParseErrors(t *testing.T) {
	label63 := strings.Repeat("a", 63)
	for _, c := range []struct {
		name, text string
		want       error
		line       int
	}{
		{"empty", "", ErrNoRules, 0},
		{"comments only", "// nothing\n\n", ErrNoRules, 0},
		{"empty sections", icann(), ErrNoRules, 0},
		{"page", "<!DOCTYPE html>\n<html>", ErrSection, 1},
		{"rule outside", "com\n", ErrSection, 1},
		{"rule after", icann("com") + "org\n", ErrSection, 4},
		{"cut off", "// ===BEGIN ICANN DOMAINS===\ncom\nor", ErrSection, 3},
		{"nested", "// ===BEGIN ICANN DOMAINS===\ncom\n// ===BEGIN PRIVATE DOMAINS===\n", ErrSection, 3},
		{"wrong end", "// ===BEGIN ICANN DOMAINS===\ncom\n// ===END PRIVATE DOMAINS===\n", ErrSection, 3},
		{"end alone", "// ===END ICANN DOMAINS===\n", ErrSection, 1},
		{"inner wildcard", icann("com", "a.*.com"), ErrRule, 3},
		{"two wildcards", icann("*.*.com"), ErrRule, 2},
		{"partial wildcard", icann("x*.com"), ErrRule, 2},
		{"bare exception", icann("!"), ErrRule, 2},
		{"exception of one label", icann("!com"), ErrRule, 2},
		{"empty label", icann("a..com"), ErrRule, 2},
		{"leading dot", icann(".com"), ErrRule, 2},
		{"trailing dot", icann("com."), ErrRule, 2},
		{"wildcard without name", icann("*."), nil, 0},
		{"punctuation", icann("a/b.com"), ErrRule, 2},
		{"label of 64", icann(label63 + "a"), ErrRule, 2},
		{"label of 63", icann(label63), nil, 0},
		{"name of 255", icann(strings.Repeat(label63+".", 3) + label63), ErrRule, 2},
		{"not for IDNA", icann("a\u0378.com"), ErrRule, 2},
		{"byte order mark", "\uFEFF" + icann("com"), nil, 0},
		{"carriage returns", strings.ReplaceAll(icann("com", "org"), "\n", "\r\n"), nil, 0},
		{"default rule", icann("*"), nil, 0},
		{"other marks", icann("com") + "// ===SOMETHING ELSE===\n", nil, 0},
	} {
		l, err := Parse(strings.NewReader(c.text))
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || (l == nil) != (err != nil) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
			continue
		}
		var lineErr *LineError
		if errors.As(err, &lineErr) && lineErr.Line != c.line {
			t.Errorf("%s: line %d, want %d: %v", c.name, lineErr.Line, c.line, err)
		}
		if err != nil && lineErr == nil && c.line != 0 {
			t.Errorf("%s: error without a line: %v", c.name, err)
		}
	}
}

func TestLineErrorText(t *testing.T) {
	_, err := Parse(strings.NewReader(icann("com", strings.Repeat("/", 1)+strings.Repeat("x", 200))))
	want := fmt.Sprintf("psl: line 3: not a rule: '/' in a name (a wildcard can only be the first label): %q",
		"/"+strings.Repeat("x", 79))
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestParseReaderErrors(t *testing.T) {
	failure := errors.New("disk on fire")
	if _, err := Parse(iotest.ErrReader(failure)); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	if _, err := Parse(io.LimitReader(zeros{}, maxInput+10)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

// zeros is an endless reader.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestTooManyNames(t *testing.T) {
	var text strings.Builder
	text.WriteString("// ===BEGIN ICANN DOMAINS===\n")
	for i := range maxNodes {
		fmt.Fprintf(&text, "a%d\n", i)
	}
	text.WriteString("// ===END ICANN DOMAINS===\n")
	_, err := Parse(strings.NewReader(text.String()))
	var lineErr *LineError
	if !errors.Is(err, ErrTooLarge) || !errors.As(err, &lineErr) || lineErr.Line != maxNodes+1 {
		t.Errorf("got %v", err)
	}
}

// TestRehash grows the table from its smallest size, which Parse never does since it counts lines first.
func TestRehash(t *testing.T) {
	b := newBuilder(0)
	var names []string
	for i := range 3000 {
		names = append(names, fmt.Sprintf("n%d.some-longer-label-%d.test", i, i%7))
	}
	for _, name := range names {
		b.add(name, ruleICANN)
	}
	l := b.view()
	if len(l.slots) < 2*len(l.nodes) {
		t.Errorf("%d slots for %d nodes", len(l.slots), len(l.nodes))
	}
	for _, name := range names {
		if suffix, section := l.PublicSuffix("www." + name); suffix != name || section != ICANN {
			t.Fatalf("PublicSuffix(www.%s) = %s, %v", name, suffix, section)
		}
	}
}

func TestVersion(t *testing.T) {
	for _, c := range []struct{ head, want string }{
		{"// VERSION: 2026-01-31\n// COMMIT: abc\n", "2026-01-31 abc"},
		{"// VERSION: 2026-01-31\n", "2026-01-31"},
		{"// COMMIT: abc\n", "abc"},
		{"", "sha256:2b0c8e4d2b3f7c51"},
	} {
		l, err := Parse(strings.NewReader(c.head + icann("com")))
		if err != nil {
			t.Fatal(err)
		}
		if c.head == "" {
			c.want = "sha256:" + l.Info().Digest[:16]
		}
		if got := l.Version(); got != c.want {
			t.Errorf("%q: version %q, want %q", c.head, got, c.want)
		}
	}
	info := small(t).Info()
	info.Digest = ""
	want := Info{
		Source: "written for the tests", Date: "2026-01-31_12-00-00_UTC", Commit: "0123456789abcdef", ICANN: 17, Private: 7,
	}
	if info != want {
		t.Errorf("got %+v, want %+v", info, want)
	}
}

// TestDefaultRule checks that a written-out "*" gives its section to the default rule.
func TestDefaultRule(t *testing.T) {
	l, err := Parse(strings.NewReader(icann("*")))
	if err != nil {
		t.Fatal(err)
	}
	if suffix, section := l.PublicSuffix("a.b.c"); suffix != "c" || section != ICANN {
		t.Errorf("got %q, %v", suffix, section)
	}
}

func TestSectionString(t *testing.T) {
	got := []string{Unlisted.String(), ICANN.String(), Private.String()}
	if want := []string{"unlisted", "icann", "private"}; !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

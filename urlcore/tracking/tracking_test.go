package tracking

import (
	"strings"
	"testing"
)

func TestEmbedded(t *testing.T) {
	if _, err := Parse(embedded); err != nil {
		t.Fatal(err)
	}
	if got := Default().Version(); got < "2026-01-01" {
		t.Errorf("version %q", got)
	}
}

func TestKind(t *testing.T) {
	for _, test := range []struct {
		domain, name string
		want         Kind
	}{
		{"", "utm_source", Tracking},
		{"example.com", "UTM_Source", Tracking},
		{"example.com", "utm_", None},
		{"example.com", "utm", None},
		{"example.com", "gclid", Tracking},
		{"example.com", "gclidx", None},
		{"example.com", "PHPSESSID", Session},
		{"example.com", "ASPSESSIONIDABCDEFGH", Session},
		{"example.com", "si", None},
		{"youtube.com", "si", Tracking},
		{"youtube.com", "v", None},
		{"amazon.co.uk", "pd_rd_w", Tracking},
		{"amazon.com", "qid", Tracking},
		{"amazonia.com", "qid", None},
		{"com", "qid", None},
		{"", "", None},
		{"example.com", strings.Repeat("x", 200), None},
		{"example.com", "utm_" + strings.Repeat("x", 200), Tracking},
		{strings.Repeat("x", 70) + ".com", "qid", None},
	} {
		if got := Default().Kind([]byte(test.domain), []byte(test.name)); got != test.want {
			t.Errorf("%s %s: %v, want %v", test.domain, test.name, got, test.want)
		}
	}
}

func TestKindAllocatesNothing(t *testing.T) {
	r := Default()
	domain, name := []byte("amazon.co.uk"), []byte("UTM_Campaign")
	other := []byte("page")
	if n := testing.AllocsPerRun(100, func() { r.Kind(domain, name); r.Kind(domain, other) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestParseErrors(t *testing.T) {
	const version = "version 2026-01-02\n"
	for text, want := range map[string]string{
		"":                                "there is no line",
		"utm_*":                           "line 1: \"utm_*\" stands where the version has to come first",
		"version tomorrow":                "YYYY-MM-DD",
		version + "[example.com":          "line 2: \"[example.com\" is no section",
		version + "[Example.com]":         "in lower case",
		version + "[com]":                 "no registrable domain",
		version + "[a.*.b]":               "no registrable domain",
		version + "[a.b] c":               "is no section",
		version + "# all\nUTM":            "line 3: \"UTM\" has to be in lower case",
		version + "*":                     "a star may stand at the end of a name only",
		version + "a*b":                   "a star may stand at the end of a name only",
		version + "a tracking":            "after the name only \"session\" may stand",
		version + "a session x":           "after the name only",
		version + strings.Repeat("a", 65): "longer than 64 bytes",
	} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestParseSections(t *testing.T) {
	r, err := Parse("# mine\nversion 2026-01-02 # the day\n[a.com]\nx\n[*]\ny session\n[a.com]\nz*\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		domain, name string
		want         Kind
	}{{"a.com", "x", Tracking}, {"b.com", "x", None}, {"b.com", "y", Session}, {"a.com", "zz", Tracking}, {"b.com", "zz", None}} {
		if got := r.Kind([]byte(test.domain), []byte(test.name)); got != test.want {
			t.Errorf("%s %s: %v, want %v", test.domain, test.name, got, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("version 2026-01-02\n[a.com]\nx*\n", "a.com", "xy")
	f.Fuzz(func(_ *testing.T, text, domain, name string) {
		if r, err := Parse(text); err == nil {
			r.Kind([]byte(domain), []byte(name))
		}
	})
}

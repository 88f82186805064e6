package enrich

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWrongFiles checks what is said of lists and rules that are wrong, with line and column.
func TestWrongFiles(t *testing.T) {
	for _, c := range []struct{ key, text, want string }{
		{"channels", "rules:\n  - {channel: A, medium: [x*]}\n  - {channel: B, medium: [xy]}\n", `:3:15: rule 2 (B) never counts: rule 1 (A)`},
		{"channels", "rules:\n  - {channel: A, mediun: [x]}\n", `:2:18: unknown key "mediun" in rules[0]; did you mean "medium"?`},
		{"channels", "rules:\n  - {channel: A, source_class: [serch]}\n", `:2:33: "serch" is none of the names that source_class has (did you mean "search"?)`},
		{"channels", "rules:\n  - {channel: A, click_network: [google]}\n", `is none of the names that click_network has`},
		{"channels", "rules:\n  - {channel: A, medium: [a*b]}\n", `:2:27: "a*b": a star may stand`},
		{"channels", "rules:\n  - {channel: A, medium: [/(/]}\n", `error parsing regexp`},
		{"channels", "rules:\n  - {channel: A}\n", `rule 1 (A) has no condition`},
		{"referrers", "serch Google: google.*\n", `:1:1: "serch" is no class (did you mean "search"?)`},
		{"referrers", "# c\n  search Google google.*\n", `:2:3: "search Google google.*" is no referrer`},
		{"referrers", "search A: a.com\nsearch B: a.com\n", `:2:1: "a.com" is a place of A already`},
		{"referrers", "search A: A.com\n", `:1:1: "A.com" is no host`},
		{"referrers", "search A: a.com %klingon\n", `"%klingon" is no encoding`},
		{"parameters", "sourc utm_source\n", `:1:1: "sourc" is no kind of parameter (did you mean "source"?)`},
		{"parameters", "source a\nmedium a\n", `:2:1: "a" is there twice`},
		{"parameters", "click gclid\n", `is no parameter; write click NAME`},
		{"parameters", "source A\n", `has to be in lower case`},
	} {
		o := Default()
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		switch c.key {
		case "channels":
			o.Channels = path
		case "referrers":
			o.Referrers = path
		default:
			o.Parameters = path
		}
		if _, err := o.Read(); err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), c.key+": ") {
			t.Errorf("%s %q: %v, want %s", c.key, c.text, err, c.want)
		}
	}
	o := Default()
	o.Internal, o.PathTemplates = []string{"https://a"}, []string{"x", "/a*/b"}
	o.PageTypes = []PageType{{"a", []string{"/**"}}, {"b", []string{"/b"}}}
	_, err := o.Read()
	for _, want := range []string{"internal[0]: ", "path_templates[0]: ", "path_templates[1]: ", `page_types[1].paths[0]: "/b" can never count: "/**"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in %v", want, err)
		}
	}
}

// TestExtend checks that lists of one's own come before those that are built in, and that their version says so.
func TestExtend(t *testing.T) {
	dir, o := t.TempDir(), Default()
	for name, text := range map[string]string{
		"referrers": "extend\nsocial Ours: google.com ours.example\n", "parameters": "extend\nsource from\n",
		"channels": "extend: true\nrules:\n  - {channel: Ours, referrer_source: [Ours]}\n  - {channel: Partner, params: {ref: partner-*}}\n  - {channel: Site, domain: [site.example], source: [from]}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	before := rules(t, o)
	o.Referrers, o.Parameters, o.Channels = filepath.Join(dir, "referrers"), filepath.Join(dir, "parameters"), filepath.Join(dir, "channels")
	r := rules(t, o)
	if r.Version() == before.Version() || before.Version() != rules(t, Default()).Version() {
		t.Errorf("versions are %s and %s", before.Version(), r.Version())
	}
	b := newBatch(t,
		[2]string{"https://example.com/", "https://www.google.com/"}, [2]string{"https://example.com/", "https://www.google.de/"},
		[2]string{"https://example.com/?ref=partner-7", ""}, [2]string{"https://www.site.example/?from=from", ""}, [2]string{"https://example.com/?from=z&utm_source=y", ""})
	b.fill(t, r)
	for i, want := range []string{"Ours www.google.com", "Organic Search google", "Partner (direct)", "Site from", "Unassigned z"} {
		want = strings.Replace(want, "www.", "", 1)
		if got := b.at(Channel, i) + " " + b.at(Source, i); got != want {
			t.Errorf("row %d is %s, want %s", i, got, want)
		}
	}
}

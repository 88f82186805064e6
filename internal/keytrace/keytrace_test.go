package keytrace

import (
	"slices"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore/canon"
)

// TestOf checks which rules are named, and that the way ends at the key.
func TestOf(t *testing.T) {
	for _, test := range []struct {
		o                 canon.Options
		input, rules, key string
	}{
		{canon.Options{Form: canon.Dedupe}, "http://e.com/a", "", "http://e.com/a"},
		{canon.Options{Form: canon.Dedupe}, "HTTP://E.com", "parse", "http://e.com/"},
		{
			canon.Options{Form: canon.Dedupe, With: canon.HTTPS},
			"http://u:p@www.e.com./%7e/a;sid=1/index.html?b&a&utm_id=1&#f",
			"fragment credentials host www escapes documents slash sessions tracking sort empty https", "https://e.com/~/a?a&b",
		},
		{canon.Options{Form: canon.Dedupe, Without: canon.WWW | canon.Slash}, "http://www.e.com/a/", "", "http://www.e.com/a/"},
		{canon.Options{Form: canon.Dedupe}, "http://e.com/index.html/", "slash", "http://e.com/"},
		{canon.Options{Form: canon.Strict}, "http://www.e.com/?#f", "fragment", "http://www.e.com/?"},
		{canon.Options{Form: canon.SURTCC}, "http://www.e.com/A", "surt", "com,e)/a"},
		{canon.Options{Form: canon.Dedupe}, "mailto:a@b#c", "fragment", "mailto:a@b"},
	} {
		got, err := Of(test.o, test.input)
		if err != nil {
			t.Fatal(err)
		}
		var rules []string
		for _, c := range got.Changes {
			rules = append(rules, c.Rule)
			if c.Text == "" {
				t.Errorf("%s: the rule %s says nothing", test.input, c.Rule)
			}
		}
		if strings.Join(rules, " ") != test.rules || got.Key != test.key {
			t.Errorf("%s: %v, key %s; want %s, %s", test.input, rules, got.Key, test.rules, test.key)
		}
		if n := len(got.Changes); n > 0 && got.Changes[n-1].URL != got.Key {
			t.Errorf("%s: the way ends at %s", test.input, got.Changes[n-1].URL)
		}
	}
	if _, err := Of(canon.Options{}, "http://["); err == nil {
		t.Error("a URL that does not parse has a key")
	}
}

// FuzzOf checks that the way of every URL ends at the key that the form gives, whichever steps it has.
func FuzzOf(f *testing.F) {
	for i, s := range []string{"http://u@www.e.com./%7e/a;sid=1/index.html/?b&a&utm_id=1&#f", "mailto:a", "http://1.2.3.4../?", "file:///a/index.html"} {
		f.Add(s, uint16(i*77))
	}
	f.Fuzz(func(t *testing.T, input string, steps uint16) {
		o := with(canon.Options{Form: canon.Dedupe}, canon.Step(steps)&(canon.Usual|canon.HTTPS))
		got, err := Of(o, input)
		if err != nil {
			return
		}
		c, err := canon.New(o)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := Of(canon.Options{Form: canon.Strict}, input)
		if err != nil {
			t.Fatal(err)
		}
		if want := string(c.Append(nil, []byte(parsed.Key))); got.Key != want {
			t.Errorf("%q by %s: %s, and the key is %s", input, c.Name(), got.Key, want)
		}
	})
}

// TestJoin checks that two keys are joined by as few steps as will do.
func TestJoin(t *testing.T) {
	dedupe := canon.Options{Form: canon.Dedupe}
	for _, test := range []struct {
		o    canon.Options
		a, b string
		want string // the form's name without the rules' version
	}{
		{dedupe, "http://e.com/", "https://www.e.com/", "dedupe/2+https"},
		{canon.Options{Form: canon.Dedupe, Without: canon.WWW | canon.Sort | canon.Slash}, "http://e.com/a/?b&a", "http://www.e.com/a/?a&b", "dedupe/2-slash"},
		{canon.Options{Form: canon.Strict}, "http://e.com/a", "http://e.com/a/", "dedupe/2"},
		{canon.Options{Form: canon.Strict}, "http://e.com/a", "https://e.com/a/", "dedupe/2+https"},
		{dedupe, "http://e.com/A", "http://e.com/a", "surt-cc/1"},
		{dedupe, "http://e.com/a", "http://e.com/b", ""},
	} {
		o, ok := Join(test.o, test.a, test.b)
		name := ""
		if ok {
			full, err := Check(o)
			if err != nil {
				t.Fatal(err)
			}
			name, _, _ = strings.Cut(full, " ")
		}
		if name != test.want {
			t.Errorf("%s and %s: %q, want %q", test.a, test.b, name, test.want)
		}
	}
}

func TestParts(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want []string
	}{
		{"http://e.com/", "http://e.com/", nil},
		{"http://e.com/", "https://e.com:8080/a", []string{"scheme: http, https", "port: none, 8080", "path: /, /a"}},
		{"http://e.com/?a&a&b", "http://e.com/?a&c", []string{"parameter a: in the first alone", "parameter b: in the first alone", "parameter c: in the second alone"}},
		{"http://e.com/?a&b", "http://e.com/?b&a", []string{"query: the order, ?a&b and ?b&a"}},
		{"http://u:secret@e.com/", "http://u:sesame@e.com/", []string{"password: another"}},
		{"com,e)/a", "com,e)/", []string{`after "com,e)/": a, none`}},
	} {
		if got := Parts(test.a, test.b); !slices.Equal(got, test.want) {
			t.Errorf("%s and %s: %q, want %q", test.a, test.b, got, test.want)
		}
	}
}

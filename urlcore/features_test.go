package urlcore_test

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore"
)

type features = conformance.Features

func TestFeatures(t *testing.T) {
	conformance.RunFeatures(t, hostFeatures, recordFeatures, stateFeatures, validationFeatures, serializerFeatures,
		apiFeatures, changeFeatures, wrapFeatures, pointFeatures)
}

// href returns what input parses to, against bases if there are any, and "failure" if it does not parse.
func href(input string, bases ...string) string {
	u, err := urlcore.Parse(input)
	if len(bases) > 0 {
		u, err = urlcore.ParseWithBase(input, bases[0])
	}
	if err != nil {
		return "failure"
	}
	return u.Href()
}

// fails stands for a failure in tables of hrefs.
const fails = "failure"

// hrefs makes a test of inputs, in pairs with what they parse to.
func hrefs(pairs ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if got := href(pairs[i]); got != pairs[i+1] {
				t.Errorf("%q parses to %q and not %q", pairs[i], got, pairs[i+1])
			}
		}
	}
}

// against makes a test of inputs, in pairs with what they parse to against base.
func against(base string, pairs ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if got := href(pairs[i], base); got != pairs[i+1] {
				t.Errorf("%q against %q parses to %q and not %q", pairs[i], base, got, pairs[i+1])
			}
		}
	}
}

// hosts makes a test of hosts of https URLs, in pairs with what they become.
func hosts(pairs ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			want := pairs[i+1]
			if want != fails {
				want = "https://" + want + "/x"
			}
			if got := href("https://" + pairs[i] + "/x"); got != want {
				t.Errorf("host %q: %q and not %q", pairs[i], got, want)
			}
		}
	}
}

// assigns makes a test of assignments to an attribute: a URL, the value and the URL afterwards, again and again.
func assigns(attribute string, triples ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for i := 0; i < len(triples); i += 3 {
			u := urlcore.MustParse(triples[i])
			setters[attribute](u, triples[i+1])
			if u.Href() != triples[i+2] {
				t.Errorf("%s of %s = %q makes %q and not %q", attribute, triples[i], triples[i+1], u, triples[i+2])
			}
			checkRecord(t, u)
		}
	}
}

// all makes a test of several.
func all(tests ...func(*testing.T)) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for _, test := range tests {
			test(t)
		}
	}
}

// expect reports a value that is not as it should be.
func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v and not %v", what, got, want)
	}
}

// errorNames returns the names of the validation errors of input against base, or nil, and the failure.
func errorNames(input string, base *urlcore.URL) (string, urlcore.Failure) {
	p := urlcore.Parser{CollectErrors: true}
	failure := p.Parse(new(urlcore.URL), []byte(input), base)
	var names []string
	for _, e := range p.ValidationErrors() {
		names = append(names, e.Code.String())
	}
	return strings.Join(names, " "), failure
}

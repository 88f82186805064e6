package psl_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore/psl"
)

type features = conformance.Features

func TestFeatures(t *testing.T) { conformance.RunFeatures(t, rows) }

// expect reports a value that is not as it should be.
func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v and not %v", what, got, want)
	}
}

// madeUp is a list of suffixes that do not exist.
func madeUp(t *testing.T) *psl.List {
	t.Helper()
	list, err := psl.Parse(strings.NewReader(`// ===BEGIN ICANN DOMAINS===
test
co.test
*.wild.test
!www.wild.test
bücher.test
// ===END ICANN DOMAINS===
// ===BEGIN PRIVATE DOMAINS===
private.test
// ===END PRIVATE DOMAINS===
`))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var rows = features{
	"C23": func(t *testing.T) {
		list := madeUp(t)
		for host, want := range map[string]string{
			"a.test": "test icann", "test": "test icann", "a.b.co.test": "co.test icann", "x.y.wild.test": "y.wild.test icann", "wild.test": "test icann",
			"a.www.wild.test": "wild.test icann", "a.private.test": "private.test private", "a.other": "other unlisted", "a.test.": "test. icann", "": " unlisted", ".": " unlisted",
			"a.xn--bcher-kva.test": "xn--bcher-kva.test icann",
		} {
			suffix, section := list.PublicSuffix(host)
			expect(t, host, suffix+" "+section.String(), want)
		}
		suffix, section := psl.Default().PublicSuffix("www.example.co.uk")
		expect(t, "embedded list", suffix, "co.uk")
		expect(t, "embedded list", section, psl.ICANN)
	},
	"C24": func(t *testing.T) {
		list := madeUp(t)
		for host, want := range map[string]string{
			"test": "", "a.test": "a.test", "b.a.test": "a.test", "co.test": "", "a.co.test": "a.co.test", "y.wild.test": "", "x.y.wild.test": "x.y.wild.test",
			"www.wild.test": "www.wild.test", "b.a.other": "a.other", "private.test": "", "b.a.private.test": "a.private.test", "a.test.": "a.test.", "b.a.test.": "a.test.", ".test": "",
		} {
			domain, ok := list.RegistrableDomain(host)
			expect(t, host, domain, want)
			expect(t, host, ok, want != "")
		}
		domain, ok := psl.Default().RegistrableDomain("whatwg.github.io")
		expect(t, "private section", domain, "whatwg.github.io")
		expect(t, "private section", ok, true)
		_, ok = psl.Default().RegistrableDomain("github.io")
		expect(t, "github.io", ok, false)
	},
	"P17": func(t *testing.T) {
		list := madeUp(t)
		suffix, section := list.PublicSuffix("a.unknown")
		expect(t, "default rule", suffix+" "+section.String(), "unknown unlisted")
		suffix, _ = list.PublicSuffix("wild.test")
		expect(t, "a wildcard's parent", suffix, "test")
		domain, _ := list.RegistrableDomain("wild.test")
		expect(t, "a wildcard's parent", domain, "wild.test")
		var lineError *psl.LineError
		if _, err := psl.Parse(strings.NewReader("// ===BEGIN ICANN DOMAINS===\na.*.b\n// ===END ICANN DOMAINS===\n")); !errors.As(err, &lineError) || lineError.Line != 2 {
			t.Errorf("a wildcard inside: %v", err)
		}
	},
}

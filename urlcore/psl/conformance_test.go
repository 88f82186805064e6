package psl

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/urlmill/urlmill/internal/dev/conformance"
)

// smallReference is the reference for testdata/small.dat.
func smallReference(tb testing.TB) *reference {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "small.dat"))
	if err != nil {
		tb.Fatal(err)
	}
	return newReference(tb, string(data))
}

// published returns the list that all conformance cases are for, and a reference for it.
func published(tb testing.TB) (*List, *reference) {
	tb.Helper()
	data := conformance.Read(tb, "public_suffix_list.dat")
	l, err := Parse(bytes.NewReader(data))
	if err != nil {
		tb.Fatal(err)
	}
	return l, newReference(tb, string(data))
}

// toHost stands in for the host parser.
func toHost(tb testing.TB, domain string) string {
	tb.Helper()
	host, err := idna.New(idna.MapForLookup(), idna.Transitional(false)).ToASCII(domain)
	if err != nil {
		host = strings.ToLower(domain) // x/net refuses a leading dot
	}
	return host
}

func TestPublishedAgainstReference(t *testing.T) {
	l, r := published(t)
	if info := l.Info(); info.ICANN+info.Private != len(r.rules) {
		t.Errorf("%d rules, want %d", info.ICANN+info.Private, len(r.rules))
	}
	hosts := r.hostsAround()
	passed := 0
	for _, host := range hosts {
		if compare(t, l, r, host) {
			passed++
		}
	}
	t.Logf("public_suffix_list.dat: hosts around %d rules: %d/%d", len(r.rules), passed, len(hosts))
}

func TestPublishedCases(t *testing.T) {
	published, _ := published(t)
	for name, l := range map[string]*List{"public_suffix_list.dat": published, "embedded": Embedded()} {
		total, passed := 0, 0
		for _, c := range conformance.Cases[struct {
			Domain *string `json:"domain"`
			Want   *string `json:"registrable_domain"`
		}](t, "psl_tests.json") {
			total++
			var got *string
			if c.Domain != nil {
				host := toHost(t, *c.Domain)
				_, start, _ := l.LookupString(host)
				got = tailOf(host, start)
			}
			if c.Want != nil {
				*c.Want = toHost(t, *c.Want)
			}
			if !same(got, c.Want) {
				t.Errorf("%s: registrable domain of %s is %s, want %s", name, show(c.Domain), show(got), show(c.Want))
				continue
			}
			passed++
		}
		t.Logf("psl_tests.json with the %s list: %d/%d", name, passed, total)
	}
}

func TestSeedExamples(t *testing.T) {
	var seed struct {
		Cases []struct {
			Host   string  `json:"host_input"`
			Suffix *string `json:"public_suffix"`
			Domain *string `json:"registrable_domain"`
		} `json:"public_suffix"`
	}
	if err := json.Unmarshal(conformance.Read(t, "seed-examples.json"), &seed); err != nil {
		t.Fatal(err)
	}
	total, passed := 0, 0
	for _, c := range seed.Cases {
		if c.Suffix == nil {
			continue // an IP address, which the caller does not look up
		}
		total++
		host := toHost(t, c.Host)
		suffix, domain, _ := Embedded().LookupString(host)
		if !same(tailOf(host, suffix), c.Suffix) || !same(tailOf(host, domain), c.Domain) {
			t.Errorf("%s: got %s, %s, want %s, %s", host, show(tailOf(host, suffix)), show(tailOf(host, domain)),
				show(c.Suffix), show(c.Domain))
			continue
		}
		passed++
	}
	t.Logf("seed-examples.json, public suffixes of domains: %d/%d", passed, total)
}

// TestAgainstXNet compares with golang.org/x/net/publicsuffix, whose list is of another day: hosts may
// differ whose suffix is one in one of the lists alone, and those are few.
func TestAgainstXNet(t *testing.T) {
	r := newReference(t, embeddedText)
	total, differ := 0, 0
	for _, host := range r.hostsAround() {
		if strings.HasPrefix(host, ".") || strings.HasSuffix(host, ".") || strings.Contains(host, "..") {
			continue // x/net does not take empty labels
		}
		total++
		suffix, section := Embedded().PublicSuffix(host)
		want, icann := publicsuffix.PublicSuffix(host)
		if suffix == want && icann == (section == ICANN) {
			continue
		}
		differ++
		own, ownICANN := publicsuffix.PublicSuffix(suffix)
		if own != suffix {
			continue // no suffix there
		}
		if own, _ := Embedded().PublicSuffix(want); own != want {
			continue // no suffix here
		}
		if suffix == want && ownICANN == (section == ICANN) {
			continue // x/net takes the section from a name below that is no rule, and contradicts itself
		}
		if suffix == want && !ownICANN && !strings.Contains(suffix, ".") {
			continue // there only the default rule
		}
		if suffix == want && section == Unlisted {
			continue // here only the default rule
		}
		t.Errorf("%s: suffix %s, %v, x/net has %s, %v", host, suffix, section, want, icann)
	}
	if differ*50 > total {
		t.Errorf("%d of %d hosts differ from x/net, more than a different day explains", differ, total)
	}
	t.Logf("as x/net (%s): %d/%d, the rest explained by rules of one list alone", publicsuffix.List, total-differ, total)
}

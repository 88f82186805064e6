package psl

import (
	"math/rand/v2"
	"strings"
	"testing"

	"golang.org/x/net/idna"
)

// A reference is the algorithm of https://publicsuffix.org/list/ written down as plainly as it goes: a set of rules,
// every one of which is matched against the labels.
type reference struct {
	rules map[string]Section // with "*." and "!", IDN labels as A-labels
}

// newReference reads a list in the published format. It knows nothing of errors.
func newReference(tb testing.TB, text string) *reference {
	tb.Helper()
	r := &reference{rules: map[string]Section{}}
	section := Unlisted
	for _, line := range strings.Split(text, "\n") {
		switch {
		case strings.HasPrefix(line, "// ===BEGIN ICANN DOMAINS==="):
			section = ICANN
		case strings.HasPrefix(line, "// ===BEGIN PRIVATE DOMAINS==="):
			section = Private
		}
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "//") {
			continue
		}
		rule := strings.ToLower(fields[0])
		prefix := ""
		for _, p := range []string{"!", "*."} {
			if rest, ok := strings.CutPrefix(rule, p); ok {
				prefix, rule = p, rest
			}
		}
		rule, err := idna.ToASCII(rule)
		if err != nil {
			tb.Fatalf("%s: %v", line, err)
		}
		if old, ok := r.rules[prefix+rule]; !ok || section < old {
			r.rules[prefix+rule] = section
		}
	}
	return r
}

// lookup is List.Lookup.
func (r *reference) lookup(host string) (suffixStart, domainStart int, section Section) {
	name := strings.TrimSuffix(host, ".")
	labels := strings.Split(name, ".")
	if labels[len(labels)-1] == "" {
		return -1, -1, Unlisted
	}
	suffix, section, exception := 1, Unlisted, false
	for n := 1; n <= len(labels); n++ { // n labels from the right, without an empty one
		last := labels[len(labels)-n:]
		if last[0] == "" {
			break
		}
		if s, ok := r.rules["*."+strings.Join(last[1:], ".")]; ok && n > 1 && !exception {
			suffix, section = n, s
		}
		if s, ok := r.rules[strings.Join(last, ".")]; ok && !exception {
			suffix, section = n, s
		}
		if s, ok := r.rules["!"+strings.Join(last, ".")]; ok && !exception {
			suffix, section, exception = n-1, s, true
		}
	}
	start := func(n int) int { return len(name) - len(strings.Join(labels[len(labels)-n:], ".")) }
	if suffix == len(labels) || labels[0] == "" || labels[len(labels)-suffix-1] == "" {
		return start(suffix), -1, section
	}
	return start(suffix), start(suffix + 1), section
}

// compare reports a difference between l and r.
func compare(tb testing.TB, l *List, r *reference, host string) bool {
	tb.Helper()
	suffix, domain, section := l.Lookup([]byte(host))
	wantSuffix, wantDomain, wantSection := r.lookup(host)
	if suffix != wantSuffix || domain != wantDomain || section != wantSection {
		tb.Errorf("Lookup(%q) = %d, %d, %v, want %d, %d, %v", host, suffix, domain, section, wantSuffix, wantDomain, wantSection)
		return false
	}
	return true
}

// hostsAround returns hosts at, above and below each rule, with and without a trailing dot, and hosts that
// differ from a rule in one byte.
func (r *reference) hostsAround() []string {
	rng := rand.New(rand.NewPCG(1, 2))
	var hosts []string
	for rule := range r.rules {
		name := strings.TrimPrefix(strings.TrimPrefix(rule, "!"), "*.")
		_, above, _ := strings.Cut(name, ".")
		hosts = append(hosts, name, "a."+name, "www.example."+name, name+".", "b.c."+name+".", "x"+name, "."+name, "a.."+name)
		if above != "" {
			hosts = append(hosts, above, "other."+above, "a.other."+above)
		}
		changed := []byte("a." + name)
		changed[2+rng.IntN(len(name))] = "abcxyz019-._"[rng.IntN(12)]
		hosts = append(hosts, string(changed))
	}
	return hosts
}

func TestEmbeddedAgainstReference(t *testing.T) {
	r := newReference(t, embeddedText)
	hosts := r.hostsAround()
	passed := 0
	for _, host := range hosts {
		if compare(t, Embedded(), r, host) {
			passed++
		}
	}
	t.Logf("hosts around the %d rules of the embedded list: %d/%d", len(r.rules), passed, len(hosts))
}

func FuzzLookup(f *testing.F) {
	for _, c := range ownCases(f) {
		f.Add(*c[0])
	}
	lists := []struct {
		list      *List
		reference *reference
	}{{small(f), nil}, {Embedded(), newReference(f, embeddedText)}}
	lists[0].reference = smallReference(f)
	f.Fuzz(func(t *testing.T, host string) {
		for _, l := range lists {
			compare(t, l.list, l.reference, host)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add(icann("com", "*.ck", "!www.ck", "公司.cn"), "www.ck")
	f.Add(embeddedText[:2000], "a.b.ac")
	f.Add("\uFEFF// ===BEGIN PRIVATE DOMAINS===\r\n a b\r\n// ===END PRIVATE DOMAINS===", "x.a")
	f.Fuzz(func(t *testing.T, text, host string) {
		l, err := Parse(strings.NewReader(text))
		if err != nil {
			return
		}
		suffix, domain, _ := l.Lookup([]byte(host))
		if suffix < -1 || suffix > len(host) || domain < -1 || domain > suffix || suffix >= 0 && domain == suffix {
			t.Errorf("Lookup(%q) = %d, %d", host, suffix, domain)
		}
		if l.Info().ICANN+l.Info().Private == 0 {
			t.Error("a list without rules was accepted")
		}
	})
}

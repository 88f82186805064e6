package urlcore

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/urlmill/urlmill/internal/dev/cputime"
)

// checkPunycode compares the Punycode of a label with that of x/net, which does as RFC 3492 says.
func checkPunycode(t *testing.T, label string) {
	t.Helper()
	if label == "" || isASCII([]byte(label)) || !utf8.ValidString(label) || strings.ContainsAny(label, ".\ufffd") {
		return
	}
	want, err := idna.Punycode.ToASCII(label)
	got, ok := appendPunycode([]byte(acePrefix), label)
	if ok != (err == nil) || ok && string(got) != want {
		t.Errorf("%q: %q, %t; x/net has %q, %v", label, got, ok, want, err)
	}
}

func TestPunycode(t *testing.T) {
	// The samples of RFC 3492, section 7.1, are among those of x/net; these are the corners.
	for _, label := range []string{
		"ü", "bücher", "a-ü", "-ü-", "üa", "中文", "ü" + strings.Repeat("a", 100), strings.Repeat("ü", 300), "\U0010ffff", "\u0080",
		"\U0010ffff\u0080", "\u0080\U0010ffff\u0080", strings.Repeat("a", 3000) + "\U0010ffff", "🙂🙃🙂", "\u00ad\u00ad",
	} {
		checkPunycode(t, label)
	}
	r := rand.New(rand.NewPCG(3492, 1))
	alphabets := []func() rune{
		func() rune { return rune('a' + r.IntN(26)) },
		func() rune { return 'ä' + rune(r.IntN(3)) },
		func() rune { return 0x4e00 + rune(r.IntN(20000)) },
		func() rune { return rune(0x80 + r.IntN(0x10ff7f)) },
	}
	for range 3000 {
		var b strings.Builder
		for range r.IntN(80) {
			b.WriteRune(alphabets[r.IntN(len(alphabets))]())
		}
		checkPunycode(t, b.String())
	}
}

func FuzzPunycode(f *testing.F) {
	for _, label := range []string{"ü", "bücher", "中文-a", "\U0010ffff\u0080"} {
		f.Add(label)
	}
	f.Fuzz(func(t *testing.T, label string) {
		if len(label) <= maxIDNA {
			checkPunycode(t, label)
		}
	})
}

// longDomains builds domains of about n bytes that UTS 46 or Punycode could need quadratic time for.
var longDomains = map[string]func(n int) string{
	"distinct": func(n int) string {
		var b strings.Builder
		for i := range n / 3 {
			b.WriteRune(0x4e00 + rune(i*7%20000))
		}
		return b.String()
	},
	"descending": func(n int) string {
		var b strings.Builder
		for i := range n / 3 {
			b.WriteRune(0x4e00 + rune(n/3-i))
		}
		return b.String()
	},
	"one character":         func(n int) string { return strings.Repeat("中", n/3) },
	"labels":                func(n int) string { return strings.Repeat("é.", n/3) + "com" },
	"labels, the last bad":  func(n int) string { return strings.Repeat("é.", n/3) + "\ue000" },
	"combining":             func(n int) string { return "a" + strings.Repeat("\u0301", n/2) },
	"combining, descending": func(n int) string { return "a" + strings.Repeat("\u0301\u0323", n/4) },
	"expanding":             func(n int) string { return strings.Repeat("\ufdfa", n/3) },
	"ignored":               func(n int) string { return strings.Repeat("\u00ad", n/2) + "a" },
	"A-labels":              func(n int) string { return strings.Repeat("xn--9ca.", n/8) + "é" },
	"long A-label":          func(n int) string { return "xn--" + strings.Repeat("9", n) + ".é" },
	"nested A-labels":       func(n int) string { return strings.Repeat("xn--xn--9ca-.", n/13) + "é" },
	"hyphens":               func(n int) string { return "é" + strings.Repeat("-", n) },
	"right to left":         func(n int) string { return strings.Repeat("א", n/2) },
	"joiners":               func(n int) string { return strings.Repeat("क\u094d\u200d", n/9) },
}

// TestLinearTimeDomains is [TestLinearTime] below the length at which domains are refused.
func TestLinearTimeDomains(t *testing.T) {
	const large, factor, bound = maxIDNA - 128, 16, 5
	for name, domain := range longDomains {
		for _, f := range []struct {
			name string
			do   func([]byte)
		}{
			{"to ASCII", func(b []byte) { domainToASCII(b) }},
			{"to ASCII, strict", func(b []byte) { domainToASCIIStrict(b) }},
			{"to Unicode", func(b []byte) { domainToUnicode(b) }},
			{"failing label", func(b []byte) { failingLabel(b) }},
		} {
			run := func(n int) func() {
				in := []byte(domain(n))
				return func() {
					for range 8 {
						f.do(in)
					}
				}
			}
			if r := cputime.Ratio(bound, factor, run(large/factor), run(large)); r > bound {
				t.Errorf("%s, %s: %d bytes take %.1f times the time of %d times %d bytes", name, f.name, large, r, factor, large/factor)
			}
		}
	}
}

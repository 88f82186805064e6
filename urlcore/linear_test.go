package urlcore_test

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/urlcore"
)

// adversarial builds inputs of about n bytes that a careless parser needs quadratic time for.
var adversarial = map[string]func(n int) string{
	"at signs":         func(n int) string { return "https://" + strings.Repeat("@", n) + "h/" },
	"credentials":      func(n int) string { return "https://" + strings.Repeat("a:b@", n/4) + "h/" },
	"userinfo alone":   func(n int) string { return "https://" + strings.Repeat("a@", n/2) + "/" },
	"dot segments":     func(n int) string { return "https://h/" + strings.Repeat("../", n/3) },
	"in and out":       func(n int) string { return "https://h/" + strings.Repeat("a/", n/5) + strings.Repeat("../", n/5) },
	"escaped dots":     func(n int) string { return "https://h/" + strings.Repeat("a/%2e%2E/", n/9) },
	"drive letter up":  func(n int) string { return "file:///C:/" + strings.Repeat("../", n/3) },
	"huge port":        func(n int) string { return "https://h:" + strings.Repeat("9", n) },
	"zero port":        func(n int) string { return "https://h:" + strings.Repeat("0", n) + "81/" },
	"huge IPv4":        func(n int) string { return "https://" + strings.Repeat("9", n) + "/" },
	"huge hex IPv4":    func(n int) string { return "https://0x" + strings.Repeat("f", n) + "/" },
	"many IPv4 parts":  func(n int) string { return "https://" + strings.Repeat("1.", n/2) + "/" },
	"dots in host":     func(n int) string { return "https://" + strings.Repeat(".", n) + "/" },
	"labels":           func(n int) string { return "https://" + strings.Repeat("a.", n/2) + "com/" },
	"A-labels":         func(n int) string { return "https://" + strings.Repeat("xn--a.", n/6) + "com/" },
	"long A-label":     func(n int) string { return "https://xn--" + strings.Repeat("a", n) + "/" },
	"IDN":              func(n int) string { return "https://" + strings.Repeat("\u4e2d\u6587", n/6) + "/" },
	"escaped host":     func(n int) string { return "https://" + strings.Repeat("%41", n/3) + "/" },
	"IPv6":             func(n int) string { return "https://[" + strings.Repeat("0:", n/2) + "]/" },
	"brackets":         func(n int) string { return "foo://" + strings.Repeat("[", n) + "/" },
	"colons":           func(n int) string { return "foo://[" + strings.Repeat(":", n) + "/" },
	"slashes":          func(n int) string { return "https:" + strings.Repeat("/\\", n/2) + "h" },
	"empty segments":   func(n int) string { return "foo:/" + strings.Repeat("/.", n/2) + strings.Repeat("/", n/2) },
	"tabs":             func(n int) string { return "https://h/" + strings.Repeat("\ta", n/2) },
	"ill-formed":       func(n int) string { return "https://h/" + strings.Repeat("\xf0\x9f", n/2) },
	"white space":      func(n int) string { return strings.Repeat(" ", n) + "https://h/" },
	"encoded segments": func(n int) string { return "https://h/" + strings.Repeat("<a/", n/3) },
	"opaque spaces":    func(n int) string { return "data:" + strings.Repeat(" ", n) + "#" },
	"query":            func(n int) string { return "https://h/?" + strings.Repeat("'\u00e9", n/3) },
	"fragment":         func(n int) string { return "https://h/#" + strings.Repeat("`#", n/2) },
	"stray percents":   func(n int) string { return "https://h/" + strings.Repeat("%", n) },
	"scheme":           func(n int) string { return strings.Repeat("a", n) },
}

// TestLinearTime compares the CPU time for an input with that for sixteen of a sixteenth of its length. For linear work they
// are about the same, and quadratic work takes sixteen times as long; the bound lies far from both, since the times are taken
// on a machine that does other things as well.
func TestLinearTime(t *testing.T) {
	const small, factor, bound = 64 << 10 / raceFactor, 16, 5 // up to 1 MiB
	base := urlcore.MustParse("https://h/" + strings.Repeat("b/", 1000))
	for name, input := range adversarial {
		for _, collect := range []bool{false, true} {
			p := urlcore.Parser{CollectErrors: collect}
			parse := func(n int) func() {
				var u urlcore.URL
				in := []byte(input(n))
				return func() { p.Parse(&u, in, base) }
			}
			if r := cputime.Ratio(bound, factor, parse(small), parse(small*factor)); r > bound {
				t.Errorf("%s, collecting %t: %d bytes take %.1f times the time of %d times %d bytes", name, collect, small*factor, r, factor, small)
			}
		}
	}
}

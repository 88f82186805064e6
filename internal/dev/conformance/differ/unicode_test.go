package differ

import (
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

// refusedByUnicode15 is how many characters are refused in domains, against the standard, with the tables of Unicode 15,
// that is, when Go 1.26 has built us: 10,518 that are valid and new since then, U+1806, which has become valid, and 51 new
// ones that are mapped to one of those. docs/conformance.md says so, too.
const refusedByUnicode15 = 10_518 + 1 + 51

// TestNewCharacters puts every character that UTS 46 treats in another way in Unicode 17 than in Unicode 15 into a domain.
// With the tables of Unicode 17 all are taken, and with the older ones as many are refused as is known, no less either.
func TestNewCharacters(t *testing.T) {
	refused, want := 0, 0
	for _, g := range idnaChanges {
		for r := g[0]; r <= g[1]; r++ {
			if !taken(r) {
				refused++
			}
		}
	}
	old := urlcore.UnicodeVersion == "15.0.0"
	if old {
		want = refusedByUnicode15
	}
	if refused != want {
		t.Errorf("with Unicode %s %d characters are refused, and not %d", urlcore.UnicodeVersion, refused, want)
	}
	// U+1171E is a mark of no direction in Unicode 15, and runs from left to right since Unicode 16.
	if got := urlcore.CanParse("https://\u05d0\U0001171e/"); got != old {
		t.Errorf("with Unicode %s U+1171E is taken after a Hebrew letter: %t", urlcore.UnicodeVersion, got)
	}
}

// taken reports whether a domain may have r, alone or after a letter of either direction.
func taken(r rune) bool {
	for _, before := range []string{"", "a", "\u0628"} {
		if urlcore.CanParse("https://" + before + string(r) + "/") {
			return true
		}
	}
	return false
}

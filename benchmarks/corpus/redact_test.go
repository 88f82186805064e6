package corpus

import (
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/privacy"
)

type passed struct{}

func (passed) Apply(*pipeline.Batch) (pipeline.Output, error) { return pipeline.Output{}, nil }

// identifier is one that may be the number of a card, as far as anybody can see.
var identifier = regexp.MustCompile(`\b\d{14,16}\b`)

// cardlike reports whether a URL has an identifier with Luhn's sum.
func cardlike(url string) bool {
	return slices.ContainsFunc(identifier.FindAllString(url, -1), func(digits string) bool {
		sum := 0
		for i := range digits {
			d := int(digits[len(digits)-1-i]-'0') * (1 + i%2)
			sum += d/10 + d%10
		}
		return sum%10 == 0
	})
}

// TestRedaction counts the URLs of the clean lists from which a kind of value removes something that is not one of that kind: at most 1
// in 100,000. The third list has identifiers of 14 to 16 random digits. Those that are the number of a card, by issuer, length and sum,
// are counted by themselves. URLMILL_CLEAN_URLS says how many URLs of each list are looked at; docs/privacy.md has the counts of
// 2,000,000.
func TestRedaction(t *testing.T) {
	n := 200_000
	if text := os.Getenv("URLMILL_CLEAN_URLS"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	options := privacy.Default()
	options.Names = nil
	policy, err := privacy.New(options)
	if err != nil {
		t.Fatal(err)
	}
	transform := policy.Transforms(func() pipeline.Transform { return passed{} })()
	for _, kind := range []Kind{Web, Browser, Unseen} {
		urls, changed, cards := Generate(kind, n, 19), 0, 0
		for at := 0; at < n; at += 10_000 {
			var b pipeline.Batch
			some := urls[at:min(at+10_000, n)]
			for _, url := range some {
				b.URLs.Append([]byte(url))
			}
			if _, err := transform.Apply(&b); err != nil {
				t.Fatal(err)
			}
			for i, url := range some {
				if got := string(b.URLs.At(i)); got == url {
					continue
				} else if cardlike(url) {
					cards++
				} else if changed++; changed < 20 {
					t.Logf("%s\n%s", url, got)
				}
			}
		}
		t.Logf("%s: %d of %d, and %d cards", kind, changed, n, cards)
		if changed*100_000 > n {
			t.Errorf("%s: of %d URLs %d have something removed", kind, n, changed)
		}
	}
}

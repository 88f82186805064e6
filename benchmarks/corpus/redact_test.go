package corpus

import (
	"os"
	"strconv"
	"testing"

	"github.com/urlmill/urlmill/pipeline"
	"github.com/urlmill/urlmill/pipeline/privacy"
)

type passed struct{}

func (passed) Apply(*pipeline.Batch) (pipeline.Output, error) { return pipeline.Output{}, nil }

// TestRedaction counts the URLs of the clean lists from which a kind of value removes something, although none holds a secret: at most 1
// in 100,000. The third list has more, since its identifiers are random digits, of which some have the issuer, the length and the sum of
// a card. URLMILL_CLEAN_URLS says how many URLs of each list are looked at; docs/privacy.md has the counts of 2,000,000.
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
	for kind, most := range map[Kind]int{Web: 1, Browser: 1, Unseen: 12} { // in 100,000
		urls, changed := Generate(kind, n, 19), 0
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
				if got := string(b.URLs.At(i)); got != url {
					if changed++; changed < 20 {
						t.Logf("%s\n%s", url, got)
					}
				}
			}
		}
		t.Logf("%s: %d of %d", kind, changed, n)
		if changed*100_000 > most*n {
			t.Errorf("%s: of %d URLs %d have something removed", kind, n, changed)
		}
	}
}

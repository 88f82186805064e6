package generate

import (
	"regexp"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/canon"
)

var trackers = regexp.MustCompile(`[?&](utm_[a-z]+|[a-z]*clk?id|mc_[ce]id|igshid)=[^&#]*`)

// TestRepeats checks that in the crawl profile the repeats are what they are said to be, and that nothing else is
// one.
func TestRepeats(t *testing.T) {
	const n = 50000
	g := newGenerator(t, Options{Profile: Crawl, Format: Lines, Repeats: 0.3})
	seen := map[string]int64{} // number by href without fragment
	urls := make([]string, n)
	var kinds [4]int
	for i := range n {
		urls[i] = string(g.Append(nil))
		truth := g.Truth()
		kinds[truth.Repeat]++
		if truth.Class != Page {
			continue
		}
		href := hrefOf(t, urls[i])
		first, known := seen[href]
		if !known {
			seen[href] = int64(i)
		}
		switch truth.Repeat {
		case NoRepeat:
			if known {
				t.Fatalf("%d %q is the same as %d", i, urls[i], first)
			}
			continue
		case SameURL:
			if urls[i] != urls[truth.Original] {
				t.Fatalf("%q, want %q", urls[i], urls[truth.Original])
			}
		case SameHref:
			if urls[i] == urls[truth.Original] || href != hrefOf(t, urls[truth.Original]) {
				t.Fatalf("%q repeats %q", urls[i], urls[truth.Original])
			}
		case SameButTracking:
			if stripped := trackers.ReplaceAllString(href, ""); stripped == href || stripped != hrefOf(t, urls[truth.Original]) {
				t.Fatalf("%q repeats %q", urls[i], urls[truth.Original])
			}
		}
	}
	repeats := n - kinds[NoRepeat]
	if share := float64(repeats) / n; share < 0.18 || share > 0.3 {
		t.Errorf("%v are repeats", share)
	}
	for _, k := range kinds[1:] {
		if k < repeats/4 {
			t.Errorf("kinds of repeats: %v", kinds)
		}
	}
}

// TestDistinct checks that the truth about repeats is that about canonical forms, from far back as well.
func TestDistinct(t *testing.T) {
	form, err := canon.New(canon.Options{Form: canon.Dedupe})
	if err != nil {
		t.Fatal(err)
	}
	for _, within := range []int64{0, 1000, 1 << 32} {
		g := newGenerator(t, Options{Profile: Crawl, Format: Lines, Repeats: 0.3, RepeatsWithin: within, Mix: Distinct()})
		seen := make(map[string]int64)
		far := 0
		for n := range int64(150_000) {
			text := string(g.Append(nil))
			truth := g.Truth()
			u, err := urlcore.Parse(text)
			if err != nil {
				if truth.Repeat != NoRepeat {
					t.Fatalf("%q repeats, and is no URL", text)
				}
				continue
			}
			canonical := string(form.Append(nil, []byte(u.Href())))
			first, known := seen[canonical]
			if known != (truth.Repeat != NoRepeat) || known && first != truth.Original {
				t.Fatalf("within %d: %d %q is there since %d (%t); the truth is %+v", within, n, text, first, known, truth)
			}
			if !known {
				seen[canonical] = n
			} else if back := n - first; within != 0 && back > within {
				t.Fatalf("%d repeats what is %d records back", n, back)
			} else if back > DefaultRepeatsWithin {
				far++
			}
		}
		if (far > 0) != (within == 1<<32) {
			t.Errorf("within %d: %d repeats from farther back than by default", within, far)
		}
	}
}

func hrefOf(t *testing.T, url string) string {
	t.Helper()
	u, err := urlcore.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	href, _, _ := strings.Cut(u.Href(), "#")
	return href
}

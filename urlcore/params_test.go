package urlcore_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/form"
)

// TestAppendToSearchParams makes changes of a URL and of its list in any order, and compares the URL after each with one that
// is given the whole list at once.
func TestAppendToSearchParams(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	texts := []string{"", "a", "ü b", "&=+%", "'\"<>", "\xff", strings.Repeat("x", 300)}
	text := func() string { return texts[r.IntN(len(texts))] }
	for _, start := range []string{"https://h/", "https://h/?a b=1&&c#f", "data:x  ?q#", "foo:/p#f", "https://h/?"} {
		u := urlcore.MustParse(start)
		for range 400 {
			list := u.SearchParams()
			switch r.IntN(12) {
			case 0:
				list.Set(text(), text())
			case 1:
				list.Delete(text())
			case 2:
				u.SetSearch("?" + text())
			case 3:
				u.SetHash(text())
			case 4:
				u.SetPathname("/" + text())
			default:
				list.Append(text(), text())
				want := u.Clone()
				want.SetSearch(list.String())
				if got := u.Href(); got != want.Href() {
					t.Fatalf("after Append: %s\nwant %s", got, want.Href())
				}
			}
			again := urlcore.MustParse(u.Href())
			if !u.Equal(again) || again.SearchParams().String() != form.New(u.Search()).String() {
				t.Fatalf("%s is not what it is when parsed: %s", u, again)
			}
		}
	}
}

func TestAppendLinear(t *testing.T) {
	const small, factor, bound = 1000, 16, 5
	run := func(n int) func() {
		return func() {
			u := urlcore.MustParse("https://h/#fragment")
			for i := range n {
				u.SearchParams().Append(fmt.Sprint("name", i), "value")
			}
		}
	}
	if r := cputime.Ratio(bound, factor, run(small), run(small*factor)); r > bound {
		t.Errorf("%d pairs take %.1f times the time of %d times %d", small*factor, r, factor, small)
	}
}

package urlcore_test

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

// copyChanges are the ways to change a URL that leave its copies alone.
var copyChanges = append([]func(*urlcore.URL, string){
	func(u *urlcore.URL, v string) { u.SearchParams().Set(v, "") },
	func(u *urlcore.URL, _ string) { u.SearchParams().Sort() },
	func(u *urlcore.URL, v string) { _ = u.UnmarshalText([]byte("https://h/?" + v)) },
	func(u *urlcore.URL, v string) { _ = u.Scan(v) },
	func(u *urlcore.URL, _ string) { u.Reset() },
}, setterList...)

// checkCopies changes URLs that are copies of each other, as the steps say, and beside each a clone of it.
func checkCopies(t *testing.T, start string, steps []byte, value string) {
	t.Helper()
	var urls, want [4]urlcore.URL
	_ = urls[0].Set(start)
	want[0] = *urls[0].Clone()
	values := []string{value, "x", "", "https://h/?a=b&c=d#f", "8080"}
	for n, step := range steps {
		i, j := int(step&3), int(step>>2&3)
		what := int(step>>2) % len(copyChanges)
		if step&0x80 != 0 {
			urls[i] = urls[j]
			want[i] = *want[j].Clone()
		} else {
			v := values[n%len(values)]
			copyChanges[what](&urls[i], v)
			copyChanges[what](&want[i], v)
			want[i] = *want[i].Clone()
		}
		for k := range urls {
			if !urlcore.SameRecord(&urls[k], &want[k]) {
				t.Fatalf("step %d of %x, which changes URL %d, makes URL %d %q and not %q", n, steps, i, k, &urls[k], &want[k])
			}
		}
	}
	for k := range urls {
		if urls[k].IsEmpty() {
			continue // its list has nothing to write to
		}
		checkRecord(t, &urls[k])
		if got, list := urls[k].SearchParams().String(), want[k].SearchParams().String(); got != list {
			t.Fatalf("%x: URL %d, %q, has the list %q and not %q", steps, k, &urls[k], got, list)
		}
	}
}

func FuzzCopies(f *testing.F) {
	for i, input := range fuzzSeeds {
		f.Add(input, []byte{0x81, byte(i), byte(3 * i), 0x82, 0x84, byte(i) + 1, 56, 0x81, 57, 56}, "q")
	}
	f.Fuzz(checkCopies)
}

func TestCopies(t *testing.T) {
	for _, start := range []string{"https://u:p@h:81/p?a=1#f", "https://h/", "https://h/?a=1", "mailto:x?y#z"} {
		const list = "Append" // what a list has written before is added to in place
		u := *urlcore.MustParse(start)
		u.SearchParams().Append(list, "1")
		for _, change := range copyChanges {
			before, c := u.Href(), u
			change(&c, "x")
			if u.Href() != before || u.SearchParams().String() != urlcore.MustParse(before).SearchParams().String() {
				t.Fatalf("a change of a copy of %s makes it %s", before, u)
			}
			c = u
			change(&u, "x")
			if c.Href() != before || c.SearchParams().String() != urlcore.MustParse(before).SearchParams().String() {
				t.Fatalf("a change of %s makes its copy %s", before, c)
			}
			u = c
			u.SearchParams().Append(list, "2")
		}
	}
}

func TestSavedCopy(t *testing.T) {
	u := *urlcore.MustParse("https://h/?a=1")
	saved, list := u, u.SearchParams()
	list.Append("b", "2")
	earlier := u
	list.Append("c", "3")
	u = saved
	if got := u.SearchParams(); got.String() != "a=1" || got != u.SearchParams() {
		t.Errorf("%s is restored with the list %s", u, got)
	}
	u = earlier
	u.SearchParams().Append("d", "4")
	if u.Href() != "https://h/?a=1&b=2&d=4" || earlier.Href() != "https://h/?a=1&b=2" {
		t.Errorf("%s, %s", u, earlier)
	}
}

func TestSwappedURLs(t *testing.T) {
	urls := []urlcore.URL{*urlcore.MustParse("https://h/?a=1"), *urlcore.MustParse("https://i/?b=2")}
	list := urls[0].SearchParams()
	urls[1].SearchParams().Append("c", "3")
	urls[0], urls[1] = urls[1], urls[0]
	list.Append("lost", "") // the list of a URL that is no more
	urls[0].SearchParams().Append("d", "4")
	urls[1].SearchParams().Append("e", "5")
	if urls[0].Href() != "https://i/?b=2&c=3&d=4" || urls[1].Href() != "https://h/?a=1&e=5" {
		t.Errorf("%s", urls)
	}
	urls[0], urls[1] = urls[1], urls[0]
	if urls[0].SearchParams().String() != "a=1&e=5" {
		t.Errorf("%s has the list %s", urls[0], urls[0].SearchParams())
	}
}

// TestCopyOfShortURLWithFragment is about URLs whose query is only extended in place when they are longer.
func TestCopyOfShortURLWithFragment(t *testing.T) {
	u := *urlcore.MustParse("https://h/#" + strings.Repeat("f", 50))
	list := u.SearchParams()
	for len(u.Href()) < 4<<10 {
		before, c := u.Href(), u
		list.Append("name", "value")
		if c.Href() != before {
			t.Fatalf("%d bytes: the copy is %s", len(before), c)
		}
	}
}

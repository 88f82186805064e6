package facts

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

// What is written beside the shapes by hand is what urlcore says, which is another way to come to it.
func TestShapes(t *testing.T) {
	errors := 0
	for i := range shapes {
		s := &shapes[i]
		u, err := urlcore.Parse(strings.ReplaceAll(s.url, mark, oneName))
		if err != nil {
			errors++
			continue
		}
		if u.RegistrableDomain() != s.domain || u.PublicSuffix() != s.suffix {
			t.Errorf("%s: %q below %q", s.url, u.RegistrableDomain(), u.PublicSuffix())
		}
		var params []string
		for name, value := range u.SearchParams().All() {
			params = append(params, name, value)
		}
		if want := strings.ReplaceAll(strings.Join(s.params, "|"), mark, oneName); strings.Join(params, "|") != want || u.HasQuery() != (s.params != nil) {
			t.Errorf("%s: parameters %q, not %q", s.url, params, s.params)
		}
	}
	if errors < 4 {
		t.Errorf("%d of the shapes are no URLs", errors)
	}
}

// Offsets and numbers belong together, also where other things are in between.
func TestOffsets(t *testing.T) {
	topic := &Topic{Partitions: 2}
	topic.Acknowledged(1, 5)
	topic.AcknowledgedRun(1, 6, 10)
	topic.AcknowledgedRun(1, 20, 3)
	for i, offset := range []int64{5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 20, 21, 22} {
		if got, ok := topic.Number(1, offset); !ok || got != int64(i) || topic.Offset(1, int64(i)) != offset {
			t.Errorf("offset %d is record %d (%v), which is at %d", offset, got, ok, topic.Offset(1, int64(i)))
		}
	}
	for _, offset := range []int64{-1, 0, 4, 16, 19, 23} {
		if i, ok := topic.Number(1, offset); ok {
			t.Errorf("offset %d is record %d", offset, i)
		}
	}
	if _, ok := topic.Number(0, 0); ok || topic.Count(0) != 0 || topic.Count(1) != 14 || topic.Count(2) != 0 {
		t.Error("records where there are none")
	}
}

// A text is the same as the one that is built from it, and no other.
func TestText(t *testing.T) {
	for _, s := range []string{"", mark, "a", "a" + mark, mark + "b", "a" + mark + "b" + mark} {
		text := textOf(s)
		built := string(text.Append(nil, "1/22"))
		if !text.Is(built, "1/22") || text.Is(built+"x", "1/22") || text.Is("x"+built, "1/22") || strings.Contains(s, mark) && text.Is(built, "1/2") {
			t.Errorf("%q gives %q", s, built)
		}
	}
}

// Records repeat pages of records that are pages.
func TestPages(t *testing.T) {
	topic := &Topic{Partitions: 3, Pages: true}
	elsewhere := 0
	for i := range int64(1000) {
		q, j := topic.Page(1, i)
		if i%2 == 0 && (q != 1 || j != i) || q < 0 || q > 2 || j < 0 || j > i || j%2 != 0 {
			t.Fatalf("record %d has the page of %d/%d", i, q, j)
		}
		if q != 1 {
			elsewhere++
		}
	}
	if elsewhere == 0 {
		t.Error("no page of another partition")
	}
}

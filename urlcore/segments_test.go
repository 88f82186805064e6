package urlcore_test

import (
	"errors"
	"fmt"
	neturl "net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/urlcore"
)

func ExampleURL_Segments() {
	u := urlcore.MustParse("https://example.org/files/a%2Fb?v=1")
	for segment := range u.Segments().All() {
		fmt.Printf("%q ", segment)
	}
	_ = u.Segments().Push("50% off", "\u00e9?")
	_ = u.Segments().Set(0, "archive")
	fmt.Println(u)
	// Output: "files" "a/b" https://example.org/archive/a%2Fb/50%25%20off/%C3%A9%3F?v=1
}

func ExampleSegments_Push() {
	u := urlcore.MustParse("https://example.org/docs/")
	_ = u.Segments().PopIfEmpty()
	_ = u.Segments().Push("guide", "a/b")
	fmt.Println(u, u.Segments().Push(".."))
	// Output: https://example.org/docs/guide/a%2Fb urlcore: "." and ".." cannot be segments of a path
}

func ExampleSegments_Encoded() {
	fmt.Println(slices.Collect(urlcore.MustParse("https://h/a%20b/c/").Segments().Encoded()))
	// Output: [a%20b c ]
}

func ExampleSegments_Insert() {
	u := urlcore.MustParse("https://h/a/d")
	_ = u.Segments().Insert(1, "b", "c")
	fmt.Println(u, u.Segments().Len(), u.Segments().At(3))
	_ = u.Segments().Delete(0, 2)
	_ = u.Segments().Pop()
	fmt.Println(u)
	_ = u.Segments().Clear()
	fmt.Println(u)
	// Output:
	// https://h/a/b/c/d 4 d
	// https://h/c
	// https://h/
}

func ExampleURL_JoinPath() {
	u := urlcore.MustParse("https://example.org/api/v1?key=1")
	fmt.Println(u.JoinPath("/users//", "../items/", "7"))
	fmt.Println(u.JoinPath("../../../v2/"))
	// Output:
	// https://example.org/api/v1/items/7?key=1
	// https://example.org/v2/?key=1
}

func TestSegments(t *testing.T) {
	push := func(segments ...string) func(urlcore.Segments) error {
		return func(s urlcore.Segments) error { return s.Push(segments...) }
	}
	pop, popIfEmpty, wipe := urlcore.Segments.Pop, urlcore.Segments.PopIfEmpty, urlcore.Segments.Clear
	for _, c := range []struct {
		before string
		change func(urlcore.Segments) error
		after  string
	}{
		{"http://h/", push("a"), "http://h/a"},
		{"http://h/", push(), "http://h/"},
		{"http://h/", push("", "a"), "http://h//a"},
		{"http://h/a/", push("b"), "http://h/a//b"},
		{"http://h/a", push("b", ""), "http://h/a/b/"},
		{"http://h/a", push(`?#%\`+"\t", "%2e"), "http://h/a/%3F%23%25%5C%09/%252e"},
		{"foo://h", push("a"), "foo://h/a"},
		{"foo:/", push("", "a"), "foo:/.//a"},
		{"foo:/a", push(`\`, "\xff"), "foo:/a/%5C/%FF"},
		{"file:///", push("C|", "D:"), "file:///C%7C/D:"},
		{"http://h/a/b", pop, "http://h/a"},
		{"http://h/a", pop, "http://h/"},
		{"http://h/", pop, "http://h/"},
		{"foo://h", pop, "foo://h"},
		{"foo://h?q", popIfEmpty, "foo://h?q"},
		{"foo://h", wipe, "foo://h"},
		{"foo://h/a", pop, "foo://h/"},
		{"http://h/a/", popIfEmpty, "http://h/a"},
		{"http://h/a", popIfEmpty, "http://h/a"},
		{"http://h/", popIfEmpty, "http://h/"},
		{"http://h/a//", popIfEmpty, "http://h/a/"},
		{"http://h/a/b?q#f", wipe, "http://h/?q#f"},
		{"http://h/a/b", func(s urlcore.Segments) error { return s.Set(1, "c/d") }, "http://h/a/c%2Fd"},
		{"http://h/a/b", func(s urlcore.Segments) error { return s.Insert(2, "c") }, "http://h/a/b/c"},
		{"http://h/a/b", func(s urlcore.Segments) error { return s.Delete(0, 2) }, "http://h/"},
	} {
		u := urlcore.MustParse(c.before)
		if err := c.change(u.Segments()); err != nil || u.Href() != c.after {
			t.Errorf("%s becomes %s (%v), want %s", c.before, u, err, c.after)
		}
		checkRecord(t, u)
		if !reparses(u) {
			t.Errorf("%s is not what it parses to", u)
		}
	}
}

func TestSegmentsRefuse(t *testing.T) {
	for input, want := range map[string]error{"mailto:a/b": urlcore.ErrNoSegments, "http://h/a": urlcore.ErrDotSegment, "": urlcore.ErrNoSegments} {
		u := new(urlcore.URL)
		if input != "" {
			u = urlcore.MustParse(input)
		}
		for _, segment := range []string{".", ".."} {
			if err := u.Segments().Push("x", segment); !errors.Is(err, want) || u.Href() != input {
				t.Errorf("%q pushed to %q: %v, %v", segment, input, u, err)
			}
		}
		if err := u.Segments().Pop(); errors.Is(want, urlcore.ErrNoSegments) && (!errors.Is(err, want) || u.Segments().Len() != 0) {
			t.Errorf("%q: Pop gives %v, and there are %d segments", input, err, u.Segments().Len())
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("an index out of range was taken")
		}
	}()
	_ = urlcore.MustParse("http://h/a").Segments().Set(1, "b")
}

// TestSegmentsModel compares every change with that of a slice of texts, which is what a path is.
func TestSegmentsModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		u := urlcore.MustParse(rapid.SampledFrom([]string{"https://h/x", "foo://h/x", "foo:/x", "file:///x"}).Draw(t, "url"))
		want := []string{"x"}
		segment := rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 5), func(b []byte) string { return string(b) })
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			text := segment.Draw(t, "segment")
			i := rapid.IntRange(0, len(want)-1).Draw(t, "index")
			var err error
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0:
				if err = u.Segments().Push(text); err == nil {
					if len(want) == 1 && want[0] == "" {
						want = nil
					}
					want = append(want, text)
				}
			case 1:
				if err = u.Segments().Insert(i, text); err == nil {
					want = slices.Insert(want, i, text)
				}
			case 2:
				if err = u.Segments().Set(i, text); err == nil {
					want[i] = text
				}
			default:
				if err = u.Segments().Delete(i, i+1); err == nil {
					want = slices.Delete(want, i, i+1)
				}
			}
			if len(want) == 0 {
				want = []string{""}
			}
			if (err != nil) != (text == "." || text == "..") && err != nil {
				t.Fatal(err)
			}
			got := slices.Collect(u.Segments().All())
			if !slices.Equal(got, want) || u.Segments().Len() != len(want) || u.Segments().At(i%len(want)) != want[i%len(want)] || !reparses(u) {
				t.Fatalf("%s has %q, want %q", u, got, want)
			}
		}
	})
}

// TestJoinPathAgainstNetURL compares with net/url on what the two read alike: elements with escapes, or with characters that
// have to be escaped. Where there are both net/url decodes the escapes.
func TestJoinPathAgainstNetURL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := []string{"a", "b", "/", "/", "..", ".", "~", ":", ""}
		start := rapid.SampledFrom([]string{"http://h", "http://h/", "http://h/a", "http://h/a//b/", "foo://h/", "foo://h/x/", "http://h/a?q#f"}).Draw(t, "url")
		if rapid.Bool().Draw(t, "escaped") {
			parts = append(parts, "%2F", "%41", "%3f")
		} else {
			parts = append(parts, "c?", "é", " ", "#")
		}
		part := rapid.SampledFrom(parts)
		text := rapid.Map(rapid.SliceOfN(part, 0, 6), func(parts []string) string { return strings.Join(parts, "") })
		elem := rapid.SliceOfN(text, 0, 4).Draw(t, "elements")
		theirs, err := neturl.Parse(start)
		if err != nil {
			t.Fatal(err)
		}
		u := urlcore.MustParse(start)
		got, want := u.JoinPath(elem...), theirs.JoinPath(elem...).String()
		if got.Href() != urlcore.MustParse(want).Href() {
			t.Fatalf("%s with %q: %s, but net/url makes %s", start, elem, got, want)
		}
		if u.Href() != urlcore.MustParse(start).Href() || !reparses(got) {
			t.Fatalf("%s with %q changed the URL, or %s is not what it parses to", start, elem, got)
		}
	})
}

func TestJoinPathDiffersFromNetURL(t *testing.T) {
	for _, c := range []struct {
		url  string
		elem []string
		want string
	}{
		{"http://h/a/b", []string{"%2e%2E/c"}, "http://h/a/c"},
		{"http://h/a/b", []string{`..\c\\d`}, "http://h/a/c/d"},
		{"foo://h/a", []string{`..\c`}, `foo://h/a/..\c`},
		{"http://h/a", []string{"b\t/.\n.", "/\n/c"}, "http://h/a/c"},
		{"file:///C:/a", []string{"../../../b"}, "file:///C:/b"},
		{"file:///C:", []string{}, "file:///C:/"},
		{"mailto:a", []string{"b"}, "mailto:a"},
		{"foo://h", []string{""}, "foo://h/"},
		{"http://h/a%zz", []string{"%", "b"}, "http://h/a%zz/%/b"},
	} {
		if got := urlcore.MustParse(c.url).JoinPath(c.elem...); got.Href() != c.want {
			t.Errorf("%s with %q: %s, want %s", c.url, c.elem, got, c.want)
		}
	}
}

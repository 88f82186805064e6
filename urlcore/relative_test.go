package urlcore_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/urlmill/urlmill/urlcore"
)

func ExampleURL_MakeRelative() {
	base := urlcore.MustParse("https://example.org/docs/guide/start?lang=de")
	for _, target := range []string{
		"https://example.org/docs/guide/next#top", "https://example.org/docs/img/", "https://example.org/docs/guide/start", "https://example.com/",
	} {
		ref, ok := base.MakeRelative(urlcore.MustParse(target))
		fmt.Printf("%q %t\n", ref, ok)
	}
	// Output:
	// "next#top" true
	// "../img/" true
	// "start" true
	// "" false
}

func ExampleURL_ResolveReference() {
	base := urlcore.MustParse("https://example.org/a?b#c")
	fmt.Println(base.ResolveReference(urlcore.MustParse("http://h/")), base.ResolveReference(new(urlcore.URL)))
	// Output: http://h/ https://example.org/a?b
}

// TestMakeRelative has the cases of rust-url's own test, and those where its answers would lead elsewhere.
func TestMakeRelative(t *testing.T) {
	for _, c := range [][3]string{
		{"/test", "/test", ""},
		{"/test", "/test/", "test/"},
		{"/test/", "/test", "../test"},
		{"/", "/?foo=bar#123", "?foo=bar#123"},
		{"/", "/test/video", "test/video"},
		{"/test", "/test/video", "test/video"},
		{"/test/", "/test/video", "video"},
		{"/test", "/test2/video", "test2/video"},
		{"/test/", "/test2/video", "../test2/video"},
		{"/test/bla", "/test2/video", "../test2/video"},
		{"/test/bla/", "/test2/video", "../../test2/video"},
		{"/test/?foo=bar#123", "/test/video", "video"},
		{"/test/", "/test/video?baz=meh#456", "video?baz=meh#456"},
		{"/test", "/test?baz=meh#456", "?baz=meh#456"},
		{"/test/", "/test?baz=meh#456", "../test?baz=meh#456"},
		{"/test/", "/test/?baz=meh#456", "?baz=meh#456"},
		{"/test/?foo=bar#123", "/test/video?baz=meh#456", "video?baz=meh#456"},
		{"/file.txt", "/test/file.txt", "test/file.txt"},
		{"/not_equal.txt", "/test/file.txt", "test/file.txt"},

		{"/a?x", "/a", "a"},
		{"/a/?x", "/a/", "."},
		{"/a/b", "/a/", "."},
		{"/a/b", "/a/#f", ".#f"},
		{"/a/b/c", "/a/", "../"},
		{"/a/b", "/a/x:y", "./x:y"},
		{"/a/b", "/a/x+-.9:y/z", "./x+-.9:y/z"},
		{"/a/b", "/a/%41:y", "%41:y"},
		{"/a/b", "/a/9:y", "9:y"},
		{"/a/b", "/a/x/y:z", "x/y:z"},
		{"/a/b", "/a//c", ".//c"},
		{"/a//b", "/a/c", "../c"},
		{"/a//b//", "/a/c", "../../../c"},
		{"/a/b", "//c", "..//c"},
		{"/a", "//c/d", ".//c/d"},
		{"/a", "/a#", "#"},
		{"/a?x", "/a?", "?"},
	} {
		checkRelative(t, "http://127.0.0.1:8080"+c[0], "http://127.0.0.1:8080"+c[1], c[2])
	}
	for _, c := range [][3]string{
		{"foo://h", "foo://h/a", "a"},
		{"foo://h/a", "foo://h", "//h"},
		{"foo:/a/b", "foo:/.//c", "..//c"},
		{"foo:/a", "foo:/.//c", ".//c"},
		{"foo:/.//c", "foo:/a", "../a"},
		{"file:///C:/a", "file:///D:/b", "/D:/b"},
		{"file:///C:/a", "file:///b", "///b"},
		{"file:///a", "file:///C:/b", "./C:/b"},
		{"http://h/a", "http://u:p@h/b", "//u:p@h/b"},
		{"http://u@h/a", "http://h/b?c", "//h/b?c"},
	} {
		checkRelative(t, c[0], c[1], c[2])
	}
}

// checkRelative compares a reference with the wanted one and resolves it.
func checkRelative(t *testing.T, base, target, want string) {
	t.Helper()
	b, u := urlcore.MustParse(base), urlcore.MustParse(target)
	got, ok := b.MakeRelative(u)
	if back, err := b.Resolve(got); !ok || got != want || err != nil || !back.Equal(u) {
		t.Errorf("from %s to %s: %q, %t, which resolves to %v (%v), want %q", base, target, got, ok, back, err, want)
	}
}

func TestMakeRelativeRefuses(t *testing.T) {
	base := urlcore.MustParse("http://127.0.0.1:8080/")
	for _, target := range []string{"https://127.0.0.1:8080/test/", "http://127.0.0.1:8081/test/", "http://127.0.0.2:8080/test/", "mailto:a"} {
		if got, ok := base.MakeRelative(urlcore.MustParse(target)); ok || got != "" {
			t.Errorf("%s: %q", target, got)
		}
	}
	opaque, empty := urlcore.MustParse("mailto:a@example.com"), new(urlcore.URL)
	for _, pair := range [][2]*urlcore.URL{{opaque, urlcore.MustParse("mailto:b@example.com")}, {opaque, opaque}, {empty, empty}, {empty, base}, {base, empty}} {
		if got, ok := pair[0].MakeRelative(pair[1]); ok {
			t.Errorf("from %q to %q: %q", pair[0], pair[1], got)
		}
	}
}

// checkMakeRelative sees that a reference from one URL to another leads there, and that there is one where there may be.
func checkMakeRelative(t rapid.TB, base, u *urlcore.URL) {
	t.Helper()
	may := !base.OpaquePath() && !u.OpaquePath() && base.Protocol() == u.Protocol() && base.HostEqual(u) && base.Port() == u.Port()
	ref, ok := base.MakeRelative(u)
	if ok != may {
		t.Fatalf("from %s to %s: %q, %t", base, u, ref, ok)
	}
	if !ok {
		return
	}
	if back, err := base.Resolve(ref); err != nil || !back.Equal(u) {
		t.Fatalf("from %s to %s: %q, which resolves to %v (%v)", base, u, ref, back, err)
	}
	if got := base.ResolveReference(u); !got.Equal(u) {
		t.Fatalf("%s against %s is %s", u, base, got)
	}
}

func TestMakeRelativeResolves(t *testing.T) {
	paths := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"/", "/", "a", "b", ":", "C:", "%2e", "?", "#", "..", "'", "|", `\`}), 0, 8), func(parts []string) string {
		return strings.Join(parts, "")
	})
	starts := rapid.SampledFrom([]string{"http://h/", "http://u@h/", "http://h:81/", "file:///", "file:///C:/", "file://h/", "foo://h", "foo://h/", "foo:/", "foo:///", "foo:"})
	rapid.Check(t, func(t *rapid.T) {
		base, err := urlcore.Parse(starts.Draw(t, "start") + paths.Draw(t, "base"))
		u, err2 := urlcore.Parse(starts.Draw(t, "other start") + paths.Draw(t, "url"))
		if err == nil && err2 == nil {
			checkMakeRelative(t, base, u)
		}
	})
}

func FuzzMakeRelative(f *testing.F) {
	for i, input := range fuzzSeeds {
		f.Add(input, fuzzSeeds[len(fuzzSeeds)-1-i])
		f.Add(input, input+"/x")
	}
	f.Fuzz(func(t *testing.T, baseInput, input string) {
		base, err := urlcore.Parse(baseInput)
		u, err2 := urlcore.ParseRef(input, base)
		if err == nil && err2 == nil {
			checkMakeRelative(t, base, u)
		}
	})
}

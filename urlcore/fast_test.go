package urlcore_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

// cleanPieces are what URLs are put together from of which the fast path takes many and declines some.
var cleanPieces = []string{
	"/", "/a", "/index.html", "/.", "/..", "/.well-known", "/%2e", "/%41", "//", "/a%20b", "?", "?a=b&c=d", "#", "#frag", ":8080", ":80",
	":443", ":0", ":08", ":65535", ":65536", ":123456", ":", "www.", "example.com", "a-b", "_", "1", "1.2.3.4", ".1", ".", "x.y", "0x", "X",
	"'", "`", "|", "^", "\\", " ", "\t", "\u00e9", "@", "[", "<", "~", "!", "%", "%zz", "\x00", "\x7f",
}

// TestFastPathEqualsStateMachine compares the two: the fast path is not taken when errors are collected.
func TestFastPathEqualsStateMachine(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	base := urlcore.MustParse("https://base.example:81/x/y?z")
	var fast urlcore.Parser
	slow := urlcore.Parser{CollectErrors: true}
	const count = 200_000
	clean := 0
	for range count {
		var b strings.Builder
		b.WriteString([]string{"http://", "https://", "https://example.org", "http://h/", "https://h/?", "https://h/#"}[rng.IntN(6)])
		for range rng.IntN(6) {
			b.WriteString(cleanPieces[rng.IntN(len(cleanPieces))])
		}
		input := []byte(b.String())
		if urlcore.IsClean(input) {
			clean++
		}
		var u, v urlcore.URL
		if f, g := fast.Parse(&u, input, base), slow.Parse(&v, input, base); f != g || !urlcore.SameRecord(&u, &v) {
			t.Fatalf("%q: %v, %q, %+v and %v, %q, %+v", input, f, &u, u.DescribeRecord(), g, &v, v.DescribeRecord())
		}
	}
	t.Logf("%d inputs, of which the fast path took %d", count, clean)
	if clean < count/10 || clean > count*9/10 {
		t.Errorf("the inputs do not try both ways: %d of %d are clean", clean, count)
	}
}

func TestFastPathIsTaken(t *testing.T) {
	for input, want := range map[string]bool{
		"https://example.com": true, "http://h/": true, "https://h:8443?x": true, "https://h#": true, "https://h/.well-known/x": true,
		"https://h/a/%41": true, "https://a_b.c-d/~x;y=z,(1)": true, "https://example.1a/": false, "https://example.com./": false,
		"HTTPS://h/": false, "https://H/": false, "https://h:80/": true, "http://h:80/": false, "https://h/../": false, "ftp://h/": false,
		"https://h/a b": false, "https://h/?'": false, "https://h/#`": false, "https://u@h/": false, "https://1.2.3.4/": false,
		"https://h/..": false, "https://h/%2E/": false, "https://h/%": true, "https://h/%2": true, "https://h/.": false, "https:///": false,
	} {
		if got := urlcore.IsClean([]byte(input)); got != want {
			t.Errorf("%q: %t", input, got)
		}
	}
}

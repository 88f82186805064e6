package agents

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/alloctest"
)

const (
	windowsChrome = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
	androidChrome = "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Mobile Safari/537.36"
	linuxChrome   = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
	macChrome     = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Safari/537.36"
	chromeBrands  = `"Google Chrome";v="143", "Chromium";v="143", "Not A(Brand";v="24"`
	chromeFull    = `"Not A(Brand";v="24.0.0.0", "Chromium";v="143.0.7499.40", "Google Chrome";v="143.0.7499.40"`
)

// hinting returns hints in the order of the headers.
func hinting(texts ...string) (h Hints) {
	for i, text := range texts {
		h[i] = []byte(text)
	}
	return h
}

func (a *Agent) text() string {
	return strings.Join([]string{a.Browser, a.BrowserVersion, a.OS, a.OSVersion, a.DeviceClass, a.Device, a.Bot}, "|")
}

// TestHints refines what user agents keep to themselves, and leaves what hints do not say.
func TestHints(t *testing.T) {
	c, s := NewCache(Default(), 1<<20), new(Scanner)
	for _, row := range []struct {
		agent string
		hints Hints
		want  string
	}{
		{windowsChrome, hinting(), "Chrome|143.0.0|Windows|10|desktop||"},
		{windowsChrome, hinting(chromeBrands, "?0", `"Windows"`), "Chrome|143.0.0|Windows|10|desktop||"},
		{windowsChrome, hinting(chromeBrands, "?0", `"Windows"`, `"13.0.0"`), "Chrome|143.0.0|Windows|11|desktop||"},
		{windowsChrome, hinting("", "", `"Windows"`, `"15.0.0"`), "Chrome|143.0.0|Windows|11|desktop||"},
		{windowsChrome, hinting("", "", `"Windows"`, `"12.0.0"`), "Chrome|143.0.0|Windows|10|desktop||"},
		{windowsChrome, hinting("", "", `"Windows"`, `"0.3.0"`), "Chrome|143.0.0|Windows|8.1|desktop||"},
		{windowsChrome, hinting("", "", `"Windows"`, `"0.1.0"`), "Chrome|143.0.0|Windows|7|desktop||"},
		{windowsChrome, hinting("", "", `"Windows"`, `"0.0.0"`), "Chrome|143.0.0|Windows|10|desktop||"},
		{windowsChrome, hinting("", "", "", `"15.0.0"`), "Chrome|143.0.0|Windows|10|desktop||"},
		{windowsChrome, hinting(chromeBrands, "?0", `"Windows"`, `"15.0.0"`, chromeFull, `""`), "Chrome|143.0.7499.40|Windows|11|desktop||"},
		{windowsChrome, hinting(`"Brave";v="143", "Chromium";v="143", "Not A(Brand";v="24"`), "Brave|143|Windows|10|desktop||"},
		{windowsChrome, hinting(`"Chromium";v="143", "Not;A=Brand";v="8"`), "Chromium|143|Windows|10|desktop||"},
		{windowsChrome + " Edg/143.0.0.0", hinting("", "", "", "", `"Microsoft Edge WebView2";v="143.0.3650.66", "Microsoft Edge";v="143.0.3650.66", "Chromium";v="143.0.7499.40", "Not A(Brand";v="24.0.0.0"`), "Edge|143.0.3650.66|Windows|10|desktop||"},
		{windowsChrome, hinting(`"\\Not\"A;Brand";v="99", "Yowser";v="2.5", "YaBrowser";v="25.10", "Chromium";v="143"`), "Yandex Browser|25.10|Windows|10|desktop||"},
		{windowsChrome, hinting(`" Not A;Brand";v="99", "Some Shell";v="7", "Chromium";v="143"`), "Some Shell|7|Windows|10|desktop||"},
		{windowsChrome, hinting(`"(Not(A:Brand";v="99"`), "Chrome|143.0.0|Windows|10|desktop||"},
		{androidChrome, hinting(chromeBrands, "?1", `"Android"`, `"14.0.0"`, chromeFull, `"SM-G991B"`), "Chrome Mobile|143.0.7499.40|Android|14|mobile|Samsung SM-G991B|"},
		{androidChrome, hinting("", "?1", `"Android"`, `"8.1.0"`, "", `"Pixel 7"`), "Chrome Mobile|143.0.0|Android|8.1|mobile|Pixel 7|"},
		{linuxChrome, hinting(chromeBrands, "?0", `"Android"`, `"15.0.0"`, "", `"SM-X710"`), "Chrome|143.0.0|Android|15|tablet|SM-X710|"},
		{linuxChrome, hinting(chromeBrands, "?0", `"Linux"`, `""`), "Chrome|143.0.0|Linux||desktop||"},
		{linuxChrome, hinting(chromeBrands, "?0", `"Chromium OS"`, `"16181.61.0"`), "Chrome|143.0.0|Chrome OS|16181.61|desktop||"},
		{macChrome, hinting(chromeBrands, "?0", `"macOS"`, `"14.6.1"`), "Chrome|143.0.0|Mac OS X|14.6.1|desktop|Mac|"},
		{macChrome, hinting("", "", "macOS", "15.0.0"), "Chrome|143.0.0|Mac OS X|15|desktop|Mac|"}, // without quotes, as in JavaScript
		{macChrome, hinting("", "true", "Unknown"), "Chrome|143.0.0|Mac OS X|10.15.7|mobile|Mac|"},
		{"", hinting(chromeBrands, "?1", `"Android"`, `"14.0.0"`, chromeFull, `"Pixel 7"`), "Chrome|143.0.7499.40|Android|14|mobile|Pixel 7|"},
		{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", hinting(chromeBrands, "?0", `"Windows"`), "Googlebot|2.1|||bot|Spider|search"},
	} {
		a, ok := c.Refine(s, []byte(row.agent), &row.hints)
		if got := a.text(); got != row.want || !ok {
			t.Errorf("%s\n%q:\n%s, want\n%s (%v)", row.agent, row.hints, got, row.want, ok)
		}
	}
}

// TestWrongHints checks that a hint that the header may not be is as one that is not there, and that the others count.
func TestWrongHints(t *testing.T) {
	c, s := NewCache(Default(), 1<<20), new(Scanner)
	for _, hints := range []Hints{
		hinting(`Google Chrome`), hinting(`"Google Chrome`), hinting(`"Google Chrome";v="143",`), hinting(`"Google Chrome" "Chromium"`), hinting(`"a\b"`), hinting(`"a";=1`),
		hinting("", "yes"), hinting("", "", `"Linux`), hinting("", "", `Lin"ux`), hinting("", "", "L\x01"), hinting("", "", "", `"1"x`), hinting("", "", "", "", "\xff"), hinting("", "", "", "", "", `"é"`),
	} {
		if len(hints[PlatformVersion]) == 0 && len(hints[Platform]) == 0 {
			hints[Platform], hints[PlatformVersion] = []byte(`"Windows"`), []byte(`"15.0.0"`)
		}
		a, ok := c.Refine(s, []byte(windowsChrome), &hints)
		if want := "Chrome|143.0.0|Windows|1"; ok || !strings.HasPrefix(a.text(), want) {
			t.Errorf("%q: %s, %v", hints, a.text(), ok)
		}
	}
}

// FuzzHints looks up user agents with hints: what is not a bot gets no longer than the texts that it is made of, and made-up brands
// and Chromium are none where there is another.
func FuzzHints(f *testing.F) {
	f.Add(androidChrome, chromeBrands, "?1", `"Android"`, `"14.0.0"`, chromeFull, `"SM-G991B"`)
	f.Add(windowsChrome, `"a\"\\b";x;v=1, "Not.A/Brand";v="8"`, "?0", "Windows", "0.3", `"";v="`, "K")
	c, s := NewCache(Default(), 1<<20), new(Scanner)
	for i := range c.rules.rules {
		c.rules.rules[i].compiled() // else the first match of each would count
	}
	f.Fuzz(func(t *testing.T, text, brands, mobile, platform, version, full, model string) {
		hints := hinting(brands, mobile, platform, version, full, model)
		size := len(text)
		for _, hint := range hints {
			size += len(hint)
		}
		if size > MaxHints {
			return
		}
		var a *Agent
		// A regular expression that matches takes some 30 KB, which are used again until they are collected, and there are hundreds.
		alloctest.Bound(t, size, 64, 4<<20, func() { a, _ = c.Refine(s, []byte(text), &hints) })
		again, _ := c.Refine(s, []byte(text), &hints)
		if malformed := strings.ContainsFunc(text, func(c rune) bool { return c < ' ' }); malformed != (a == nil) {
			t.Fatalf("%q: %v", text, a)
		} else if malformed {
			return
		}
		if a.text() != again.text() {
			t.Fatalf("%s and %s", a.text(), again.text())
		}
		if n := len(a.text()); n > 2*size+200 {
			t.Fatalf("%d bytes of %d", n, size)
		}
		if isGrease(a.Browser) && !strings.Contains(text, a.Browser) {
			t.Fatalf("%q is a made-up brand", a.Browser)
		}
		var none Hints
		if plain, ok := c.Refine(s, []byte(text), &none); !ok || plain.text() != c.Find(s, []byte(text)).text() {
			t.Fatalf("without hints: %s", plain.text())
		}
	})
}

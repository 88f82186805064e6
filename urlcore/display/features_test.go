package display_test

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/conformance"
	"github.com/urlmill/urlmill/urlcore"
	"github.com/urlmill/urlmill/urlcore/display"
)

type features = conformance.Features

func TestFeatures(t *testing.T) { conformance.RunFeatures(t, rows) }

// expect reports a value that is not as it should be.
func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v and not %v", what, got, want)
	}
}

// shows makes a test of options: URLs in pairs with their texts.
func shows(o display.Options, pairs ...string) func(*testing.T) {
	return func(t *testing.T) {
		t.Helper()
		for i := 0; i < len(pairs); i += 2 {
			if got := display.String(urlcore.MustParse(pairs[i]), o); got != pairs[i+1] {
				t.Errorf("%q with %+v: %q and not %q", pairs[i], o, got, pairs[i+1])
			}
		}
	}
}

var rows = features{
	"G10": func(t *testing.T) {
		const long = "https://user:secret@www.shop.example.com:8443/a?b#c"
		shows(display.Options{}, long, "https://www.shop.example.com:8443/a?b#c")(t)
		shows(display.Options{OmitScheme: true}, long, "www.shop.example.com:8443/a?b#c")(t)
		shows(display.Options{Form: display.Origin}, long, "https://www.shop.example.com:8443")(t)
		shows(display.Options{Form: display.Host}, long, "www.shop.example.com")(t)
		shows(display.Options{Form: display.ShortHost}, long, "shop.example.com", "https://m.example.com/", "example.com", "https://www.com/", "www.com")(t)
		shows(display.Options{Form: display.Domain}, long, "example.com", "https://192.0.2.1/", "192.0.2.1", "https://example.com@evil.example/", "evil.example")(t)
	},
	"G11": func(t *testing.T) {
		const deceiving = "https://examplecorp.com.evil.com/a/long/path"
		for limit := 1; limit < 60; limit++ {
			r := display.Render(urlcore.MustParse(deceiving), display.Options{Form: display.Host, Limit: limit})
			if !strings.HasSuffix(r.Text, "evil.com") || strings.HasPrefix(r.Text, "examplecorp.com") && r.Text != "examplecorp.com.evil.com" {
				t.Errorf("limit %d: %q", limit, r.Text)
			}
			full := display.Render(urlcore.MustParse(deceiving), display.Options{Limit: limit})
			if !strings.Contains(full.Text, "evil.com") {
				t.Errorf("limit %d: %q", limit, full.Text)
			}
		}
		shows(display.Options{Form: display.Host, Limit: 15}, deceiving, "\u2026com.evil.com")(t)
		shows(display.Options{Limit: 21}, "https://example.com/a/long/path", "https://example.com/\u2026")(t)
	},
	"G12": func(t *testing.T) {
		shows(display.Options{}, "https://xn--n3h.example/%E2%98%83%20%41", "https://\u2603.example/\u2603%20A", "https://h/%F0%9F%94%92", "https://h/%F0%9F%94%92",
			"https://h/%E2%80%AE", "https://h/%E2%80%AE", "https://h/%FF%2F%25", "https://h/%FF%2F%25", "x://xn--n3h/", "x://xn--n3h/", "https://xn--a/", "https://xn--a/",
			"https://h/%D7%90", "\u2066https://\u2066h\u2069/\u05d0\u2069")(t)
		expect(t, "confusable", display.Inspect("\u0430\u0440\u0440\u04cf\u0435.com")&display.LooksASCII != 0, true)
		expect(t, "mixed", display.Inspect("p\u0430ypal.com")&display.MixedScripts != 0, true)
		expect(t, "plain", display.Inspect("example.com"), display.Hint(0))
		label, ok := display.LooksLike("\u0430\u0440\u0440\u04cf\u0435")
		expect(t, "like which", label, "apple")
		expect(t, "like which", ok, true)
	},
}

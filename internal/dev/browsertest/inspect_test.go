package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const idle = `
source: {generate: {rate: 50}}
sink: {parquet: {path: "OUT"}, roll: {every: 1s}}
admin: {listen: LISTEN}
`

// idler starts a pipeline that does little, for tests of what the page does by itself.
func idler(t *testing.T) (address string) {
	t.Helper()
	address, _ = run(t, strings.ReplaceAll(idle, "OUT", t.TempDir()+"/out"))
	return address
}

// write clicks into a field and types over what is there.
func (b *tab) write(selector, text string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS(selector)))
	eval[bool](b, fmt.Sprintf("document.querySelector(%q).select(), true", selector))
	b.run(chromedp.KeyEvent(text))
}

// TestInspector clicks and types as people do.
func TestInspector(t *testing.T) {
	b := openTab(t, desk, idler(t))
	button := chromedp.CSS(`#inspect button[type=submit]`)
	b.run(chromedp.Click(button))
	b.until(`document.getElementById("inspect-state").textContent === "Give at least one URL."`)
	b.run(chromedp.Click(chromedp.CSS("#urls")), chromedp.KeyEvent("https://user:pw@www.Bücher.co.uk:8443/a/../b?q=a+b&q=%C3%BC#top"),
		chromedp.Click(button))
	b.until(`document.getElementById("inspect-state").textContent === "1 of 1 the same"`)
	const cells = `Object.fromEntries([...document.querySelectorAll("#results tbody tr")].map((r) =>
		[r.children[0].textContent, [...r.children].slice(1).map((c) => c.textContent)]))`
	got := eval[map[string][]string](b, cells)
	for name, want := range map[string]string{
		"is a URL": "yes", "href": "https://user:pw@www.xn--bcher-kva.co.uk:8443/b?q=a+b&q=%C3%BC#top", "origin": "https://www.xn--bcher-kva.co.uk:8443",
		"protocol": "https:", "username": "user", "password": "pw", "host": "www.xn--bcher-kva.co.uk:8443", "hostname": "www.xn--bcher-kva.co.uk",
		"port": "8443", "pathname": "/b", "search": "?q=a+b&q=%C3%BC", "hash": "#top", "searchParams": "q = a bq = ü",
	} {
		if g := got[name]; len(g) != 2 || g[0] != want || g[1] != want {
			t.Errorf("%s: %q, want %q twice", name, g, want)
		}
	}
	if g := got["registrable domain"]; len(g) != 2 || g[0] != "xn--bcher-kva.co.uk" {
		t.Errorf("registrable domain: %q", g)
	}
	if s := b.text("#results"); !strings.Contains(s, "invalid-credentials at byte") {
		t.Errorf("nothing was noticed: %s", s)
	}
	// A relative one, with a base, by keys alone.
	b.write("#base", "https://example.com/a/b")
	b.write("#urls", "../c")
	b.run(chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
	b.until(`document.querySelector("#results td")?.closest("tbody").textContent.includes("https://example.com/c")`)
	// What is wrong is told with its place.
	b.write("#urls", "https://1.2.3.300/"+kb.Enter+"http://[::1")
	b.write("#base", kb.Backspace)
	b.run(chromedp.Click(button))
	b.until(`document.getElementById("inspect-state").textContent === "2 of 2 the same"`)
	if s := b.text("#results"); !strings.Contains(s, "IPv4-out-of-range-part at byte 14: a part of the IPv4 address is too large") || !strings.Contains(s, "IPv6-unclosed") {
		t.Errorf("results: %s", s)
	}
	b.run(chromedp.Click(chromedp.CSS("#example")))
	b.until(`document.querySelectorAll("#results details").length === 5`)
}

package browsertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestScreens looks at the page on screens of several widths, in light and dark: nothing is wider than the screen, and
// every text stands out against what is behind it.
func TestScreens(t *testing.T) {
	b := openTab(t, desk, clickstream(t, 1000))
	b.until(`document.querySelectorAll("#bad tr").length > 3 && document.querySelector("#rows .line").hasAttribute("d")`)
	b.run(chromedp.Click(chromedp.CSS("#example")))
	b.until(`document.querySelectorAll("#results details").length === 5`)
	eval[bool](b, `document.querySelectorAll("details").forEach((d) => d.open = true), true`)
	for _, width := range []int64{320, 390, 768, 1280, 2560} {
		for _, dark := range []bool{false, true} {
			b.show(screen{width: width, height: 800, dark: dark, phone: width < 700, scale: 1})
			if w := eval[int64](b, "document.documentElement.scrollWidth"); w > width {
				t.Errorf("on a screen of %d the page is %d wide because of %v", width, w, eval[[]string](b,
					`[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll")).map((e) => e.tagName + "." + e.className).slice(0, 5)`))
			}
			for _, faint := range eval[[]string](b, contrast) {
				t.Errorf("at %d, dark %v: %s", width, dark, faint)
			}
			if width < 700 {
				for _, small := range eval[[]string](b, `[...document.querySelectorAll("a:not(.skip), button, input, textarea, summary")].filter((e) => e.getBoundingClientRect().height < 24).map((e) => e.outerHTML.slice(0, 80))`) {
					t.Errorf("at %d too small for a finger: %s", width, small)
				}
			}
		}
	}
}

// contrast lists the texts whose contrast is less than WCAG 2.2 asks for at level AA: 4.5, and 3 for large text.
const contrast = `(() => {
	const parse = (c) => { const n = c.match(/[\d.]+/g).map(Number); return c.startsWith("color(srgb") ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1]; };
	const over = (a, b) => [0, 1, 2].map((i) => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	const light = (c) => { const [r, g, b] = c.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const behind = (e) => { const all = []; for (; e; e = e.parentElement) all.push(parse(getComputedStyle(e).backgroundColor));
		return all.reduceRight((under, c) => over(c, under), [255, 255, 255, 1]); };
	const out = new Set();
	for (const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); walk.nextNode();) {
		const e = walk.currentNode.parentElement;
		if (!walk.currentNode.data.trim() || e.closest(".skip, noscript") || !e.checkVisibility()) continue;
		const style = getComputedStyle(e), size = parseFloat(style.fontSize), back = behind(e);
		const [a, b] = [light(over(parse(style.color), back)), light(back)].sort((x, y) => y - x);
		const ratio = (a + 0.05) / (b + 0.05), need = size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5;
		if (ratio < need) out.add(ratio.toFixed(2) + " of " + need + ": " + e.tagName + "." + e.className + " " + walk.currentNode.data.slice(0, 30));
	}
	return [...out];
})()`

// TestNames checks what those hear who do not see the page: everything that takes the focus has a role and a name, there
// are landmarks, and headings that leave out no level.
func TestNames(t *testing.T) {
	b := openTab(t, desk, clickstream(t, 1000))
	b.until(`document.querySelectorAll("#bad tr").length > 3 && document.querySelector("#rows .line").hasAttribute("d")`)
	b.run(chromedp.Click(chromedp.CSS("#example")))
	b.until(`document.querySelectorAll("#results details").length === 5`)
	roles := map[string]int{}
	level := 0
	for _, n := range call(b, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{}).Nodes {
		if n.Ignored || n.Role == nil {
			continue
		}
		role, name := plain(n.Role), plain(n.Name)
		roles[role]++
		focusable := false
		for _, p := range n.Properties {
			switch p.Name {
			case accessibility.PropertyNameFocusable:
				focusable = string(p.Value.Value) == "true"
			case accessibility.PropertyNameLevel:
				if l := int(p.Value.Value[0] - '0'); role == "heading" {
					if l > level+1 {
						t.Errorf("heading %q of level %d comes after one of level %d", name, l, level)
					}
					level = l
				}
			}
		}
		needsName := slices.Contains(strings.Fields("link button textbox image img figure table region navigation heading DisclosureTriangle"), role)
		if (focusable && role != "RootWebArea" && role != "main" || needsName && role != "figure" && role != "table") && name == "" {
			t.Errorf("%s %s has no name", role, n.NodeID)
		}
		if focusable && (role == "generic" || role == "none") {
			t.Errorf("%q takes the focus and has the role %s", name, role)
		}
	}
	for _, want := range strings.Fields("banner main navigation heading link button textbox status region image table columnheader rowheader DisclosureTriangle") {
		if roles[want] == 0 {
			t.Errorf("there is no %s: %v", want, roles)
		}
	}
	if roles["main"] != 1 || roles["banner"] != 1 {
		t.Errorf("landmarks: %v", roles)
	}
	if lang := eval[string](b, "document.documentElement.lang"); lang != "en" {
		t.Errorf("the language is %q", lang)
	}
	if ids := eval[[]string](b, `[...document.querySelectorAll("[id]")].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)`); len(ids) > 0 {
		t.Errorf("used twice: %v", ids)
	}
	if lost := eval[[]string](b, `[...document.querySelectorAll("a[href^='#'], label[for], [aria-labelledby], [aria-describedby]")].flatMap((e) =>
		[e.hash?.slice(1), e.htmlFor, e.getAttribute("aria-labelledby"), e.getAttribute("aria-describedby")]).filter((id) => id && !document.getElementById(id))`); len(lost) > 0 {
		t.Errorf("references to nothing: %v", lost)
	}
}

// plain returns the text of a value of the accessibility tree.
func plain(v *accessibility.Value) string {
	if v == nil {
		return ""
	}
	return strings.Trim(string(v.Value), `"`)
}

// focused says where the focus is.
const focused = `((e) => e.id || e.textContent.trim().slice(0, 20) || e.tagName)(document.activeElement)`

// TestKeyboard uses the page by keys alone, in the order of what is on it, and always sees where the focus is.
func TestKeyboard(t *testing.T) {
	b := openTab(t, desk, idler(t))
	b.until(`document.querySelectorAll("#lane-rows tr").length > 0`)
	b.run(chromedp.KeyEvent(kb.Tab))
	if f := eval[string](b, focused); f != "Skip to content" {
		t.Fatalf("the first stop is %q", f)
	}
	if !eval[bool](b, `document.activeElement.getBoundingClientRect().left >= 0`) {
		t.Error("the focused link is not on the screen")
	}
	b.run(chromedp.KeyEvent(kb.Enter))
	b.until(`document.activeElement.id === "main"`)
	var stops []string
	for range 40 {
		b.run(chromedp.KeyEvent(kb.Tab))
		f := eval[string](b, focused)
		stops = append(stops, f)
		if !eval[bool](b, `((s) => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2)(getComputedStyle(document.activeElement))`) {
			t.Errorf("one does not see that the focus is on %q", f)
		}
		if !eval[bool](b, `((r) => r.bottom > 0 && r.top < innerHeight)(document.activeElement.getBoundingClientRect())`) {
			t.Errorf("the focus is off the screen, on %q", f)
		}
		if f == "urls" {
			break
		}
	}
	if last := stops[len(stops)-1]; last != "urls" {
		t.Fatalf("the focus never comes to the inspector: %q", stops)
	}
	b.run(chromedp.KeyEvent("https://example.com/a/../b"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab))
	if f := eval[string](b, focused); f != "Inspect" {
		t.Errorf("after the fields comes %q", f)
	}
	b.run(chromedp.KeyEvent(kb.Enter))
	b.until(`document.getElementById("inspect-state").textContent === "1 of 1 the same"`)
	b.run(chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Tab))
	if f := eval[string](b, "document.activeElement.tagName"); f != "SUMMARY" {
		t.Errorf("after the buttons comes %q", f)
	}
	for _, open := range []bool{false, true} {
		b.run(chromedp.KeyEvent(kb.Enter))
		b.until(fmt.Sprintf(`document.activeElement.parentElement.open === %v`, open))
	}
	if overlap := eval[bool](b, `document.getElementById("config").scrollIntoView(), document.getElementById("config-h").getBoundingClientRect().top < document.querySelector("header").getBoundingClientRect().bottom`); overlap {
		t.Error("the header covers what a link leads to")
	}
}

package browsertest

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// tile returns the script that reads a number of the page's totals.
func tile(name string) string {
	return fmt.Sprintf(`Number([...document.querySelectorAll("#totals dt")].find((e) => e.textContent === %q)
		?.nextElementSibling.firstChild.textContent.replaceAll(",", ""))`, name)
}

// TestLive watches a pipeline that reads a clickstream: everything is there, and goes on by itself.
func TestLive(t *testing.T) {
	address := clickstream(t, 2000)
	b := openTab(t, desk, address)
	b.until(tile("Rows") + " > 1000")
	rows, drawn := eval[int](b, tile("Rows")), eval[string](b, `document.querySelector("#rows .line").getAttribute("d") ?? ""`)
	b.until(fmt.Sprintf("%s > %d", tile("Rows"), rows+4000))
	b.until(fmt.Sprintf(`(document.querySelector("#rows .line").getAttribute("d") ?? "") !== %q`, drawn))
	b.until(tile("Committed") + " > 1000")
	b.until(`document.querySelectorAll("#lane-rows tr").length === 4`)
	b.until(`document.querySelectorAll("#domain-list .fill").length >= 10`)
	b.until(`document.querySelectorAll("#bad tr").length > 3`)
	b.until(`document.getElementById("state").textContent === "Ready"`)
	for selector, want := range map[string][]string{
		"title": {"urlmill", ", group "}, "#name": {", group "}, "#lane-rows": {"clicks/0", "clicks/3"},
		"#lanes thead": {"Written to", "Committed to", "Behind", "Oldest uncommitted"},
		"#codes":       {"missing-scheme-non-relative-URL", "domain-to-ASCII"}, "#bad": {"clicks/"},
		"#figures": {"Rows a second", "Records behind", "Invalid rows a second", "Oldest uncommitted row", "min ago"},
		"#totals":  {"a second", "MiB", "records of 4 lanes", "dead letters"}, "#versions": {"go1.", "Public Suffix List"},
	} {
		text := eval[string](b, fmt.Sprintf("document.querySelector(%q).textContent", selector))
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s has no %q: %s", selector, w, text)
			}
		}
	}
	if s := eval[string](b, `document.getElementById("settings").textContent`); !strings.Contains(s, "source.kafka.topics[clicks]") {
		t.Errorf("settings: %s", s)
	}
	if s := eval[string](b, `document.querySelector("#rows").getAttribute("aria-label")`); !strings.Contains(s, "Rows a second: now ") {
		t.Errorf("a chart is read as %q", s)
	}
	// Only what is new is sent again.
	if n := eval[int](b, `fetch("api/status?since=" + encodeURIComponent(new Date(Date.now() + 60e3).toISOString())).then((a) => a.json()).then((s) => s.history.length)`); n != 0 {
		t.Errorf("%d points from the future", n)
	}
}

// TestReadsChart moves the pointer over a chart.
func TestReadsChart(t *testing.T) {
	b := openTab(t, desk, clickstream(t, 1000))
	b.until(`document.querySelector("#rows .line").hasAttribute("d")`)
	const move = `document.getElementById("rows").dispatchEvent(new PointerEvent("%s", {clientX: 400, bubbles: true})), ` +
		`document.querySelector("#rows-figure .reading").textContent`
	if s := eval[string](b, fmt.Sprintf(move, "pointermove")); len(strings.SplitN(s, ":", 4)) != 4 {
		t.Errorf("the reading is %q", s)
	}
	if s := eval[string](b, fmt.Sprintf(move, "pointerleave")); s != "" {
		t.Errorf("then it is %q", s)
	}
}

// TestGone ends the process under the page, which says so, and starts another one, to which it turns.
func TestGone(t *testing.T) {
	listen := "127.0.0.1:" + strconv.Itoa(testproc.Ports(t, 1)[0])
	config := strings.NewReplacer("LISTEN", listen, "OUT", filepath.Join(t.TempDir(), "out")).Replace(`
source: {generate: {rate: 500}}
sink: {parquet: {path: "OUT"}, roll: {every: 1s}}
admin: {listen: LISTEN}
`)
	address, m := run(t, config)
	b := openTab(t, desk, address)
	b.allow("net::ERR_") // refused, reset, closed, empty: by what the process was doing when it ended
	b.until(tile("Rows") + " > 100")
	m.process.Signal(syscall.SIGTERM)
	<-m.process.Done()
	b.until(`document.getElementById("state").textContent.includes("has it ended?")`)
	run(t, config)
	b.until(`document.getElementById("state").textContent === "Ready"`)
}

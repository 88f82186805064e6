package browsertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/urlmill/urlmill/internal/dev/kafkatest"
)

// hostile are URLs that want to be something else on a page. None has a line end.
var hostile = []string{
	`http://<script>window.pwned=1</script>`,
	`http://<img src=x onerror=window.pwned=1>`,
	`"><svg onload=window.pwned=1>`,
	`' onmouseover='window.pwned=1`,
	`</textarea></title></style><script>window.pwned=1</script>`,
	`javascript:window.pwned=1`,
	`https://a b/&lt;b&gt;&amp;&#60;script&#62;`,
	"http://exa mple.com/\u202egpj.exe\u2066\u2069",
	"http://a b/\x00\x01\x1b[31mred\x7f",
	"http://a b/\u200b\ufeff\u2028\u2029\u00a0\U000e0041",
	"http://a b/\u05d0\u05d1\u05d2/abc",
	"http://a b/${window.pwned=1}{{constructor.constructor('window.pwned=1')()}}",
}

const hostileConfig = `
source:
  kafka: {brokers: [BROKER], topics: [clicks], group: hostile, start: earliest}
  codec: {lines: {}}
sink:
  ndjson: {path: "OUT/<b onclick=window.pwned=1>"}
  roll: {every: 1s}
pipeline: {batch_rows: 1}
admin: {listen: LISTEN}
`

// harmless fails the test if the page has run, or taken in as elements, what came from outside.
func (b *tab) harmless() {
	b.t.Helper()
	if eval[bool](b, `"pwned" in window`) {
		b.t.Error("a URL has run a script")
	}
	const foreign = `[...document.querySelectorAll("main script, main svg [onload], main img, main b[onclick], main style, main title, main a[href^='javascript']")].map((e) => e.outerHTML)`
	if got := eval[[]string](b, foreign); len(got) > 0 {
		b.t.Errorf("elements that came from outside: %q", got)
	}
	for name := range strings.FieldsSeq("onerror onload onmouseover onclick") {
		if n := eval[int](b, fmt.Sprintf(`document.querySelectorAll("[%s]").length`, name)); n > 0 {
			b.t.Errorf("%d elements have %s", n, name)
		}
	}
	if n := eval[int](b, `[...document.querySelectorAll("main *")].filter((e) => [...e.childNodes].some((c) => c.nodeType === 3 &&
		/[\u202a-\u202e\u2066-\u2069\u200b\u2028\0]/.test(c.data))).length`); n > 0 {
		b.t.Errorf("%d elements have characters that cannot be seen", n)
	}
}

// TestHostileRows has a pipeline read them. All are invalid, so the page shows them.
func TestHostileRows(t *testing.T) {
	broker := kafkatest.Fake(t).ListenAddrs()
	client := kafkatest.Client(t, broker)
	kafkatest.CreateTopic(t, client, "clicks", 1)
	var records []*kgo.Record
	for _, u := range append(hostile, "http://a b/"+strings.Repeat("x", 900_000)) {
		records = append(records, &kgo.Record{Topic: "clicks", Value: []byte(u)})
		kafkatest.Produce(t, client, records[len(records)-1:]) // each a batch of its own
	}
	address, _ := run(t, strings.NewReplacer("BROKER", broker[0], "OUT", t.TempDir()).Replace(hostileConfig))
	b := openTab(t, desk, address)
	b.until(tile("Rows") + fmt.Sprintf(" === %d", len(records)))
	b.until(fmt.Sprintf(`document.querySelectorAll("#bad tr").length === %d`, len(records)-1)) // javascript: is a URL
	text := eval[string](b, `document.getElementById("bad").textContent`)
	for _, want := range []string{"<script>window.pwned=1</script>", "<img src=x", "U+202Egpj.exe", "U+0000U+0001U+001B[31m", "xxx…"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if s := eval[string](b, `document.getElementById("settings").textContent`); !strings.Contains(s, "<b onclick=window.pwned=1>") {
		t.Errorf("the settings do not show the path: %s", s)
	}
	b.harmless()
}

// TestHostileInspected inspects them, a text of a megabyte, and one that is more than a request may hold.
func TestHostileInspected(t *testing.T) {
	b := openTab(t, desk, idler(t))
	b.inspect(hostile)
	text := eval[string](b, `document.getElementById("results").textContent`)
	for _, want := range []string{"<script>window.pwned=1</script>", "<img src=x onerror", "U+202Egpj.exeU+2066U+2069", "U+0000U+0001U+001B[31mredU+007F", "U+200BU+FEFFU+2028U+2029U+00A0U+E0041", "&lt;b&gt;"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if n := eval[int](b, `document.querySelectorAll("#results details").length`); n != len(hostile) {
		t.Errorf("%d results of %d", n, len(hostile))
	}
	b.harmless()
	b.inspect([]string{"https://example.com/" + strings.Repeat("ü", 400_000)})
	if text = eval[string](b, `document.getElementById("results").textContent`); len(text) > 40_000 || !strings.Contains(text, "400,020 characters") {
		t.Errorf("a megabyte is shown with %d bytes: %.200s", len(text), text)
	}
	if s := b.text("#inspect-state"); s != "1 of 1 the same" {
		t.Errorf("a megabyte: %s", s)
	}
	b.allow("status of 400")
	b.inspect([]string{"https://example.com/" + strings.Repeat("x", 2<<20)})
	if s := b.text("#inspect-state"); !strings.Contains(s, "at most 1 MiB") {
		t.Errorf("two megabytes: %s", s)
	}
}

// inspect has the page inspect URLs, and waits for the answer.
func (b *tab) inspect(urls []string) {
	b.t.Helper()
	list, err := json.Marshal(strings.Join(urls, "\n"))
	if err != nil {
		b.t.Fatal(err)
	}
	eval[bool](b, fmt.Sprintf(`document.getElementById("urls").value = %s, document.querySelector("#inspect button").click(), true`, list))
	b.until(`document.getElementById("inspect-state").textContent !== "Looking…"`)
}

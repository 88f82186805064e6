package browsertest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// patience is how long a slow machine may take for anything.
const patience = 3 * time.Minute

// chromium returns the path of the browser, and skips the test where there is none.
func chromium(t *testing.T) string {
	t.Helper()
	names := []string{"chromium", "chromium-browser", "google-chrome"}
	if name := os.Getenv("URLMILL_CHROMIUM"); name != "" {
		names = []string{name}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	testproc.Missing(t, "URLMILL_REQUIRE_CHROMIUM", "there is no Chromium: apt-get install chromium, or name it in URLMILL_CHROMIUM")
	return ""
}

// screen is what a tab is shown on.
type screen struct {
	width, height int64
	dark, phone   bool
	scale         float64
}

var desk = screen{width: 1280, height: 900, scale: 1}

// tab is a page in a browser of its own, with an empty profile. When the test ends, the page must have had nothing to
// complain about: no messages on its console, no exceptions, no violations of its security policy, no requests to others.
type tab struct {
	t    *testing.T
	ctx  context.Context
	host string

	mu         sync.Mutex
	complaints []string
	allowed    []string // parts of complaints that are expected
}

// openTab starts a browser and goes to address.
func openTab(t *testing.T, s screen, address string) *tab {
	t.Helper()
	flags := []chromedp.ExecAllocatorOption{chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.WSURLReadTimeout(patience)}
	for _, name := range []string{
		"headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking",
		"disable-component-update", "disable-sync", "disable-dev-shm-usage", "hide-scrollbars",
	} {
		flags = append(flags, chromedp.Flag(name, true))
	}
	ctx, endBrowser := chromedp.NewExecAllocator(context.Background(), flags...)
	ctx, endTab := chromedp.NewContext(ctx)
	t.Cleanup(func() {
		_ = chromedp.Cancel(ctx) // closes it and waits
		endTab()
		endBrowser()
	})
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	b := &tab{t: t, ctx: ctx, host: target.Host}
	b.must("starting the browser", chromedp.Listen(ctx, b.hear))
	call(b, log.Enable, cdp.Empty{})
	call(b, network.Enable, network.EnableParams{})
	call(b, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
		document.addEventListener("securitypolicyviolation", (e) => console.error("policy", e.violatedDirective, e.blockedURI));`})
	b.show(s)
	b.run(chromedp.Navigate(address))
	t.Cleanup(b.quiet)
	return b
}

// show sets the screen.
func (b *tab) show(s screen) {
	b.t.Helper()
	scheme := "light"
	if s.dark {
		scheme = "dark"
	}
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: s.width, Height: s.height, DeviceScaleFactor: s.scale, Mobile: s.phone,
	})
	call(b, emulation.SetTouchEmulationEnabled, emulation.SetTouchEmulationEnabledParams{Enabled: s.phone})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// hear notes complaints. It is called by the browser's connection, one event at a time.
func (b *tab) hear(event any) {
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		var words []string
		for _, a := range e.Args {
			words = append(words, strings.Trim(string(a.Value), `"`))
		}
		b.complain("console." + string(e.Type) + ": " + strings.Join(words, " "))
	case *runtime.EventExceptionThrown:
		b.complain("exception: " + fmt.Sprint(e.ExceptionDetails.Text, " ", describe(e.ExceptionDetails.Exception)))
	case *log.EventEntryAdded:
		b.complain(fmt.Sprintf("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL))
	case *network.EventRequestWillBeSent:
		if u, err := url.Parse(e.Request.URL); err != nil || u.Host != b.host && u.Scheme != "blob" {
			b.complain("a request to " + e.Request.URL)
		}
	}
}

func (b *tab) complain(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = append(b.complaints, text)
}

// allow takes complaints that hold text for what is to be expected.
func (b *tab) allow(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.allowed = append(b.allowed, text)
}

// quiet fails the test if there were complaints.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
next:
	for _, c := range b.complaints {
		for _, a := range b.allowed {
			if strings.Contains(c, a) {
				continue next
			}
		}
		b.t.Error("the page complains: " + c)
	}
}

func (b *tab) must(what string, err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatalf("%s: %v", what, err)
	}
}

// run does things in the browser.
func (b *tab) run(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	b.must("in the browser", chromedp.Do(ctx, steps...))
}

// call has the browser do what there is no action for.
func call[P, R any](b *tab, command cdp.Command[P, R], params P) R {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	r, err := chromedp.Call(ctx, command, params)
	b.must("in the browser", err)
	return r
}

// eval returns the value of an expression, which may be a promise, in the page.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	b.must(script, err)
	return v
}

// until waits until an expression is true in the page.
func (b *tab) until(script string) {
	b.t.Helper()
	for start := time.Now(); !eval[bool](b, "Boolean("+script+")"); time.Sleep(50 * time.Millisecond) {
		if time.Since(start) > patience {
			b.t.Fatalf("waited in vain for %s; the page says:\n%s", script, b.text("body"))
		}
	}
}

// text returns what people read in an element.
func (b *tab) text(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("document.querySelector(%q).innerText", selector))
}

// describe returns what an object is, for messages.
func describe(o *runtime.RemoteObject) string {
	if o == nil {
		return ""
	}
	return o.Description
}

// TestHears checks that a tab hears what it is to complain about.
func TestHears(t *testing.T) {
	b := openTab(t, desk, idler(t))
	b.quiet()
	eval[bool](b, `console.warn("a warning"), setTimeout(() => nowhere()), document.body.append(Object.assign(document.createElement("script"), {textContent: "1"})),
		fetch("http://127.0.0.1:1/").catch(() => 0), true`)
	wanted := []string{"a warning", "nowhere is not defined", "policy script-src", "policy connect-src"}
	for begin := time.Now(); len(wanted) > 0; time.Sleep(20 * time.Millisecond) {
		b.mu.Lock()
		all := strings.Join(b.complaints, "\n")
		b.mu.Unlock()
		wanted = slices.DeleteFunc(wanted, func(w string) bool { return strings.Contains(all, w) })
		if time.Since(begin) > patience {
			t.Fatalf("%q was not heard, only: %s", wanted, all)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.complaints = nil // the page is not to blame
}

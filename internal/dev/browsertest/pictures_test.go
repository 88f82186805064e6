package browsertest

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/urlmill/urlmill/internal/dev/testproc"
)

// maxPicture is how large a picture in the documentation may be, in bytes.
const maxPicture = 150_000

// TestPictures takes the pictures of the documentation: of the page on a desk and on a phone, of the inspector, and of a
// pipeline that is not ready. With UPDATE_IMAGES=1 it lets the pipeline run for some minutes before and writes them.
func TestPictures(t *testing.T) {
	update := os.Getenv("UPDATE_IMAGES") == "1"
	address, broker := clicks(t, 3000)
	b := openTab(t, desk, address)
	b.until(`document.querySelectorAll("#bad tr").length > 20 && document.querySelector("#rows .line").hasAttribute("d")`)
	if update {
		for _, rate := range []int{1500, 4000, 2500} { // of more producers, for something to see
			time.Sleep(40 * time.Second)
			<-produce(t, broker, rate, "--seed", "7", "--records", fmt.Sprint(20*rate)).process.Done()
		}
		time.Sleep(20 * time.Second)
	}
	b.show(screen{width: 1180, height: 1130, scale: 1.5})
	b.save("status.png", nil, update)
	b.show(screen{width: 390, height: 1000, scale: 2, phone: true, dark: true})
	b.save("phone.png", nil, update)
	b.show(screen{width: 1000, height: 1400, scale: 1.5})
	b.write("#urls", "https://user:pässword@www.bücher.co.uk:8443/a/../b?utm_source=news&q=a+b&q=%C3%BC#top")
	b.run(chromedp.Click(chromedp.CSS("#inspect button[type=submit]")))
	b.until(`document.querySelectorAll("#results td").length > 10`)
	b.run(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(), document.querySelector("header").style.position = "static", undefined`))
	b.save("inspector.png", eval[*page.Viewport](b, `((r) => ({x: r.x, y: r.y + scrollY, width: r.width, height: r.height, scale: 1}))(document.getElementById("inspector").getBoundingClientRect())`), update)
}

// TestNotReady shows the page of a pipeline whose broker is not there.
func TestNotReady(t *testing.T) {
	const config = `
source: {kafka: {brokers: ["127.0.0.1:PORT"], topics: [clicks], group: g}}
sink: {parquet: {path: "OUT"}, roll: {every: 500ms}}
admin: {listen: LISTEN, stuck_after: 1s}
`
	port := fmt.Sprint(testproc.Ports(t, 1)[0])
	address, _ := run(t, strings.NewReplacer("PORT", port, "OUT", filepath.Join(t.TempDir(), "out")).Replace(config))
	b := openTab(t, screen{width: 1180, height: 420, scale: 1.5, dark: true}, address)
	b.until(`document.getElementById("state").textContent === "Not ready"`)
	b.until(`document.querySelector("#problems li")?.textContent.includes("source")`)
	if text := b.text("#problems"); !strings.Contains(text, "failing for ") || !strings.Contains(text, "look at the brokers") {
		t.Errorf("problems: %s", text)
	}
	if title := eval[string](b, "document.title"); title != "pipeline, group g - urlmill: not ready" {
		t.Errorf("the title is %q", title)
	}
	b.until(`document.getElementById("messages").textContent.includes("WARN")`)
	for _, faint := range eval[[]string](b, contrast) {
		t.Error(faint)
	}
	b.until(`/failing for ([5-9]|[1-9][0-9])/.test(document.querySelector("#problems li").textContent)`)
	b.save("not-ready.png", nil, os.Getenv("UPDATE_IMAGES") == "1")
}

// save takes a picture, of a part or of what is on the screen, makes it small, and writes it where write says so.
func (b *tab) save(name string, part *page.Viewport, write bool) {
	b.t.Helper()
	beyond := part != nil
	shot := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{Clip: part, CaptureBeyondViewport: &beyond}).Data
	picture, err := png.Decode(bytes.NewReader(shot))
	b.must(name, err)
	small, colors := compressed(b.t, picture)
	b.t.Logf("%s: %v, %d colours, %d bytes of %d", name, picture.Bounds().Size(), colors, len(small), len(shot))
	if len(small) > maxPicture || colors < 16 {
		b.t.Errorf("%s: %d bytes, %d colours", name, len(small), colors)
	}
	if write {
		b.must("writing", os.WriteFile(filepath.Join("..", "..", "..", "docs", "images", name), small, 0o644))
	}
}

// compressed returns a picture as a PNG file with a palette of its 256 most frequent colours, and how many colours it had.
// The others become the nearest of those: they are in the edges of letters.
func compressed(t *testing.T, picture image.Image) (file []byte, colors int) {
	t.Helper()
	bounds := picture.Bounds()
	counts := make(map[color.RGBA]int)
	at := func(x, y int) color.RGBA {
		c := color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA)
		coarse := func(v uint8) uint8 { return v&^3 | v>>6 }
		return color.RGBA{coarse(c.R), coarse(c.G), coarse(c.B), 255}
	}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			counts[at(x, y)]++
		}
	}
	all := make([]color.RGBA, 0, len(counts))
	for c := range counts {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int { return cmp.Compare(counts[b], counts[a]) })
	var palette color.Palette
	for _, c := range all[:min(len(all), 256)] {
		palette = append(palette, c)
	}
	nearest := make(map[color.RGBA]uint8, len(all))
	for _, c := range all {
		nearest[c] = uint8(palette.Index(c))
	}
	out := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			out.SetColorIndex(x, y, nearest[at(x, y)])
		}
	}
	var buf bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&buf, out); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes(), len(all)
}

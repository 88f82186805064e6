package display

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

// TestLongURLs renders URLs of a megabyte. The number of measurements grows with the logarithm of the
// length, so that the time does not grow with its square.
func TestLongURLs(t *testing.T) {
	const size = 1 << 20
	for name, input := range map[string]string{
		"labels": "https://" + strings.Repeat("a.", size/2) + "example.com/x",
		"path":   "https://example.com/" + strings.Repeat("%E6%97%A5", size/9),
		"marks":  "https://example.com/" + strings.Repeat("%CC%81", size/6),
		"opaque": "data:" + strings.Repeat("a", size),
	} {
		u := urlcore.MustParse(input)
		measured := 0
		r := Render(u, Options{Limit: 40, Measure: func(text string) int {
			measured++
			return Columns(text)
		}})
		if Columns(r.Text) > 40 || !r.Elided {
			t.Errorf("%s: %d columns, elided %t", name, Columns(r.Text), r.Elided)
		}
		if measured > 50 {
			t.Errorf("%s: measured %d times", name, measured)
		}
	}
}

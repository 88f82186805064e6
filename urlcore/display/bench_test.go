package display

import (
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

func BenchmarkRender(b *testing.B) {
	for _, c := range []struct {
		name, url string
		o         Options
	}{
		{"ASCII", "https://www.example.com/path/to/page?query=1", Options{}},
		{"ShortHost", "https://www.example.com/path/to/page?query=1", Options{Form: ShortHost}},
		{"Unicode", "https://bücher.example/%E6%97%A5%E6%9C%AC", Options{}},
		{"Limit", "https://examplecorp.com.evil.example/path/to/page?query=1", Options{Limit: 30}},
	} {
		u := urlcore.MustParse(c.url)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Render(u, c.o)
			}
		})
	}
}

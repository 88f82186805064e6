package columns

import (
	"strings"
	"testing"

	"github.com/urlmill/urlmill/urlcore"
)

// TestLongURLs has URLs at the limit and beyond it, before and after they are serialized, and a base that is.
func TestLongURLs(t *testing.T) {
	fill := func(c string, n int) string { return "https://a.example/" + strings.Repeat(c, n) }
	fits, grows, long := fill("a", MaxURL-18), fill("\xff", (MaxURL-18)/9), fill("a", MaxURL-17)
	for name, test := range map[string]struct {
		url, base string
		want      Error
		length    int
	}{
		"as long as may be":         {fits, "", Error{}, MaxURL},
		"longer":                    {long, "", Error{Code: urlcore.CodeInputTooLong}, 0},
		"as long when serialized":   {grows, "", Error{}, 18 + 9*((MaxURL-18)/9)},
		"longer when serialized":    {grows + "\xff", "", Error{Code: urlcore.CodeInputTooLong}, 0},
		"a base that is too long":   {"x", long, Error{Code: urlcore.CodeInputTooLong, InBase: true}, 0},
		"too long with its base":    {strings.Repeat("b", 100), fits[:MaxURL-50] + "/", Error{Code: urlcore.CodeInputTooLong}, 0},
		"a base that grows too far": {"x", grows + "\xff", Error{Code: urlcore.CodeInputTooLong, InBase: true}, 0},
	} {
		c := Columns{Want: Href | Path}
		data := test.url + "https://next.example/"
		ends := []int32{int32(len(test.url)), int32(len(data))}
		ParseWithBases(&c, []byte(data), ends, []byte(test.base), []int32{int32(len(test.base)), int32(len(test.base))})
		if c.Errors[0] != test.want || len(c.Href.At(0)) != test.length {
			t.Errorf("%s: %+v, %d bytes", name, c.Errors[0], len(c.Href.At(0)))
		}
		if string(c.Href.At(1)) != "https://next.example/" {
			t.Errorf("%s: the URL after it: %.100q, %+v", name, c.Href.At(1), c.Errors[1])
		}
	}
}

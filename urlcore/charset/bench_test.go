package charset

import (
	"bytes"
	"testing"

	"github.com/urlmill/urlmill/urlcore/percent"
)

func BenchmarkAppendUTF8(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"ASCII", "q=plain+text&page=2&sort=asc "},
		{"Mixed", "q=日本語&page=é "},
		{"IllFormed", "q=\xE6\x97&page=\xFF "},
	} {
		src := bytes.Repeat([]byte(c.text), 32)
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			var dst []byte
			for b.Loop() {
				dst = AppendUTF8(dst[:0], src)
			}
		})
	}
}

func BenchmarkEncodings(b *testing.B) {
	text := bytes.Repeat([]byte("q=日本語&page=2&"), 32)
	for _, e := range []*Encoding{UTF8, Windows1252, GBK, GB18030, Big5, EUCJP, ISO2022JP, ShiftJIS, EUCKR} {
		encoded, err := e.AppendEncode(nil, text, HTML)
		if err != nil {
			b.Fatal(err)
		}
		var dst []byte
		b.Run("Decode/"+e.Name(), func(b *testing.B) {
			b.SetBytes(int64(len(encoded)))
			b.ReportAllocs()
			for b.Loop() {
				dst = e.AppendDecode(dst[:0], encoded)
			}
		})
		b.Run("PercentEncode/"+e.Name(), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				dst = AppendPercentEncode(dst[:0], text, e, &percent.SpecialQuery, false)
			}
		})
	}
}

// BenchmarkTables is what the first use of an encoding costs.
func BenchmarkTables(b *testing.B) {
	for _, c := range []struct {
		name  string
		build func()
	}{
		{"GB18030", func() { invert(buildGB18030Index(), 0, 0) }},
		{"Big5", func() { invert(buildBig5Index(), 0, 0) }},
		{"JIS0208", func() { invert(buildJIS0208Index(), 0, 0) }},
		{"EUCKR", func() { invert(buildEUCKRIndex(), 0, 0) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.build()
			}
		})
	}
}

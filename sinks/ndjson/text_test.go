package ndjson

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
)

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "ü漢🎉\u2028\ufeff", "\xff", "a\xc3", "\xed\xa0\x80", "\xf0\x9f\x8e", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := appendString([]byte("x"), []byte(s))
		if want := simpleString([]byte("x"), s); string(text) != string(want) {
			t.Errorf("%q became %s, want %s", s, text, want)
		}
		var got string
		if err := json.Unmarshal(text[1:], &got); err != nil {
			t.Fatalf("%q: %s: %v", s, text, err)
		}
		// Every bad byte on its own, as a conversion to runes does it.
		if want := string([]rune(s)); got != want {
			t.Errorf("%q became %q", s, got)
		}
		if strings.ContainsAny(string(text), "\n\r") {
			t.Errorf("%q is more than a line", text)
		}
	})
}

// simpleString is what appendString has to do, a byte or character at a time.
func simpleString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		b := s[i]
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			dst = utf8.AppendRune(dst, r) // U+FFFD for a bad byte
			i += size
			continue
		}
		if i++; b >= ' ' && b != '"' && b != '\\' {
			dst = append(dst, b)
			continue
		}
		if at := strings.IndexByte("\"\\\n\r\t\b\f", b); at >= 0 {
			dst = append(dst, '\\', `"\nrtbf`[at])
			continue
		}
		dst = fmt.Appendf(dst, `\u%04x`, b)
	}
	return append(dst, '"')
}

// TestEveryByte puts every byte, and every two, at every place of texts up to the length of a few words, in buffers with room
// and without, at the end of their memory and within it: what is behind a text is not of it, and what is before the row stays.
func TestEveryByte(t *testing.T) {
	const longest = 26
	room, within := make([]byte, 0, 6*longest+30), make([]byte, 0, longest+16)
	try := func(s []byte) {
		want := string(simpleString([]byte("before"), string(s)))
		for _, dst := range [][]byte{[]byte("before")[:6:6], append(room[:0], "before"...)} {
			if got := string(appendString(dst, s)); got != want {
				t.Fatalf("%q became %s, want %s", s, got, want)
			}
			for _, behind := range [][]byte{[]byte("plain, and more"), []byte("\"\\\n\xff\x00\"\"\"\"")} {
				more := append(append(within[:0], s...), behind...)
				if got := string(appendText(dst, &quote, more, len(s))); got != want {
					t.Fatalf("%q of %q became %s, want %s", s, more, got, want)
				}
			}
		}
	}
	text := []byte("abcdefghijklmnopqrstuvwxyz\"\"\"\"\"\"\"\"")
	for n := range longest + 1 {
		s := text[:n]
		try(s)
		for i := range s {
			for b := range 256 {
				s[i] = byte(b)
				try(s)
				for _, next := range []byte("\x00\x1f !\"#[\\]\x7f\x80\xbf\xc3\xff") {
					if i+1 == n || n != 7 && n != 8 && n != 19 {
						break
					}
					was := s[i+1]
					s[i+1] = next
					try(s)
					s[i+1] = was
				}
			}
			s[i] = 'a' + byte(i)
		}
	}
}

// TestMixed compares random texts of pieces that are plain, escaped, beyond ASCII, and not UTF-8.
func TestMixed(t *testing.T) {
	pieces := []string{"a", "plain text", "https://example.com/?q=1&r=2", "\"", "\\", "\n", "\x00", "\x1f", " ", "\x7f", "ü", "漢字", "🎉", "\u2028", "\ufffd", "\xff", "\xc3", "\xed\xa0\x80", "\xf0\x9f\x8e"}
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		var s []byte
		for range r.IntN(12) {
			s = append(s, pieces[r.IntN(len(pieces))]...)
		}
		got, want := string(appendString(nil, s)), string(simpleString(nil, string(s)))
		if got != want {
			t.Fatalf("%q became %s, want %s", s, got, want)
		}
	}
}

func FuzzTimestamp(f *testing.F) {
	for _, v := range []int64{0, -1, 1, 951782400, 951868800, -62135596800, 253402300799, 1e15, -1e15} {
		f.Add(v)
		f.Add(v * 1e6)
	}
	f.Fuzz(func(t *testing.T, v int64) {
		for unit, layout := range map[arrow.TimeUnit]string{
			arrow.Second: "2006-01-02T15:04:05Z", arrow.Millisecond: "2006-01-02T15:04:05.000Z",
			arrow.Microsecond: "2006-01-02T15:04:05.000000Z", arrow.Nanosecond: "2006-01-02T15:04:05.000000000Z",
		} {
			perSecond := int64(time.Second / unit.Multiplier())
			seconds, rest := floorDiv(v, perSecond)
			if seconds > 1e15 || seconds < -1e15 {
				continue // beyond what package time formats
			}
			want := time.Unix(seconds, rest*int64(unit.Multiplier())).UTC()
			wantText := `"` + want.Format(layout) + `"`
			if want.Year() > 9999 {
				wantText = `"+` + wantText[1:]
			}
			c := newClock(unit)
			for _, before := range []int64{0, v, v - 86400*perSecond, v - perSecond} { // a date that is kept is the right one
				c.append(nil, before)
				if got := string(c.append(nil, v)); got != wantText && want.Year() >= 0 {
					t.Errorf("%d %s after %d: got %s, want %s", v, unit, before, got, wantText)
				}
			}
		}
	})
}

// TestDates goes through the days of three eras.
func TestDates(t *testing.T) {
	for day := int64(-719528); day < 400_000; day += 13 {
		want := `"` + time.Unix(day*86400, 0).UTC().Format(time.DateOnly) + `"`
		if got := string(appendDate(nil, day)); got != want {
			t.Fatalf("day %d: got %s, want %s", day, got, want)
		}
	}
	y, m, d := time.Unix(-800_000*86400, 0).UTC().Date()
	if got, want := string(appendDate(nil, -800_000)), fmt.Sprintf(`"-%04d-%02d-%02d"`, -y, m, d); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for day, want := range map[int64]string{-719529: `"-0001-12-31"`, 2932896: `"9999-12-31"`, 2932897: `"+10000-01-01"`} {
		if got := string(appendDate(nil, day)); got != want {
			t.Errorf("day %d: got %s, want %s", day, got, want)
		}
	}
}

// TestIntegers tries the numbers around every power of two and of ten, and random ones of every length.
func TestIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	values := []uint64{0, math.MaxUint64}
	for b := range 64 {
		values = append(values, 1<<b-1, 1<<b, 1<<b+1)
		for range 50 {
			values = append(values, r.Uint64()>>b)
		}
	}
	for p := uint64(1); ; p *= 10 {
		values = append(values, p-1, p, p+1, 2*p-1, 5*p)
		if p > math.MaxUint64/10 {
			break
		}
	}
	for _, v := range values {
		if got, want := string(appendUint([]byte("x"), v)), "x"+strconv.FormatUint(v, 10); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := string(appendInt([]byte("x"), int64(v))), "x"+strconv.FormatInt(int64(v), 10); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestFloats(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	values := []float64{0, math.Copysign(0, -1), 1, -1.5, 1e21, 1e20, 1e-6, 9.99e-7, 1e-9, 1e-10, 1e300, 5e-324, math.MaxFloat64, 123456789.125}
	for range 2000 {
		values = append(values, math.Float64frombits(r.Uint64()), float64(math.Float32frombits(r.Uint32())))
	}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if want, _ := json.Marshal(v); string(want) != string(appendFloat(nil, v, 64)) {
			t.Errorf("got %s, want %s", appendFloat(nil, v, 64), want)
		}
		f := float32(v)
		if math.IsInf(float64(f), 0) {
			continue
		}
		if want, _ := json.Marshal(f); string(want) != string(appendFloat(nil, float64(f), 32)) {
			t.Errorf("float32: got %s, want %s", appendFloat(nil, float64(f), 32), want)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := string(appendFloat(nil, v, 64)); got != "null" {
			t.Errorf("%v: %s", v, got)
		}
	}
}

// BenchmarkString shows what texts cost that are not all plain.
func BenchmarkString(b *testing.B) {
	for name, piece := range map[string]string{
		"plain": "the quick brown fox jumps ", "short": "mail", "german": "Die Mühle mahlt größere Körner ", "cyrillic": "Быстрая мельница мелет зерно ",
		"chinese": "风车磨坊网址处理", "json": `{"key":"value","n":1},`, "broken": "caf\xe9 cr\xe8me ",
	} {
		b.Run(name, func(b *testing.B) {
			s := []byte(strings.Repeat(piece, 8))
			if name == "short" {
				s = s[:4]
			}
			var dst []byte
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				dst = appendString(dst[:0], s)
			}
		})
	}
}

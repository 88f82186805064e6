package ndjson

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
)

func FuzzString(f *testing.F) {
	for _, s := range []string{"", "plain", "\"\\/\b\f\n\r\t\x00\x1f\x7f", "ü漢🎉\u2028\ufeff", "\xff", "a\xc3", "\xed\xa0\x80", "\xf0\x9f\x8e", "\ufffd"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text := appendString([]byte("x"), s)
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
			if got := string(appendTimestamp(nil, v, unit)); got != wantText && want.Year() >= 0 {
				t.Errorf("%d %s: got %s, want %s", v, unit, got, wantText)
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

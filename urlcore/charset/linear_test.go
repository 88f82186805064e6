package charset

import (
	"bytes"
	"testing"

	"github.com/urlmill/urlmill/internal/dev/cputime"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// TestLinearTime compares the CPU time that 1 MiB of the worst input costs with that of sixteen times 64 KiB. It may be four
// times as much, which a quadratic algorithm would exceed four times over.
func TestLinearTime(t *testing.T) {
	const small, factor, bound = 1 << 16, 16, 4
	var dst []byte
	decode := func(e *Encoding) func([]byte) {
		return func(src []byte) { dst = e.AppendDecode(dst[:0], src) }
	}
	for _, c := range []struct {
		name, unit string
		run        func(src []byte)
	}{
		{"UTF-8 cut short", "\xF0\x9F\x92", decode(UTF8)},
		{"UTF-8 in one chunk with others", "\xF0\x9F\x92\xFF", func(src []byte) {
			d := UTF8.NewDecoder(Options{})
			dst, _ = d.AppendDecode(dst[:0], src, true)
			dst, _ = d.AppendDecode(dst, src, false)
		}},
		{"UTF-16 high surrogates", "\x00\xD8", decode(UTF16LE)},
		{"gb18030 put back three bytes at a time", "\x81\x30\x81", decode(GB18030)},
		{"ISO-2022-JP escapes without end", "\x1B$", decode(ISO2022JP)},
		{"ISO-2022-JP escapes without text", "\x1B(B", decode(ISO2022JP)},
		{"Big5 lead bytes", "\x81", decode(Big5)},
		{"ISO-2022-JP back and forth", "日¥\\☃", func(src []byte) {
			dst = AppendPercentEncode(dst[:0], src, ISO2022JP, &percent.FormURLEncoded, true)
		}},
	} {
		on := func(n int) func() {
			src := bytes.Repeat([]byte(c.unit), n/len(c.unit))
			return func() { c.run(src) }
		}
		on(small * factor)() // tables and the destination's growth
		if r := cputime.Ratio(bound, factor, on(small), on(small*factor)); r > bound {
			t.Errorf("%s: %d bytes take %.1f times the time of %d times %d bytes", c.name, small*factor, r, factor, small)
		}
	}
}

// TestLinearErrors reads one error after the other from an open stream: every call must not copy the rest.
func TestLinearErrors(t *testing.T) {
	d := UTF8.NewDecoder(Options{Fatal: true})
	src := bytes.Repeat([]byte{0xFF}, 1000)
	_, err := d.AppendDecode(nil, src, true)
	if err == nil {
		t.Fatal("no error")
	}
	allocs := testing.AllocsPerRun(len(src)-2, func() {
		if _, err := d.AppendDecode(nil, nil, true); err == nil {
			t.Fatal("no error")
		}
	})
	if allocs > 1 { // the error itself
		t.Errorf("a call allocates %v times", allocs)
	}
	if got, err := d.AppendDecode(nil, []byte("a"), false); err != nil || string(got) != "a" {
		t.Errorf("after the errors: %q, %v", got, err)
	}
}

package charset

import (
	"testing"
	"unicode/utf8"
)

// utf8Cases pair bytes with what decoding them with replacement gives; fails says where the first
// ill-formed part begins, -1 for none.
var utf8Cases = []struct {
	in, out string
	fails   int64
}{
	{"", "", -1},
	{"a", "a", -1},
	{"plain ASCII, longer than eight bytes", "plain ASCII, longer than eight bytes", -1},
	{"é€💩", "é€💩", -1},
	{"\xEF\xBB\xBFa", "\uFEFFa", -1},
	{"\xF0\x9F\x41", "\uFFFDA", 0},
	{"\xF0\x80", "\uFFFD\uFFFD", 0},
	{"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD", 0},
	{"\xED\x9F\xBF", "\uD7FF", -1},
	{"\xEE\x80\x80", "\uE000", -1},
	{"\xE0\x80\x80", "\uFFFD\uFFFD\uFFFD", 0},
	{"\xE0\xA0", "\uFFFD", 0},
	{"\xE0\xA0\x80", "\u0800", -1},
	{"\xF4\x8F\xBF\xBF", "\U0010FFFF", -1},
	{"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD", 0},
	{"\xF1\x80\x80x", "\uFFFDx", 0},
	{"\xC0\x80", "\uFFFD\uFFFD", 0},
	{"\xC1\xBF", "\uFFFD\uFFFD", 0},
	{"\xC2", "\uFFFD", 0},
	{"\xF5\x80", "\uFFFD\uFFFD", 0},
	{"abc\xFFdef", "abc\uFFFDdef", 3},
	{"abcdefghijk\xE2\x82", "abcdefghijk\uFFFD", 11},
	{"é\xE2\x82é", "é\uFFFDé", 2},
}

func TestAppendUTF8(t *testing.T) {
	for _, c := range utf8Cases {
		if got := string(AppendUTF8([]byte("dst:"), []byte(c.in))); got != "dst:"+c.out {
			t.Errorf("AppendUTF8(%q) = %q, want %q", c.in, got, "dst:"+c.out)
		}
	}
}

func TestAppendUTF8AllocatesNothing(t *testing.T) {
	dst := make([]byte, 0, 256)
	for _, in := range []string{"plain", "é€💩", "bad \xF0\x9F part \xFF"} {
		src := []byte(in)
		if n := testing.AllocsPerRun(100, func() { dst = AppendUTF8(dst[:0], src) }); n != 0 {
			t.Errorf("AppendUTF8(%q) allocates %v times", in, n)
		}
	}
}

func FuzzAppendUTF8(f *testing.F) {
	for _, c := range utf8Cases {
		f.Add([]byte(c.in))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got := AppendUTF8(nil, src)
		if !utf8.Valid(got) {
			t.Fatalf("AppendUTF8(%q) = %q, which is not UTF-8", src, got)
		}
		if again := AppendUTF8(nil, got); string(again) != string(got) {
			t.Fatalf("AppendUTF8(%q) = %q, want it unchanged", got, again)
		}
		if utf8.Valid(src) && string(got) != string(src) {
			t.Fatalf("AppendUTF8(%q) = %q, want it unchanged", src, got)
		}
	})
}

package charset

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// decodeChunks decodes src in the chunks that end at the given positions.
func decodeChunks(d *Decoder, src []byte, ends ...int) ([]byte, error) {
	var out []byte
	start := 0
	for _, end := range ends {
		var err error
		if out, err = d.AppendDecode(out, src[start:end], true); err != nil {
			return nil, err
		}
		start = end
	}
	return d.AppendDecode(out, src[start:], false)
}

// sameError reports whether two results of decoding in the fatal mode agree.
func sameError(a, b error) bool {
	var x, y *Error
	if errors.As(a, &x) && errors.As(b, &y) {
		return *x == *y
	}
	return a == nil && b == nil
}

// TestStreamingEqualsOneShot decodes every case of testdata in two and three chunks with every split, and
// byte by byte.
func TestStreamingEqualsOneShot(t *testing.T) {
	for _, c := range readCases[decodeCase](t, "decode.json") {
		e := mustLookup(t, c.Encoding)
		src := unhex(t, strings.ReplaceAll(c.Bytes, " ", ""))
		for _, options := range []Options{{}, {IgnoreBOM: true}, {Fatal: true}} {
			d := e.NewDecoder(options)
			want, wantErr := d.AppendDecode(nil, src, false)
			check := func(ends ...int) {
				got, err := decodeChunks(d, src, ends...)
				if !sameError(err, wantErr) || err == nil && !bytes.Equal(got, want) {
					t.Errorf("%s: %s split at %v, %+v: got %q, %v, want %q, %v", e, c.Bytes, ends, options, got, err, want, wantErr)
				}
				d.Reset()
			}
			for i := range len(src) + 1 {
				for j := i; j <= len(src); j++ {
					check(i, j)
				}
			}
			every := make([]int, len(src))
			for i := range every {
				every[i] = i
			}
			check(every...)
		}
	}
}

func TestDecoderBOM(t *testing.T) {
	type step struct {
		in   string
		more bool
		out  string
	}
	for _, c := range []struct {
		name    string
		e       *Encoding
		options Options
		steps   []step
	}{
		{"removed", UTF8, Options{}, []step{{"\xEF\xBB\xBFa", false, "a"}}},
		{"one only", UTF8, Options{}, []step{{"\xEF\xBB\xBF\xEF\xBB\xBFa", false, "\uFEFFa"}}},
		{"not later", UTF8, Options{}, []step{{"a\xEF\xBB\xBF", false, "a\uFEFF"}}},
		{"kept", UTF8, Options{IgnoreBOM: true}, []step{{"\xEF\xBB\xBFa", false, "\uFEFFa"}}},
		{"split", UTF8, Options{}, []step{{"\xEF", true, ""}, {"\xBB", true, ""}, {"\xBFa", true, "a"}, {"\xEF\xBB\xBF", false, "\uFEFF"}}},
		{"again after a flush", UTF8, Options{}, []step{{"\xEF\xBB\xBFa", false, "a"}, {"\xEF\xBB\xBFa", false, "a"}}},
		{"unfinished", UTF8, Options{}, []step{{"\xEF\xBB", false, "\uFFFD"}}},
		{"of another encoding", UTF8, Options{}, []step{{"\xFE\xFF", false, "\uFFFD\uFFFD"}}},
		{"little endian", UTF16LE, Options{}, []step{{"\xFF", true, ""}, {"\xFEa", true, ""}, {"\x00", false, "a"}}},
		{"big endian", UTF16BE, Options{}, []step{{"\xFE\xFF\x00a", false, "a"}}},
		{"swapped", UTF16BE, Options{}, []step{{"\xFF\xFE\x00a", false, "\uFFFEa"}}},
		{"not in gb18030", GB18030, Options{}, []step{{"\x84\x31\x95\x33a", false, "\uFEFFa"}}},
		{"no more after text", UTF8, Options{}, []step{{"a", true, "a"}, {"\xEF\xBB\xBF", false, "\uFEFF"}}},
	} {
		d := c.e.NewDecoder(c.options)
		for _, s := range c.steps {
			got, err := d.AppendDecode(nil, []byte(s.in), s.more)
			if err != nil || string(got) != s.out {
				t.Errorf("%s: %q: got %q, %v, want %q", c.name, s.in, got, err, s.out)
			}
		}
	}
}

// TestDecoderAfterError: an open stream goes on after the bytes in error, as in the standard, where what is
// unread stays in the queue; a stream that had ended begins anew.
func TestDecoderAfterError(t *testing.T) {
	d, err := NewTextDecoder("UTF-8", Options{Fatal: true})
	if err != nil {
		t.Fatal(err)
	}
	if d.Encoding() != UTF8 {
		t.Errorf("Encoding() = %v", d.Encoding())
	}
	step := func(in string, more bool, out string, pos int64) {
		t.Helper()
		got, err := d.AppendDecode([]byte("dst:"), []byte(in), more)
		var fails *Error
		switch {
		case pos < 0 && (err != nil || string(got) != "dst:"+out):
			t.Errorf("%q: got %q, %v, want %q", in, got, err, out)
		case pos >= 0 && (!errors.As(err, &fails) || fails.Pos != pos || string(got) != "dst:"):
			t.Errorf("%q: got %q, %v, want an error at %d", in, got, err, pos)
		}
	}
	step("a\xFFbc", false, "", 1)
	step("d", false, "d", -1)
	step("a\xFFb\xFE\xEF", true, "", 1) // leaves b FE EF
	step("x", true, "", 3)              // leaves EF x
	step("y", true, "", 4)              // leaves x, y
	step("z", false, "xyz", -1)
	step("a\xFF", true, "", 1)
	step("\xEF\xBB\xBFb", false, "b", -1) // nothing was put out yet, so this is a byte order mark
	step("\xC3", true, "", -1)
	d.Reset()
	step("\xA9", false, "", 0)
}

func TestNewTextDecoder(t *testing.T) {
	for _, label := range []string{"replacement", "hz-gb-2312", "nosuch", ""} {
		var fails *Error
		if d, err := NewTextDecoder(label, Options{}); d != nil || !errors.As(err, &fails) || fails.Code != CodeUnknownLabel || fails.Label != label {
			t.Errorf("NewTextDecoder(%q) = %v, %v", label, d, err)
		}
	}
}

// TestEncoderStreaming encodes every case of testdata in chunks, with every two splits.
func TestEncoderStreaming(t *testing.T) {
	cases := readCases[encodeCase](t, "encode.json")
	for _, text := range []string{"\xF0\x9F\x92", "a\xF0\x9Fé", "é\xE2", "\xE2\x82日", "\xED\xA0\x80"} {
		for _, label := range []string{"utf-8", "iso-2022-jp", "gb18030", "windows-1252"} {
			cases = append(cases, encodeCase{Encoding: label, Text: text})
		}
	}
	for _, c := range cases {
		e := mustLookup(t, c.Encoding).Output()
		src := []byte(c.Text)
		want, err := e.AppendEncode(nil, src, HTML)
		if err != nil {
			t.Fatal(err)
		}
		enc, err := e.NewEncoder(HTML)
		if err != nil || enc.Encoding() != e {
			t.Fatal(enc, err)
		}
		for i := range len(src) + 1 {
			for j := i; j <= len(src); j++ {
				var got []byte
				for _, chunk := range [][]byte{src[:i], src[i:j]} {
					if got, err = enc.AppendEncode(got, chunk, true); err != nil {
						t.Fatal(err)
					}
				}
				if got, err = enc.AppendEncode(got, src[j:], false); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: %q split at %d and %d: got %q, %v, want %q", e, src, i, j, got, err, want)
				}
			}
		}
	}
}

func TestEncoderError(t *testing.T) {
	enc, err := Windows1252.NewEncoder(Fatal)
	if err != nil {
		t.Fatal(err)
	}
	step := func(in string, more bool, out string, pos int64) {
		t.Helper()
		got, err := enc.AppendEncode([]byte("dst:"), []byte(in), more)
		var fails *Error
		switch {
		case pos < 0 && (err != nil || string(got) != "dst:"+out):
			t.Errorf("%q: got %q, %v, want %q", in, got, err, out)
		case pos >= 0 && (!errors.As(err, &fails) || fails.Pos != pos || string(got) != "dst:"):
			t.Errorf("%q: got %q, %v, want an error at %d", in, got, err, pos)
		}
	}
	step("abc", true, "abc", -1)
	step("é\xE2\x98", true, "\xE9", -1)
	step("\x83", true, "", 5) // U+2603 begins after abcé
	step("a☃", false, "", 1)  // the stream began anew
	step("\xE2", true, "", -1)
	step("", false, "", 0) // unfinished: U+FFFD, which the encoding lacks
	step("\xE2", true, "", -1)
	enc.Reset()
	step("a", false, "a", -1)
	step("\xE2", true, "", -1)
	step("a", true, "", 0)
}

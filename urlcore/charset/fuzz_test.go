package charset

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"
)

func addSeeds(f *testing.F) {
	for _, c := range readCases[decodeCase](f, "decode.json") {
		for i, e := range all {
			if label, _ := Lookup(c.Encoding); label == e {
				f.Add([]byte(c.Text), uint8(i), uint8(1))
				src, _ := hex.DecodeString(strings.ReplaceAll(c.Bytes, " ", ""))
				f.Add(src, uint8(i), uint8(3))
			}
		}
	}
	f.Add([]byte("\x1B$BF|K\\\x1B(B"), uint8(33), uint8(2))
	f.Add([]byte("\x81\x30\x81\x30\x81\x61\x8F\xB0\xA1"), uint8(30), uint8(1))
}

// FuzzStreaming: chunks of any size decode to what the whole decodes to, and fail where it fails; with
// replacement the result is UTF-8 in any case.
func FuzzStreaming(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, src []byte, which, size uint8) {
		e := all[int(which)%len(all)]
		chunk := int(size)%9 + 1
		for _, options := range []Options{{}, {Fatal: true}, {IgnoreBOM: true}} {
			d := e.NewDecoder(options)
			want, wantErr := d.AppendDecode(nil, src, false)
			if wantErr == nil && !utf8.Valid(want) {
				t.Fatalf("%s: %q gives %q, which is not UTF-8", e, src, want)
			}
			var ends []int
			for end := chunk; end < len(src); end += chunk {
				ends = append(ends, end)
			}
			d.Reset()
			got, err := decodeChunks(d, src, ends...)
			if !sameError(err, wantErr) || err == nil && !bytes.Equal(got, want) {
				t.Fatalf("%s: %q in chunks of %d, %+v: got %q, %v, want %q, %v", e, src, chunk, options, got, err, want, wantErr)
			}
		}
	})
}

// fold returns what the standard's encoders make of the code points that they encode as others.
func fold(e *Encoding, c rune) rune {
	if _, _, side := gb18030Side(c); side && (e == GBK || e == GB18030) {
		encoded, _ := e.AppendEncode(nil, []byte(string(c)), Fatal)
		c, _ = utf8.DecodeRune(e.AppendDecode(nil, encoded))
		return c
	}
	switch {
	case e != EUCJP && e != ShiftJIS && e != ISO2022JP:
	case c == minusSign:
		return fullwidthHyphen
	case e == ISO2022JP && c >= halfWidthKatakana && c <= lastHalfWidthKatakana:
		return katakana[c-halfWidthKatakana]
	case e != ISO2022JP && c == yenSign:
		return '\\'
	case e != ISO2022JP && c == overline:
		return '~'
	}
	return c
}

// foldText folds every code point of src, with U+FFFD for its ill-formed parts.
func foldText(e *Encoding, src []byte) []byte {
	var out []byte
	for _, c := range string(AppendUTF8(nil, src)) {
		out = utf8.AppendRune(out, fold(e, c))
	}
	return out
}

// FuzzRoundTrip: what can be encoded decodes to the same text, but for the code points that are folded; what
// decodes without error and can be encoded again is stable from then on; chunks encode as the whole does.
func FuzzRoundTrip(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, src []byte, which, size uint8) {
		e := all[int(which)%len(all)].Output()
		encoded, err := e.AppendEncode(nil, src, Fatal)
		if err == nil {
			got, err := e.AppendDecodeOrFail(nil, encoded)
			if err != nil || !bytes.Equal(got, foldText(e, src)) {
				t.Fatalf("%s: %q encodes to %q, which decodes to %q, %v", e, src, encoded, got, err)
			}
		}
		whole, _ := e.AppendEncode(nil, src, HTML)
		enc, _ := e.NewEncoder(HTML)
		var chunked []byte
		chunk := int(size)%9 + 1
		rest := src
		for ; len(rest) > chunk; rest = rest[chunk:] {
			chunked, _ = enc.AppendEncode(chunked, rest[:chunk], true)
		}
		chunked, _ = enc.AppendEncode(chunked, rest, false)
		if !bytes.Equal(whole, chunked) {
			t.Fatalf("%s: %q in chunks of %d encodes to %q, want %q", e, src, chunk, chunked, whole)
		}
		text, err := e.AppendDecodeOrFail(nil, src)
		if err != nil {
			return
		}
		if again, err := e.AppendEncode(nil, text, Fatal); err == nil {
			if got := e.AppendDecode(nil, again); !bytes.Equal(got, foldText(e, text)) {
				t.Fatalf("%s: %q decodes to %q, which encodes to %q, which decodes to %q", e, src, text, again, got)
			}
		}
	})
}

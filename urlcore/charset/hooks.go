package charset

import "unicode/utf8"

// AppendDecode decodes src and appends the text to dst as UTF-8, with U+FFFD for ill-formed bytes. A byte
// order mark at the start of src is removed and says what src is encoded in; without one it is fallback. The
// encoding really used is the second result.
//
// Encoding Standard: "decode" (section 6).
func AppendDecode(dst, src []byte, fallback *Encoding) ([]byte, *Encoding) {
	if e, n := SniffBOM(src); e != nil {
		return e.AppendDecode(dst, src[n:]), e
	}
	return fallback.AppendDecode(dst, src), fallback
}

// AppendDecode decodes src with e's decoder and appends the text to dst as UTF-8, with U+FFFD for ill-formed
// bytes. Byte order marks are neither looked for nor removed; see the function [AppendDecode] for that.
// Nothing is allocated but what dst needs to grow and, at the first call, e's tables.
func (e *Encoding) AppendDecode(dst, src []byte) []byte {
	if e == UTF8 {
		return AppendUTF8(dst, src)
	}
	d := Decoder{options: Options{IgnoreBOM: true}, m: machine{enc: e}}
	dst, _ = d.AppendDecode(dst, src, false) // without Fatal there is no error
	return dst
}

// AppendDecodeOrFail is [Encoding.AppendDecode] with ill-formed bytes as an error: an [*Error] of
// CodeIllFormed with the position of the first. Then dst is returned unchanged.
func (e *Encoding) AppendDecodeOrFail(dst, src []byte) ([]byte, error) {
	if e == UTF8 {
		return AppendUTF8OrFail(dst, src)
	}
	d := Decoder{options: Options{Fatal: true, IgnoreBOM: true}, m: machine{enc: e}}
	return d.AppendDecode(dst, src, false)
}

// AppendIsomorphicDecode appends src to dst as UTF-8, with each byte as the code point of the same number.
//
// Infra Standard: "isomorphic decode".
func AppendIsomorphicDecode(dst, src []byte) []byte {
	for _, b := range src {
		dst = utf8.AppendRune(dst, rune(b))
	}
	return dst
}

// AppendEncode encodes src, UTF-8 text in which every maximal ill-formed part counts as U+FFFD, and appends
// the bytes to dst. For a code point that e lacks mode decides; with [Fatal] the error is an [*Error] of
// CodeUnencodable. It is one of CodeNoEncoder for UTF-16BE, UTF-16LE and replacement. Where there is an error
// dst is returned unchanged. With UTF-8 there is none.
//
// Encoding Standard: "encode" (section 6), without the replacement of such an encoding by its output
// encoding: that is [Encoding.Output].
func (e *Encoding) AppendEncode(dst, src []byte, mode ErrorMode) ([]byte, error) {
	if e.Output() != e {
		return dst, &Error{Code: CodeNoEncoder, Encoding: e}
	}
	if e == UTF8 {
		return AppendUTF8(dst, src), nil
	}
	var enc Encoder
	enc.init(e, mode)
	return enc.AppendEncode(dst, src, false)
}

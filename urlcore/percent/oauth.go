package percent

// EncodeOAuth encodes text for OAuth 1.0: all but letters, digits and "-._~" become upper-case triplets of their
// UTF-8. Ill-formed parts of s count as U+FFFD. For bytes that are no text, use [AppendEncode] with [Unreserved].
//
// https://www.rfc-editor.org/rfc/rfc5849#section-3.6
func EncodeOAuth(s string) string { return Encode(scalars(s), &Unreserved) }

// DecodeOAuth decodes what [EncodeOAuth] wrote. The RFC does not say how; this is plain percent-decoding, in which a
// plus sign means itself. The result is bytes, which the caller owns.
func DecodeOAuth(s string) []byte { return Decode(s) }

// AppendALPN appends a protocol id of ALPN, which is bytes, in the form that Alt-Svc and the ALPN header field
// use, to dst and returns the extended buffer: token characters but the percent sign stay, other bytes become
// upper-case triplets. Every id has one such form alone, so ids are compared in it, byte by byte, and not decoded.
//
// https://www.rfc-editor.org/rfc/rfc7639#section-2.2
func AppendALPN(dst, id []byte) []byte { return AppendEncode(dst, id, &ALPN) }

// IsALPN reports whether s is the form of some protocol id that [AppendALPN] writes, without a triplet that
// could have been avoided or is in lower case.
func IsALPN(s string) bool {
	id := Decode(s)
	return string(AppendALPN(nil, id)) == s
}

package percent

import (
	"strings"
	"unicode/utf8"
)

// An ExtValue is a parameter value of a header field that names its character encoding and language, as in
// filename*=UTF-8'en'%e2%82%ac%20rates.
//
// https://www.rfc-editor.org/rfc/rfc8187#section-3.2
type ExtValue struct {
	Charset  string // as written, such as "UTF-8"; letter case does not matter
	Language string // a language tag, or ""
	Value    []byte // in that encoding
}

// AppendExtValue appends text as an ext-value in UTF-8, the one encoding that is to be written, to dst and returns the
// extended buffer. language is a language tag or "". Ill-formed parts of text count as U+FFFD. The error is an
// [*Error] for language; dst is returned as it was then.
func AppendExtValue(dst []byte, language, text string) ([]byte, error) {
	if pos := languageError(language); pos >= 0 {
		return dst, &Error{Op: "ext-value language", Code: CodeLanguage, Pos: pos}
	}
	dst = append(append(dst, "UTF-8'"...), language...)
	dst = append(dst, '\'')
	return AppendEncode(dst, []byte(scalars(text)), &ExtValueSet), nil
}

// ParseExtValue parses an ext-value strictly by the grammar: a character encoding, a language tag or nothing, and a
// value of attr-char and triplets. The error is an [*Error]. The encoding may be unknown: see [ExtValue.Text].
func ParseExtValue(s string) (ExtValue, error) {
	const op = "ext-value"
	name, rest, ok := strings.Cut(s, "'")
	if n := strings.IndexFunc(name, func(r rune) bool { return !isMIMECharset(r) }); n >= 0 || name == "" || !ok {
		return ExtValue{}, &Error{Op: op, Code: CodeCharset, Pos: max(n, 0)}
	}
	language, value, ok := strings.Cut(rest, "'")
	start := len(name) + 1
	if pos := languageError(language); pos >= 0 || !ok {
		return ExtValue{}, &Error{Op: op, Code: CodeLanguage, Pos: start + max(pos, 0)}
	}
	start += len(language) + 1
	encoded := []byte(value)
	for i := 0; i < len(encoded); i++ {
		if _, ok := triplet(encoded[i:]); ok {
			i += 2
			continue
		}
		if encoded[i] == '%' {
			return ExtValue{}, &Error{Op: op, Code: CodeStrayPercent, Pos: start + i}
		}
		if ExtValueSet.Has(encoded[i]) {
			return ExtValue{}, &Error{Op: op, Code: CodeByte, Pos: start + i}
		}
	}
	return ExtValue{Charset: name, Language: language, Value: AppendDecode(encoded[:0], encoded)}, nil
}

// Text returns the value as text when its encoding is UTF-8 or ISO-8859-1, the ones that every recipient knows. The
// error is an [*Error] for another encoding, and for a value that is not well-formed UTF-8; its position is one in
// Value. For other encodings, decode Value by package charset.
func (v ExtValue) Text() (string, error) {
	switch {
	case equalLetters(v.Charset, "utf-8"):
		for i := 0; i < len(v.Value); {
			r, n := utf8.DecodeRune(v.Value[i:])
			if r == utf8.RuneError && n == 1 {
				return "", &Error{Op: "ext-value text", Code: CodeNotUTF8, Pos: i}
			}
			i += n
		}
		return string(v.Value), nil
	case equalLetters(v.Charset, "iso-8859-1"):
		text := make([]rune, len(v.Value))
		for i, b := range v.Value {
			text[i] = rune(b)
		}
		return string(text), nil
	}
	return "", &Error{Op: "ext-value text", Code: CodeCharset}
}

// isMIMECharset reports whether r may be in the name of an encoding, mime-charsetc of the grammar.
func isMIMECharset(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || isIn(r, "!#$%&+-^_`{}~")
}

// languageError returns where language stops being a language tag, or -1. The empty string is fine: it says nothing.
//
// It accepts the form of RFC 5646, section 2.1, subtags of up to eight letters and digits, and not only
// registered subtags in their order.
func languageError(language string) int {
	if language == "" {
		return -1
	}
	length := 0 // of the subtag
	for i := range len(language) {
		b := language[i]
		letter := 'a' <= b|0x20 && b|0x20 <= 'z'
		inFirst := i == length
		switch {
		case b == '-' && length > 0:
			length = 0
		case letter && length < 8, '0' <= b && b <= '9' && length < 8 && !inFirst:
			length++
		default:
			return i
		}
	}
	if length == 0 {
		return len(language)
	}
	return -1
}

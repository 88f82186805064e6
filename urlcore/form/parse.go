package form

import (
	"unicode/utf8"

	"github.com/urlmill/urlmill/urlcore/charset"
)

// A Pair is a name and its value, decoded. Both are well-formed UTF-8 when they come from this package.
type Pair struct {
	Name, Value string
}

// Parse returns the pairs of s, which is text: where s is ill-formed UTF-8 it counts as having U+FFFD. A leading
// question mark is a part of the first name; [New] is the function that drops it. Parse never fails.
//
// https://url.spec.whatwg.org/#concept-urlencoded-string-parser
func Parse(s string) []Pair {
	return AppendParse(nil, []byte(scalars(s)))
}

// AppendParse appends the pairs of query, which is bytes, to dst and returns the extended list. query is not kept.
// It never fails.
//
// https://url.spec.whatwg.org/#concept-urlencoded-parser
func AppendParse(dst []Pair, query []byte) []Pair {
	var buffer []byte
	for name, value, rest, ok := Next(query); ok; name, value, rest, ok = Next(rest) {
		buffer = AppendDecode(buffer[:0], name)
		split := len(buffer)
		buffer = AppendDecode(buffer, value)
		both := string(buffer) // one allocation for two strings
		dst = append(dst, Pair{both[:split], both[split:]})
	}
	return dst
}

// CharsetField returns the value of the first field of query that is named _charset_, the name of the encoding
// that the sender of a form says it used. The parser pays no attention to it: text is UTF-8. Callers
// that do, decode the rest by [AppendDecodeBytes] and the encoding of that name.
func CharsetField(query []byte) (label string, ok bool) {
	for name, value, rest, ok := Next(query); ok; name, value, rest, ok = Next(rest) {
		if string(name) == charsetField {
			return string(AppendDecode(nil, value)), true
		}
	}
	return "", false
}

// charsetField is the name that HTML gives to the field that tells a form's encoding.
const charsetField = "_charset_"

// scalars returns s with U+FFFD in place of each maximal ill-formed part, the conversion to USVString.
func scalars(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(charset.AppendUTF8(make([]byte, 0, len(s)+16), []byte(s)))
}

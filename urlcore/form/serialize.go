package form

import (
	"unsafe"

	"github.com/urlmill/urlmill/urlcore/charset"
	"github.com/urlmill/urlmill/urlcore/percent"
)

// A Serializer says how pairs are written. The zero value writes what the standard's serializer writes with UTF-8.
// It may be used concurrently.
type Serializer struct {
	// Encoding is what names and values are encoded in, nil for UTF-8. Encodings that nothing is written in, such
	// as UTF-16LE, count as UTF-8. A code point that it lacks is written as %26%23, its number and %3B.
	Encoding *charset.Encoding
	// Set is the set of bytes that are percent-encoded, nil for [percent.FormURLEncoded]. Another set has to hold
	// the bytes of "%&+=" for the pairs to be read back as they were.
	Set *percent.Set
	// SpaceAsPercent20 writes spaces as %20, as in mailto: URLs, where a plus sign means itself.
	SpaceAsPercent20 bool
	// CharsetField gives a field named _charset_ that has an empty value the name of the encoding as its value, as
	// HTML does for hidden form fields.
	CharsetField bool
}

// AppendPairs appends pairs, serialized by the standard's rules, to dst and returns the extended buffer. Nothing is
// allocated but what dst needs to grow. Line breaks are not normalized.
//
// https://url.spec.whatwg.org/#concept-urlencoded-serializer
func AppendPairs(dst []byte, pairs []Pair) []byte {
	return (&Serializer{}).AppendPairs(dst, pairs)
}

// AppendEncode appends one name or value, serialized by the standard's rules, to dst and returns the extended buffer.
// src is text; its ill-formed parts count as U+FFFD. src is not kept and must not overlap dst.
func AppendEncode(dst, src []byte) []byte {
	return charset.AppendPercentEncode(dst, src, charset.UTF8, &percent.FormURLEncoded, true)
}

// AppendPairs appends pairs to dst in the way s says, and returns the extended buffer.
func (s *Serializer) AppendPairs(dst []byte, pairs []Pair) []byte {
	for i, p := range pairs {
		if i > 0 {
			dst = append(dst, '&')
		}
		value := p.Value
		if s.CharsetField && p.Name == charsetField && value == "" {
			value = s.encoding().Name()
		}
		dst = s.append(dst, p.Name)
		dst = append(dst, '=')
		dst = s.append(dst, value)
	}
	return dst
}

// append appends one name or value.
func (s *Serializer) append(dst []byte, text string) []byte {
	set := s.Set
	if set == nil {
		set = &percent.FormURLEncoded
	}
	// The text is only read, so its bytes can be lent without a copy.
	src := unsafe.Slice(unsafe.StringData(text), len(text))
	return charset.AppendPercentEncode(dst, src, s.encoding(), set, !s.SpaceAsPercent20)
}

// encoding returns the output encoding.
func (s *Serializer) encoding() *charset.Encoding {
	if s.Encoding == nil {
		return charset.UTF8
	}
	return s.Encoding.Output()
}

package compat

import "strings"

// DecodeURLComponent is the text with its escape sequences decoded, also to what is not UTF-8. A percent sign without two
// hexadecimal digits stays, with the two bytes behind it, whatever they are.
func (u ClickHouse) DecodeURLComponent() string { return u.decode("%") }

// DecodeURLFormComponent is the same with "+" for a space.
func (u ClickHouse) DecodeURLFormComponent() string { return u.decode("%+") }

func (u ClickHouse) decode(special string) string {
	s := string(u)
	if !strings.ContainsAny(s, special) {
		return s
	}
	b := make([]byte, 0, len(s))
	for s != "" {
		i := strings.IndexAny(s, special)
		if i < 0 {
			break
		}
		b = append(b, s[:i]...)
		s = s[i:]
		switch {
		case s[0] == '+':
			b = append(b, ' ')
			s = s[1:]
		case len(s) < 3:
			return string(append(b, s...))
		case hexDigit.has(s[1]) && hexDigit.has(s[2]):
			b = append(b, unhex(s[1])<<4|unhex(s[2]))
			s = s[3:]
		default:
			b = append(b, s[:3]...)
			s = s[3:]
		}
	}
	return string(append(b, s...))
}

// unhex returns the value of a hexadecimal digit.
func unhex(c byte) byte {
	if c > '9' {
		return c&0xf + 9
	}
	return c & 0xf
}

// EncodeURLComponent is the text with escape sequences for all but letters, digits and "-_.~".
func (u ClickHouse) EncodeURLComponent() string { return u.encode(false) }

// EncodeURLFormComponent is the same with "+" for a space.
func (u ClickHouse) EncodeURLFormComponent() string { return u.encode(true) }

var componentChars = newSet(false, "-_.~", alphanumeric)

func (u ClickHouse) encode(plus bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(u) {
		switch {
		case componentChars.has(c):
			b.WriteByte(c)
		case c == ' ' && plus:
			b.WriteByte('+')
		default:
			b.Write([]byte{'%', digits[c>>4], digits[c&0xf]})
		}
	}
	return b.String()
}

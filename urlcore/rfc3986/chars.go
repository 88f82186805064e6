package rfc3986

// A class is a set of ASCII characters, a bit each.
type class [2]uint64

func classOf(chars string) class {
	var c class
	for i := range len(chars) {
		c[chars[i]>>6] |= 1 << (chars[i] & 63)
	}
	return c
}

// has reports whether b is in the class; no byte above 0x7F is in any.
func (c *class) has(b byte) bool {
	return b < 0x80 && c[b>>6]>>(b&63)&1 != 0
}

const (
	digitChars      = "0123456789"
	hexChars        = digitChars + "ABCDEFabcdef"
	letterChars     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	unreservedChars = letterChars + digitChars + "-._~"
	genDelimChars   = ":/?#[]@"
	subDelimChars   = "!$&'()*+,;="
)

// The character classes of the grammar, each without triplets.
var (
	digitClass      = classOf(digitChars)
	hexClass        = classOf(hexChars)
	letterClass     = classOf(letterChars)
	schemeClass     = classOf(letterChars + digitChars + "+-.")
	unreservedClass = classOf(unreservedChars)
	genDelimClass   = classOf(genDelimChars)
	subDelimClass   = classOf(subDelimChars)
	reservedClass   = classOf(genDelimChars + subDelimChars)
	regNameClass    = classOf(unreservedChars + subDelimChars)
	userinfoClass   = classOf(unreservedChars + subDelimChars + ":")
	segmentNCClass  = classOf(unreservedChars + subDelimChars + "@")
	pcharClass      = classOf(unreservedChars + subDelimChars + ":@")
	pathClass       = classOf(unreservedChars + subDelimChars + ":@/")
	queryClass      = classOf(unreservedChars + subDelimChars + ":@/?")
)

// span returns the length of the longest prefix of s that is made of characters of the class and of triplets.
func (c *class) span(s string) int {
	i := 0
	for i < len(s) {
		switch {
		case c.has(s[i]):
			i++
		case isTriplet(s[i:]):
			i += 3
		default:
			return i
		}
	}
	return i
}

// spanPlain is span without triplets.
func (c *class) spanPlain(s string) int {
	i := 0
	for i < len(s) && c.has(s[i]) {
		i++
	}
	return i
}

// isTriplet reports whether s begins with pct-encoded.
func isTriplet(s string) bool {
	return len(s) >= 3 && s[0] == '%' && hexClass.has(s[1]) && hexClass.has(s[2])
}

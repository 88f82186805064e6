package enrich

import "bytes"

// byteClass says what a byte of a segment may be.
type byteClass uint8

const (
	digit    byteClass = 1 << iota
	upperHex           // A to F
	lowerHex           // a to f
	upper              // the other letters
	lowerCase
	at        // @, and % of %40
	separator // - _ .
	elsewhere // all others

	letter = upperHex | lowerHex | upper | lowerCase
	hex    = digit | upperHex | lowerHex
)

var byteClasses = func() (t [256]byteClass) {
	for i := range t {
		c := byte(i)
		switch {
		case '0' <= c && c <= '9':
			t[i] = digit
		case 'a' <= c && c <= 'f':
			t[i] = lowerHex
		case 'A' <= c && c <= 'F':
			t[i] = upperHex
		case 'a' <= c && c <= 'z':
			t[i] = lowerCase
		case 'A' <= c && c <= 'Z':
			t[i] = upper
		case c == '@' || c == '%':
			t[i] = at
		case c == '-' || c == '_' || c == '.':
			t[i] = separator
		default:
			t[i] = elsewhere
		}
	}
	return t
}()

const slugKind = "{slug}"

// kindOf returns what a segment of a path is instead of a name, "" for a name.
func kindOf(s []byte) string {
	var seen byteClass
	digits, changes := 0, 0
	var before byteClass
	for _, c := range s {
		class := byteClasses[c]
		seen |= class
		if class == digit {
			digits++
		}
		if class&(digit|letter) != 0 {
			if before != 0 && before&digit != class&digit {
				changes++
			}
			before = class
		}
	}
	n := len(s)
	mixed := seen&(upper|upperHex) != 0 && seen&(lowerCase|lowerHex) != 0 && digits > 0
	switch {
	case n == 0:
		return ""
	case digits == n:
		return "{id}"
	case n == 36 && isUUID(s):
		return "{uuid}"
	case n >= 10 && isDate(s):
		return "{date}"
	case seen&at != 0 && isEmail(s):
		return "{email}"
	case seen&^hex == 0 && (n == 32 || n == 40 || n == 56 || n == 64 || n == 96 || n == 128):
		return "{hash}"
	case n == 26 && digits > 0 && isULID(s):
		return "{ulid}"
	case seen&^hex == 0 && n >= 8 && digits >= 2:
		return "{hex}"
	case seen&(elsewhere|at) == 0 && n >= 24 && mixed && changes >= 3 || seen&^(digit|letter) == 0 && n >= 10 && digits > 0 && changes >= 4-min(1, len(s)/16):
		return "{token}"
	case digits >= 4 && hasID(s):
		return slugKind
	}
	return ""
}

func isUUID(s []byte) bool {
	for i, c := range s {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if byteClasses[c]&hex == 0 {
			return false
		}
	}
	return true
}

// isULID reports whether s is in Crockford's alphabet, in one case, and no more than 128 bits.
func isULID(s []byte) bool {
	if s[0] > '7' {
		return false
	}
	var seen byteClass
	for _, c := range s {
		seen |= byteClasses[c]
		if byteClasses[c]&(digit|letter) == 0 || bytes.IndexByte([]byte("ILOU"), c&^0x20) >= 0 {
			return false
		}
	}
	return seen&(upper|upperHex) == 0 || seen&(lowerCase|lowerHex) == 0
}

// isDate reports whether s begins with a date as in ISO 8601, with nothing or a time behind it.
func isDate(s []byte) bool {
	for i, c := range s[:10] {
		if (i == 4 || i == 7) != (c == '-') || c != '-' && byteClasses[c] != digit {
			return false
		}
	}
	month, day := 10*int(s[5]-'0')+int(s[6]-'0'), 10*int(s[8]-'0')+int(s[9]-'0')
	return 1 <= month && month <= 12 && 1 <= day && day <= 31 && (len(s) == 10 || s[10] == 'T' || s[10] == 't')
}

// isEmail reports whether s has an at sign, plain or as %40, with something before it and a domain behind it.
func isEmail(s []byte) bool {
	user, domain, ok := bytes.Cut(s, []byte("@"))
	if !ok {
		user, domain, ok = bytes.Cut(s, []byte("%40"))
	}
	dot := bytes.LastIndexByte(domain, '.')
	return ok && len(user) > 0 && dot > 0 && dot < len(domain)-2
}

// hasID reports whether a name has an identifier at its end or its start: four digits or more, or eight hexadecimal ones, which a
// separator or a letter stands before or behind.
func hasID(s []byte) bool {
	tail := 0
	for tail < len(s) && byteClasses[s[len(s)-1-tail]] == digit {
		tail++
	}
	head := 0
	for head < len(s) && byteClasses[s[head]] == digit {
		head++
	}
	if tail >= 4 || head >= 4 && head < len(s) && byteClasses[s[head]] == separator {
		return true
	}
	last := s[bytes.LastIndexAny(s, "-_")+1:]
	return len(last) < len(s) && len(last) >= 8 && kindOf(last) != ""
}

package columns

import (
	"encoding/binary"
	"math/bits"

	"github.com/urlmill/urlmill/urlcore/internal/scan"
)

// Eight bytes at once: a word holds eight bytes of a text, the first of them lowest. A test of its bytes sets the highest
// bit of those that it holds for; what it does to the other bits does not matter until the end.
const lowBits, highBits = 0x0101010101010101, 0x8080808080808080

// wordAt returns the bytes of s from i on, and zeros behind its end. s is at least 8 bytes long and i within it.
func wordAt(s []byte, i int) uint64 {
	if i+8 <= len(s) {
		return binary.LittleEndian.Uint64(s[i:])
	}
	return binary.LittleEndian.Uint64(s[len(s)-8:]) >> (uint(i+8-len(s)) * 8 & 63)
}

// The tests are for bytes without their highest bit, so that no sum carries into the next byte.

func differ(word uint64, c uint64) uint64 { return (word ^ c*lowBits) + 0x7F*lowBits }

func atLeast(word uint64, c uint64) uint64 { return word + (0x80-c)*lowBits }

// first returns the number of the lowest byte that has its highest bit set.
func first(tests uint64) int { return bits.TrailingZeros64(tests) / 8 }

// queryStops tests for the bytes that do not stay as they are in a query, the number sign, and the exclamation mark.
func queryStops(word uint64) uint64 {
	ascii := word &^ highBits
	stays := atLeast(ascii, '$') & differ(ascii, '\'') & differ(ascii&^(2*lowBits), '<') // < and >
	return (^stays | atLeast(ascii, 0x7F) | word) & highBits
}

// hostStops tests for the bytes of class Stop.
func hostStops(word uint64) uint64 {
	ascii := word &^ highBits
	letter := atLeast(ascii, 'a') &^ atLeast(ascii, 'z'+1)
	digit := atLeast(ascii, '-') &^ atLeast(ascii, '9'+1) & differ(ascii, '/') // or a hyphen or a dot
	return (^(letter|digit)&differ(ascii, '_') | word) & highBits
}

// endOfQuery returns the position of the first byte from i on that does not stay as it is in a query, or that is the
// number sign, else the length of in.
func endOfQuery(in []byte, i int) int {
	for i < len(in) {
		stops := queryStops(wordAt(in, i))
		if stops == 0 {
			i += 8
			continue
		}
		if i += first(stops); i >= len(in) || changes[in[i]]&inQuery != 0 {
			break
		}
		i++
	}
	return min(i, len(in))
}

// nextPathStop returns the position of the first byte from i on that does not stay as it is in a path, that ends it, that
// is one of some others that are rare there, or that is behind a slash and may begin a dot segment. It is at or behind
// the end of in if there is none.
func nextPathStop(in []byte, i int) int {
	slash := uint64(0)
	if i > 0 && in[i-1] == '/' {
		slash = 0x80
	}
	for i < len(in) {
		word := wordAt(in, i)
		ascii := word &^ highBits
		stays := atLeast(ascii, '$') & differ(ascii&(0x7C*lowBits), '<') & // < = > ?
			differ(ascii&^(2*lowBits), '\\') & differ(ascii, '`') // \ and ^, but neither ] nor _
		slashes := ^differ(ascii, '/') & highBits
		begins := (slashes<<8 | slash) &^ atLeast(ascii, '0')
		if stops := (^stays | atLeast(ascii, '{') | word | begins) & highBits; stops != 0 {
			return i + first(stops)
		}
		slash = slashes >> 56
		i += 8
	}
	return i
}

// endOfPath returns where the path ends that begins with the slash at i, and false when it is not clean.
func endOfPath(in []byte, i int) (int, bool) {
	for {
		if i = nextPathStop(in, i); i >= len(in) {
			return len(in), true
		}
		c := in[i]
		if in[i-1] == '/' && (c == '.' || c == '%') {
			if _, dots := dotSegment(in[i:]); dots > 0 {
				return i, false
			}
		}
		if c == '?' || c == '#' {
			return i, true
		}
		if changes[c]&inPath != 0 {
			return i, false
		}
		i++
	}
}

// labels is where a host ends, where its last label begins, and where the two before that do. Where there are fewer these
// are the beginning of the host.
type labels struct{ end, last, second, third int }

// hostLabels finds the labels of a clean host.
func hostLabels(in []byte, host int) labels {
	const longest = 56 // so that a word more is within 64 bits
	dots := uint64(0)
	for i := host; i < len(in) && i-host <= longest; i += 8 {
		word := wordAt(in, i)
		// A multiplication brings the bits of eight bytes together in the highest one.
		dots |= (^differ(word&^highBits, '.') & highBits >> 7 * 0x0102040810204080 >> 56) << (uint(i-host) & 63)
		if stops := hostStops(word); stops != 0 {
			size := min(i+first(stops), len(in)) - host
			dots &= 1<<(uint(size)&63) - 1
			last := bits.Len64(dots)
			dots = below(dots, last)
			second := bits.Len64(dots)
			third := bits.Len64(below(dots, second))
			return labels{host + size, host + last, host + second, host + third}
		}
	}
	return longHostLabels(in, host)
}

// below returns the bits of dots below the highest one, which is at end-1; there are none when end is 0. It is less than 64.
func below(dots uint64, end int) uint64 { return dots & (1<<(uint(end)&63)>>1 - 1) }

// longHostLabels is hostLabels for hosts of any length.
func longHostLabels(in []byte, host int) labels {
	h := labels{host, host, host, host}
	for ; h.end < len(in); h.end++ {
		if class := scan.Classes[in[h.end]]; class&(scan.Stop|scan.Dot) != 0 {
			if class&scan.Stop != 0 {
				break
			}
			h.third, h.second, h.last = h.second, h.last, h.end+1
		}
	}
	return h
}

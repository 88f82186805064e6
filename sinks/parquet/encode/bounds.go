package encode

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
)

// Bounds that are longer, in bytes, are cut. Without its end, a lower bound still is one; an upper bound is one again when
// what is left is raised.
const (
	indexBound = 64  // in the column index
	groupBound = 256 // in the statistics of a chunk
)

// bracket is the least and the greatest of the texts that it was shown.
//
// For most texts, eight bytes decide that they are between the two: those behind what the two have in common. A text that is
// shorter is taken to go on with zeros, which makes no difference where the eight bytes are not equal. Equal ones decide
// nothing, and the texts are compared: between may say no to a text that is between, and never yes to another.
type bracket struct {
	lo, hi       []byte // alias the texts that they are
	common       uint   // bytes that both begin with; with more than eight, between always says no
	prefix       uint64 // the first eight bytes of lo
	keyLo, keyHi uint64 // the eight bytes behind the common ones, as numbers that compare like them
}

// first begins with a text.
func (b *bracket) first(v []byte) {
	b.lo, b.hi = v, v
	b.update()
}

// between reports whether the first n bytes of v, which has slack bytes more, are surely between the two.
func (b *bracket) between(v []byte, n uint) bool {
	c := b.common
	if c > 8 || n < c {
		return false
	}
	p := (*[16]byte)(v)
	// What is behind the text in memory is made zero, as keyOf has it. Go shifts by 64 bits and more to zero, which is right
	// in both places: all eight bytes count, and none are in common.
	k := binary.BigEndian.Uint64(p[c:]) &^ (^uint64(0) >> (8 * (n - c)))
	return (binary.BigEndian.Uint64(p[:])^b.prefix)>>(64-8*c) == 0 && b.keyLo < k && k < b.keyHi
}

// widen takes a text in that may be outside.
func (b *bracket) widen(v []byte) {
	switch {
	case bytes.Compare(v, b.lo) < 0:
		b.lo = v
	case bytes.Compare(v, b.hi) > 0:
		b.hi = v
	default:
		return
	}
	b.update()
}

func (b *bracket) update() {
	n := min(len(b.lo), len(b.hi))
	c := 0
	for c < n && b.lo[c] == b.hi[c] {
		c++
	}
	b.common, b.prefix, b.keyLo, b.keyHi = uint(c), keyOf(b.lo), keyOf(b.lo[c:]), keyOf(b.hi[c:])
}

// boundsOfTexts returns the least and the greatest of values that are back to back in data, behind which there are slack
// bytes more. Both alias data. There has to be a value.
func boundsOfTexts(data []byte, lens []int32) (lo, hi []byte) {
	var b bracket
	b.first(data[:lens[0]])
	data = data[:len(data)+slack]
	at := uint(0)
	for _, n := range lens {
		if !b.between(data[at:], uint(n)) {
			b.widen(data[at : at+uint(n)])
		}
		at += uint(n)
	}
	return b.lo, b.hi
}

// keyOf returns the first eight bytes as a number that compares like them; what is missing is zero.
func keyOf(v []byte) uint64 {
	if len(v) >= 8 {
		return binary.BigEndian.Uint64(v)
	}
	var b [8]byte
	copy(b[:], v)
	return binary.BigEndian.Uint64(b[:])
}

// boundsOfFixed does the same for values of a fixed width in the format's form. Without bounds, which is so when there
// are only NaNs, both are nil.
func (c *column) boundsOfFixed(data []byte) (lo, hi []byte) {
	at := func(i int) []byte { return data[i*c.width : (i+1)*c.width] }
	var i, j int
	switch {
	case c.physical == typeInt32 && c.order == unsigned:
		i, j = extremes(arrow.Uint32Traits.CastFromBytes(data))
	case c.physical == typeInt32:
		i, j = extremes(arrow.Int32Traits.CastFromBytes(data))
	case c.physical == typeInt64 && c.order == unsigned:
		i, j = extremes(arrow.Uint64Traits.CastFromBytes(data))
	case c.physical == typeInt64:
		i, j = extremes(arrow.Int64Traits.CastFromBytes(data))
	default:
		for k := range len(data) / c.width {
			lo, hi = c.widen(lo, hi, at(k))
		}
		return lo, hi
	}
	return at(i), at(j)
}

// extremes returns the positions of the least and the greatest value.
func extremes[T cmp.Ordered](values []T) (lo, hi int) {
	least, most := values[0], values[0]
	for i, v := range values {
		if v < least {
			least, lo = v, i
		} else if v > most {
			most, hi = v, i
		}
	}
	return lo, hi
}

// widen returns the bounds lo and hi, which may be nil, with a value in the format's form. The result is one of the
// arguments, but for zeros of floats, which get the sign that makes the bound hold for both.
func (c *column) widen(lo, hi, v []byte) (newLo, newHi []byte) {
	if c.order == float {
		f := c.float(v)
		if math.IsNaN(f) {
			return lo, hi
		}
		if f == 0 {
			if lo == nil || c.float(lo) >= 0 {
				lo = negativeZero[8-c.width:]
			}
			if hi == nil || c.float(hi) <= 0 {
				hi = positiveZero[:c.width]
			}
			return lo, hi
		}
	}
	if lo == nil || c.compare(v, lo) < 0 {
		lo = v
	}
	if hi == nil || c.compare(v, hi) > 0 {
		hi = v
	}
	return lo, hi
}

var (
	negativeZero = []byte{0, 0, 0, 0, 0, 0, 0, 0x80} // its last four bytes are that of 32 bits
	positiveZero = make([]byte, 8)
)

func (c *column) float(v []byte) float64 {
	if c.physical == typeFloat {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(v)))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(v))
}

// compare compares values in the format's form, none of which is NaN.
func (c *column) compare(a, b []byte) int {
	switch {
	case c.order == float:
		return cmp.Compare(c.float(a), c.float(b))
	case c.physical == typeInt32 && c.order == unsigned:
		return cmp.Compare(binary.LittleEndian.Uint32(a), binary.LittleEndian.Uint32(b))
	case c.physical == typeInt32:
		return cmp.Compare(int32(binary.LittleEndian.Uint32(a)), int32(binary.LittleEndian.Uint32(b)))
	case c.physical == typeInt64 && c.order == unsigned:
		return cmp.Compare(binary.LittleEndian.Uint64(a), binary.LittleEndian.Uint64(b))
	case c.physical == typeInt64:
		return cmp.Compare(int64(binary.LittleEndian.Uint64(a)), int64(binary.LittleEndian.Uint64(b)))
	}
	return bytes.Compare(a, b)
}

// lower returns a lower bound of at most limit bytes for values that are not below v, and whether it is v itself. It aliases
// v. Numbers are never cut.
func (c *column) lower(v []byte, limit int) (bound []byte, exact bool) {
	if c.order != bytewise || len(v) <= limit {
		return v, true
	}
	return v[:c.cut(v, limit)], false
}

// upper appends an upper bound for values that are not above v to dst, and reports whether it is v itself. It has at most
// limit bytes, or one more where the code point that it ends with takes one more when it is raised. ok is false if there is
// none: nothing that is as short is above a value that begins with the highest bytes or code points alone.
func (c *column) upper(dst, v []byte, limit int) (bound []byte, exact, ok bool) {
	if c.order != bytewise || len(v) <= limit {
		return append(dst, v...), true, true
	}
	start := len(dst)
	dst = append(dst, v[:c.cut(v, limit)]...)
	for len(dst) > start {
		if c.text {
			// The next code point, since with the next byte it may not be UTF-8 any more. UTF-8 is in the order of code points.
			r, n := utf8.DecodeLastRune(dst[start:])
			dst = dst[:len(dst)-n]
			if n > 1 || r != utf8.RuneError {
				if next := r + 1; next == 0xd800 { // surrogates are no code points of UTF-8
					return utf8.AppendRune(dst, 0xe000), false, true
				} else if next <= utf8.MaxRune {
					return utf8.AppendRune(dst, next), false, true
				}
			}
			continue // the highest code point, or none: the one before is raised instead
		}
		last := len(dst) - 1
		if dst[last] < 0xff {
			dst[last]++
			return dst, false, true
		}
		dst = dst[:last]
	}
	return dst, false, false
}

// cut returns where to cut v, which is longer than limit, so that no code point is divided. What is no UTF-8 is cut at limit.
func (c *column) cut(v []byte, limit int) int {
	if !c.text {
		return limit
	}
	for n := limit; n > limit-utf8.UTFMax && n > 0; n-- {
		if utf8.RuneStart(v[n]) {
			return n
		}
	}
	return limit
}

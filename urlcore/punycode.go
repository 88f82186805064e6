package urlcore

import (
	"math"
	"slices"
	"unicode/utf8"
)

// Parameters of Punycode.
//
// https://www.rfc-editor.org/rfc/rfc3492#section-5
const (
	punyBase  = 36
	punyTMin  = 1
	punyTMax  = 26
	punySkew  = 38
	punyDamp  = 700
	punyBias  = 72
	punyFirst = 0x80
)

// appendPunycode appends the Punycode of a label to dst, and returns false for one that has none, for it is too long.
//
// RFC 3492 goes over the whole label for each of its characters, and so does x/net. Here the characters are sorted, and how
// many of those that are there already come before one is counted by a tree of sums: n log n steps in all.
//
// https://www.rfc-editor.org/rfc/rfc3492#section-6.3
func appendPunycode(dst []byte, label string) ([]byte, bool) {
	runes := utf8.RuneCountInString(label)
	order := make([]uint64, 0, runes) // character and place of those that are not ASCII
	there := make(sums, runes+1)
	at := 0
	for _, r := range label {
		if r < punyFirst {
			dst = append(dst, byte(r))
			there.add(at)
		} else {
			order = append(order, uint64(r)<<32|uint64(at))
		}
		at++
	}
	basic := runes - len(order)
	if basic > 0 {
		dst = append(dst, '-')
	}
	slices.Sort(order)
	// The state of a decoder: the next character to be inserted is at least n, at place i or behind it.
	n, i, bias := int64(punyFirst), int64(0), int32(punyBias)
	for done, o := range order {
		size := int64(basic + done) // so many characters are there
		r, place := int64(o>>32), int(uint32(o))
		before := there.below(place)
		delta := (r-n)*(size+1) + int64(before) - i
		if delta > math.MaxInt32 {
			return dst, false
		}
		dst = appendPunyNumber(dst, int32(delta), bias)
		bias = adaptPuny(int32(delta), int32(size)+1, done == 0)
		n, i = r, int64(before)+1
		there.add(place)
	}
	return dst, true
}

// appendPunyNumber appends a number as a variable-length integer.
//
// https://www.rfc-editor.org/rfc/rfc3492#section-3.3
func appendPunyNumber(dst []byte, q, bias int32) []byte {
	const digits = "abcdefghijklmnopqrstuvwxyz0123456789"
	for k := int32(punyBase); ; k += punyBase {
		t := min(max(k-bias, punyTMin), punyTMax)
		if q < t {
			return append(dst, digits[q])
		}
		dst = append(dst, digits[t+(q-t)%(punyBase-t)])
		q = (q - t) / (punyBase - t)
	}
}

// adaptPuny returns the bias after a delta.
//
// https://www.rfc-editor.org/rfc/rfc3492#section-6.1
func adaptPuny(delta, size int32, first bool) int32 {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / size
	k := int32(0)
	for ; delta > (punyBase-punyTMin)*punyTMax/2; k += punyBase {
		delta /= punyBase - punyTMin
	}
	return k + (punyBase-punyTMin+1)*delta/(delta+punySkew)
}

// sums counts places, and how many of them come before one: a Fenwick tree.
type sums []int32

func (s sums) add(place int) {
	for i := place + 1; i < len(s); i += i & -i {
		s[i]++
	}
}

func (s sums) below(place int) (n int32) {
	for i := place; i > 0; i -= i & -i {
		n += s[i]
	}
	return n
}

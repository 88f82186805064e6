package ndjson

import (
	"math"
	"math/bits"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
)

// appendFloat appends the shortest number that reads back as f, in the form of ECMAScript, which is also that of
// encoding/json.
func appendFloat(dst []byte, f float64, bits int) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return append(dst, "null"...)
	}
	abs := math.Abs(f)
	small, large := 1e-6, 1e21
	if bits == 32 {
		small, large = float64(float32(1e-6)), float64(float32(1e21))
	}
	if abs == 0 || abs >= small && abs < large {
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, bits)
	// e-09 becomes e-9
	if n := len(dst); n >= 4 && dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// appendInt appends v in decimal.
func appendInt(dst []byte, v int64) []byte {
	if v < 0 {
		return appendUint(append(dst, '-'), -uint64(v))
	}
	return appendUint(dst, uint64(v))
}

// appendUint appends v in decimal. The digits are written where they stay: those that strconv appends are written one by one
// and copied at once, for which the processor waits until they have arrived.
func appendUint(dst []byte, v uint64) []byte {
	if v < 10 {
		return append(dst, '0'+byte(v))
	}
	// A number of b bits has as many digits as 2^(b-1), or one more; 1233/4096 is the logarithm of 2 to base 10.
	n := bits.Len64(v) * 1233 >> 12
	if v >= powers[n] {
		n++
	}
	dst = append(dst, "00000000000000000000"[:n]...)
	at := len(dst)
	for v >= 10 {
		at -= 2
		two := v % 100 * 2
		dst[at], dst[at+1] = twoDigits[two], twoDigits[two+1]
		v /= 100
	}
	if v > 0 {
		dst[at-1] = '0' + byte(v)
	}
	return dst
}

// powers holds those of ten.
var powers = func() (p [20]uint64) {
	p[0] = 1
	for i := range p[1:] {
		p[i+1] = 10 * p[i]
	}
	return p
}()

// clock appends timestamps of one unit. Rows that follow each other are mostly of the same day, whose date is kept.
type clock struct {
	perSecond int64
	digits    int // of the fraction
	day       int64
	date      []byte // of day, with the quote before it and the T behind it
}

func newClock(unit arrow.TimeUnit) *clock {
	c := &clock{perSecond: 1}
	switch unit {
	case arrow.Millisecond:
		c.perSecond, c.digits = 1e3, 3
	case arrow.Microsecond:
		c.perSecond, c.digits = 1e6, 6
	case arrow.Nanosecond:
		c.perSecond, c.digits = 1e9, 9
	}
	return c
}

// append appends a number of units since 1970 as RFC 3339 in UTC, with the digits that the unit has.
func (c *clock) append(dst []byte, v int64) []byte {
	seconds, rest := floorDiv(v, c.perSecond)
	days, ofDay := floorDiv(seconds, 86400)
	if days != c.day || len(c.date) == 0 {
		c.day = days
		c.date = append(appendCivil(append(c.date[:0], '"'), days), 'T')
	}
	dst = append(dst, c.date...)
	second := uint32(ofDay)
	minute := second / 60
	hour := minute / 60
	second, minute = second%60, minute%60
	dst = append(dst, twoDigits[2*hour], twoDigits[2*hour+1], ':', twoDigits[2*minute], twoDigits[2*minute+1], ':',
		twoDigits[2*second], twoDigits[2*second+1])
	if c.digits > 0 {
		dst = append(dst, ".000000000"[:c.digits+1]...)
		at := len(dst)
		for left := uint32(rest); left > 0; left /= 10 {
			at--
			dst[at] = '0' + byte(left%10)
		}
	}
	return append(dst, 'Z', '"')
}

// twoDigits holds the numbers to 99, two digits each.
const twoDigits = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960" +
	"616263646566676869707172737475767778798081828384858687888990919293949596979899"

// appendDate appends a number of days since 1970.
func appendDate(dst []byte, days int64) []byte {
	dst = append(dst, '"')
	dst = appendCivil(dst, days)
	return append(dst, '"')
}

// appendCivil appends the date of a day since 1970 in the proleptic Gregorian calendar. Years beyond the four
// digits of RFC 3339 have a sign, as in ISO 8601.
func appendCivil(dst []byte, days int64) []byte {
	day := time.Unix(days*86400, 0).UTC()
	if day.Year() > 9999 {
		dst = append(dst, '+')
	}
	return day.AppendFormat(dst, time.DateOnly)
}

// floorDiv returns the quotient rounded down and a remainder that is not negative.
func floorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}

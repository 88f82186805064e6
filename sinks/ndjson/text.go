package ndjson

import (
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
)

// plain tells the bytes that stand for themselves in a JSON string and are ASCII.
var plain = func() (t [256]bool) {
	for b := ' '; b < utf8.RuneSelf; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

const hex = "0123456789abcdef"

// appendString appends s as a JSON string (RFC 8259). Strings in Arrow are valid UTF-8; should one not be, each
// bad byte becomes U+FFFD rather than the line becoming unreadable.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0 // of what is not copied yet
	for i := 0; i < len(s); {
		b := s[i]
		if plain[b] {
			i++
			continue
		}
		if b >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(dst, s[start:i]...)
				dst = append(dst, "\ufffd"...)
				start = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, b)
		i++
		start = i
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, b byte) []byte {
	switch b {
	case '"', '\\':
		return append(dst, '\\', b)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	}
	return append(dst, '\\', 'u', '0', '0', hex[b>>4], hex[b&15])
}

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

// appendTimestamp appends a number of units since 1970 as RFC 3339 in UTC, with the digits that the unit has.
func appendTimestamp(dst []byte, v int64, unit arrow.TimeUnit) []byte {
	perSecond, digits := int64(1), 0
	switch unit {
	case arrow.Millisecond:
		perSecond, digits = 1e3, 3
	case arrow.Microsecond:
		perSecond, digits = 1e6, 6
	case arrow.Nanosecond:
		perSecond, digits = 1e9, 9
	}
	seconds, rest := floorDiv(v, perSecond)
	days, ofDay := floorDiv(seconds, 86400)
	dst = append(dst, '"')
	dst = appendCivil(dst, days)
	dst = append(dst, 'T')
	dst = appendDigits(dst, ofDay/3600, 2)
	dst = append(dst, ':')
	dst = appendDigits(dst, ofDay/60%60, 2)
	dst = append(dst, ':')
	dst = appendDigits(dst, ofDay%60, 2)
	if digits > 0 {
		dst = append(dst, '.')
		dst = appendDigits(dst, rest, digits)
	}
	return append(dst, `Z"`...)
}

// appendDate appends a number of days since 1970.
func appendDate(dst []byte, days int64) []byte {
	dst = append(dst, '"')
	dst = appendCivil(dst, days)
	return append(dst, '"')
}

// appendCivil appends the date of a day since 1970 in the proleptic Gregorian calendar. Years beyond the four
// digits of RFC 3339 have a sign, as in ISO 8601.
//
// The calculation counts days from 1 March of year 0 in eras of 400 years, in which every date comes around on
// the same day number; years that begin in March have their leap day last.
func appendCivil(dst []byte, days int64) []byte {
	era, dayOfEra := floorDiv(days+719468, 146097)
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36524 - dayOfEra/146096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	shifted := (5*dayOfYear + 2) / 153 // months since March
	day := dayOfYear - (153*shifted+2)/5 + 1
	month := shifted + 3
	year := yearOfEra + era*400
	if month > 12 {
		month -= 12
		year++
	}
	switch {
	case year > 9999:
		dst = append(dst, '+')
		dst = strconv.AppendInt(dst, year, 10)
	case year < 0:
		dst = append(dst, '-')
		dst = appendDigits(dst, -year, 4)
	default:
		dst = appendDigits(dst, year, 4)
	}
	dst = append(dst, '-')
	dst = appendDigits(dst, month, 2)
	dst = append(dst, '-')
	return appendDigits(dst, day, 2)
}

// appendDigits appends v with at least n digits.
func appendDigits(dst []byte, v int64, n int) []byte {
	var digits [20]byte
	i := len(digits)
	for ; v > 0 || n > 0; n-- {
		i--
		digits[i] = '0' + byte(v%10)
		v /= 10
	}
	return append(dst, digits[i:]...)
}

// floorDiv returns the quotient rounded down and a remainder that is not negative.
func floorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}

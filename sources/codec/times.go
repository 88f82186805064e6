package codec

import (
	"bytes"
	"encoding/binary"
	"math"
)

// TimeFormat is how a timestamp is written.
type TimeFormat uint8

// The formats of timestamps.
const (
	RFC3339      TimeFormat = iota // RFC3339 is a string such as "2026-07-01T12:30:00.25+02:00".
	EpochSeconds                   // EpochSeconds is a number of seconds since 1970 UTC, with or without a fraction.
	EpochMillis                    // EpochMillis is a number of milliseconds since 1970 UTC.
	EpochMicros                    // EpochMicros is a number of microseconds since 1970 UTC.
	EpochNanos                     // EpochNanos is a number of nanoseconds since 1970 UTC.
	numTimeFormats
)

var timeFormatNames = [...]string{"rfc3339", "s", "ms", "us", "ns"}

// String returns the name that a configuration has for the format.
func (f TimeFormat) String() string { return timeFormatNames[f] }

// timeFormats returns all formats.
func timeFormats() []TimeFormat {
	return []TimeFormat{RFC3339, EpochSeconds, EpochMillis, EpochMicros, EpochNanos}
}

// epochOf returns the unit of a time between 1973 and 5138, a decimal number. One before 1970 is in seconds.
func epochOf(number []byte) TimeFormat {
	digits := bytes.IndexByte(number, '.')
	if digits < 0 {
		digits = len(number)
	}
	switch {
	case digits <= 11 || number[0] == '-':
		return EpochSeconds
	case digits <= 14:
		return EpochMillis
	case digits <= 17:
		return EpochMicros
	default:
		return EpochNanos
	}
}

// parseEpoch reads a JSON number in the unit of f as microseconds. What is finer is rounded down.
func parseEpoch(s []byte, f TimeFormat) (int64, bool) {
	digits := s
	negative := s[0] == '-'
	if negative {
		digits = s[1:]
	}
	// mantissa / 10^scale microseconds, exactly; only numbers that no int64 has, as nanoseconds of after 2262, and those with an
	// exponent go through floating point.
	mantissa, scale := int64(0), (int(f)-int(EpochMicros))*3
	perDigit := 0
	for _, d := range digits {
		switch {
		case d == '.':
			perDigit = 1
			continue
		case d > '9' || mantissa > (math.MaxInt64-9)/10: // an exponent, or too many digits
			return floatEpoch(s, f)
		}
		mantissa = mantissa*10 + int64(d-'0')
		scale += perDigit
	}
	for ; scale < 0; scale++ {
		if mantissa > math.MaxInt64/10 {
			return 0, false
		}
		mantissa *= 10
	}
	if negative {
		mantissa = -mantissa
	}
	for ; scale > 0; scale-- {
		mantissa = floorDiv(mantissa, 10)
	}
	return mantissa, true
}

func floatEpoch(s []byte, f TimeFormat) (int64, bool) {
	v, ok := parseFloat(s)
	v = math.Floor(v * math.Pow(1000, float64(EpochMicros)-float64(f)))
	return int64(v), ok && v >= -1<<63 && v < 1<<63
}

// floorDiv divides by a positive d and rounds down. Dividing by ten again and again this way rounds down as a
// single division would.
func floorDiv(n, d int64) int64 {
	q := n / d
	if n%d < 0 {
		q--
	}
	return q
}

// ParseRFC3339 reads a time as RFC 3339 section 5.6 has it, a space for the T and lower case included, as
// microseconds since 1970 UTC. What is finer is rounded down. A leap second is the second after it.
//
// The time package would allocate a location for every offset that is not UTC.
func ParseRFC3339(s []byte) (int64, bool) {
	if len(s) < len("2006-01-02T15:04:05Z") || s[4] != '-' || s[7] != '-' || s[10]|0x20 != 't' && s[10] != ' ' {
		return 0, false
	}
	day, ok := date(s, twoDigits(s[5:]), s[8:])
	if !ok {
		return 0, false
	}
	clock, rest, ok := clockOf(s[11:])
	if !ok {
		return 0, false
	}
	offset, ok := zone(rest)
	return day + clock - offset, ok
}

// ParseISO8601 reads what [ParseRFC3339] does, and times whose offset has no colon, as strftime's %z writes it, or that have none and
// are in UTC then.
func ParseISO8601(s []byte) (int64, bool) {
	if t, ok := ParseRFC3339(s); ok {
		return t, true
	}
	const local = len("2006-01-02T15:04:05")
	var buf [local + len(".000000000+00:00")]byte
	end := bytes.LastIndexAny(s, "+-Zz")
	switch {
	case len(s) < local || len(s) >= len(buf):
		return 0, false
	case end < local:
		return ParseRFC3339(append(append(buf[:0], s...), 'Z'))
	case len(s)-end == len("+0000"):
		n := len(s) - 2
		return ParseRFC3339(append(append(append(buf[:0], s[:n]...), ':'), s[n:]...))
	default:
		return 0, false
	}
}

// ParseTime reads a time in any of the ways in which logs have it: as [ParseISO8601] or [ParseCLF] do, or a number since 1970, whose
// unit is told by its size.
func ParseTime(s []byte) (int64, bool) {
	switch {
	case isDecimal(s):
		return parseEpoch(s, epochOf(s))
	case len(s) > 2 && s[2] == '/':
		return ParseCLF(s)
	default:
		return ParseISO8601(s)
	}
}

// date returns the microseconds from 1970 to a day of the month in the year that s begins with.
func date(year []byte, month int, day []byte) (int64, bool) {
	century, ofCentury, d := twoDigits(year), twoDigits(year[2:]), twoDigits(day)
	y := 100*century + ofCentury
	if century < 0 || ofCentury < 0 || month < 1 || month > 12 || d < 1 || d > daysIn(y, month) {
		return 0, false
	}
	return int64(daysSince1970(y, month, d)) * 86400e6, true
}

// clockOf reads a time of the day such as 13:55:36.5 as microseconds since midnight, and returns what follows.
func clockOf(s []byte) (micros int64, rest []byte, ok bool) {
	if len(s) < len("15:04:05") {
		return 0, nil, false
	}
	// Every digit becomes its value, and a colon 0. What is added is 0x80 less the first value that is none.
	x := binary.LittleEndian.Uint64(s) ^ 0x30303a30303a3030
	hour, minute, second := x&0xff*10+x>>8&0xff, x>>24&0xff*10+x>>32&0xff, x>>48&0xff*10+x>>56
	if (x|(x+0x76767f76767f7676))&0x8080808080808080 != 0 || hour > 23 || minute > 59 || second > 60 {
		return 0, nil, false
	}
	micros, rest, ok = fraction(s[8:])
	return int64(hour*3600+minute*60+second)*1e6 + micros, rest, ok
}

// twoDigits reads two decimal digits, and returns a negative number for anything else.
func twoDigits(s []byte) int {
	if s[0]-'0' > 9 || s[1]-'0' > 9 {
		return -1
	}
	return int(s[0]-'0')*10 + int(s[1]-'0')
}

// ParseFraction reads the fraction of a second that s begins with, in microseconds, and returns what follows.
func ParseFraction(s []byte) (micros int64, rest []byte, ok bool) { return fraction(s) }

// fraction reads the fraction of a second, which may be missing, in microseconds.
func fraction(s []byte) (micros int64, rest []byte, ok bool) {
	if len(s) == 0 || s[0] != '.' {
		return 0, s, true
	}
	s = s[1:]
	n, unit := 0, int64(100000)
	for n < len(s) && s[n]-'0' <= 9 {
		micros += int64(s[n]-'0') * unit
		unit /= 10
		n++
	}
	return micros, s[n:], n > 0
}

// zone reads what ends an RFC 3339 time and returns its offset in microseconds.
func zone(s []byte) (offset int64, ok bool) {
	if len(s) == 1 {
		return 0, s[0]|0x20 == 'z'
	}
	if len(s) != len("+00:00") || s[3] != ':' {
		return 0, false
	}
	return offsetOf(s[0], s[1:], s[4:])
}

// offsetOf returns an offset from UTC in microseconds.
func offsetOf(sign byte, hours, minutes []byte) (offset int64, ok bool) {
	hour, minute := twoDigits(hours), twoDigits(minutes)
	if sign != '+' && sign != '-' || hour < 0 || hour > 23 || minute < 0 || minute > 59 {
		return 0, false
	}
	offset = int64(hour*3600+minute*60) * 1e6
	if sign == '-' {
		offset = -offset
	}
	return offset, true
}

func daysIn(year, month int) int {
	if month == 2 {
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 30 + (month+month>>3)&1
}

// ParseCLF reads a time of the Common Log Format, such as 10/Oct/2000:13:55:36 -0700, as microseconds since 1970 UTC. A
// fraction of the second may be there, which is rounded down to microseconds, and the zone may be missing: UTC then.
func ParseCLF(s []byte) (int64, bool) {
	if len(s) < len("02/Jan/2006:15:04:05") || s[2] != '/' || s[6] != '/' || s[11] != ':' {
		return 0, false
	}
	day, ok := date(s[7:], monthOf(s[3:6]), s)
	if !ok {
		return 0, false
	}
	clock, rest, ok := clockOf(s[12:])
	if !ok || len(rest) == 0 {
		return day + clock, ok
	}
	if len(rest) != len(" +0000") || rest[0] != ' ' {
		return 0, false
	}
	offset, ok := offsetOf(rest[1], rest[2:], rest[4:])
	return day + clock - offset, ok
}

const months = "JanFebMarAprMayJunJulAugSepOctNovDec"

// monthBy finds a month by the sum of its last two letters, which no two have in common.
var monthBy = func() (m [256]int) {
	for i := 0; i < len(months); i += 3 {
		m[months[i+1]+months[i+2]] = i/3 + 1
	}
	return m
}()

// monthOf returns the month of an English abbreviation, 0 for none.
func monthOf(s []byte) int {
	m := monthBy[s[1]+s[2]]
	if m == 0 || string(s) != months[3*m-3:3*m] {
		return 0
	}
	return m
}

// ParseDay reads a date such as 2000-10-10 as microseconds since 1970.
func ParseDay(s []byte) (int64, bool) {
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	return date(s, twoDigits(s[5:]), s[8:])
}

// ParseClock reads a time of the day such as 13:55:36.5 as microseconds since midnight.
func ParseClock(s []byte) (int64, bool) {
	micros, rest, ok := clockOf(s)
	return micros, ok && len(rest) == 0
}

// ParseEpoch reads a decimal number in the unit of f, which is not RFC3339, as microseconds since 1970 UTC. What is
// finer is rounded down.
func ParseEpoch(s []byte, f TimeFormat) (int64, bool) {
	if !isDecimal(s) {
		return 0, false
	}
	return parseEpoch(s, f)
}

// isDecimal tells numbers with digits, at most one point and perhaps a minus sign.
func isDecimal(s []byte) bool {
	digits, points := 0, 0
	for i, c := range s {
		switch {
		case '0' <= c && c <= '9':
			digits++
		case c == '-' && i == 0:
		case c == '.' && points == 0 && digits > 0:
			points++
		default:
			return false
		}
	}
	return digits > 0
}

// daysSince1970 counts the days to a date of the proleptic Gregorian calendar, of the year 0 or later. Years are counted from March,
// so that the leap day is the last of its year and a month's start is (153m+2)/5 days into it.
func daysSince1970(year, month, day int) int {
	if month <= 2 {
		year--
		month += 12
	}
	const marchFirst = 719468 + 146097    // of the year -400, in days before 1970
	y, m := uint(year+400), uint(month-3) // division without signs is faster
	return int(y*365+y/4-y/100+y/400+(153*m+2)/5) + day - 1 - marchFirst
}
